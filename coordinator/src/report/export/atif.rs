//! Harbor's Agent Trajectory Interchange Format, version 1.4: one document per attempt.
//!
//! The agent sends one message per turn that repeats everything before it. A trajectory tells a conversation, so it
//! begins with the first turn's prompt; each later prompt is that one followed by the replies and observations in between.

use argosy_shared::{run_dir::State, trajectory::PYTHON_TOOL};
use serde_json::{Map, Value, json};

use super::{Facts, Missing, Place, PlannedAttempt};
use crate::report::load::{StoredAttempt, StoredStep};

/// The version written. Later ones only added what is not needed here.
pub const VERSION: &str = "ATIF-v1.4";

const NOTES: &str = "Each turn's prompt is the first prompt followed by the replies and observations so far; only the \
                     first is kept. Token counts are those of the whole prompts.";

/// The trajectory of one attempt.
#[must_use]
pub fn trajectory(facts: &Facts, planned: &PlannedAttempt, stored: &StoredAttempt) -> Value {
    let mut steps = Vec::new();
    let first = stored.trajectory.steps.first();
    match first.and_then(|step| Some((step.prompt.as_deref()?, step))) {
        Some((prompt, step)) => steps.push(with_time(
            json!({"step_id": 1, "source": "user", "message": prompt}),
            step.started_at.as_deref().map(|at| facts.time(at)),
        )),
        // A document needs a step; this one says why there are no others.
        None => steps.push(json!({"step_id": 1, "source": "system", "message": why_empty(stored)})),
    }
    for step in &stored.trajectory.steps {
        steps.push(agent_step(facts, steps.len() + 1, step));
    }
    let count = stored.trajectory.steps.len();
    let mut extra = Map::from_iter([("argosy_steps".to_owned(), json!(count))]);
    // An invalidated attempt has no scores here either.
    if planned.place != Place::Published(State::Fatal) {
        extra.insert("scores".to_owned(), json!(stored.metrics));
    }
    let agent_extra = without_null(json!({"agent_type": facts.agent_type, "environment": facts.environment}));
    json!({
        "schema_version": VERSION,
        "session_id": format!("{}/{}/attempt-{}", facts.run_id, planned.task, planned.attempt),
        "agent": without_null(json!({
            "name": facts.harness,
            "version": facts.argosy_version.clone().unwrap_or_else(|| "unknown".to_owned()),
            "model_name": facts.model,
            "extra": agent_extra,
        })),
        "steps": steps,
        "notes": NOTES,
        "final_metrics": without_null(json!({
            "total_prompt_tokens": stored.total("prompt_tokens_len"),
            "total_completion_tokens": stored.total("completion_tokens_len"),
            "total_cached_tokens": stored.total("cached_tokens_len"),
            "total_steps": steps.len(),
            "extra": extra,
        })),
        "extra": without_null(json!({
            "benchmark": facts.benchmark,
            "task_id": planned.task,
            "category": planned.category,
            "attempt": planned.attempt,
            "state": planned.place.as_str(),
            "run_status": facts.run_status,
            "final_answer": stored.answer(),
            "answer_source": stored.benchmark("answer_source"),
            "issues": stored.issues,
            "retry_count": stored.retry_count,
            "provenance": stored.harness("provenance"),
        })),
    })
}

/// `index.json` beside the trajectories: which there are, and what is missing.
#[must_use]
pub fn index(facts: &Facts, files: &[(String, PlannedAttempt)], missing: &Missing) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|(file, planned)| {
            json!({
                "file": file,
                "task_id": planned.task,
                "attempt": planned.attempt,
                "state": planned.place.as_str(),
            })
        })
        .collect();
    json!({
        "format": VERSION,
        "run_id": facts.run_id,
        "run_status": facts.run_status,
        "model": facts.model,
        "trajectories": files,
        "missing": missing.to_json(),
    })
}

fn agent_step(facts: &Facts, step_id: usize, step: &StoredStep) -> Value {
    let calls: Vec<Value> = step
        .reply
        .tool_calls
        .iter()
        .map(|call| {
            json!({
                "tool_call_id": call.id,
                "function_name": if call.function.name.is_empty() { PYTHON_TOOL } else { &call.function.name },
                "arguments": call.function.arguments(),
            })
        })
        .collect();
    let known = |id: &str| step.reply.tool_calls.iter().any(|call| call.id == id);
    let results: Vec<Value> = step
        .observation
        .iter()
        .map(|observation| {
            // An observation may answer a reply that is no call at all; then it names none.
            let id = Some(&observation.tool_call_id).filter(|id| known(id));
            without_null(json!({"source_call_id": id, "content": observation.content}))
        })
        .collect();
    let reasoning = Some(&step.reply.reasoning_content).filter(|text| !text.is_empty());
    let metrics = without_null(json!({
        "prompt_tokens": step.count("prompt_tokens_len"),
        "completion_tokens": step.count("completion_tokens_len"),
        "cached_tokens": step.count("cached_tokens_len"),
        "extra": without_null(json!({
            "llm_infer_ms": step.number("llm_infer_ms"),
            "env_action_ms": step.number("env_action_ms"),
            "stop_reason": step.metric.get("stop_reason"),
            "reasoning_tokens": step.count("reasoning_tokens_len"),
            "request_retries": step.count("request_retries"),
            "observation_bytes_cut": step.count("observation_bytes_cut"),
        })),
    }));
    let value = without_null(json!({
        "step_id": step_id,
        "source": "agent",
        "model_name": facts.model,
        "message": step.reply.content,
        "reasoning_content": reasoning,
        "tool_calls": Some(calls).filter(|calls| !calls.is_empty()),
        "observation": Some(results).filter(|results| !results.is_empty()).map(|results| json!({"results": results})),
        "metrics": metrics,
    }));
    with_time(value, step.finished_at.as_deref().map(|at| facts.time(at)))
}

fn why_empty(stored: &StoredAttempt) -> String {
    let issues: Vec<String> = stored.issues.iter().map(|issue| format!("{}: {}", issue.code, issue.message)).collect();
    if issues.is_empty() {
        "there is no recorded turn".to_owned()
    } else {
        format!("there is no recorded turn: {}", issues.join("; "))
    }
}

fn with_time(mut step: Value, at: Option<String>) -> Value {
    if let (Some(members), Some(at)) = (step.as_object_mut(), at) {
        members.insert("timestamp".to_owned(), Value::String(at));
    }
    step
}

/// `value` without members that are null.
fn without_null(value: Value) -> Value {
    match value {
        Value::Object(members) => members.into_iter().filter(|(_, member)| !member.is_null()).collect(),
        other => other,
    }
}
