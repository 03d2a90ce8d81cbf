//! Faults of endpoint and judge: retried where asked for, invalidating where not, never a zero.

use std::collections::BTreeMap;

use argosy_coordinator::{demo, stand_in::Kind};
use argosy_tests::{
    run_files::{RunFiles, codes},
    server::Server,
    stage::{Stage, end, finish, start, until},
};
use serde_json::{Value, json};

/// Retries follow each other at once.
const QUICK: &str = r#"{"retry_min_delay_seconds": 0.02, "retry_max_delay_seconds": 0.1}"#;
/// A request is sent once.
const ONCE: &str = r#"{"max_retries": 0}"#;

fn judge_once() -> Value {
    json!({"judge_model": {"id": "j", "params": {"max_retries": 0}}})
}

fn expected_scores() -> BTreeMap<String, f64> {
    demo::expected().coder.into_iter().map(|(id, outcome)| (id, outcome.score)).collect()
}

/// Valid results have the expected score; invalid ones have none, and one of `codes`.
fn check_scores(run: &RunFiles, allowed: &[&str]) -> (usize, usize) {
    let expected = expected_scores();
    let (mut valid, mut invalid) = (0, 0);
    for (id, result) in run.single_results() {
        let fatal: Vec<&Value> =
            result["issues"].as_array().expect("issues").iter().filter(|issue| issue["severity"] == "fatal").collect();
        if fatal.is_empty() {
            let score = result["metrics"]["score"].as_f64().unwrap_or(f64::NAN);
            assert!((score - expected[&id]).abs() < 1e-6, "{id}: {score}");
            valid += 1;
        } else {
            assert_eq!(result["metrics"], json!({}), "{id}");
            assert!(
                fatal.iter().all(|issue| allowed.contains(&issue["code"].as_str().unwrap_or_default())),
                "{fatal:?}"
            );
            invalid += 1;
        }
    }
    (valid, invalid)
}

fn check_reference_only(run: &RunFiles) {
    let metrics = run.json("metrics.json");
    assert_eq!(metrics["evaluation_failed"], true);
    for series in metrics["series"].as_array().expect("series") {
        assert_eq!(series["value"], Value::Null);
    }
    assert_eq!(run.json("run_info.json")["status"], "failed");
}

#[test]
fn an_endpoint_that_fails_at_first_costs_retries_and_nothing_else() {
    let stage = Stage::new();
    let mut script = stage.script();
    script["faults"] = json!([{"status": 503, "first": 2, "kinds": ["agent"]}]);

    let server = Server::start(&script);
    let mut command = stage.run(&server.base_url(), &json!({}));
    command.args(["--run-id", "with", "--max-retries", "12", "--execution-params", QUICK, "--model-params", ONCE]);
    let _ = finish(&mut command).expect(0);
    let run = stage.files("with");
    assert_eq!(check_scores(&run, &[]), (16, 0));
    let mut diagnostics = 0;
    for (id, folder) in run.tasks() {
        let result = run.json(&format!("{folder}/attempt-1/result.json"));
        let turns = result["trajectory"]["steps"].as_array().map_or(0, Vec::len);
        // Each turn fails twice, and a retry begins anew.
        assert_eq!(result["retry_count"], 2 * turns, "{id}");
        let retries = std::fs::read_dir(run.dir().join(&folder).join("attempt-1/retries"));
        for entry in retries.into_iter().flatten().flatten() {
            let name = entry.file_name().into_string().expect("UTF-8");
            if !name.ends_with(".json") {
                continue;
            }
            diagnostics += 1;
            let retry = run.json(&format!("{folder}/attempt-1/retries/{name}"));
            assert_eq!(retry["schema_version"], "agentcompass.retry.v1", "{name}");
            assert_eq!((&retry["task_id"], &retry["scope"]), (&json!(id), &json!("attempt")), "{name}");
            assert_eq!(retry["issues"][0]["code"], "model_failed", "{name}");
            assert!(retry["issues"][0]["message"].as_str().expect("text").contains("503"), "{name}");
        }
    }
    assert!(diagnostics >= 60, "{diagnostics} diagnostics");

    let server = Server::start(&script);
    let mut command = stage.run(&server.base_url(), &json!({}));
    let ended = finish(command.args(["--run-id", "without", "--model-params", ONCE])).expect(1);
    let run = stage.files("without");
    assert_eq!(check_scores(&run, &["model_failed"]), (0, 16));
    check_reference_only(&run);
    assert!(
        ended.stderr.contains("16 of 16 tasks are invalidated") && ended.stderr.contains("hint:"),
        "{}",
        ended.stderr
    );
}

#[test]
fn an_endpoint_that_dies_mid_run_invalidates_and_never_scores_zero() {
    let stage = Stage::new();
    let mut script = stage.script();
    script["latency"] = json!({"fixed": 40});
    let mut server = Server::start(&script);
    let mut command = stage.run(&server.base_url(), &judge_once());
    command.args(["--run-id", "r", "--task-concurrency", "4", "--model-params", ONCE]);
    let child = start(&mut command);
    let run = stage.files("r");
    until("some tasks are done", || run.dir().join("details").exists() && run.tasks().len() >= 3);
    server.stop();
    let ended = end(child).expect(1);
    let (valid, invalid) = check_scores(&run, &["model_failed", "judge_failed"]);
    assert!(valid >= 3 && invalid >= 3 && valid + invalid == 16, "{valid} valid, {invalid} invalid");
    let failed = |code: &str| run.single_results().values().filter(|result| codes(result).contains(&code)).count();
    assert!(failed("model_failed") > 0, "{}", ended.stderr);
    check_reference_only(&run);
    let reference = &run.json("metrics.json")["series"][0]["reference_value"];
    assert!(reference.is_f64(), "{reference}");
}

#[test]
fn a_failing_judge_is_asked_again_and_the_agent_is_not() {
    let stage = Stage::new();
    let mut script = stage.script();
    script["faults"] = json!([{"status": 500, "first": 2, "kinds": ["variables"]}]);
    let server = Server::start(&script);
    let mut command = stage.run(&server.base_url(), &judge_once());
    command.args(["--run-id", "r", "--max-retries", "8", "--execution-params", QUICK, "--no-preflight"]);
    let _ = finish(&mut command).expect(0);
    let run = stage.files("r");
    assert_eq!(check_scores(&run, &[]), (16, 0));
    let turns: u64 = run
        .single_results()
        .values()
        .map(|result| result["trajectory"]["steps"].as_array().map_or(0, |steps| steps.len() as u64))
        .sum();
    assert_eq!(server.stats().by_kind[&Kind::Agent], turns, "no turn was paid twice");
    assert!(server.stats().errors[&500] > 0);
    let scopes: Vec<Value> = run
        .all()
        .into_iter()
        .filter(|(path, _)| path.to_string_lossy().contains("/retries/"))
        .map(|(_, bytes)| serde_json::from_slice::<Value>(&bytes).expect("JSON")["scope"].clone())
        .collect();
    assert!(!scopes.is_empty() && scopes.iter().all(|scope| scope == "evaluate"), "{scopes:?}");

    // For ever: FATAL judge_failed, the answers are kept.
    let mut script = stage.script();
    script["faults"] = json!([{"status": 500, "kinds": ["sub_hypotheses"]}]);
    let server = Server::start(&script);
    let mut command = stage.run(&server.base_url(), &judge_once());
    command.args(["--run-id", "never", "--max-retries", "1", "--execution-params", QUICK, "--no-preflight"]);
    let _ = finish(&mut command).expect(1);
    let run = stage.files("never");
    // Two tasks have no answer: a valid zero without the judge.
    assert_eq!(check_scores(&run, &["judge_failed"]), (2, 14));
    for (id, result) in run.single_results() {
        let judged = codes(&result).contains(&"judge_failed");
        assert_eq!(judged, result["final_answer"].is_string(), "{id}");
        assert_eq!(result["retry_count"], u64::from(judged), "{id}");
    }
    assert_eq!(server.stats().by_kind[&Kind::Agent], turns);
    check_reference_only(&run);
}

#[test]
fn no_answer_is_a_zero_without_a_call_of_the_judge() {
    let stage = Stage::new();
    let mut script = stage.script();
    for task in script["tasks"].as_array_mut().expect("tasks") {
        task["agent"] = json!(["Final Answer:   \n"]);
    }
    let server = Server::start(&script);
    let mut command = stage.run(&server.base_url(), &json!({}));
    let _ = finish(command.args(["--run-id", "r", "--no-preflight"])).expect(0);
    let zero = json!({"score": 0.0, "recall_context": 0.0, "mean_accuracy_score": 0.0});
    for (id, result) in stage.files("r").single_results() {
        assert_eq!(result["metrics"], zero, "{id}");
        assert_eq!(result["meta"]["benchmark"]["discoverybench"]["answer_source"], "missing", "{id}");
    }
    let stats = server.stats();
    assert_eq!(stats.by_kind, BTreeMap::from([(Kind::Agent, 16)]));
}

#[test]
fn attempts_are_averaged() {
    let stage = Stage::new();
    let server = Server::start(&stage.script());
    let mut command = stage.run(&server.base_url(), &json!({"split": "real_test"}));
    let _ = finish(command.args(["--run-id", "r", "--k", "2", "--no-preflight"])).expect(0);
    let run = stage.files("r");
    let results = run.results();
    assert_eq!(results.len(), 9);
    let expected = expected_scores();
    let mut sum = 0.0;
    for (id, attempts) in &results {
        assert_eq!(attempts.len(), 2, "{id}");
        for attempt in attempts {
            let score = attempt["metrics"]["score"].as_f64().expect("a score");
            assert!((score - expected[id]).abs() < 1e-6, "{id}");
            sum += score;
        }
        let task = run.json(&format!("{}/task.json", run.tasks()[id]));
        assert_eq!(task["attempt_plan"], json!({"k": 2, "strategy": "avg"}));
    }
    let reported = crate::demo::headline(&run.json("metrics.json"));
    assert!((reported - sum / 18.0).abs() < 1e-9, "{reported}");
    assert_eq!(server.stats().by_kind[&Kind::Agent], 2 * results_turns(&results));
}

/// Turns of first attempts.
fn results_turns(results: &BTreeMap<String, Vec<Value>>) -> u64 {
    results.values().map(|attempts| attempts[0]["trajectory"]["steps"].as_array().expect("steps").len() as u64).sum()
}
