//! A small pack of our own wording, for unit tests.

use serde_json::Value;

use super::{PromptPack, SCHEMA, load::PAIR_FIELDS};

/// A small pack of our own wording.
pub(crate) fn pack() -> PromptPack {
    PromptPack::from_json(json().to_string().as_bytes()).unwrap()
}

pub(super) fn json() -> Value {
    let agent = serde_json::json!({
        "template": [
            {"field": "system_prompt"}, "|", {"field": "tools"}, "|", {"field": "tool_names"}, "|",
            {"field": "input"}, "|", {"field": "agent_scratchpad"},
        ],
        "observation": [">", {"field": "observation"}, "<"],
        "stop": ["\n>"],
        "max_iterations": 3,
    });
    let mut coder = agent.clone();
    coder["max_executions"] = serde_json::json!(1);
    coder["refusal"] = serde_json::json!("no more");
    let query = serde_json::json!({
        "dataset": [{"field": "name"}, " is ", {"field": "description"}],
        "column": [{"field": "name"}, "=", {"field": "description"}, ";"],
        "query": ["? ", {"field": "nl_query"}],
        "closing": "Answer.",
    });
    let mut real = query.clone();
    real["intermediate"] = serde_json::json!([{"field": "text"}, ","]);
    real["domain_knowledge"] = serde_json::json!([" Know: ", {"field": "domain_knowledge"}]);
    real["workflow_tags"] = serde_json::json!([" Tags: ", {"field": "workflow_tags"}]);
    let fields = |names: &[&str]| names.iter().map(|name| serde_json::json!({"field": name})).collect::<Vec<_>>();
    let call =
        |names: &[&str]| serde_json::json!({"system": "judge", "user": fields(names), "params": {}, "attempts": 1});
    let mut pair = call(&PAIR_FIELDS);
    pair["question"] = serde_json::json!("how many?");
    serde_json::json!({
        "schema": SCHEMA,
        "source": {"commit": null, "files": {"a.py": "00"}},
        "agent": {"system_prompt": "be brief", "coder": coder, "react": agent},
        "task_input": {
            "input": [{"field": "dataset_paths"}, " ", {"field": "query"}],
            "real": real,
            "synth": query,
        },
        "judge": {
            "sub_hypotheses": call(&["datasets", "hypothesis", "workflow"]),
            "context": call(&["gold_hyp", "gold_context", "pred_hyp", "pred_context"]),
            "variables": pair.clone(),
            "relation": pair,
            "pair_question": fields(&["gold_text", "gold_context", "gen_text", "gen_context"]),
            "fallback": {"text": null, "context": "None"},
        },
    })
}
