//! `argosy summary` as a process.

use std::{fs, path::Path, process::Command};

use argosy_coordinator::{
    report::{load, metrics, summary},
    store::{NewRun, RunStore},
};
use argosy_shared::{
    id::TaskId,
    prompts::{AgentTemplate, Template},
    redact::Redactor,
    run_dir::{AttemptRecord, Metrics, PlannedRun, PlannedTask, RunStatus, TaskHeader, names},
    spec::AttemptStrategy,
    time::Timestamp,
};
use serde_json::{Value, json};

const TASKS: [(&str, &str, f64); 3] = [("a", "real_test:x", 0.5), ("b", "real_test:x", 0.0), ("c", "real_test:y", 1.0)];

fn at() -> Timestamp {
    "2026-12-01T03:01:42Z".parse().expect("a time")
}

/// A run with all its results.
fn run(results: &Path) -> RunStore {
    let tasks = TASKS
        .iter()
        .map(|(id, category, _)| PlannedTask {
            task_id: TaskId::from(*id),
            category: (*category).to_owned(),
            question_group: None,
        })
        .collect();
    let store = RunStore::create(NewRun {
        results_dir: results.to_owned(),
        run_name: String::new(),
        namespace: names::namespace("m", "discoverybench", "discovery_agent"),
        run_id: Some("r".to_owned()),
        request: json!({"benchmark": {"id": "discoverybench"}, "model": {"id": "m"},
                        "execution": {"attempts": {"k": 1, "strategy": "avg"}}}),
        reused_from: None,
        planned: PlannedRun::new(tasks, Value::Null),
        redactor: Redactor::default(),
        started_at: at(),
    })
    .expect("a new run");
    let template = AgentTemplate {
        template: Template::default(),
        observation: Template::default(),
        stop: Vec::new(),
        max_iterations: 5,
        max_executions: None,
        refusal: None,
    };
    for (id, category, score) in TASKS {
        let task = TaskId::from(id);
        let header = TaskHeader {
            task: &task,
            category: Some(category),
            ground_truth: &json!("gold"),
            k: 1,
            strategy: AttemptStrategy::Avg,
        };
        let record = AttemptRecord {
            metrics: Some(Metrics { score, recall_context: 1.0, mean_accuracy_score: score }),
            execution: None,
            template: &template,
            issues: &[],
            benchmark: None,
            diagnostics: None,
            reused: None,
            retry_count: 0,
        };
        store.publish(&header, &[(1, record)]).expect("published");
    }
    store
}

/// Exit code, stdout and stderr of `argosy summary DIR …`.
fn argosy(dir: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_argosy")).arg("summary").arg(dir).args(arguments).output();
    let output = output.expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_live_run_is_looked_at_and_not_written() {
    let results = tempfile::tempdir().expect("a folder");
    let store = run(results.path());
    let (code, shown, _) = argosy(store.dir(), &["--dry-run"]);
    assert_eq!(code, Some(0));
    assert!(shown.contains("overall") && shown.contains("0.5000"), "{shown}");
    let (code, _, said) = argosy(store.dir(), &[]);
    assert_eq!(code, Some(1));
    assert!(said.contains("another process writes this run") && said.contains("hint: --dry-run"), "{said}");
    assert!(!store.dir().join(names::METRICS).exists());
}

#[test]
fn the_metric_files_are_made_again_to_the_byte() {
    let results = tempfile::tempdir().expect("a folder");
    let store = run(results.path());
    let loaded = load::run(store.dir()).expect("read back");
    let report = metrics::aggregate(&loaded.tasks, &loaded.plan).expect("aggregated");
    store.write_report(&report, None, at()).expect("written");
    store.finish(RunStatus::Completed, None, at()).expect("written");
    let dir = store.dir().to_owned();
    drop(store);
    let read = |name: &str| fs::read_to_string(dir.join(name)).expect("a file");
    let info = || serde_json::from_str::<Value>(&read(names::RUN_INFO)).expect("JSON");
    let before = (read(names::METRICS), read(names::SUMMARY));
    assert_eq!(before.1, summary::markdown("m", "discoverybench", &report));
    assert_eq!(info()["metric_artifacts"]["source"], "evaluation");

    fs::remove_file(dir.join(names::METRICS)).expect("removed");
    assert_eq!(argosy(&dir, &[]).0, Some(0));
    assert_eq!((read(names::METRICS), read(names::SUMMARY)), before);
    assert_eq!(info()["metric_artifacts"]["source"], "summary");
    assert_eq!(info()["metric_artifacts"]["benchmark_params_override"], json!({}));
    assert_eq!(info()["status"], "completed", "a summary does not touch the status");
}

#[test]
fn another_aggregation_can_be_asked_for() {
    let results = tempfile::tempdir().expect("a folder");
    let dir = run(results.path()).dir().to_owned();
    let (code, shown, _) =
        argosy(&dir, &["--dry-run", "--benchmark-params", "{\"aggregation_mode\": \"category_mean\"}"]);
    assert_eq!(code, Some(0));
    assert!(shown.contains("0.6250") && shown.contains("of the plain mean over tasks"), "{shown}");
    for wrong in ["{\"aggregation_mode\": \"median\"}", "[]", "{\"category_hierarchy\": {\"x\": {}}}"] {
        let (code, _, said) = argosy(&dir, &["--dry-run", "--benchmark-params", wrong]);
        assert_eq!(code, Some(2), "{wrong}: {said}");
    }
    let (code, _, said) = argosy(Path::new("nowhere"), &[]);
    assert_eq!(code, Some(2));
    assert!(said.contains("nowhere: not a run directory"), "{said}");
}
