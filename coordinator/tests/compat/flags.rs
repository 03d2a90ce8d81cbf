//! The grammar of the command line.

use crate::support::{Place, end, refused};

#[test]
fn every_flag_of_agentcompass_is_there_or_refused_with_a_reason() {
    let place = Place::new();
    let (_, help, _) = end(place.argosy(&["run", "--help"]));
    // `agentcompass run --help` of 1.0.1.
    for flag in [
        "--benchmark",
        "--harness",
        "--model",
        "--config",
        "--env",
        "--benchmark-params",
        "--harness-params",
        "--env-params",
        "--model-params",
        "--model-base-url",
        "--model-api-key",
        "--model-api-protocol",
        "--task-concurrency",
        "--k",
        "--attempt-strategy",
        "--max-retries",
        "--retry-pattern-list",
        "--results-dir",
        "--data-dir",
        "--run-name",
        "--run-id",
        "--reuse",
        "--timeout-seconds",
        "--progress",
        "--log-level",
        "--file-log-level",
        "--execution-params",
    ] {
        assert!(help.split_whitespace().any(|word| word.trim_end_matches(',') == flag), "{flag}");
    }
    let (code, page, _) = end(place.argosy(&["help", "compat"]));
    assert_eq!(code, Some(0));
    for (flag, value) in [
        ("--wrap-api-key", None),
        ("--env-open-qps", Some("docker=1")),
        ("--recipe", Some("x")),
        ("--recipe-dir", Some("x")),
        ("--no-checkpoint-resume", None),
        ("--auto-install-dependencies", None),
        ("--provider-limit", Some("docker=1")),
        ("--keep-environment", None),
        ("--enable-analysis", None),
        ("--analysis-params", Some("{}")),
    ] {
        let mut flags = vec![flag];
        flags.extend(value);
        let talk = refused(place.run("m", &flags));
        assert!(talk.contains(flag) && talk.contains("no meaning here") && talk.contains("hint:"), "{talk}");
        assert!(page.contains(flag), "{flag}");
        if let Some(value) = value {
            assert!(refused(place.run("m", &[&format!("{flag}={value}")])).contains("no meaning here"), "{flag}");
        }
    }
    assert!(refused(place.run("m", &["--max-retry", "1"])).contains("--max-retries"));
    assert!(!place.path().join("results").exists(), "a refused command wrote something");
}

#[test]
fn switches_that_ask_for_what_always_happens_are_accepted() {
    let place = Place::new();
    let flags = [
        "--no-wrap-api-key",
        "--no-keep-environment",
        "--no-enable-analysis",
        "--no-auto-install-dependencies",
        "--dry-run",
    ];
    let (code, tasks, talk) = end(place.run("m", &flags));
    assert_eq!(code, Some(0), "{talk}");
    assert!(tasks.contains("2 tasks"), "{tasks}");
}

#[test]
fn positions_may_be_flags() {
    let place = Place::new();
    let mut command =
        place.argosy(&["run", "--harness", "discovery_agent", "--model", "m", "--benchmark", "discoverybench"]);
    command.args(place.dataset()).args([
        "--env",
        "host_process",
        "--dry-run",
        "--model-base-url",
        "http://127.0.0.1:1/v1",
    ]);
    command.args(["--benchmark-params", crate::support::PARAMS]);
    assert_eq!(end(command).0, Some(0));
}

#[test]
fn components_are_listed() {
    let place = Place::new();
    for (what, id) in [("benchmark", "discoverybench"), ("harness", "discovery_agent"), ("env", "host_process")] {
        let (code, list, _) = end(place.argosy(&["list", what]));
        assert_eq!((code, list.contains(id)), (Some(0), true), "{list}");
    }
}

#[test]
fn bad_input_is_refused_before_anything_is_written_or_asked() {
    let place = Place::new();
    let benchmark = |extra: &str| {
        let params = format!(r#"{{"judge_model":{{"id":"j"}},"isolate_network":false,{extra}}}"#);
        refused(place.run("m", &["--benchmark-params", &params]))
    };
    let talk = refused(place.run("m", &["--attempt-strategy", "pass", "--k", "2"]));
    assert!(talk.contains("execution.attempts.strategy") && talk.contains("--attempt-strategy"), "{talk}");
    assert!(
        benchmark(r#""category_hierarchy":{"overall":{"aggregation":"sum"}}"#).contains("category_hierarchy: overall")
    );
    assert!(benchmark(r#""category_hierarchy":{"all":{}}"#).contains("category_hierarchy"));
    assert!(benchmark(r#""aggregation_mode":"mean""#).contains("category_mean"));
    assert!(benchmark(r#""sample_ids":["no_such_task"]"#).contains("no_such_task"));
    assert!(benchmark(r#""limit":0"#).contains("benchmark_params.limit"));
    assert!(benchmark(r#""splti":"real_test""#).contains("did you mean `split`"));
    assert!(refused(place.run("m", &["--benchmark-params", "{"])).contains("not JSON"));
    assert!(refused(place.run("m", &["--run-id", "a/b"])).contains("a_b"));
    assert!(refused(place.run("m", &["--log-level", "LOUD"])).contains("CRITICAL"));
    let talk = refused(place.run("m", &["--model-api-key", "${ARGOSY_SURELY_NOT_SET}"]));
    assert!(talk.contains("export ARGOSY_SURELY_NOT_SET"), "{talk}");
    assert!(refused(place.run("m", &["--model-base-url", "http://${HOST}/v1"])).contains("whole value"));
    assert!(!place.path().join("results/m_discoverybench_discovery_agent").exists());
}
