//! Exports, read by the programs they are for: Inspect's log reader and Harbor's models.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use argosy_coordinator::{
    report::{
        export::{self, Facts, Place, atif, inspect},
        load::{self, LoadedRun},
        metrics,
    },
    store::RunStore,
};
use argosy_shared::run_dir::RunStatus;
use argosy_tests::{places, venv};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Attempt, TASKS, at, new_run, publish};

const INSPECT: &str = "inspect_ai==0.3.285";
const HARBOR: &str = "harbor==0.26.0";

/// A complete run, one with failures of all kinds, and one that was interrupted.
fn runs(results: &TempDir) -> [LoadedRun; 3] {
    let make = |name: &str, attempts: &[Attempt], status: RunStatus| {
        let store = RunStore::create(new_run(results.path(), Some(name), 1)).unwrap();
        for (position, attempt) in attempts.iter().enumerate() {
            publish(&store, position, &[attempt]);
        }
        store.finish(status, None, at("2026-12-01T03:02:00Z")).unwrap();
        load::run(store.dir()).unwrap()
    };
    let right = Attempt::right;
    let mut thinking = right();
    if let Some(execution) = &mut thinking.execution {
        execution.steps[0].reasoning = Some("hm".to_owned());
        // An observation that answers no call.
        execution.steps[1].observation = Some("no such tool".to_owned());
        execution.steps[1].metric.stop_reason = Some("length".to_owned());
    }
    [
        make("complete", &[right(), Attempt::zero(), thinking, right()], RunStatus::Completed),
        make("failed", &[right(), Attempt::zero(), Attempt::fatal(), Attempt::lost()], RunStatus::Failed),
        make("interrupted", &[right(), Attempt::zero()], RunStatus::Cancelled),
    ]
}

fn lines(python: &Path, script: &str, files: &[PathBuf]) -> Vec<Value> {
    let script = places::project().join("tests/fixtures/export").join(script);
    let output = Command::new(python).arg(script).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn log(run: &LoadedRun, folder: &Path) -> PathBuf {
    let report = metrics::aggregate(&run.tasks, &run.plan).unwrap();
    let path = folder.join(format!("{}.json", run.info.run_id.0));
    inspect::write(run, &report, fs::File::create(&path).unwrap()).unwrap();
    path
}

#[test]
fn inspect_reads_the_log() {
    let results = TempDir::new().unwrap();
    let logs: Vec<PathBuf> = runs(&results).iter().map(|run| log(run, results.path())).collect();
    let Some(python) = venv::with("inspect_reads_the_log", &[INSPECT]) else { return };
    let [complete, failed, interrupted] = lines(&python, "inspect_reader.py", &logs).try_into().unwrap();

    assert_eq!(complete["status"], "success");
    assert_eq!((&complete["planned"], &complete["epochs"]), (&json!(4), &json!(1)));
    assert_eq!(complete["metrics"]["score"], json!({"mean": 0.375}));
    assert_eq!(complete["input_tokens"], 4 * 50);
    assert_eq!(complete["samples"][0]["scores"]["score"], 0.5);
    assert_eq!(complete["samples"][1]["scores"]["score"], 0.0);
    assert_eq!(complete["samples"][0]["roles"], json!(["user", "assistant", "tool", "assistant"]));
    assert_eq!(complete["samples"][2]["roles"], json!(["user", "assistant", "tool", "assistant", "user"]));

    assert_eq!(failed["status"], "error");
    assert_eq!(failed["metrics"]["score"], json!({"reference_mean": 0.25}));
    for sample in [&failed["samples"][2], &failed["samples"][3]] {
        assert_eq!(sample["scores"], Value::Null, "invalidated: no score, and no zero");
        assert!(sample["error"].as_str().is_some_and(|error| !error.is_empty()));
    }
    assert_eq!(failed["samples"][3]["roles"], json!([]), "no execution ever delivered anything");

    assert_eq!(interrupted["status"], "cancelled");
    assert_eq!(interrupted["planned"], 4);
    assert_eq!(interrupted["samples"].as_array().map(Vec::len), Some(2));
    assert_eq!(interrupted["metrics"]["score"], json!({"reference_mean": 0.25}));
}

#[test]
fn harbor_accepts_the_trajectories() {
    let results = TempDir::new().unwrap();
    let mut files = Vec::new();
    for run in &runs(&results) {
        let facts = Facts::of(run);
        for planned in export::attempts(run) {
            let Place::Published(_) = planned.place else { continue };
            let document = atif::trajectory(&facts, &planned, &run.attempt(&planned.task, planned.attempt).unwrap());
            let path = results.path().join(format!("{}-{}.json", run.info.run_id.0, planned.task));
            fs::write(&path, serde_json::to_vec(&document).unwrap()).unwrap();
            files.push(path);
        }
    }
    assert_eq!(files.len(), 4 + 4 + 2);
    let Some(python) = venv::with("harbor_accepts_the_trajectories", &[HARBOR]) else { return };
    let read = lines(&python, "harbor_reader.py", &files);
    assert_eq!(read.len(), files.len());
    assert_eq!(read[0]["task"], TASKS[0].0);
    assert_eq!(read[0]["sources"], json!(["user", "agent", "agent"]));
    assert_eq!((&read[0]["prompt_tokens"], &read[0]["scores"]["score"]), (&json!(50), &json!(0.5)));
    // FATAL: the steps there were, and no score; a lost worker: the reason in place of steps.
    assert_eq!((&read[6]["scores"], &read[7]["scores"]), (&Value::Null, &Value::Null));
    assert_eq!(read[7]["sources"], json!(["system"]));
}
