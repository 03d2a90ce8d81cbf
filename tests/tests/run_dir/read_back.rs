//! A run read back from its files: scores can be computed again, and what is wrong is named.

use std::{fs, path::PathBuf};

use argosy_coordinator::report::{load, metrics, table};
use argosy_shared::{
    id::TaskId,
    run_dir::{State, names},
};
use argosy_tests::places;
use serde_json::{Value, json};

use crate::support::{Attempt, TASKS, publish, store};

/// A run with one task of each kind; the last one is started only.
fn unfinished(results: &tempfile::TempDir) -> PathBuf {
    let store = store(results, 1);
    for (position, attempt) in [Attempt::right(), Attempt::zero(), Attempt::fatal()].iter().enumerate() {
        publish(&store, position, &[attempt]);
    }
    store.task_started(&TaskId::from(TASKS[3].0), 1).unwrap();
    store.dir().to_owned()
}

#[test]
fn what_was_written_is_read_back() {
    let results = tempfile::tempdir().unwrap();
    let dir = unfinished(&results);
    let run = load::run(&dir).unwrap();
    assert_eq!((run.model(), run.benchmark()), ("org/model", "discoverybench"));
    assert_eq!(run.tasks.len(), 3);
    assert_eq!(run.running, [TaskId::from(TASKS[3].0)]);
    assert_eq!((run.plan.k, run.plan.tasks.len(), run.plan.unnamed_missing), (1, 4, 0));
    let report = metrics::aggregate(&run.tasks, &run.plan).unwrap();
    let coverage = report.coverage().unwrap();
    assert_eq!((coverage.planned, coverage.evaluated, coverage.fatal, coverage.missing), (4, 2, 1, 1));
    assert_eq!(report.headline().unwrap().reference_value, Some(0.25));
    assert_eq!(report.headline().unwrap().hierarchy["overall/synth_test/synth_test:music"].counts.invalidated, 1);
    assert!(table::scores(&report).contains("2 of 4 tasks count (1 without a result, 1 invalidated by a FATAL issue)"));
}

#[test]
fn a_directory_without_argosys_plan_takes_the_total_from_its_progress() {
    let results = tempfile::tempdir().unwrap();
    let dir = unfinished(&results);
    fs::remove_file(dir.join("argosy.json")).unwrap();
    fs::write(dir.join("progress.json"), json!({"total_tasks": 6}).to_string()).unwrap();
    let run = load::run(&dir).unwrap();
    assert_eq!(run.plan.unnamed_missing, 3);
    fs::remove_file(dir.join("progress.json")).unwrap();
    assert_eq!(load::run(&dir).unwrap().plan.unnamed_missing, 1, "the running one");
}

#[test]
fn agentcompasss_own_files_are_read() {
    let Some(samples) = places::agentcompass_samples() else {
        places::skipped("agentcompasss_own_files_are_read", "no AgentCompass samples beside the project");
        return;
    };
    let results = tempfile::tempdir().unwrap();
    let dir = results.path().join("clean");
    let task = TaskId::from("real_test__alpha__0__0");
    let folder = dir.join(names::task_path(State::Normal, &task));
    fs::create_dir_all(folder.join("attempt-1")).unwrap();
    for (from, to) in [
        ("clean.run_info.json", dir.join("run_info.json")),
        ("clean.progress.json", dir.join("progress.json")),
        ("clean.task.json", folder.join("task.json")),
        ("clean.attempt.result.json", folder.join("attempt-1/result.json")),
    ] {
        fs::copy(samples.join(from), to).unwrap();
    }
    for other in [
        "fatal",
        "judge_fatal",
        "connection_refused",
        "error_max_iterations",
        "error_model_output_invalid",
        "resumed.reused",
    ] {
        let id = TaskId(format!("t_{other}"));
        let folder = dir.join(names::task_path(State::Fatal, &id));
        fs::create_dir_all(folder.join("attempt-1")).unwrap();
        let mut index: Value = serde_json::from_slice(&fs::read(samples.join("clean.task.json")).unwrap()).unwrap();
        index["task_id"] = json!(id);
        fs::write(folder.join("task.json"), index.to_string()).unwrap();
        fs::copy(samples.join(format!("{other}.attempt.result.json")), folder.join("attempt-1/result.json")).unwrap();
    }
    let run = load::run(&dir).unwrap();
    assert_eq!((run.model(), run.benchmark(), run.tasks.len()), ("mock-ok", "mini_discovery", 7));
    assert_eq!(run.plan.metrics, ["score", "recall_context", "mean_accuracy_score"]);
    let report = metrics::aggregate(&run.tasks, &run.plan).unwrap();
    let counts = report.headline().unwrap().counts;
    assert_eq!((counts.total, counts.evaluated, counts.invalidated, counts.error), (7, 5, 2, 5));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    type Damage = (&'static str, fn(&std::path::Path));
    let break_it: [Damage; 7] = [
        ("expected `agentcompass.run_info.v3`", |dir| {
            edit(&dir.join("run_info.json"), |info| info["schema_version"] = json!("x"));
        }),
        ("unknown field `extra`", |dir| edit(&result(dir), |result| result["extra"] = json!(1))),
        ("missing field `meta`", |dir| {
            edit(&result(dir), |result| {
                result.as_object_mut().unwrap().shift_remove("meta");
            });
        }),
        ("`metrics.score` is true or false", |dir| {
            edit(&result(dir), |result| result["metrics"]["score"] = json!(true))
        }),
        ("belongs into a directory called", |dir| {
            edit(&result(dir).with_file_name("../task.json"), |task| task["task_id"] = json!("other"));
        }),
        ("in a final state without", |dir| {
            edit(&result(dir).with_file_name("../task.json"), |task| {
                task.as_object_mut().unwrap().shift_remove("ground_truth");
            });
        }),
        ("different attempt plans", |dir| {
            edit(&result(dir).with_file_name("../task.json"), |task| task["attempt_plan"]["k"] = json!(2));
        }),
    ];
    for (expected, damage) in break_it {
        let results = tempfile::tempdir().unwrap();
        let dir = unfinished(&results);
        damage(&dir);
        let message = load::run(&dir).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
        assert!(message.contains(".json"), "{message} names no file");
    }
}

fn result(dir: &std::path::Path) -> PathBuf {
    dir.join(names::task_path(State::Normal, &TaskId::from(TASKS[0].0))).join("attempt-1/result.json")
}

fn edit(path: &std::path::Path, change: impl FnOnce(&mut Value)) {
    // `attempt-1/../task.json` is fine for the file system and clearer here.
    let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
}
