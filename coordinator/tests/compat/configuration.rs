//! Precedence, references, origins, masking.

use std::fs;

use serde_json::Value;

use crate::support::{Place, end, refused};

const KEY: &str = "sk-0123456789abcdef";

/// Each source sets one value more than the one above it, so that the result tells the whole order.
#[test]
fn sources_win_in_their_order() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("config/argosy")).unwrap();
    fs::create_dir_all(place.path().join("a/b")).unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write(
        "config/argosy/config.yaml",
        "execution: {max_retries: 1, task_concurrency: 1, judge_retry: attempt, max_lease_losses: 1, retry_min_delay_seconds: 1, retry_max_delay_seconds: 101}",
    );
    // Of two project files the nearer one counts, and it alone.
    write("argosy.yaml", "execution: {max_retries: 77, replay: false}");
    write(
        "a/argosy.yaml",
        "execution: {max_retries: 2, task_concurrency: 2, max_lease_losses: 2, retry_min_delay_seconds: 2}",
    );
    write("one.toml", "[execution]\nmax_retries = 3\ntask_concurrency = 3\nmax_lease_losses = 3\n");
    write("two.json", r#"{"execution": {"max_retries": 4, "task_concurrency": 4}}"#);
    let base = place.base_url();
    let command = |flags: &[&str]| {
        let mut command = place
            .run("m", &[&["--config", "../../one.toml", "--config", "../../two.json", "--dry-run"], flags].concat());
        command.current_dir(place.path().join("a/b")).env("ARGOSY_EXECUTION__MAX_RETRIES", "5");
        command
    };
    let in_force = |flags: &[&str]| -> Value {
        let (code, text, talk) = end(command(flags));
        assert_eq!(code, Some(0), "{talk}");
        let line = text.lines().find_map(|line| line.trim().strip_prefix("execution ")).unwrap();
        serde_json::from_str(line.trim()).unwrap()
    };
    let found = in_force(&[]);
    let number = |name: &str| found[name].as_f64().unwrap();
    assert_eq!(number("max_retries"), 5.0, "environment over files");
    assert_eq!(number("task_concurrency"), 4.0, "the later of two --config files");
    assert_eq!(number("max_lease_losses"), 3.0, "--config over the project's file");
    assert_eq!(number("retry_min_delay_seconds"), 2.0, "the project's file over the user's");
    assert_eq!(number("retry_max_delay_seconds"), 101.0, "the user's file over the default");
    assert_eq!(found["judge_retry"], "attempt");
    assert_eq!(found["replay"], true, "the farther project file does not count");
    assert_eq!(in_force(&["--execution-params", r#"{"max_retries": 6}"#])["max_retries"], 6);
    let flags = ["--execution-params", r#"{"max_retries": 6, "attempts": {"k": 3}}"#, "--max-retries", "7"];
    let found = in_force(&flags);
    assert_eq!((&found["max_retries"], &found["k"]), (&Value::from(7), &Value::from(3)), "flags over all");
    drop(base);
}

#[test]
fn the_form_of_the_documentation_is_accepted_and_flags_win_over_it() {
    let place = Place::new();
    fs::write(
        place.path().join("argosy.yaml"),
        "benchmark: {params: {judge_model: {id: from-file}, isolate_network: false, limit: 1, split: real_test}}",
    )
    .unwrap();
    let (code, text, talk) = end(place.run("m", &["--dry-run", "--benchmark-params", r#"{"limit": 2}"#]));
    assert_eq!(code, Some(0), "{talk}");
    assert!(text.contains("2 tasks") && text.contains("judge       from-file at"), "{text}");
}

#[test]
fn an_unknown_key_is_refused_with_its_file() {
    let place = Place::new();
    fs::write(place.path().join("argosy.yaml"), "execution: {max_retry: 1}").unwrap();
    let talk = refused(place.run("m", &["--dry-run"]));
    assert!(talk.contains("argosy.yaml: unknown key `execution.max_retry`"), "{talk}");
    assert!(talk.contains("did you mean `max_retries`"), "{talk}");
    fs::write(place.path().join("argosy.yaml"), "execution: {artifact_limits: {max_mb: 5}}").unwrap();
    assert!(refused(place.run("m", &["--dry-run"])).contains("no meaning here"));
    fs::write(place.path().join("argosy.yaml"), "").unwrap();
    let mut command = place.run("m", &["--dry-run"]);
    command.env("ARGOSY_EXECUTION__MAX_RETRY", "1");
    assert!(refused(command).contains("ARGOSY_EXECUTION__MAX_RETRY: unknown key"));
    // A wrong value tells which of the sources it came from.
    fs::write(place.path().join("argosy.yaml"), "execution: {max_retries: many}").unwrap();
    let talk = refused(place.run("m", &["--dry-run"]));
    assert!(talk.contains("execution.max_retries") && talk.contains("argosy.yaml"), "{talk}");
}

#[test]
fn show_names_origins_and_masks_credentials() {
    let place = Place::new();
    fs::write(
        place.path().join("argosy.yaml"),
        format!("benchmarks: {{discoverybench: {{judge_model: {{id: j, api_key: {KEY}, base_url: 'http://h/v1'}}}}}}"),
    )
    .unwrap();
    let mut command = place.argosy(&["config", "show"]);
    command.env("ARGOSY_EXECUTION__TASK_CONCURRENCY", "8");
    let (code, shown, talk) = end(command);
    assert_eq!(code, Some(0), "{talk}");
    assert!(!shown.contains(KEY), "{shown}");
    assert!(shown.contains("api_key: \"********\"  # ") && shown.contains("argosy.yaml"), "{shown}");
    assert!(shown.contains("task_concurrency: 8  # ARGOSY_EXECUTION__TASK_CONCURRENCY"), "{shown}");
    assert!(shown.contains("max_retries: 0  # default"), "{shown}");

    let mut command = place.argosy(&["config", "show", "--format", "json", "--env", "host_process"]);
    command.env("ARGOSY_BENCHMARKS__DISCOVERYBENCH__JUDGE_MODEL__API_KEY", "${JUDGE_KEY}");
    let (_, shown, _) = end(command);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["values"]["benchmarks"]["discoverybench"]["judge_model"]["api_key"], "${JUDGE_KEY}");
    let origin = &shown["origins"]["benchmarks.discoverybench.judge_model.api_key"];
    assert_eq!(origin, "ARGOSY_BENCHMARKS__DISCOVERYBENCH__JUDGE_MODEL__API_KEY");
    assert_eq!(shown["origins"]["execution.attempts.k"], "default");
    assert!(refused(place.argosy(&["config", "show", "--env", "moon"])).contains("host_process"));
}

#[test]
fn docs_name_every_key() {
    let place = Place::new();
    let (_, all, _) = end(place.argosy(&["config", "docs"]));
    for key in ["judge_model.api_protocol", "command_timeout", "retry_pattern_list", "timeout_seconds", "python"] {
        assert!(all.contains(key), "{key}");
    }
    let (_, one, _) = end(place.argosy(&["config", "docs", "harness", "discovery_agent"]));
    assert!(one.contains("max_iterations") && !one.contains("judge_model"), "{one}");
    assert!(refused(place.argosy(&["config", "docs", "harness", "x"])).contains("discovery_agent"));
}
