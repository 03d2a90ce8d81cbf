//! What a run leaves on disk, field by field.

use std::collections::BTreeSet;

use argosy_tests::{
    run_files::codes,
    server::Server,
    stage::{Stage, finish},
};
use serde_json::{Value, json};

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().map(|members| members.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn results_hold_everything_that_was_said_and_why_the_score_is_what_it_is() {
    let stage = Stage::new();
    let server = Server::start(&stage.script());
    let mut command = stage.run(&server.base_url(), &json!({}));
    command.args(["--run-id", "r", "--harness-params", r#"{"agent_type": "react"}"#]);
    let _ = finish(&mut command).expect(0);
    let run = stage.files("r");

    let nine = [
        "status",
        "metrics",
        "final_answer",
        "trajectory",
        "issues",
        "artifacts",
        "analysis_result",
        "meta",
        "retry_count",
    ];
    for (id, result) in run.single_results() {
        assert_eq!(keys(&result), BTreeSet::from(nine), "{id}");
        let has_answer = result["final_answer"].is_string();
        assert_eq!(result["status"], if codes(&result).is_empty() { "completed" } else { "run_error" }, "{id}");
        assert_eq!(has_answer, codes(&result).is_empty(), "{id}");
        assert_eq!(result["retry_count"], 0, "{id}");
        trajectory(&id, &result, has_answer);

        let bench = &result["meta"]["benchmark"]["discoverybench"];
        let source = if has_answer { "final_answer" } else { "missing" };
        assert_eq!((&bench["answer_source"], &bench["judge_model"]), (&json!(source), &json!("j")), "{id}");
        if has_answer {
            let record = &bench["eval_rec"];
            assert_eq!(record["final_score"], result["metrics"]["score"], "{id}");
            assert_eq!(record["HypoB"], result["final_answer"], "{id}");
            assert!(record["gold_sub_hypo"]["sub_hypo"].is_array() && record["gen_sub_hypo"].is_object(), "{id}");
        } else {
            assert_eq!(bench.get("eval_rec"), None, "{id}");
            assert_eq!(result["metrics"], json!({"score": 0.0, "recall_context": 0.0, "mean_accuracy_score": 0.0}));
        }
        let telemetry = &result["meta"]["harness"]["telemetry"];
        for name in ["iterations", "python_executions", "termination_reason", "setup_ms", "model_ms", "python_ms"] {
            assert!(!telemetry[name].is_null(), "{id}: {name}");
        }
    }

    for (id, folder) in run.tasks() {
        let task = run.json(&format!("{folder}/task.json"));
        assert_eq!(task["schema_version"], "agentcompass.task.v3", "{id}");
        assert!(task["ground_truth"].as_str().is_some_and(|gold| gold.len() > 10), "{id}");
        assert_eq!(task["attempt_plan"], json!({"k": 1, "strategy": "avg"}), "{id}");
    }
    let info = run.json("run_info.json");
    assert_eq!(info["status"], "completed");
    assert_eq!(info["request"]["model"]["id"], "m");
    let metrics = run.json("metrics.json");
    assert_eq!(metrics["evaluation_failed"], false);
    assert_eq!(metrics["extra"]["coverage"]["evaluated"], 16);
    let hierarchy = &metrics["series"][0]["hierarchy"];
    for level in ["overall", "overall/real_test", "overall/synth_test", "overall/real_test/real_test:transport"] {
        assert!(hierarchy[level]["value"].is_f64(), "{level}");
    }
    assert!(run.text("summary.md").contains("real_test"), "summary.md");
    let progress = run.json("progress.json");
    assert_eq!((&progress["status"], &progress["finished_tasks"]), (&json!("completed"), &json!(16)));
    let lines = run.text("progress.jsonl");
    assert!(
        lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|event| event["event"].is_string()))
    );
}

/// Every step holds the whole prompt, the parsed call, what was observed, and the wire's own figures.
fn trajectory(id: &str, result: &Value, has_answer: bool) {
    assert_eq!(result["trajectory"]["schema_version"], "ACTF_v1.0", "{id}");
    let steps = result["trajectory"]["steps"].as_array().expect("steps");
    let mut before = String::new();
    for (number, step) in (1..).zip(steps) {
        let name = format!("{id} step {number}");
        assert_eq!(step["step_id"], number, "{name}");
        let prompt = step["user_content"].as_str().expect("a prompt");
        assert!(prompt.contains("python_repl_ast") && prompt.contains("workspace/"), "{name}");
        assert!(prompt.contains(&before), "{name}: the prompt does not repeat what was said and observed");
        let reply = step["assistant_content"]["content"].as_str().expect("a reply");
        let metric = &step["metric"];
        assert_eq!(metric["stop_reason"], "stop", "{name}");
        let prompt_tokens = metric["prompt_tokens_len"].as_u64().expect("tokens");
        assert!(prompt_tokens > 100 && metric["completion_tokens_len"].as_u64() > Some(0), "{name}: {metric}");
        assert!(metric["llm_infer_ms"].as_f64() > Some(0.0), "{name}");
        let calls = step["assistant_content"]["tool_calls"].as_array().expect("calls");
        let observations = step["observation"].as_array().expect("observations");
        assert_eq!(calls.len(), observations.len(), "{name}");
        match (calls.first(), observations.first()) {
            (Some(call), Some(observation)) => {
                assert_eq!(call["function"]["name"], "python_repl_ast", "{name}");
                let query = call["function"]["arguments"]["query"].as_str().expect("code");
                assert!(reply.contains(query.trim()), "{name}");
                assert_eq!(observation["tool_call_id"], call["id"], "{name}");
                assert!(metric["env_action_ms"].as_f64() > Some(0.0), "{name}");
                let seen = observation["content"].as_str().expect("a text");
                before = format!("{reply}\nObservation: {seen}");
            }
            _ => assert!(number == steps.len(), "{name}: only the last step calls nothing"),
        }
    }
    let last = steps.last().expect("a step");
    assert_eq!(
        has_answer,
        last["assistant_content"]["content"].as_str().expect("text").contains("Final Answer:"),
        "{id}"
    );
}
