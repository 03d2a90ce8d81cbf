//! What must not be gone on with, and what may be changed.

use argosy_tests::{
    server::Server,
    stage::{Stage, end, finish, start, until},
};
use serde_json::{Value, json};

#[test]
fn another_judge_is_refused_with_the_difference_and_another_concurrency_is_not() {
    let stage = Stage::new();
    let server = Server::start(&stage.script());
    let again = |params: Value, more: &[&str]| {
        let mut command = stage.run(&server.base_url(), &params);
        finish(command.args(["--reuse", "r", "--no-preflight"]).args(more))
    };
    let mut first = stage.run(&server.base_url(), &json!({"limit": 2}));
    let _ = finish(first.args(["--run-id", "r", "--no-preflight"])).expect(0);
    let before = server.stats();

    let refused = again(json!({"limit": 2, "judge_model": {"id": "another"}}), &[]).expect(2);
    assert!(refused.stderr.contains("judge.id: \"j\" then, \"another\" now"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint:"), "{}", refused.stderr);
    let refused = again(json!({"limit": 3}), &[]).expect(2);
    assert!(refused.stderr.contains("tasks: 2 entries then, 3 entries now"), "{}", refused.stderr);
    let refused = again(json!({"limit": 2}), &["--harness-params", r#"{"agent_type": "react"}"#]).expect(2);
    assert!(refused.stderr.contains("harness.agent_type: \"coder\" then, \"react\" now"), "{}", refused.stderr);

    let metrics = stage.files("r").json("metrics.json");
    let _ = again(json!({"limit": 2}), &["--task-concurrency", "7", "--max-retries", "3"]).expect(0);
    assert_eq!(stage.files("r").json("metrics.json"), metrics);
    assert_eq!(server.stats(), before, "a finished run asks nobody anything");
}

#[test]
fn a_second_process_on_the_same_run_is_refused() {
    let stage = Stage::new();
    let mut script = stage.script();
    script["latency"] = json!({"fixed": 400});
    let server = Server::start(&script);
    let mut command = stage.run(&server.base_url(), &json!({"limit": 4}));
    let first = start(command.args(["--run-id", "r", "--no-preflight"]));
    until("the run is under way", || server.stats().calls > 0);
    let mut second = stage.run(&server.base_url(), &json!({"limit": 4}));
    let refused = finish(second.args(["--reuse", "r", "--no-preflight"])).expect(2);
    assert!(refused.stderr.contains(&format!("process {}", first.id())), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint:"), "{}", refused.stderr);
    let mut third = stage.run(&server.base_url(), &json!({"limit": 4}));
    let refused = finish(third.args(["--run-id", "r", "--no-preflight"])).expect(2);
    assert!(refused.stderr.contains("go on with it by --reuse r"), "{}", refused.stderr);
    // The first one is not disturbed.
    let _ = end(first).expect(0);
}

#[test]
fn there_must_be_something_to_go_on_with() {
    let stage = Stage::new();
    let server = Server::start(&stage.script());
    let mut command = stage.run(&server.base_url(), &json!({}));
    let refused = finish(command.args(["--reuse", "--no-preflight"])).expect(2);
    assert!(refused.stderr.contains("no run to go on with") && refused.stderr.contains("hint:"), "{}", refused.stderr);
    let mut first = stage.run(&server.base_url(), &json!({"limit": 1}));
    let _ = finish(first.args(["--run-id", "there", "--no-preflight"])).expect(0);
    let mut command = stage.run(&server.base_url(), &json!({"limit": 1}));
    let refused = finish(command.args(["--reuse", "their", "--no-preflight"])).expect(2);
    assert!(refused.stderr.contains("hint: there are there"), "{}", refused.stderr);
}
