//! Everything that can change a score, as one comparable value.

use argosy_coordinator::dataset::{Dataset, TaskIndex};
use serde_json::{Value, json};

use super::plan::Plan;

/// The fingerprint of a run. Concurrency, retries, timeouts of requests, and credentials are not in it.
pub(super) fn of(plan: &Plan, dataset: &Dataset, selection: &[TaskIndex]) -> Value {
    let tasks: Vec<&str> = selection.iter().map(|&index| dataset.data[index].id.as_str()).collect();
    json!({
        "dataset": dataset.identity.digest,
        "tasks": tasks,
        "hints": plan.benchmark.hints(),
        "isolate_network": plan.benchmark.isolate_network,
        "harness": plan.harness,
        "environment": plan.environment,
        "model": {"id": plan.model.id, "base_url": plan.model.base_url, "params": plan.model.params.request},
        "judge": {
            "id": plan.judge.id,
            "base_url": plan.judge.base_url,
            "params": plan.judge.params.request,
            "policy": plan.benchmark.judge_policy,
        },
        "attempts": plan.execution.k,
        "run_timeout_seconds": plan.execution.run_timeout_seconds,
    })
}

/// What differs, one line a member; empty where nothing does.
pub(super) fn differences(before: &Value, now: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", before, now, &mut lines);
    lines
}

fn compare(place: &str, before: &Value, now: &Value, lines: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(a), Value::Object(b)) => {
            let mut names: Vec<&String> = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name))).collect();
            names.sort();
            for name in names {
                let at = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                compare(&at, a.get(name).unwrap_or(&Value::Null), b.get(name).unwrap_or(&Value::Null), lines);
            }
        }
        (Value::Array(a), Value::Array(b)) if a != b => {
            lines.push(format!("{place}: {} then, {} now", count(a.len()), count(b.len())));
        }
        (a, b) if a != b => lines.push(format!("{place}: {a} then, {b} now")),
        _ => {}
    }
}

fn count(n: usize) -> String {
    format!("{n} entries")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_by_their_place() {
        let before = json!({"judge": {"id": "a", "params": {}}, "tasks": ["x"], "attempts": 1});
        let now = json!({"judge": {"id": "b", "params": {}}, "tasks": ["x", "y"], "attempts": 1});
        assert_eq!(
            differences(&before, &now),
            ["judge.id: \"a\" then, \"b\" now", "tasks: 1 entries then, 2 entries now"]
        );
        assert!(differences(&now, &now).is_empty());
    }
}
