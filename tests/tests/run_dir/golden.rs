//! Whole files in Argosy's own words, so that a change of any byte is seen where AgentCompass's samples are absent.

use std::fs;

use argosy_shared::{
    id::TaskId,
    issue::{Code, Issue, Phase},
    result::Provenance,
    run_dir::{RetryRecord, retry::Scope},
    trajectory::StepMetric,
};
use serde_json::json;

use crate::support::{Attempt, TASKS, publish, store};

fn rich() -> Attempt {
    let mut attempt = Attempt::zero();
    let execution = attempt.execution.as_mut().unwrap();
    execution.provenance = Provenance {
        worker: "w1".to_owned(),
        environment: "host_process".to_owned(),
        argosy_version: "0.1.0".to_owned(),
        python_version: "3.12.1".to_owned(),
        packages: [("pandas".to_owned(), "2.2.1".to_owned())].into(),
        changed_params: vec!["dropped stop".to_owned()],
    };
    execution.steps[0].metric = StepMetric {
        cached_tokens: Some(5),
        reasoning_tokens: Some(2),
        request_retries: 1,
        observation_bytes_cut: 7,
        ..execution.steps[0].metric.clone()
    };
    execution.steps[0].reasoning = Some("hm \u{b5} \u{2028} \"quoted\"\t".to_owned());
    execution.raw_replies = vec!["<html>".to_owned()];
    let benchmark = attempt.benchmark.as_mut().unwrap();
    benchmark.eval_rec =
        Some(json!({"gold_sub_hypo": {"sub_hypo": []}, "pairs": {"P0||G0": {"score": 1e-5}}, "final_score": 0.0}));
    benchmark.provenance.prompt_pack = "0123abcd".to_owned();
    benchmark.provenance.judge_warnings = vec!["intersection cut to 2".to_owned()];
    attempt.issues.push(Issue::new(Phase::Evaluate, Code::JudgeCountAdjusted, "intersection cut to 2"));
    attempt
}

#[test]
fn a_published_task() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let path = publish(&store, 0, &[&rich()]);
    insta::assert_snapshot!("task.json", fs::read_to_string(&path).unwrap());
    insta::assert_snapshot!("result.json", fs::read_to_string(path.with_file_name("attempt-1/result.json")).unwrap());
    insta::assert_snapshot!("run_info.json", fs::read_to_string(store.dir().join("run_info.json")).unwrap());
    insta::assert_snapshot!("params.json", fs::read_to_string(store.dir().join("params.json")).unwrap());
    let planned = fs::read_to_string(store.dir().join("argosy.json")).unwrap();
    insta::assert_snapshot!("argosy.json", planned.replace(argosy_shared::VERSION, "VERSION"));
}

#[test]
fn a_retry_record() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let attempt = rich();
    let record = attempt.record();
    let path = store
        .retry_diagnostic(&RetryRecord {
            task: &TaskId::from(TASKS[0].0),
            category: Some(TASKS[0].1),
            attempt: 1,
            retry: 1,
            max_retries: 2,
            delay_seconds: 3.5,
            scope: Scope::Evaluate,
            matched_pattern: "^judge",
            discarded: &record,
        })
        .unwrap();
    insta::assert_snapshot!("retry.json", fs::read_to_string(path).unwrap());
}

/// A trajectory of many long turns is quadratic on disk, but never in memory.
#[test]
fn long_trajectories_are_streamed() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let mut attempt = Attempt::right();
    let execution = attempt.execution.as_mut().unwrap();
    let mut step = execution.steps[0].clone();
    step.observation = Some("o".repeat(100_000));
    execution.steps = (1..=25)
        .map(|number| {
            step.step_id = number;
            step.clone()
        })
        .collect();
    let before = peak_memory();
    let path = publish(&store, 0, &[&attempt]);
    let grown = peak_memory().saturating_sub(before);
    let size = fs::metadata(path.with_file_name("attempt-1/result.json")).unwrap().len();
    assert!(size > 25 * 24 / 2 * 100_000, "{size}");
    assert!(grown < size / 2, "wrote {size} bytes and held {grown} more than before");
}

/// The most memory this process ever had, in bytes.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}
