//! `request` of `run_info.json`, and `params.json`: what the user asked for, without empty members and credentials.

use serde_json::{Map, Value, json};

use crate::{
    redact,
    spec::{AttemptStrategy, ExecutionParams, JudgeRetry},
};

/// Members of `execution` that `params.json` repeats: those that can change a result.
const RECORDED: [&str; 13] = [
    "artifact_collect",
    "artifact_collect_timeout_seconds",
    "artifact_limits",
    "artifacts",
    "attempts",
    "evaluation_timeout_multiplier",
    "evaluation_timeout_seconds",
    "run_timeout_multiplier",
    "run_timeout_seconds",
    "run_timer_compensation_seconds",
    "runresult_collect_timeout_seconds",
    "save_artifacts",
    "timeout_multiplier",
];

/// Drops null, `{}` and `[]` and members whose name starts with `_`, at every depth, and masks credentials. Empty strings
/// stay, and a sensitive member stays even if it is empty (AgentCompass 1.0.1, `RunStore._sanitize_param_value`).
#[must_use]
pub fn sanitise(request: Value) -> Value {
    let mut request = prune(request);
    redact::mask(&mut request);
    request
}

/// The `execution` section under AgentCompass's names, then ours.
#[must_use]
pub fn execution(params: &ExecutionParams) -> Value {
    let strategy = match params.strategy {
        AttemptStrategy::Avg => "avg",
    };
    let judge_retry = match params.judge_retry {
        JudgeRetry::Evaluate => "evaluate",
        JudgeRetry::Attempt => "attempt",
    };
    json!({
        "attempts": {"k": params.k, "strategy": strategy},
        "task_concurrency": params.task_concurrency,
        "max_retries": params.max_retries,
        "retry_pattern_list": params.retry_pattern_list,
        "retry_min_delay_seconds": params.retry_min_delay_seconds,
        "retry_max_delay_seconds": params.retry_max_delay_seconds,
        "run_timeout_seconds": params.run_timeout_seconds,
        "judge_retry": judge_retry,
        "max_lease_losses": params.max_lease_losses,
        "replay": params.replay,
    })
}

/// Puts `k` and `strategy` of an `execution` section where AgentCompass's readers look for them: below `attempts`.
pub fn nest_attempts(request: &mut Value) {
    let Some(execution) = request.get_mut("execution").and_then(Value::as_object_mut) else { return };
    if execution.contains_key("attempts") {
        return;
    }
    if let (Some(k), strategy) = (execution.shift_remove("k"), execution.shift_remove("strategy")) {
        let strategy = strategy.unwrap_or_else(|| Value::from("avg"));
        execution.insert("attempts".to_owned(), json!({"k": k, "strategy": strategy}));
    }
}

/// The content of `params.json` for a request.
#[must_use]
pub fn params(request: &Value) -> Value {
    let mut execution = Map::new();
    if let Some(members) = request["execution"].as_object() {
        execution.extend(
            members
                .iter()
                .filter(|(key, _)| RECORDED.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone())),
        );
    }
    let sections = [
        ("benchmark", members(&request["benchmark"], &["id", "params"])),
        ("model", members(&request["model"], &["id", "params", "base_url", "api_key", "api_protocol"])),
        ("execution", execution),
        ("output", members(&request["output"], &["run_name", "run_id"])),
    ];
    let mut params = Map::new();
    for (name, section) in sections {
        let Value::Object(mut section) = sanitise(Value::Object(section)) else { continue };
        section.retain(|_, value| *value != json!(""));
        if !section.is_empty() {
            params.insert(name.to_owned(), Value::Object(section));
        }
    }
    Value::Object(params)
}

fn members(section: &Value, names: &[&str]) -> Map<String, Value> {
    names.iter().filter_map(|name| Some(((*name).to_owned(), section.get(name)?.clone()))).collect()
}

fn prune(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(key, _)| !key.starts_with('_'))
            .filter_map(|(key, mut member)| {
                if redact::is_sensitive_key(&key) {
                    redact::mask_value(&mut member);
                    return Some((key, member));
                }
                let member = prune(member);
                (!is_nothing(&member)).then_some((key, member))
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(prune).filter(|item| !is_nothing(item)).collect(),
        leaf @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => leaf,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_loses_what_is_empty_and_what_is_secret() {
        let request = json!({
            "model": {"id": "m", "api_key": "sk-x", "wrap_api_key": false, "params": {}},
            "harness": {"id": "h", "params": {"max_iterations": null, "list": [null, [], 1]}},
            "_internal": 1, "runtime": {"reuse": false}, "output": {"run_name": ""},
        });
        assert_eq!(
            sanitise(request),
            json!({
                "model": {"id": "m", "api_key": "********", "wrap_api_key": false},
                "harness": {"id": "h", "params": {"list": [1]}},
                "runtime": {"reuse": false}, "output": {"run_name": ""},
            })
        );
    }

    #[test]
    fn attempts_are_nested() {
        let flat = serde_json::to_value(ExecutionParams { k: 3, ..ExecutionParams::default() }).unwrap();
        let mut request = json!({"execution": flat});
        nest_attempts(&mut request);
        assert_eq!(request["execution"]["attempts"], json!({"k": 3, "strategy": "avg"}));
        assert_eq!(request["execution"].get("k"), None);
        let before = request.clone();
        nest_attempts(&mut request);
        assert_eq!(request, before);
    }

    #[test]
    fn params_are_the_part_that_can_change_a_result() {
        let request = json!({
            "benchmark": {"id": "b", "params": {"judge_model": {"id": "j", "api_key": "k"}}},
            "model": {"id": "m", "base_url": "http://h/v1", "api_key": "", "api_protocol": "openai-chat", "wrap_api_key": false},
            "execution": execution(&ExecutionParams { k: 2, ..ExecutionParams::default() }),
            "output": {"run_id": "r", "run_name": ""}, "environment": {"id": "e"},
        });
        assert_eq!(
            params(&request),
            json!({
                "benchmark": {"id": "b", "params": {"judge_model": {"id": "j", "api_key": "********"}}},
                "model": {"id": "m", "base_url": "http://h/v1", "api_protocol": "openai-chat"},
                "execution": {"attempts": {"k": 2, "strategy": "avg"}},
                "output": {"run_id": "r"},
            })
        );
    }
}
