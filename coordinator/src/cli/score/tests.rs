use std::{net::SocketAddr, path::Path};

use argosy_coordinator::stand_in::{Script, StandIn};
use clap::Parser;
use serde_json::{Value, json};

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    arguments: Arguments,
}

/// A pack of our own wording that says no more than which reply is wanted.
fn pack() -> String {
    let holes = |text: &str, names: &[&str]| {
        let mut parts = vec![json!(text)];
        for name in names {
            parts.extend([json!("\n"), json!({"field": name})]);
        }
        parts
    };
    let pair =
        ["datasets_json", "query", "gold_hypo", "gold_workflow", "gen_hypo", "gen_workflow", "dimension_question"];
    let call = |text: &str, names: &[&str], question: Option<&str>| {
        let mut call =
            json!({"system": "judge", "user": holes(text, names), "params": {"max_tokens": 250}, "attempts": 1});
        if let Some(question) = question {
            call["question"] = json!(question);
        }
        call
    };
    let agent = json!({
        "template": holes("", &["system_prompt", "tools", "tool_names", "input", "agent_scratchpad"]),
        "observation": [{"field": "observation"}],
        "stop": ["\n>"],
        "max_iterations": 3,
    });
    let query = json!({
        "dataset": holes("", &["name", "description"]),
        "column": holes("", &["name", "description"]),
        "query": [{"field": "nl_query"}],
        "closing": "",
    });
    let mut real = query.clone();
    for (name, field) in
        [("intermediate", "text"), ("domain_knowledge", "domain_knowledge"), ("workflow_tags", "workflow_tags")]
    {
        real[name] = json!([{"field": field}]);
    }
    json!({
        "schema": argosy_shared::prompts::SCHEMA,
        "source": {"commit": null, "files": {}},
        "agent": {"system_prompt": "s", "coder": agent, "react": agent},
        "task_input": {"input": holes("", &["dataset_paths", "query"]), "real": real, "synth": query},
        "judge": {
            "sub_hypotheses": call("reply {\"sub_hypo\": ..}", &["datasets", "hypothesis", "workflow"], None),
            "context": call("reply {\"match\": ..}", &["gold_hyp", "gold_context", "pred_hyp", "pred_context"], None),
            "variables": call("reply {\"sizeA\": ..}", &pair, Some("how many?")),
            "relation": call("reply {\"answer\": ..}", &pair, Some("how alike?")),
            "pair_question": holes("", &["gold_text", "gold_context", "gen_text", "gen_context"]),
            "fallback": {"text": null, "context": "None"},
        },
    })
    .to_string()
}

/// A folder with a pack and a metadata file, and what the command makes of them with these flags and this judge.
fn with(script: Value, flags: &[&str]) -> anyhow::Result<Judged> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pack.json"), pack()).unwrap();
    let metadata =
        r#"{"datasets": [{"name": "d.csv", "description": "D", "columns": [{"name": "x", "description": "µ"}]}]}"#;
    // As the µ of 25 files of synth_test: not UTF-8.
    let metadata: Vec<u8> = metadata.chars().map(|c| u8::try_from(c).unwrap()).collect();
    std::fs::write(folder.path().join("metadata_0.json"), metadata).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let script = Script::parse(&script.to_string()).unwrap();
    let server = runtime.block_on(StandIn::start(SocketAddr::from(([127, 0, 0, 1], 0)), script)).unwrap();
    let judged = score(parse(folder.path(), &server.base_url(), flags).unwrap());
    runtime.block_on(server.stop());
    judged
}

fn parse(folder: &Path, url: &str, flags: &[&str]) -> Result<Arguments, clap::Error> {
    let path = |name: &str| folder.join(name).display().to_string();
    let (pack, metadata) = (path("pack.json"), path("metadata_0.json"));
    let base = [
        "score",
        "--gold",
        "g",
        "--pred",
        "p",
        "--query",
        "q",
        "--judge-model",
        "j",
        "--model-base-url",
        url,
        "--prompt-pack",
        &pack,
        "--metadata",
        &metadata,
    ];
    Line::try_parse_from(base.iter().chain(flags)).map(|line| line.arguments)
}

fn judge_says(variables: Value) -> Value {
    json!({"judge": {
        "sub_hypotheses": [{"content": {"sub_hypo": [{"text": "t", "context": "c"}]}}],
        "variables": [{"content": variables}],
        "relation": [{"content": {"answer": "A"}}],
    }})
}

#[test]
fn one_answer_is_scored_against_a_real_server() {
    let counts = json!({"sizeA": 1, "sizeB": 1, "intersection": 2, "explanation": ""});
    let strict = with(judge_says(counts.clone()), &[]).unwrap();
    assert_eq!((strict.final_score, strict.warnings.len()), (1.0, 1));
    let upstream = with(judge_says(counts), &["--policy", "upstream"]).unwrap();
    assert_eq!((upstream.final_score, upstream.warnings.len()), (2.0, 0));
    let text = pyjson::dumps(&upstream.eval_rec, Some(4));
    assert!(text.starts_with("{\n    \"query\": \"q\",\n    \"HypoA\": \"g\",\n"), "{text}");
    assert!(text.ends_with("\n    \"final_score\": 2.0\n}"), "{text}");
}

#[test]
fn failures_name_the_code_and_what_to_do() {
    let error = with(judge_says(json!({"sizeA": null})), &[]).unwrap_err().to_string();
    assert!(error.starts_with("judge_invalid_output: ") && error.contains("\nhint: "), "{error}");
    let refusing = json!({"judge": {"sub_hypotheses": [{"status": 503}]}});
    let error = with(refusing, &["--judge-params", "{\"max_retries\": 0}"]).unwrap_err().to_string();
    assert!(error.starts_with("judge_failed: ") && error.contains("503"), "{error}");
}

#[test]
fn bad_input_is_a_usage_error() {
    for (flags, expected) in [
        (&["--metadata-type", "real"][..], "not the metadata of a real split"),
        (&["--judge-params", "[]"][..], "--judge-params: expected a JSON object"),
        (&["--judge-params", "{\"timeout\": 0}"][..], "timeout"),
        (&["--model-api-key", "${ARGOSY_SURELY_NOT_SET}"][..], "ARGOSY_SURELY_NOT_SET is not set"),
    ] {
        let error = with(json!({}), flags).unwrap_err();
        assert!(error.to_string().contains(expected), "`{error}` lacks `{expected}`");
        assert!(error.downcast_ref::<Usage>().is_some(), "{error}");
    }
}

#[test]
fn upstreams_flag_names_are_understood() {
    let line = [
        "score",
        "--gold_hypo",
        "g",
        "--pred_hypo",
        "p",
        "--gold_workflow",
        "",
        "--pred_workflow",
        "w",
        "--metadata_path",
        "m",
        "--metadata_type",
        "synth",
        "--query",
        "q",
        "--judge-model",
        "j",
        "--model-base-url",
        "u",
        "--dataset",
        "d",
    ];
    let arguments = Line::try_parse_from(line).map(|line| line.arguments);
    assert_eq!(
        arguments.map(|arguments| arguments.pred_workflow).map_err(|error| error.to_string()),
        Ok("w".to_owned())
    );
    assert!(Line::try_parse_from(["score", "--gold", "g"]).is_err());
}
