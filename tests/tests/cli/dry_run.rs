//! `--dry-run` lists everything and asks nobody.

use argosy_coordinator::demo;
use argosy_tests::{
    places,
    stage::{Stage, finish},
};
use serde_json::json;

/// Nobody listens there, and nobody is asked.
const NOWHERE: &str = "http://127.0.0.1:9/v1";

fn listed(stdout: &str) -> Vec<&str> {
    stdout.lines().take_while(|line| !line.is_empty()).collect()
}

#[test]
fn the_demo_lists_all_its_tasks_and_the_parameters_in_force() {
    let stage = Stage::new();
    let mut command = stage.run(NOWHERE, &json!({"split": "all"}));
    let ended = finish(command.args(["--dry-run", "--k", "3", "--max-retries", "2"])).expect(0);
    let mut ids = listed(&ended.stdout);
    ids.sort_unstable();
    let expected = demo::expected().coder;
    assert_eq!(ids, expected.keys().map(String::as_str).collect::<Vec<_>>());
    for text in ["real_test 9", "synth_train 1", "\"agent_type\":\"coder\"", "max_retries 2", "57 attempts", NOWHERE] {
        assert!(ended.stdout.contains(text), "`{text}` is not in\n{}", ended.stdout);
    }
    assert!(!stage.results().exists());
}

#[test]
fn the_real_dataset_lists_1167_tasks() {
    let Some(checkout) = places::upstream_checkout() else {
        places::skipped("dry run of the real dataset", "set DISCOVERYBENCH_ROOT to a checkout");
        return;
    };
    let stage = Stage::new();
    let mut command = stage.argosy();
    command.args(["run", "discoverybench", "discovery_agent", "m", "--env", "host_process", "--dry-run", "--dataset"]);
    command.arg(checkout).args(["--model-base-url", NOWHERE, "--benchmark-params"]);
    command.arg(r#"{"judge_model": {"id": "j"}, "isolate_network": false, "split": "all"}"#);
    let ended = finish(&mut command).expect(0);
    let ids = listed(&ended.stdout);
    assert_eq!(ids.len(), 1167);
    assert!(ids.contains(&"real_test__nls_ses__0__0"));
    let splits = "1167 tasks: real_test 239, real_train 25, synth_test 200, synth_dev 153, synth_train 550";
    assert!(ended.stdout.contains(splits), "{splits} is not in\n{}", &ended.stdout[ended.stdout.len() - 2000..]);
}
