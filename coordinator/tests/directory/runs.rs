//! Runs made by the binary: a clean one, and one with all kinds of failures.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use argosy_coordinator::demo::{self, Materialised};
use argosy_shared::run_dir::names::RUN_INFO;

/// Exit code, stdout and stderr.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A run directory and the dataset it was made with.
pub(crate) struct Run {
    pub(crate) place: tempfile::TempDir,
    pub(crate) dir: PathBuf,
    pub(crate) demo: Materialised,
    /// What the run itself said.
    pub(crate) said: Said,
}

pub(crate) fn argosy<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_argosy"))
        .args(arguments)
        .env_remove("ARGOSY_DATASET")
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The demo, without any failure of infrastructure.
pub(crate) fn clean() -> Run {
    let place = tempfile::tempdir().expect("a folder");
    let results = place.path().join("results");
    let said = argosy(["demo", "--progress", "none", "--results-dir", results.to_str().expect("UTF-8")]);
    finish(place, &results, said)
}

/// Some of the demo's tasks twice, against an endpoint that fails often: discarded executions, discarded judgings, and
/// tasks that are invalidated all the same.
pub(crate) fn troubled() -> Run {
    let place = tempfile::tempdir().expect("a folder");
    let script = place.path().join("faults.json");
    fs::write(&script, r#"{"seed": 3, "faults": [{"status": 503, "probability": 0.12}]}"#).expect("written");
    let mut server = Command::new(env!("CARGO_BIN_EXE_argosy"))
        .args(["mock-model", "--listen", "127.0.0.1:0", "--script"])
        .arg(&script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the stand-in starts");
    let mut url = String::new();
    BufReader::new(server.stdout.take().expect("stdout")).read_line(&mut url).expect("its URL");
    let demo = demo::materialise(place.path()).expect("the demo");
    let results = place.path().join("results");
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (dataset, pack, folder) = (text(&demo.dataset), text(&demo.prompt_pack), text(&results));
    let said = argosy([
        "run",
        "discoverybench",
        "discovery_agent",
        "org/model",
        "--dataset",
        &dataset,
        "--prompt-pack",
        &pack,
        "--allow-unpinned",
        "--env",
        "host_process",
        "--benchmark-params",
        r#"{"judge_model": {"id": "j", "params": {"max_retries": 0, "stop": null}}, "isolate_network": false, "limit": 6}"#,
        "--model-base-url",
        url.trim(),
        "--model-params",
        r#"{"max_retries": 0}"#,
        "--k",
        "2",
        "--max-retries",
        "1",
        "--execution-params",
        r#"{"retry_min_delay_seconds": 0.01, "retry_max_delay_seconds": 0.02}"#,
        "--task-concurrency",
        "4",
        "--no-preflight",
        "--progress",
        "none",
        "--results-dir",
        &folder,
    ]);
    server.kill().expect("ended");
    server.wait().expect("ended");
    finish(place, &results, said)
}

fn finish(place: tempfile::TempDir, results: &Path, said: Said) -> Run {
    let dir = files(results)
        .into_keys()
        .find(|file| file.ends_with(RUN_INFO))
        .and_then(|file| results.join(file).parent().map(Path::to_owned))
        .unwrap_or_else(|| panic!("no run: {}", said.err));
    let folder = place.path().join("data");
    fs::create_dir(&folder).expect("a folder");
    let demo = demo::materialise(&folder).expect("the demo");
    Run { place, dir, demo, said }
}

/// All files below `dir` by relative path.
pub(crate) fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, dir: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(dir).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).expect("below").to_str().expect("UTF-8").to_owned();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(dir, dir, &mut found);
    found
}
