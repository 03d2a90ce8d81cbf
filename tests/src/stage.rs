//! A home of a test's own, in which `argosy` runs as a process: configuration, cache, temporary files and results all
//! lie in one folder, so that nothing of the machine's user matters and everything left behind is seen.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use argosy_coordinator::demo::{self, Materialised};
use argosy_shared::time::{Clock as _, SystemClock};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::{binary, run_files::RunFiles};

/// A private home with the demo's benchmark in it.
#[derive(Debug)]
pub struct Stage {
    folder: TempDir,
    /// The demo's benchmark, prompt pack and script.
    pub demo: Materialised,
}

/// A process that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// What it printed to stdout.
    pub stdout: String,
    /// What it printed to stderr.
    pub stderr: String,
}

impl Ended {
    /// Checks the exit code.
    ///
    /// # Panics
    /// It is another one; the message holds all that was printed.
    #[must_use]
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Stage {
    /// A new one.
    ///
    /// # Panics
    /// The disk is full or the like.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it writes files")]
    pub fn new() -> Self {
        // The path is short because it is part of a socket's.
        let folder = tempfile::Builder::new().prefix("ag").tempdir().expect("a temporary folder");
        for name in ["tmp", "cache", "config", "here"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let demo = demo::materialise(&folder.path().join("demo")).expect("the demo's files");
        Self { folder, demo }
    }

    /// A path in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary, at home here.
    #[must_use]
    pub fn argosy(&self) -> Command {
        let mut command = Command::new(binary::argosy());
        command.env_clear().current_dir(self.path("here")).stdin(Stdio::null());
        for name in ["PATH", "LANG", "LD_LIBRARY_PATH"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.env("HOME", self.path("")).env("TMPDIR", self.path("tmp"));
        command.env("XDG_CACHE_HOME", self.path("cache")).env("XDG_CONFIG_HOME", self.path("config"));
        command
    }

    /// `argosy run` of the demo's benchmark with `host_process`, results in [`Self::results`].
    #[must_use]
    pub fn run(&self, base_url: &str, benchmark_params: &Value) -> Command {
        let mut command = self.argosy();
        command.args(["run", "discoverybench", "discovery_agent", "m", "--env", "host_process", "--progress", "none"]);
        command.arg("--dataset").arg(&self.demo.dataset).arg("--prompt-pack").arg(&self.demo.prompt_pack);
        command.arg("--allow-unpinned").arg("--results-dir").arg(self.results());
        command.args(["--model-base-url", base_url, "--benchmark-params", &params(benchmark_params).to_string()]);
        command
    }

    /// Where [`Self::run`] writes.
    #[must_use]
    pub fn results(&self) -> PathBuf {
        self.path("results")
    }

    /// The run directory of the model `m`.
    #[must_use]
    pub fn files(&self, run_id: &str) -> RunFiles {
        RunFiles::new(self.results().join("m_discoverybench_discovery_agent").join(run_id))
    }

    /// The demo's script, answered at once.
    ///
    /// # Panics
    /// The script is not JSON.
    #[must_use]
    pub fn script(&self) -> Value {
        let mut script: Value =
            serde_json::from_slice(&fs::read(&self.demo.script).expect("the script")).expect("JSON");
        script["latency"] = json!({"fixed": 1});
        script
    }

    /// Sandboxes, sockets and whatever else lies in the temporary folder; locks are no leftovers.
    ///
    /// # Panics
    /// The folder cannot be read.
    #[must_use]
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("tmp")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let path = entry.path();
                let name = entry.file_name();
                let expected = name == OsStr::new(".lock")
                    || path.is_dir()
                        && (name == OsStr::new("sandboxes") || name.to_string_lossy().starts_with("argosy-"));
                if !expected {
                    found.push(path);
                } else if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        found
    }

    /// Processes that have this stage's folder in their command line or environment.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        let mark = self.folder.path().to_string_lossy().into_owned();
        let names = |path: PathBuf| fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&mark));
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|process| *process != std::process::id())
            .filter(|process| {
                let of = |name: &str| Path::new("/proc").join(process.to_string()).join(name);
                names(of("cmdline")) || names(of("environ"))
            })
            .collect()
    }
}

/// `judge_model` and `isolate_network` beside what is given.
fn params(given: &Value) -> Value {
    let mut params = Map::new();
    params.insert("judge_model".to_owned(), json!({"id": "j"}));
    params.insert("isolate_network".to_owned(), json!(false));
    params.extend(given.as_object().cloned().unwrap_or_default());
    Value::Object(params)
}

/// Runs a command to its end.
///
/// # Panics
/// It cannot be started.
#[track_caller]
pub fn finish(command: &mut Command) -> Ended {
    command.output().expect("the binary can be started").into()
}

/// Starts a command whose output is kept for [`end`].
///
/// # Panics
/// It cannot be started.
#[track_caller]
pub fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary can be started")
}

/// Waits for its end.
///
/// # Panics
/// It cannot be waited for.
#[track_caller]
pub fn end(child: Child) -> Ended {
    child.wait_with_output().expect("a child").into()
}

/// Waits until something holds.
///
/// # Panics
/// It does not within a minute.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let clock = SystemClock::new();
    let start = clock.monotonic();
    while !holds() {
        assert!(clock.monotonic() - start < Duration::from_secs(60), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
