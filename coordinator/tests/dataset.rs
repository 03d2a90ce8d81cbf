//! `argosy dataset` as a process, on the checkout-shaped fixture.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

fn checkout() -> String {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("tests/fixtures/checkout");
    place.display().to_string()
}

struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn argosy(arguments: &[&str]) -> Run {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_argosy")).arg("dataset").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

fn succeed(arguments: &[&str]) -> String {
    let run = argosy(arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
    run.stdout
}

fn refuse(arguments: &[&str], message: &str, hint: &str) {
    let run = argosy(arguments);
    assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains(message), "{}", run.stderr);
    assert!(run.stderr.contains(&format!("\nhint: {hint}")), "{}", run.stderr);
}

#[test]
fn import_writes_a_bundle_and_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("bundle").display().to_string();
    refuse(&["import", &checkout(), "--to", &to], "not a file of DiscoveryBench's commit", "`argosy dataset fetch`");
    assert!(!Path::new(&to).exists());
    let run = argosy(&["import", &checkout(), "--to", &to, "--allow-unpinned"]);
    assert_eq!((run.code, run.stdout.trim_end()), (Some(0), to.as_str()), "{}", run.stderr);
    assert!(run.stderr.contains("imported 11 tasks, 7 data files: not DiscoveryBench's pinned commit; digest "));
    refuse(&["import", &checkout(), "--to", &to, "--allow-unpinned"], "exists already", "choose another place");
    assert_eq!(succeed(&["list", &to, "--tasks"]), succeed(&["list", &checkout(), "--tasks", "--allow-unpinned"]));
}

#[test]
fn list_counts_and_names() {
    let table = succeed(&["list", &checkout(), "--allow-unpinned"]);
    assert!(
        table.contains("7 real tasks: 5 of real_test, which have a row in eval/answer_key_real.csv, and 2 of"),
        "{table}"
    );
    assert!(table.contains("the data is NOT that of DiscoveryBench's commit c31fcf0"), "{table}");
    let json = succeed(&[
        "list",
        &checkout(),
        "--allow-unpinned",
        "--format",
        "json",
        "--split",
        "synth_test,real_train",
        "--tasks",
    ]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["tasks"], &json["data_files"], &json["pinned_data"]), (&4.into(), &3.into(), &false.into()));
    assert_eq!(json["splits"][0]["split"], "real_train");
    assert_eq!(json["splits"][1]["domains"]["tea tasting"], 2);
    assert_eq!(json["splits"][1]["task_list"][1]["id"], "synth_test__tea-tasting_0_0__1__4");
    assert!(!json.to_string().contains("Steeping raises"), "no gold in a list");
    let run = argosy(&["list", &checkout(), "--split", "synth_tset"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("did you mean synth_test?"), "{}", run.stderr);
}

#[test]
fn show_gives_the_input_and_the_gold_only_when_asked() {
    let task = "real_test__lighthouse_keepers__0__1";
    let show = |more: &[&str]| succeed(&[&["show", &checkout(), task, "--allow-unpinned"], more].concat());
    let plain = show(&[]);
    assert!(plain.starts_with("You are the navigator."), "{plain}");
    assert!(plain.contains("['/workspace/keepers.csv', '/workspace/storms+gales.csv']"), "{plain}");
    assert!(!plain.contains("Lamps burn longer") && !plain.contains("no effect on lamp hours"), "{plain}");
    assert!(show(&["--add-domain-knowledge"]).contains("Lamps burn longer in winter"));
    assert!(show(&["--gold"]).contains("Gold hypothesis: Storms have no effect on lamp hours."));
    assert!(show(&["--prompt"]).contains("Keep the log in this form"));
    assert!(show(&["--prompt", "--agent", "react"]).contains("Think aloud"));
    let wrong = ["show", &checkout(), "real_test__lighthouse_keepers__0__9", "--allow-unpinned"];
    refuse(&wrong, "there is no task", "did you mean `real_test__lighthouse_keepers__0__");
}

#[test]
fn pack_feeds_a_copy_of_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let pack: PathBuf = folder.path().join("pack.json");
    std::fs::write(&pack, succeed(&["pack", &checkout(), "--allow-unpinned"])).unwrap();
    let copy = folder.path().join("copy");
    std::fs::create_dir_all(copy.join("eval")).unwrap();
    // The data may lie on another disk.
    let checkout_path = PathBuf::from(checkout());
    std::os::unix::fs::symlink(checkout_path.join("discoverybench"), copy.join("discoverybench")).unwrap();
    for key in ["eval/answer_key_real.csv", "eval/answer_key_synth.csv"] {
        std::fs::copy(checkout_path.join(key), copy.join(key)).unwrap();
    }
    let copy = copy.display().to_string();
    let task = "synth_dev__kite-festivals_0_1__0__88";
    refuse(&["show", &copy, task, "--allow-unpinned"], "not the Python files with the prompts", "`argosy dataset pack");
    let shown = succeed(&["show", &copy, task, "--allow-unpinned", "--prompt-pack", pack.to_str().unwrap()]);
    assert_eq!(shown, succeed(&["show", &checkout(), task, "--allow-unpinned"]));
    refuse(&["pack", &checkout()], "agents/coder_agent.py: differs from", "`argosy dataset fetch` gets");
    std::fs::write(&pack, "{}").unwrap();
    refuse(
        &["show", &checkout(), task, "--allow-unpinned", "--prompt-pack", pack.to_str().unwrap()],
        "pack.json: not a prompt pack: missing field `schema`",
        "`argosy dataset pack CHECKOUT > FILE` writes one",
    );
}

#[test]
fn fetch_says_what_is_wrong_with_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("to").display().to_string();
    refuse(&["fetch", "--to", &to, "--url", "nowhere"], "\"nowhere\" is not a URL", "--url names another place");
    assert!(!Path::new(&to).exists());
}
