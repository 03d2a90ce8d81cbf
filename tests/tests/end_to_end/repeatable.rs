//! The same command gives the same scores: at any concurrency, another time, through faults.

use argosy_tests::{
    server::Server,
    stage::{Stage, finish},
};
use serde_json::{Value, json};

#[test]
fn an_unscripted_rehearsal_gives_the_same_metrics_at_any_concurrency() {
    let faults = json!([
        {"status": 500, "probability": 0.1, "kinds": ["agent", "context", "variables"]},
        {"malformed": "truncated_json", "probability": 0.05},
    ]);
    for (agent, faults) in [("coder", json!([])), ("react", faults)] {
        let mut seen: Option<(Value, Value)> = None;
        for concurrency in ["1", "3", "16"] {
            // Another home, and so other paths in every prompt; another stand-in, without a memory.
            let stage = Stage::new();
            let script = json!({"seed": 11, "latency": {"uniform": [0, 5]}, "faults": faults});
            let server = Server::start(&script);
            let params = json!({"split": "all", "judge_model": {"id": "j", "params": {"max_retries": 6}}});
            let mut command = stage.run(&server.base_url(), &params);
            command.args(["--run-id", "r", "--task-concurrency", concurrency, "--harness-params"]);
            command.arg(json!({"agent_type": agent}).to_string());
            command.args(["--model-params", r#"{"max_retries": 6}"#]);
            let _ = finish(&mut command).expect(0);
            let run = stage.files("r");
            let scores: Value = run
                .single_results()
                .into_iter()
                .map(|(id, result)| (id, json!([result["metrics"], result["final_answer"]])))
                .collect::<serde_json::Map<_, _>>()
                .into();
            let metrics = (run.json("metrics.json"), scores);
            match &seen {
                None => seen = Some(metrics),
                Some(first) => assert_eq!(*first, metrics, "{agent} at {concurrency}"),
            }
        }
        let scores: Vec<f64> = seen
            .expect("three runs")
            .1
            .as_object()
            .expect("scores")
            .values()
            .filter_map(|result| result[0]["score"].as_f64())
            .collect();
        assert!(scores.iter().any(|score| *score > 0.0) && scores.iter().any(|score| *score < 1.0), "{scores:?}");
    }
}
