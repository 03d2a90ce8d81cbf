//! Each record against the file AgentCompass 1.0.1 wrote for the same facts, byte for byte.

use std::{fs, path::PathBuf};

use argosy_coordinator::store::RunStore;
use argosy_shared::{
    id::TaskId,
    issue::{Code, Issue, Phase, Severity},
    redact::Redactor,
    result::Termination,
    run_dir::{
        AttemptRecord, AttemptResult, RetryRecord, RunInfo, TaskHeader, TaskIndex, attempt, checkpoint, json, request,
        retry::{RetryFile, Scope},
    },
    spec::AttemptStrategy,
};
use argosy_tests::places;
use serde_json::{Value, json};

use crate::support::{Attempt, new_run};

fn sample(test: &str, name: &str) -> Option<String> {
    let Some(folder) = places::agentcompass_samples() else {
        places::skipped(test, "no AgentCompass samples beside the project");
        return None;
    };
    Some(fs::read_to_string(folder.join(name)).unwrap())
}

/// What Argosy adds to the telemetry and to the benchmark's record.
const OURS: [&str; 7] =
    ["python_restarts", "replayed_turns", "setup_ms", "model_ms", "python_ms", "judge_policy", "judge_telemetry"];

/// Removes what Argosy adds, and what the stand-in benchmark of the samples does differently.
fn comparable(mut result: Value, ours: bool) -> String {
    for holder in ["/meta/harness/telemetry", "/meta/benchmark/discoverybench"] {
        if let Some(members) = result.pointer_mut(holder).and_then(Value::as_object_mut) {
            for key in OURS {
                assert!(ours || !members.contains_key(key));
                members.shift_remove(key);
            }
        }
    }
    if let Some(steps) = result.pointer_mut("/trajectory/steps").and_then(Value::as_array_mut) {
        for step in steps {
            step["user_content"] = json!("prompt");
        }
    }
    result["analysis_result"] = json!({});
    result["artifacts"] = json!({});
    json::pretty(&result).unwrap()
}

fn written(record: &AttemptRecord<'_>) -> Value {
    let redactor = Redactor::default();
    let text = json::pretty(&AttemptResult { record, redactor: &redactor }).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json::pretty(&value).unwrap(), text, "streamed and whole are the same text");
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, attempt::KEYS);
    value
}

#[test]
fn a_clean_attempt() {
    let Some(text) = sample("a_clean_attempt", "clean.attempt.result.json") else { return };
    let expected: Value = serde_json::from_str(&text).unwrap();
    let attempt = Attempt::right();
    assert_eq!(comparable(written(&attempt.record()), true), comparable(expected, false));
}

#[test]
fn a_fatal_attempt_without_a_step() {
    let Some(text) = sample("a_fatal_attempt", "fatal.attempt.result.json") else { return };
    let expected: Value = serde_json::from_str(&text).unwrap();
    let mut attempt = Attempt::fatal();
    let execution = attempt.execution.as_mut().unwrap();
    execution.steps.clear();
    execution.final_answer = None;
    execution.started_at = crate::support::at("2026-12-01T03:02:52.812390Z");
    execution.finished_at = crate::support::at("2026-12-01T03:02:52.812393Z");
    execution.telemetry.iterations = 0;
    execution.telemetry.python_executions = 0;
    execution.telemetry.termination_reason = Termination::ModelFailed;
    attempt.issues = vec![Issue::new(
        Phase::Run,
        Code::ModelFailed,
        "HTTP 503: InternalServerError: Error code: 503 - mock upstream unavailable",
    )];
    assert_eq!(comparable(written(&attempt.record()), true), comparable(expected, false));
}

#[test]
fn an_attempt_the_judge_failed() {
    let Some(text) = sample("an_attempt_the_judge_failed", "judge_fatal.attempt.result.json") else { return };
    let expected: Value = serde_json::from_str(&text).unwrap();
    let mut attempt = Attempt::right();
    attempt.benchmark = None;
    attempt.issues = vec![Issue {
        severity: Severity::Fatal,
        phase: Phase::Evaluate,
        code: Code::JudgeFailed,
        message: "HTTP 503: InternalServerError: Error code: 503 - mock judge unavailable".to_owned(),
    }];
    let ours = written(&attempt.record());
    assert_eq!(ours["metrics"], json!({}), "no score beside a FATAL issue");
    for key in ["status", "metrics", "final_answer", "issues"] {
        assert_eq!(ours[key], expected[key]);
    }
    assert_eq!(ours["meta"]["benchmark"], json!({}));
}

#[test]
fn task_indexes() {
    let task = TaskId::from("real_test__alpha__0__0");
    let gold = json!("y = 2x");
    let header = |k| TaskHeader {
        task: &task,
        category: Some("real_test:sociology"),
        ground_truth: &gold,
        k,
        strategy: AttemptStrategy::Avg,
    };
    let cases = [
        ("clean.task.json", TaskIndex::published(&header(1), vec![1])),
        ("k2_avg.task.json", TaskIndex::published(&header(2), vec![1, 2])),
        ("interrupted.running.task.json", TaskIndex::running(&TaskId::from("synth_test__gamma__0__0"), vec![1])),
    ];
    for (name, index) in cases {
        let Some(text) = sample("task_indexes", name) else { return };
        assert_eq!(json::pretty(&index).unwrap(), text, "{name}");
        assert_eq!(serde_json::from_str::<TaskIndex>(&text).unwrap(), index, "{name}");
    }
    let Some(text) = sample("task_indexes", "clean.attempt.checkpoint.json") else { return };
    assert_eq!(json::pretty(&checkpoint::published()).unwrap(), text);
}

#[test]
fn run_infos_survive_reading_and_writing() {
    for name in ["clean", "fatal_all", "interrupted", "killed", "reference_values", "resumed"] {
        let Some(text) = sample("run_infos", &format!("{name}.run_info.json")) else { return };
        let info: RunInfo = serde_json::from_str(&text).unwrap();
        assert!(info.other.is_empty(), "{name}: {:?}", info.other);
        assert_eq!(json::pretty_sorted(&info).unwrap(), text, "{name}");
    }
}

#[test]
fn params_follow_from_the_request() {
    let Some(info) = sample("params", "clean.run_info.json") else { return };
    let Some(params) = sample("params", "clean.params.json") else { return };
    let info: RunInfo = serde_json::from_str(&info).unwrap();
    assert_eq!(json::pretty_sorted(&request::params(&info.request)).unwrap(), params);
}

#[test]
fn a_new_runs_request_is_recorded_as_agentcompass_does() {
    let Some(text) = sample("a_new_runs_request", "clean.run_info.json") else { return };
    let info: RunInfo = serde_json::from_str(&text).unwrap();
    // What the user gave: with the key, and members that are empty.
    let mut request = info.request.clone();
    request["model"]["api_key"] = json!("sk-given-by-the-user");
    request["harness"]["params"] = json!({});
    request["execution"]["retry_pattern_list"] = Value::Null;
    request["output"] = json!({});
    let results = tempfile::tempdir().unwrap();
    let mut new = new_run(results.path(), Some("clean"), 1);
    new.request = request;
    let store = RunStore::create(new).unwrap();
    let written: Value = serde_json::from_slice(&fs::read(store.dir().join("run_info.json")).unwrap()).unwrap();
    assert_eq!(json::pretty_sorted(&written["request"]).unwrap(), json::pretty_sorted(&info.request).unwrap());
}

#[test]
fn a_retry_record() {
    let Some(text) = sample("a_retry_record", "fatal.retry1.json") else { return };
    let mut expected: Value = serde_json::from_str(&text).unwrap();
    let mut attempt = Attempt::fatal();
    let execution = attempt.execution.as_mut().unwrap();
    execution.steps.clear();
    execution.final_answer = None;
    execution.started_at = crate::support::at("2026-12-01T03:02:50.672324Z");
    execution.finished_at = crate::support::at("2026-12-01T03:02:50.672327Z");
    execution.telemetry.iterations = 0;
    execution.telemetry.python_executions = 0;
    execution.telemetry.termination_reason = Termination::ModelFailed;
    attempt.issues = vec![Issue::new(
        Phase::Run,
        Code::ModelFailed,
        "HTTP 503: InternalServerError: Error code: 503 - mock upstream unavailable",
    )];
    let record = attempt.record();
    let task = TaskId::from("real_test__alpha__0__0");
    let retry = RetryRecord {
        task: &task,
        category: Some("real_test:sociology"),
        attempt: 1,
        retry: 1,
        max_retries: 2,
        delay_seconds: 0.414_848_080_782_640_96,
        scope: Scope::Attempt,
        matched_pattern: "fatal",
        discarded: &record,
    };
    let redactor = Redactor::default();
    let ours = json::pretty(&RetryFile { record: &retry, redactor: &redactor }).unwrap();
    let mut ours: Value = serde_json::from_str(&ours).unwrap();
    // Theirs repeats the plan that run_info.json holds, and a traceback; ours counts and measures more.
    expected["discarded_result"]["meta"] = json!({});
    expected["discarded_result"]["artifacts"] = json!({});
    for key in OURS {
        ours["discarded_result"]["telemetry"].as_object_mut().unwrap().shift_remove(key);
    }
    assert_eq!(json::pretty(&ours).unwrap(), json::pretty(&expected).unwrap());
}

/// Names of the sample tree that a published task has.
#[test]
fn the_layout_is_the_sample_trees() {
    let Some(text) = sample("the_layout", "run_tree.txt") else { return };
    let results = tempfile::tempdir().unwrap();
    let store = crate::support::store(&results, 1);
    let path: PathBuf = crate::support::publish(&store, 0, &[&Attempt::right()]);
    let relative = path.strip_prefix(store.dir()).unwrap().to_string_lossy().into_owned();
    let (_, hash) = relative.split_once("--").unwrap();
    let anonymous = relative.replace(hash.split('/').next().unwrap(), "<sha256>");
    let published = anonymous.replace("/task.json", "");
    for file in ["task.json", "attempt-1/result.json", "attempt-1/checkpoint.json"] {
        let line = format!("./mock-ok_mini_discovery_mini_agent/clean/{published}/{file}");
        assert!(text.lines().any(|known| known == line), "{line}");
        assert!(path.with_file_name(file).exists(), "{file}");
    }
}
