//! Brings a source into its normal form and refuses keys that nobody would read.

use argosy_shared::spec::{BENCHMARK, EnvironmentId, HARNESS, nearest};
use serde_json::{Map, Value};

use super::{Layer, keys};
use crate::cli::{compat, output::Usage};

/// Sections of a configuration.
const SECTIONS: [&str; 6] = ["benchmark", "benchmarks", "environments", "execution", "harnesses", "runtime"];

/// The layer with `benchmark.params` moved to `benchmarks.discoverybench`, all keys known.
pub(super) fn layer(layer: Layer) -> anyhow::Result<Layer> {
    let Layer { origin, values } = layer;
    let mut checked = Map::new();
    let mut params = None;
    for (section, value) in values {
        if section == "models" {
            return Err(Usage::new(format!("{origin}: `models` is not a section"))
                .hint("the model is given on the command line: MODEL, --model-base-url, --model-params")
                .into());
        }
        if !SECTIONS.contains(&section.as_str()) {
            return Err(unknown(&origin, "section", &section, &SECTIONS).into());
        }
        let value = mapping(&origin, &section, value)?;
        match section.as_str() {
            "benchmark" => params = Some(benchmark(&origin, value)?),
            "benchmarks" => drop(checked.insert(section, components(&origin, "benchmarks", &[BENCHMARK], value)?)),
            "harnesses" => drop(checked.insert(section, components(&origin, "harnesses", &[HARNESS], value)?)),
            "environments" => {
                let ids = EnvironmentId::ALL.map(EnvironmentId::as_str);
                drop(checked.insert(section, components(&origin, "environments", &ids, value)?));
            }
            _ => {
                checked.insert(section.clone(), Value::Object(members(&origin, &section, value)?));
            }
        }
    }
    if let Some(params) = params {
        let params = members(&origin, &format!("benchmarks.{BENCHMARK}"), params)?;
        let section = checked.entry("benchmarks").or_insert_with(|| Value::Object(Map::new()));
        if section[BENCHMARK].is_null() {
            section[BENCHMARK] = Value::Object(Map::new());
        }
        if let Some(below) = section[BENCHMARK].as_object_mut() {
            below.extend(params);
        }
    }
    Ok(Layer { origin, values: checked })
}

/// `benchmark: {params: {..}}`, the form the benchmark's documentation shows.
fn benchmark(origin: &str, mut section: Map<String, Value>) -> anyhow::Result<Map<String, Value>> {
    match section.shift_remove("id") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) if id == BENCHMARK => {}
        Some(other) => {
            return Err(Usage::new(format!("{origin}: benchmark.id: Argosy runs `{BENCHMARK}`, not {other}")).into());
        }
    }
    let params = section.shift_remove("params").unwrap_or_default();
    if let Some(name) = section.keys().next() {
        return Err(unknown(origin, "key", &format!("benchmark.{name}"), &["benchmark.params", "benchmark.id"]).into());
    }
    mapping(origin, "benchmark.params", params)
}

fn components(origin: &str, section: &str, ids: &[&str], value: Map<String, Value>) -> anyhow::Result<Value> {
    let mut checked = Map::new();
    for (id, params) in value {
        if !ids.contains(&id.as_str()) {
            return Err(unknown(origin, "component", &format!("{section}.{id}"), &with_prefix(section, ids)).into());
        }
        let place = format!("{section}.{id}");
        let params = mapping(origin, &place, params)?;
        checked.insert(id, Value::Object(members(origin, &place, params)?));
    }
    Ok(Value::Object(checked))
}

/// Refuses unknown members of `place`, and of the mappings below it whose members are known. Members that ask for what
/// happens here anyway are dropped.
fn members(origin: &str, place: &str, values: Map<String, Value>) -> anyhow::Result<Map<String, Value>> {
    let known = keys::names(place);
    if known.is_empty() {
        return Ok(values);
    }
    let mut checked = Map::new();
    for (name, value) in values {
        let path = format!("{place}.{name}");
        if let Some(absent) = compat::absent_key(&path) {
            if !absent.is_harmless(&value) {
                return Err(Usage::new(format!("{origin}: `{path}` has no meaning here: {}", absent.why))
                    .hint(absent.hint())
                    .into());
            }
            continue;
        }
        if !known.contains(&name.as_str()) {
            return Err(unknown(origin, "key", &path, &with_prefix(place, &known)).into());
        }
        let value = match value {
            Value::Object(below) => Value::Object(members(origin, &path, below)?),
            other => other,
        };
        checked.insert(name, value);
    }
    Ok(checked)
}

fn mapping(origin: &str, place: &str, value: Value) -> anyhow::Result<Map<String, Value>> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(members) => Ok(members),
        other => Err(Usage::new(format!("{origin}: {place}: expected a mapping, found `{other}`")).into()),
    }
}

fn with_prefix<T: AsRef<str>>(prefix: &str, names: &[T]) -> Vec<String> {
    names.iter().map(|name| format!("{prefix}.{}", name.as_ref())).collect()
}

fn unknown<T: AsRef<str>>(origin: &str, what: &str, name: &str, valid: &[T]) -> Usage {
    let valid: Vec<&str> = valid.iter().map(AsRef::as_ref).collect();
    // The last level alone is compared: a long common beginning makes everything look alike.
    let leaf = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let leaves: Vec<String> = valid.iter().map(|name| leaf(name)).collect();
    let near = nearest(&leaf(name), leaves.iter().map(String::as_str))
        .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    Usage::new(format!("{origin}: unknown {what} `{name}`")).hint(format!("{near}valid: {}", valid.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(values: Value) -> String {
        let values = values.as_object().unwrap().clone();
        layer(Layer { origin: "here.yaml".to_owned(), values }).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_is_named_with_its_file_and_the_nearest_one() {
        for (values, key, near) in [
            (json!({"executoin": {}}), "unknown section `executoin`", "did you mean `execution`"),
            (json!({"execution": {"max_retry": 1}}), "`execution.max_retry`", "did you mean `max_retries`"),
            (json!({"execution": {"attempts": {"kk": 1}}}), "`execution.attempts.kk`", "execution.attempts.k"),
            (json!({"runtime": {"result_dir": "x"}}), "`runtime.result_dir`", "did you mean `results_dir`"),
            (json!({"benchmark": {"params": {"splits": 1}}}), "`benchmarks.discoverybench.splits`", "`split`"),
            (
                json!({"benchmarks": {"discoverybench": {"judge_model": {"url": 1}}}}),
                "`benchmarks.discoverybench.judge_model.url`",
                "judge_model.base_url",
            ),
            (json!({"benchmarks": {"discoverybnech": {}}}), "`benchmarks.discoverybnech`", "`discoverybench`"),
            (json!({"models": {}}), "`models`", "--model-base-url"),
        ] {
            let text = refusal(values);
            assert!(text.starts_with("here.yaml: ") && text.contains(key) && text.contains(near), "{text}");
        }
    }

    #[test]
    fn what_has_no_meaning_is_refused_unless_it_asks_for_what_happens_anyway() {
        let text = refusal(json!({"execution": {"artifact_limits": {"max_mb": 5}}}));
        assert!(text.contains("has no meaning here") && text.contains("hint:"), "{text}");
        let fine =
            json!({"execution": {"enabled_recipes": [], "enable_analysis": false}, "runtime": {"recipe_dirs": []}});
        layer(Layer { origin: "x".to_owned(), values: fine.as_object().unwrap().clone() }).unwrap();
    }
}
