//! `${VAR}`: a value that is taken from the environment. Whole values only: a reference inside other text is refused.

use serde_json::{Map, Value};

use super::keys;
use crate::cli::output::Usage;

/// Resolves a value that is exactly `${VAR}`; text without a reference stays as it is.
///
/// # Errors
/// The variable is not set, or the reference is only a part of the value.
pub(crate) fn resolve(place: &str, value: &str) -> anyhow::Result<String> {
    let trimmed = value.trim();
    if let Some(name) = trimmed.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).filter(|name| is_name(name))
    {
        return std::env::var(name).map_err(|_| {
            Usage::new(format!("{place}: the environment variable {name} is not set"))
                .hint(format!("export {name}=... or give the value itself"))
                .into()
        });
    }
    match reference_within(value) {
        None => Ok(value.to_owned()),
        Some(reference) => Err(Usage::new(format!("{place}: `{reference}` inside other text is not replaced"))
            .hint("a reference must be the whole value: put the complete text into a variable")
            .into()),
    }
}

/// Resolves all strings of a mapping. Where a number or a truth value is wanted, the variable's text is read as one.
///
/// # Errors
/// As [`resolve`].
pub(crate) fn resolve_all(place: &str, members: Map<String, Value>) -> anyhow::Result<Map<String, Value>> {
    members
        .into_iter()
        .map(|(name, value)| {
            let place = format!("{place}.{name}");
            Ok((name, one(&place, value)?))
        })
        .collect()
}

fn one(place: &str, value: Value) -> anyhow::Result<Value> {
    Ok(match value {
        Value::String(text) => {
            let resolved = resolve(place, &text)?;
            if resolved != text && !keys::is_text(place) {
                serde_json::from_str(&resolved).unwrap_or(Value::String(resolved))
            } else {
                Value::String(resolved)
            }
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| one(place, item)).collect::<anyhow::Result<_>>()?)
        }
        Value::Object(members) => Value::Object(resolve_all(place, members)?),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    })
}

/// The first `${NAME}` in a text.
fn reference_within(text: &str) -> Option<&str> {
    text.match_indices("${").find_map(|(start, _)| {
        let end = start + text[start..].find('}')?;
        is_name(&text[start + 2..end]).then(|| &text[start..=end])
    })
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_values_are_resolved_and_parts_refused() {
        assert_eq!(resolve("x", "plain $HOME {a} ${} ${a b}").unwrap(), "plain $HOME {a} ${} ${a b}");
        assert_eq!(resolve("x", "${PATH}").unwrap(), std::env::var("PATH").unwrap());
        let unset = resolve("--model-api-key", "${ARGOSY_SURELY_NOT_SET}").unwrap_err().to_string();
        assert!(unset.contains("--model-api-key") && unset.contains("hint: export ARGOSY_SURELY_NOT_SET"), "{unset}");
        let partial = resolve("model.base_url", "http://${HOST}/v1").unwrap_err().to_string();
        assert!(partial.contains("model.base_url: `${HOST}`") && partial.contains("whole value"), "{partial}");
    }

    #[test]
    fn references_are_found_at_any_depth() {
        let nested = serde_json::json!({"judge_model": {"params": {"list": ["x${A}"]}}});
        let error = resolve_all("benchmarks.discoverybench", nested.as_object().unwrap().clone()).unwrap_err();
        assert!(error.to_string().contains("benchmarks.discoverybench.judge_model.params.list"), "{error}");
    }
}
