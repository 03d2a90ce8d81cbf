//! Where configuration comes from: files, and the environment.

use std::path::{Path, PathBuf};

use figment::value::Value as Tagged;
use serde_json::{Map, Value};

use super::Layer;
use crate::cli::output::Usage;

/// Variables that set a configuration value start with this and have two underscores between the levels.
const PREFIX: &str = "ARGOSY_";

/// The user's file and the nearest project file, where they exist.
pub(super) fn default_files() -> Vec<PathBuf> {
    let home = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let user = home.map(|folder| folder.join("argosy/config.yaml"));
    let project = std::env::current_dir()
        .ok()
        .and_then(|here| here.ancestors().map(|folder| folder.join("argosy.yaml")).find(|path| path.is_file()));
    user.into_iter().chain(project).filter(|path| path.is_file()).collect()
}

/// A configuration file.
pub(super) fn file(path: &Path) -> anyhow::Result<Layer> {
    Ok(Layer { origin: path.display().to_string(), values: mapping("configuration file", path)? })
}

/// A YAML, JSON or TOML file whose top level is a mapping.
pub(crate) fn mapping(what: &str, path: &Path) -> anyhow::Result<Map<String, Value>> {
    let text =
        std::fs::read_to_string(path).map_err(|error| Usage::new(format!("{what} {}: {error}", path.display())))?;
    let refuse = |error: String| {
        Usage::new(format!("{what} {}: {error}", path.display()))
            .hint("YAML, JSON and TOML are recognised by the file's ending")
    };
    let value: Value = match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?,
        Some("toml") => toml::from_str(&text).map_err(|error| refuse(error.to_string()))?,
        _ if text.trim().is_empty() => Value::Object(Map::new()),
        _ => serde_saphyr::from_str(&text).map_err(|error| refuse(error.to_string()))?,
    };
    match value {
        Value::Object(members) => Ok(members),
        Value::Null => Ok(Map::new()),
        _ => Err(refuse("the top level is not a mapping".to_owned()).into()),
    }
}

/// One layer for each variable: `ARGOSY_EXECUTION__TASK_CONCURRENCY=8` sets `execution.task_concurrency`.
pub(super) fn environment() -> anyhow::Result<Vec<Layer>> {
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with(PREFIX))
        .collect();
    variables.sort();
    variables.into_iter().filter_map(|(name, value)| variable(&name, &value).transpose()).collect()
}

/// `None` for a variable that is no configuration, such as `ARGOSY_DATASET`.
fn variable(name: &str, value: &str) -> anyhow::Result<Option<Layer>> {
    let path = name.strip_prefix(PREFIX).unwrap_or_default().to_lowercase();
    let Some((section, rest)) = path.split_once("__") else { return Ok(None) };
    let mut levels: Vec<&str> = rest.split("__").collect();
    levels.insert(0, section);
    if levels.iter().any(|level| level.is_empty()) {
        return Err(Usage::new(format!("{name}: an empty name between the underscores"))
            .hint("ARGOSY_EXECUTION__TASK_CONCURRENCY=8 sets execution.task_concurrency")
            .into());
    }
    let nested = levels
        .iter()
        .rev()
        .fold(parse(value), |inner, level| Value::Object(Map::from_iter([((*level).to_owned(), inner)])));
    let Value::Object(values) = nested else { return Ok(None) };
    Ok(Some(Layer { origin: name.to_owned(), values }))
}

/// JSON where it is JSON, else what figment makes of it: a number, `true`, or the text.
fn parse(value: &str) -> Value {
    if let Ok(value @ (Value::Object(_) | Value::Array(_) | Value::String(_) | Value::Null)) =
        serde_json::from_str(value)
    {
        return value;
    }
    match value.parse::<Tagged>() {
        Ok(parsed @ (Tagged::Bool(..) | Tagged::Num(..))) => {
            serde_json::to_value(&parsed).unwrap_or_else(|_| Value::from(value))
        }
        _ => Value::from(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_set_values_of_their_kind() {
        let values = |name, value| variable(name, value).unwrap().map(|layer| Value::Object(layer.values));
        assert_eq!(
            values("ARGOSY_EXECUTION__TASK_CONCURRENCY", "8"),
            Some(json!({"execution": {"task_concurrency": 8}}))
        );
        assert_eq!(
            values("ARGOSY_BENCHMARKS__DISCOVERYBENCH__SPLIT", r#"["real_test"]"#),
            Some(json!({"benchmarks": {"discoverybench": {"split": ["real_test"]}}}))
        );
        assert_eq!(values("ARGOSY_RUNTIME__REUSE", "true"), Some(json!({"runtime": {"reuse": true}})));
        assert_eq!(values("ARGOSY_RUNTIME__RESULTS_DIR", "/a b"), Some(json!({"runtime": {"results_dir": "/a b"}})));
        assert_eq!(values("ARGOSY_RUNTIME__RESULTS_DIR", "{a=1}"), Some(json!({"runtime": {"results_dir": "{a=1}"}})));
        assert_eq!(values("ARGOSY_DATASET", "x"), None);
        assert!(variable("ARGOSY_EXECUTION__", "1").unwrap_err().to_string().contains("ARGOSY_EXECUTION__"));
    }
}
