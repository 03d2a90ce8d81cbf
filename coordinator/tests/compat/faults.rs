//! Weak points of AgentCompass 1.0.1 between runs, each shown not to be here.

use std::fs;

use argosy_coordinator::stand_in::Latency;

use crate::support::{PARAMS, Place, end, json, refused, wait_for};

#[test]
fn models_whose_ids_sanitise_to_one_name_never_share_a_directory() {
    let place = Place::new();
    for model in ["a_b", "a/b"] {
        let (code, _, talk) = end(place.run(model, &["--run-id", "r"]));
        assert_eq!(code, Some(0), "{talk}");
    }
    let results = place.path().join("results");
    let mut folders: Vec<_> =
        fs::read_dir(&results).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    assert_eq!(folders.len(), 2, "{folders:?}");
    for (folder, model) in folders.iter().zip(["a/b", "a_b"]) {
        assert_eq!(json(&results.join(folder).join("r/run_info.json"))["request"]["model"]["id"], model);
    }
    // Nor does reuse credit one with the other's results.
    let talk = refused(place.run("a:b", &["--reuse", "r"]));
    assert!(talk.contains("no run `r` to go on with"), "{talk}");
}

#[test]
fn reuse_compares_all_that_can_change_a_score() {
    let place = Place::new();
    assert_eq!(end(place.run("m", &["--run-id", "r"])).0, Some(0));
    let dir = place.dir("m_discoverybench_discovery_agent", "r");
    let before = fs::read(dir.join("metrics.json")).unwrap();
    let params = |from: &str, to: &str| PARAMS.replace(from, to);
    let changed = [
        (params("\"j\"", "\"other\""), "judge.id: \"j\" then, \"other\" now"),
        (params("{\"id\":\"j\"}", "{\"id\":\"j\",\"params\":{\"seed\":1}}"), "judge.params"),
        (params("\"limit\":2", "\"limit\":1"), "tasks"),
        (params("\"limit\":2", "\"limit\":2,\"judge_policy\":\"upstream\""), "judge.policy"),
    ];
    for (params, expected) in &changed {
        let talk = refused(place.run("m", &["--reuse", "--benchmark-params", params]));
        assert!(talk.contains(expected) && talk.contains("hint:"), "{talk}");
    }
    let flags = [
        (["--harness-params", r#"{"agent_type":"react"}"#], "harness.agent_type"),
        (["--model-params", r#"{"temperature":0}"#], "model.params"),
        (["--k", "2"], "attempts: 1 then, 2 now"),
        (["--execution-params", r#"{"run_timeout_seconds":9}"#], "run_timeout_seconds"),
    ];
    for (flags, expected) in flags {
        let talk = refused(place.run("m", &[&["--reuse"], flags.as_slice()].concat()));
        assert!(talk.contains(expected), "{talk}");
    }
    assert_eq!(fs::read(dir.join("metrics.json")).unwrap(), before, "a refused reuse changed the run");
    // What cannot change a score may differ; nothing is asked again.
    let calls = place.calls();
    let flags = ["--reuse", "--task-concurrency", "1", "--max-retries", "3", "--no-preflight"];
    let (code, _, talk) = end(place.run("m", &flags));
    assert_eq!(code, Some(0), "{talk}");
    assert_eq!(place.calls(), calls);
}

#[test]
fn latest_passes_over_directories_in_which_nothing_ran() {
    let place = Place::new();
    assert_eq!(end(place.run("m", &["--run-id", "good"])).0, Some(0));
    let empty = place.dir("m_discoverybench_discovery_agent", "newer");
    fs::create_dir(&empty).unwrap();
    let mut info = json(&place.dir("m_discoverybench_discovery_agent", "good").join("run_info.json"));
    info["run_id"] = "newer".into();
    info["started_at"] = "2999-01-01T00:00:00+00:00".into();
    fs::write(empty.join("run_info.json"), info.to_string()).unwrap();
    let (code, _, talk) = end(place.run("m", &["--reuse"]));
    assert_eq!(code, Some(0), "{talk}");
    assert!(talk.contains("resuming") && talk.contains("/good"), "{talk}");
}

#[test]
fn a_missing_run_is_refused_with_those_there_are() {
    let place = Place::new();
    assert!(refused(place.run("m", &["--reuse"])).contains("leave --reuse away"));
    assert_eq!(end(place.run("m", &["--run-id", "r1"])).0, Some(0));
    let talk = refused(place.run("m", &["--reuse", "r2"]));
    assert!(talk.contains("no run `r2`") && talk.contains("there are r1"), "{talk}");
}

#[test]
fn a_second_writer_is_kept_out() {
    let place = Place::with(|script| script.latency = Latency::Fixed(2000.0));
    let mut first = place.run("m", &["--run-id", "r", "--no-preflight"]).spawn().unwrap();
    let dir = place.dir("m_discoverybench_discovery_agent", "r");
    wait_for(&mut first, "the journal", || dir.join("journal/argosy.db").is_file());
    let talk = refused(place.run("m", &["--reuse", "r", "--no-preflight"]));
    assert!(talk.contains("another process writes this run") && talk.contains(&first.id().to_string()), "{talk}");
    let (code, _, talk) = end(place.argosy(&["summary", dir.to_str().unwrap()]));
    assert!(code != Some(0) && talk.contains("another process"), "{talk}");
    assert!(!dir.join("metrics.json").exists());
    first.kill().unwrap();
    first.wait().unwrap();
    // A killed process holds no lock: the run goes on.
    let (code, _, talk) = end(place.run("m", &["--reuse", "r", "--no-preflight"]));
    assert_eq!(code, Some(0), "{talk}");
}
