//! Whole runs: exit codes, the log, deadlines, signals.

use std::fs;

use argosy_coordinator::stand_in::{Kind, Latency, script::Fault};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json as value;

use crate::support::{PARAMS, Place, end, json, refused, wait_for};

const NAMESPACE: &str = "m_discoverybench_discovery_agent";
const KEY: &str = "sk-0123456789abcdef";

#[test]
fn a_clean_run_ends_with_0_and_leaves_a_log_without_the_key() {
    let place = Place::new();
    let mut command = place.run("m", &["--run-id", "r", "--model-api-key", "${COMPAT_KEY}", "--log-level", "DEBUG"]);
    command.env("COMPAT_KEY", KEY);
    let (code, table, talk) = end(command);
    assert_eq!(code, Some(0), "{talk}");
    assert!(table.contains("score"), "{table}");
    assert!(talk.contains(" INFO     argosy"), "the log on stderr: {talk}");
    let dir = place.dir(NAMESPACE, "r");
    let info = json(&dir.join("run_info.json"));
    assert_eq!(info["status"], "completed");
    assert_eq!(info["request"]["execution"]["attempts"], value!({"k": 1, "strategy": "avg"}));
    assert_eq!(info["request"]["model"]["api_key"], "${COMPAT_KEY}", "a reference stays one");
    let log = fs::read_to_string(dir.join("run.log")).unwrap();
    let line = log.lines().next().unwrap();
    let (time, rest) = line.split_at(9);
    assert!(time.bytes().filter(u8::is_ascii_digit).count() == 6 && time.as_bytes()[2] == b':', "{line}");
    assert!(rest.starts_with("INFO     argosy"), "{line}");
    assert!(!talk.contains(KEY) && !log.contains(KEY));
    let (_, _, talk) = end(place.run("m", &["--run-id", "quiet"]));
    assert!(!talk.contains(" INFO "), "only warnings by default: {talk}");

    // The name is taken now.
    let talk = refused(place.run("m", &["--run-id", "r"]));
    assert!(talk.contains("the run `r` exists already") && talk.contains("--reuse r"), "{talk}");
}

#[test]
fn a_final_fatal_ends_with_1_and_gives_no_official_score() {
    let place =
        Place::with(|script| script.faults = vec![Fault { kinds: vec![Kind::Agent], ..Fault::error(503, 1.0) }]);
    let model = r#"{"max_retries":0}"#;
    let (code, _, talk) = end(place.run("m", &["--run-id", "r", "--model-params", model, "--no-preflight"]));
    assert_eq!(code, Some(1), "{talk}");
    assert!(talk.contains("no official score") && talk.contains("hint:"), "{talk}");
    let dir = place.dir(NAMESPACE, "r");
    assert_eq!(json(&dir.join("run_info.json"))["status"], "failed");
    assert_eq!(json(&dir.join("metrics.json"))["series"][0]["value"], serde_json::Value::Null);
}

#[test]
fn a_dead_endpoint_is_no_score_of_0() {
    let place = Place::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", free.local_addr().unwrap());
    drop(free);
    let judge = format!(
        r#"{{"judge_model":{{"id":"j","base_url":"{}"}},"isolate_network":false,"limit":1}}"#,
        place.base_url()
    );
    let mut command = place.argosy(&["run", "discoverybench", "discovery_agent", "m", "--env", "host_process"]);
    command.args(place.dataset()).args(["--model-base-url", &url, "--benchmark-params", &judge]);
    command.args(["--model-params", r#"{"max_retries":0}"#, "--run-id", "r"]);
    // Preflight finds it before anything is written ..
    let talk = refused(command);
    assert!(talk.contains("the model `m` does not answer"), "{talk}");
    assert!(!place.path().join("results").exists());
    // .. and a run that is begun all the same is invalidated, not scored.
    let mut command = place.argosy(&["run", "discoverybench", "discovery_agent", "m", "--env", "host_process"]);
    command.args(place.dataset()).args(["--model-base-url", &url, "--benchmark-params", &judge]);
    command.args(["--model-params", r#"{"max_retries":0}"#, "--run-id", "r", "--no-preflight"]);
    assert_eq!(end(command).0, Some(1));
    let metrics = json(&place.dir(NAMESPACE, "r").join("metrics.json"));
    assert_eq!(metrics["evaluation_failed"], true);
}

#[test]
fn preflight_says_what_the_judge_lacks() {
    let place = Place::with(|script| script.refuse = vec!["response_format".to_owned()]);
    let talk = refused(place.run("m", &[]));
    assert!(talk.contains("the judge `j`") && talk.contains("JSON mode"), "{talk}");
    assert!(!place.path().join("results").exists());
}

#[test]
fn a_judge_inherits_what_is_absent_and_not_what_is_empty() {
    let place = Place::new();
    let dry = |judge: &str| {
        let params = format!(r#"{{"judge_model":{judge},"isolate_network":false,"limit":1}}"#);
        end(place.run("m", &["--dry-run", "--benchmark-params", &params]))
    };
    let (code, text, _) = dry(r#"{"id":"j"}"#);
    assert_eq!(code, Some(0));
    assert!(text.contains(&format!("judge       j at {}", place.base_url())), "{text}");
    let (_, text, _) = dry(r#"{"id":"j","base_url":"http://127.0.0.1:9/v1","params":{"max_tokens":999}}"#);
    assert!(text.contains("judge       j at http://127.0.0.1:9/v1") && text.contains("999"), "{text}");
    let (code, _, talk) = dry(r#"{"id":"j","base_url":""}"#);
    assert!(code == Some(2) && talk.contains("judge_model.base_url"), "{talk}");
    let (code, _, talk) = dry("{}");
    assert!(code == Some(2) && talk.contains("judge_model.id"), "{talk}");
}

/// Slow enough to be caught in the middle.
fn slow() -> Place {
    Place::with(|script| script.latency = Latency::Fixed(400.0))
}

#[test]
fn a_run_out_of_time_says_so_and_can_be_gone_on_with() {
    let place = Place::with(|script| script.latency = Latency::Fixed(1500.0));
    let (code, _, talk) = end(place.run("m", &["--run-id", "r", "--timeout-seconds", "1", "--no-preflight"]));
    assert_eq!(code, Some(1), "{talk}");
    assert!(talk.contains("out of time") && talk.contains("--reuse"), "{talk}");
    let dir = place.dir(NAMESPACE, "r");
    let info = json(&dir.join("run_info.json"));
    assert_eq!((&info["status"], &info["error"]), (&value!("timed_out"), &value!("orchestration deadline exceeded")));
    assert_eq!(json(&dir.join("progress.json"))["status"], "timed_out");
    assert!(!dir.join("metrics.json").exists() && !dir.join("summary.md").exists());
    let (code, _, talk) = end(place.run("m", &["--reuse", "r", "--no-preflight"]));
    assert_eq!(code, Some(0), "{talk}");
    assert_eq!(json(&dir.join("run_info.json"))["status"], "completed");
}

#[test]
fn sigterm_and_sigint_leave_a_terminal_status_and_an_incomplete_run_looks_incomplete() {
    for signal in [Signal::TERM, Signal::INT] {
        let place = slow();
        let params = PARAMS.replace(r#","limit":2"#, r#","limit":6"#);
        let flags = ["--run-id", "r", "--task-concurrency", "1", "--benchmark-params", &params, "--no-preflight"];
        let mut child = place.run("m", &flags).spawn().unwrap();
        let dir = place.dir(NAMESPACE, "r");
        let published = || {
            let folder = |state: &str| fs::read_dir(dir.join("details").join(state)).map_or(0, Iterator::count);
            folder("normal") + folder("error")
        };
        wait_for(&mut child, "a published task", || published() > 0);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = child.wait_with_output().unwrap();
        let talk = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{talk}");
        assert!(talk.contains("--reuse"), "{talk}");
        let info = json(&dir.join("run_info.json"));
        assert_eq!(info["status"], "cancelled", "{talk}");
        assert!(info["finished_at"].is_string());
        assert_eq!(json(&dir.join("progress.json"))["status"], "cancelled");
        assert!(!dir.join("metrics.json").exists() && !dir.join("summary.md").exists());

        // AgentCompass's `summary` of such a run says "3 of 3"; here what is missing counts.
        let (code, _, talk) = end(place.argosy(&["summary", dir.to_str().unwrap()]));
        assert_eq!(code, Some(0), "{talk}");
        let counts = &json(&dir.join("metrics.json"))["series"][0]["counts"];
        assert_eq!(counts["total"], 6);
        assert!(counts["evaluated"].as_u64().unwrap() < 6, "{counts}");

        let (code, _, talk) = end(place.run("m", &[&flags[2..], &["--reuse"]].concat()));
        assert_eq!(code, Some(0), "{talk}");
        let counts = &json(&dir.join("metrics.json"))["series"][0]["counts"];
        assert_eq!((&counts["total"], &counts["evaluated"]), (&value!(6), &value!(6)));
    }
}
