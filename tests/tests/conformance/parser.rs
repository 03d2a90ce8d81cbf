//! `parser.jsonl`

use std::path::Path;

use argosy_shared::trajectory::PYTHON_TOOL;
use argosy_tests::vectors::{self, Outcome, Tally};
use argosy_worker::agent::parse::{Parsed, parse};
use serde_json::{Value, json};

/// Checks every row.
pub(crate) fn check(folder: &Path) -> Tally {
    let mut tally = Tally::of("parser.jsonl");
    for row in vectors::read(folder, "parser.jsonl") {
        tally.count(row["id"].as_str().unwrap_or("?"), compare(&row));
    }
    tally
}

fn compare(row: &Value) -> Outcome {
    let Some(reply) = row["reply"].as_str() else { return Outcome::Failed("the row has no reply".to_owned()) };
    // The raw reply is what the next prompt shows (`log_is_reply`); the loop's vectors check that.
    let parsed = match parse(reply) {
        Parsed::Finish(output) => json!({"kind": "finish", "output": output, "log_is_reply": true}),
        Parsed::Action { tool, input } => json!({
            "kind": "action",
            "valid_tool": tool == PYTHON_TOOL,
            "tool": tool,
            "tool_input": input,
            "log_is_reply": true,
        }),
        Parsed::Neither => json!({
            "kind": "error",
            "type": "ValueError",
            "message": format!("Could not parse LLM output: `{reply}`"),
        }),
    };
    if parsed == row["parsed"] {
        Outcome::Equal
    } else {
        Outcome::Failed(format!("expected {}, got {parsed}", row["parsed"]))
    }
}
