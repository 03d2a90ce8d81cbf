//! A key is in no file and in nothing that is printed, also where the endpoint repeats it in its errors.

use std::fs;

use argosy_tests::{
    run_files::RunFiles,
    server::Server,
    stage::{Stage, finish},
};
use serde_json::json;

const MODEL_KEY: &str = "sk-model-5f2c9a7e41";
const JUDGE_KEY: &str = "jk-judge-88ab03d6f2";

#[test]
fn keys_are_nowhere_on_disk() {
    let stage = Stage::new();
    let mut script = stage.script();
    // Each server repeats in its errors what it was sent.
    let body = |key: &str| json!({"error": {"message": format!("Incorrect API key provided: {key}"), "code": null}});
    script["faults"] = json!([
        {"status": 500, "body": body(MODEL_KEY), "first": 1, "kinds": ["agent"]},
        {"status": 403, "body": body(MODEL_KEY), "probability": 0.3, "kinds": ["agent"]},
        {"status": 500, "body": body(JUDGE_KEY), "first": 1, "kinds": ["variables"]},
        {"status": 403, "body": body(JUDGE_KEY), "probability": 0.3, "kinds": ["relation"]},
    ]);
    // The model echoes its key: an agent's reply and an answer hold it.
    let echo = format!("Action: python_repl_ast\nAction Input: key = '{MODEL_KEY}'\nprint(key)");
    script["tasks"][0]["agent"] = json!([echo, format!("Final Answer: the key is {MODEL_KEY}")]);
    script["tasks"][1]["agent"] = script["tasks"][0]["agent"].clone();
    let model = Server::with_key(&script, MODEL_KEY);
    let judge = Server::with_key(&script, JUDGE_KEY);
    let params = json!({"judge_model": {"id": "j", "base_url": judge.base_url(), "api_key": "${JUDGE}"}});
    let mut command = stage.run(&model.base_url(), &params);
    command.args(["--run-id", "r", "--model-api-key", "${MODEL}", "--max-retries", "1"]);
    command.args(["--execution-params", r#"{"retry_min_delay_seconds": 0.01, "retry_max_delay_seconds": 0.02}"#]);
    command.env("MODEL", MODEL_KEY).env("JUDGE", JUDGE_KEY).env("RUST_LOG", "trace").env("ARGOSY_LOG", "trace");
    let ended = finish(&mut command);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    assert!(model.stats().errors.contains_key(&403) && judge.stats().errors.contains_key(&403));

    let everything = RunFiles::new(stage.path(""));
    let files = everything.all();
    assert!(files.iter().any(|(path, _)| path.ends_with("argosy.db")), "the journal is among the files");
    for key in [MODEL_KEY, JUDGE_KEY] {
        for (path, bytes) in &files {
            let here = bytes.windows(key.len()).any(|window| window == key.as_bytes());
            assert!(!here, "{} holds {key}", path.display());
        }
        assert!(!ended.stderr.contains(key) && !ended.stdout.contains(key), "{}", ended.stderr);
    }
    let info = stage.files("r").json("run_info.json");
    let masked = &info["request"]["model"]["api_key"];
    assert!(masked == "********" || masked == "${MODEL}", "{masked}");
    assert!(fs::metadata(stage.files("r").dir().join("journal/argosy.db")).expect("the journal").len() > 0);
}
