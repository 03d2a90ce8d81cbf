//! Every refusal names the reason and the next step, ends with exit code 2, and leaves nothing behind.

use std::{net::TcpListener, process::Command};

use argosy_tests::{
    server::Server,
    stage::{Stage, finish},
};
use serde_json::{Value, json};

/// Runs the command and checks that it is refused with all of `texts` and a hint.
#[track_caller]
fn refused(stage: &Stage, command: &mut Command, texts: &[&str]) {
    let ended = finish(command).expect(2);
    for text in texts {
        assert!(ended.stderr.contains(text), "`{text}` is not in\n{}", ended.stderr);
    }
    assert!(ended.stderr.contains("hint:"), "no hint in\n{}", ended.stderr);
    assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    assert!(!stage.results().exists(), "a refused run has left a directory");
}

const NOWHERE: &str = "http://127.0.0.1:9/v1";

#[test]
fn names_that_do_not_exist() {
    let stage = Stage::new();
    let run = |arguments: &[&str]| {
        let mut command = stage.argosy();
        command.arg("run").args(arguments).arg("--dataset").arg(&stage.demo.dataset).arg("--allow-unpinned");
        command.arg("--prompt-pack").arg(&stage.demo.prompt_pack).args(["--model-base-url", NOWHERE]);
        command
    };
    let good = ["discoverybench", "discovery_agent", "m"];
    let judge = r#"{"judge_model": {"id": "j"}, "isolate_network": false}"#;
    let bench = |params: &str| {
        let mut command = run(&good);
        command.args(["--env", "host_process", "--benchmark-params", params]);
        command
    };
    refused(
        &stage,
        &mut run(&["discoverybnch", "discovery_agent", "m"]),
        &["benchmark `discoverybnch`", "`discoverybench`"],
    );
    refused(&stage, &mut run(&["discoverybench", "discovry", "m"]), &["harness `discovry`", "`discovery_agent`"]);
    refused(&stage, &mut run(&["discoverybench", "discovery_agent"]), &["no model"]);
    refused(&stage, &mut run(&[]), &["no benchmark"]);
    refused(&stage, &mut run(&good), &["no environment", "host_process"]);
    refused(
        &stage,
        run(&good).args(["--env", "host_proces", "--benchmark-params", judge]),
        &["host_proces", "`host_process`"],
    );
    refused(&stage, &mut bench(r#"{"judge_modell": {"id": "j"}}"#), &["judge_modell", "`judge_model`"]);
    refused(&stage, &mut bench(r#"{"judge_model": {"idd": "j"}}"#), &["idd", "`id`"]);
    refused(&stage, &mut bench(r#"{"judge_model": {"id": "j"}, "split": "real_tst"}"#), &["real_tst", "`real_test`"]);
    refused(&stage, bench(judge).args(["--harness-params", r#"{"agent_type": "coder2"}"#]), &["coder2", "`coder`"]);
    refused(&stage, bench(judge).args(["--harness-params", r#"{"max_iteration": 3}"#]), &["`max_iterations`"]);
    refused(&stage, bench(judge).args(["--env-params", r#"{"pyton": "python3"}"#]), &["pyton", "`python`"]);
    refused(&stage, bench(judge).args(["--execution-params", r#"{"max_retry": 3}"#]), &["max_retry", "`max_retries`"]);
    refused(&stage, bench(judge).args(["--model-api-protocol", "openai-chatt"]), &["openai-chatt", "openai-chat"]);
}

#[test]
fn selections_of_nothing() {
    let stage = Stage::new();
    let run = |params: Value| stage.run(NOWHERE, &params);
    let unknown = json!({"sample_ids": ["real_test__ferry_service__0__1"]});
    refused(&stage, &mut run(unknown), &["real_test__ferry_service__0__1", "real_test__ferry_service__0__0"]);
    refused(&stage, &mut run(json!({"category": "apicultur"})), &["apicultur", "apiculture"]);
    refused(&stage, &mut run(json!({"sample_ids": []})), &["sample_ids"]);
    refused(&stage, &mut run(json!({"split": "synth_test", "category": "apiculture"})), &["apiculture"]);
    refused(&stage, &mut run(json!({"limit": 0})), &["limit"]);
}

#[test]
fn values_that_are_none() {
    let stage = Stage::new();
    let with = |arguments: &[&str]| {
        let mut command = stage.run(NOWHERE, &json!({}));
        command.args(arguments);
        command
    };
    refused(&stage, &mut with(&["--harness-params", "{agent_type: coder}"]), &["--harness-params", "not JSON"]);
    refused(&stage, &mut with(&["--model-params", "[1]"]), &["--model-params", "JSON object"]);
    refused(&stage, &mut with(&["--retry-pattern-list", "x"]), &["--retry-pattern-list"]);
    refused(&stage, &mut with(&["--execution-params", r#"{"retry_pattern_list": ["("]}"#]), &["retry_pattern_list"]);
    refused(&stage, &mut with(&["--model-api-key", "${ARGOSY_TEST_UNSET}"]), &["ARGOSY_TEST_UNSET", "--model-api-key"]);
    refused(&stage, &mut with(&["--task-concurrency", "0"]), &["task_concurrency"]);
    refused(&stage, &mut with(&["--k", "0"]), &["k"]);
    refused(&stage, &mut with(&["--run-id", "../up"]), &["run"]);
    refused(&stage, &mut with(&["--config", "/no/such/file.yaml"]), &["/no/such/file.yaml"]);

    let mut params = json!({"judge_model": null});
    refused(&stage, &mut stage.run(NOWHERE, &params), &["judge_model"]);
    params = json!({"judge_model": {"id": "j", "api_key": "${ARGOSY_TEST_UNSET}"}});
    refused(&stage, &mut stage.run(NOWHERE, &params), &["ARGOSY_TEST_UNSET", "judge_model.api_key"]);
    params = json!({"isolate_network": true});
    refused(
        &stage,
        &mut stage.run(NOWHERE, &params),
        &["host_process", "isolate_network", "\"isolate_network\": false"],
    );
    refused(&stage, &mut stage.run("", &json!({})), &["no endpoint", "--model-base-url"]);
    refused(&stage, &mut stage.run("127.0.0.1:9", &json!({})), &["127.0.0.1:9"]);
}

#[test]
fn datasets_that_are_none() {
    let stage = Stage::new();
    let dataset = |path: &str| {
        let mut command = stage.argosy();
        command.args(["run", "discoverybench", "discovery_agent", "m", "--env", "host_process", "--dataset", path]);
        command.args(["--model-base-url", NOWHERE, "--benchmark-params"]);
        command.arg(r#"{"judge_model": {"id": "j"}, "isolate_network": false}"#);
        command
    };
    refused(&stage, &mut dataset("/no/such/place"), &["/no/such/place"]);
    let empty = stage.path("here");
    refused(&stage, &mut dataset(empty.to_str().expect("UTF-8")), &["here"]);
    // A copy of the data alone has no prompts; one that is not the pinned commit has to be accepted.
    let demo = stage.demo.dataset.to_str().expect("UTF-8");
    refused(&stage, dataset(demo).arg("--allow-unpinned"), &["--prompt-pack"]);
    let pack = stage.demo.prompt_pack.to_str().expect("UTF-8");
    refused(&stage, dataset(demo).args(["--prompt-pack", pack]), &["--allow-unpinned"]);
    let mut command = stage.argosy();
    command.args(["run", "discoverybench", "discovery_agent", "m", "--env", "host_process"]);
    command.args(["--model-base-url", NOWHERE, "--benchmark-params"]);
    command.arg(r#"{"judge_model": {"id": "j"}, "isolate_network": false}"#);
    refused(&stage, &mut command, &["no dataset", "argosy dataset fetch"]);
}

#[test]
fn endpoints_that_refuse() {
    let stage = Stage::new();
    // A port that nobody listens on.
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let once = |command: &mut Command| {
        command.args(["--model-params", r#"{"max_retries": 0}"#]);
    };
    let mut command = stage.run(&format!("http://{free}/v1"), &json!({}));
    once(&mut command);
    refused(&stage, &mut command, &["the model `m` does not answer", "endpoint"]);

    let locked = Server::with_key(&stage.script(), "right");
    let mut command = stage.run(&locked.base_url(), &json!({}));
    refused(&stage, command.args(["--model-api-key", "wrong"]), &["the model `m`", "401", "check the key"]);
    let mut command = stage.run(&locked.base_url(), &json!({"judge_model": {"id": "j", "api_key": "wrong"}}));
    refused(&stage, command.args(["--model-api-key", "right"]), &["the judge `j`", "401", "check the key"]);

    let mut script = stage.script();
    script["refuse"] = json!(["response_format"]);
    let without_json = Server::start(&script);
    refused(&stage, &mut stage.run(&without_json.base_url(), &json!({})), &["the judge `j`", "JSON mode"]);
    let stats = without_json.stats();
    assert!(stats.calls <= 3, "nothing is run before the endpoint is known to be of use: {stats:?}");
}

#[test]
fn a_run_id_that_exists() {
    let stage = Stage::new();
    let server = Server::start(&stage.script());
    let run = || {
        let mut command = stage.run(&server.base_url(), &json!({"limit": 1}));
        command.args(["--run-id", "r"]);
        command
    };
    let _ = finish(&mut run()).expect(0);
    let ended = finish(&mut run()).expect(2);
    assert!(
        ended.stderr.contains("`r`") && ended.stderr.contains("hint:") && ended.stderr.contains("--reuse r"),
        "{}",
        ended.stderr
    );
}

#[test]
fn flags_that_do_not_exist() {
    let stage = Stage::new();
    let ended = finish(stage.argosy().args(["run", "--max-retry", "2"])).expect(2);
    assert!(ended.stderr.contains("--max-retries"), "{}", ended.stderr);
    let ended = finish(stage.argosy().arg("runn")).expect(2);
    assert!(ended.stderr.contains("run"), "{}", ended.stderr);
}
