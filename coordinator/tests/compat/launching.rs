//! `argosy launch` with one of AgentCompass's files.

use std::fs;

use argosy_coordinator::stand_in::{Kind, Latency, script::Fault};
use serde_json::Value;

use crate::support::{Place, end, json, refused};

fn file(place: &Place, requests: &str) {
    let text = format!(
        "version: 1
name: sweep
task_concurrency: 3
runtime: {{results_dir: results, data_dir: data, progress: none}}
defaults:
  benchmark: {{id: discoverybench, judge_model: {{id: mock-judge}}, isolate_network: false, limit: 2}}
  harness: {{id: discovery_agent}}
  environment: {{id: host_process}}
  model: {{base_url: \"{}\", api_key: sk-x, api_protocol: openai-chat, params: {{max_retries: 0}}}}
  output: {{run_name: sweep1}}
requests:
{requests}",
        place.base_url()
    );
    fs::write(place.path().join("sweep.launch.yaml"), text).unwrap();
}

fn launch(place: &Place, flags: &[&str]) -> std::process::Command {
    let mut command = place.argosy(&["launch", "sweep.launch.yaml"]);
    command.args(place.dataset()).args(flags);
    command
}

const TWO: &str = "  - {name: model-a, model: {id: mock-ok}}\n  - {name: model-b, model: {id: mock-mixed}}\n";

#[test]
fn requests_run_in_order_and_one_result_tells_of_all() {
    let place = Place::new();
    file(&place, TWO);
    let (code, text, talk) = end(launch(&place, &["--dry-run"]));
    assert_eq!(code, Some(0), "{talk}");
    assert!(text.contains("== model-a") && text.contains("== model-b") && text.contains("mock-mixed"), "{text}");
    assert!(!place.path().join("results").exists());

    let (code, text, talk) = end(launch(&place, &["--run-id", "r1"]));
    assert_eq!(code, Some(0), "{talk}");
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&result["name"], &result["status"]), (&Value::from("sweep"), &Value::from("completed")));
    let names: Vec<&String> = result["requests"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["model-a", "model-b"]);
    for (request, model) in [("model-a", "mock-ok"), ("model-b", "mock-mixed")] {
        let dir = place.path().join("results/sweep1").join(request).join("r1");
        assert_eq!(json(&dir.join("run_info.json"))["request"]["model"]["id"], model);
        assert_eq!(json(&dir.join("run_info.json"))["request"]["metadata"]["request_name"], request);
        assert!(dir.join("run.log").is_file());
        let outcome = &result["requests"][request];
        assert_eq!(outcome["status"], "completed");
        assert_eq!(outcome["paths"]["metrics"], dir.canonicalize().unwrap().join("metrics.json").to_str().unwrap());
        assert!(outcome["result"]["series"][0]["value"].is_number(), "{outcome}");
    }

    // With --reuse, requests with a run go on with it and others begin one.
    file(&place, &format!("{TWO}  - {{name: model-c, model: {{id: m}}}}\n"));
    let (code, text, talk) = end(launch(&place, &["--reuse"]));
    assert_eq!(code, Some(0), "{talk}");
    let result: Value = serde_json::from_str(&text).unwrap();
    let path = |request: &str| result["requests"][request]["paths"]["output_dir"].as_str().unwrap().to_owned();
    assert!(path("model-a").ends_with("model-a/r1") && !path("model-c").ends_with("r1"), "{result}");
}

#[test]
fn one_that_fails_does_not_keep_the_others_from_running_and_the_exit_code_is_1() {
    let place = Place::new();
    file(&place, TWO);
    // The first request cannot have its directory.
    let taken = place.path().join("results/sweep1/model-a/r1");
    fs::create_dir_all(&taken).unwrap();
    let (code, text, talk) = end(launch(&place, &["--run-id", "r1", "--no-preflight"]));
    assert_eq!(code, Some(1), "{talk}");
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["status"], "partial_failure");
    assert_eq!(result["requests"]["model-a"]["status"], "failed");
    assert!(result["requests"]["model-a"]["error"].as_str().unwrap().contains("exists already"), "{result}");
    assert_eq!(result["requests"]["model-b"]["status"], "completed");
    assert_eq!(fs::read_dir(taken).unwrap().count(), 0, "somebody else's directory was written");
}

#[test]
fn a_final_fatal_fails_its_request() {
    let place =
        Place::with(|script| script.faults = vec![Fault { kinds: vec![Kind::Agent], ..Fault::error(503, 1.0) }]);
    file(&place, TWO);
    let (code, text, talk) = end(launch(&place, &["--run-id", "r1", "--no-preflight"]));
    assert_eq!(code, Some(1), "{talk}");
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["status"], "failed");
    for request in ["model-a", "model-b"] {
        assert_eq!(result["requests"][request]["result"]["evaluation_failed"], true, "{result}");
        assert!(result["requests"][request]["error"].as_str().unwrap().starts_with("Final FATAL issues"), "{result}");
    }
}

#[test]
fn the_deadline_is_for_all_of_them() {
    let place = Place::with(|script| script.latency = Latency::Fixed(1500.0));
    file(&place, TWO);
    let (code, text, talk) = end(launch(&place, &["--timeout-seconds", "1", "--no-preflight"]));
    assert_eq!(code, Some(1), "{talk}");
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["status"], "timed_out");
    assert!(result["requests"]["model-b"]["error"].as_str().unwrap().contains("not begun"), "{result}");
}

#[test]
fn a_bad_file_is_refused_whole_before_anything_runs() {
    let place = Place::new();
    file(&place, &TWO.replace("{id: mock-mixed}}", "{id: b}, benchmark: {splits: x}}"));
    let talk = refused(launch(&place, &[]));
    assert!(talk.contains("model-b") && talk.contains("sweep.launch.yaml, requests[1]: unknown key"), "{talk}");
    file(&place, &TWO.replace("name: model-b", "name: model-a"));
    assert!(refused(launch(&place, &[])).contains("is there already"));
    file(&place, &TWO.replace("{id: mock-ok}}", "{id: a}, environment: {id: docker-in-docker}}"));
    assert!(refused(launch(&place, &[])).contains("docker-in-docker"));
    assert!(refused(launch(&place, &["--recipe", "x"])).contains("no meaning here"));
    assert!(!place.path().join("results").exists());
}
