//! Configuration, low to high: defaults, the user's file, the nearest project file, `--config` files, environment
//! variables `ARGOSY_*`, then the flags (applied by the caller).

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use figment::{
    Figment, Profile,
    providers::{Env, Serialized},
};
use serde_json::{Map, Value};

use super::output::Usage;

/// Top-level sections of a configuration file.
const SECTIONS: [&str; 6] = ["benchmark", "benchmarks", "environments", "execution", "harnesses", "runtime"];

/// The merged configuration files and environment.
#[derive(Debug, Default)]
pub(crate) struct Config {
    sections: Map<String, Value>,
}

impl Config {
    /// Reads all sources.
    pub(crate) fn load(extra: &[PathBuf]) -> anyhow::Result<Self> {
        let mut figment = Figment::new();
        for path in default_files().iter().chain(extra) {
            figment = figment.merge(Serialized::from(read(path)?, Profile::Default));
        }
        // ARGOSY_EXECUTION__TASK_CONCURRENCY=8 sets execution.task_concurrency; two underscores go one level down.
        figment = figment.merge(Env::prefixed("ARGOSY_").split("__").filter(|key| {
            SECTIONS.iter().any(|section| key.as_str().to_lowercase().starts_with(&format!("{section}.")))
        }));
        let sections: Map<String, Value> = figment.extract().context("the configuration cannot be merged")?;
        Ok(Self { sections })
    }

    /// `<section>.<id>` merged over nothing: benchmarks, harnesses, environments.
    pub(crate) fn component(&self, section: &str, id: &str) -> anyhow::Result<Map<String, Value>> {
        object(&format!("{section}.{id}"), self.sections.get(section).and_then(|section| section.get(id)))
    }

    /// `benchmark.params`, the form the benchmark's documentation shows.
    pub(crate) fn benchmark_params(&self) -> anyhow::Result<Map<String, Value>> {
        object("benchmark.params", self.sections.get("benchmark").and_then(|section| section.get("params")))
    }

    /// `execution` or `runtime`.
    pub(crate) fn section(&self, name: &str) -> anyhow::Result<Map<String, Value>> {
        object(name, self.sections.get(name))
    }
}

/// The user's file and the nearest project file, where they exist.
fn default_files() -> Vec<PathBuf> {
    let home = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let user = home.map(|folder| folder.join("argosy/config.yaml"));
    let project = std::env::current_dir()
        .ok()
        .and_then(|here| here.ancestors().map(|folder| folder.join("argosy.yaml")).find(|path| path.is_file()));
    user.into_iter().chain(project).filter(|path| path.is_file()).collect()
}

fn read(path: &Path) -> anyhow::Result<Map<String, Value>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Usage::new(format!("configuration file {}: {error}", path.display())))?;
    let refuse = |error: String| {
        Usage::new(format!("configuration file {}: {error}", path.display()))
            .hint("YAML, JSON and TOML are recognised by the file's ending")
    };
    let value: Value = match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?,
        Some("toml") => toml::from_str(&text).map_err(|error| refuse(error.to_string()))?,
        _ if text.trim().is_empty() => Value::Object(Map::new()),
        _ => serde_saphyr::from_str(&text).map_err(|error| refuse(error.to_string()))?,
    };
    let Value::Object(sections) = value else {
        return Err(refuse("the top level is not a mapping".to_owned()).into());
    };
    for name in sections.keys() {
        if name == "models" {
            return Err(Usage::new(format!("configuration file {}: `models` is not a section", path.display()))
                .hint("the model is given on the command line: MODEL, --model-base-url, --model-params")
                .into());
        }
        if !SECTIONS.contains(&name.as_str()) {
            let near = argosy_shared::spec::nearest(name, SECTIONS)
                .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            return Err(Usage::new(format!("configuration file {}: unknown section `{name}`", path.display()))
                .hint(format!("{near}valid: {}", SECTIONS.join(", ")))
                .into());
        }
    }
    Ok(sections)
}

/// Merges `over` into `base`: objects member by member, everything else replaced.
pub(crate) fn merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match (base.get_mut(&name), value) {
            (Some(Value::Object(base)), Value::Object(over)) => merge(base, over),
            (_, value) => {
                base.insert(name, value);
            }
        }
    }
}

/// A flag's JSON object.
pub(crate) fn json_object(flag: &str, text: Option<&str>) -> anyhow::Result<Map<String, Value>> {
    let Some(text) = text else { return Ok(Map::new()) };
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(other) => Err(Usage::new(format!("{flag}: expected a JSON object, found `{other}`"))
            .hint(format!("{flag} '{{\"name\": \"value\"}}'"))
            .into()),
        Err(error) => Err(Usage::new(format!("{flag}: not JSON: {error}"))
            .hint("quote the object with single quotes so that the shell leaves it alone")
            .into()),
    }
}

/// Resolves a value that is exactly `${VAR}`; anything else stays as it is.
pub(crate) fn resolve(place: &str, value: &str) -> anyhow::Result<String> {
    let Some(name) = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else {
        return Ok(value.to_owned());
    };
    std::env::var(name).map_err(|_| {
        Usage::new(format!("{place}: the environment variable {name} is not set"))
            .hint(format!("export {name}=… or give the value itself"))
            .into()
    })
}

fn object(place: &str, value: Option<&Value>) -> anyhow::Result<Map<String, Value>> {
    match value {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members.clone()),
        Some(other) => Err(Usage::new(format!("configuration: {place}: expected a mapping, found `{other}`")).into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn later_sources_replace_members_and_keep_the_rest() {
        let mut base =
            json!({"judge_model": {"id": "a", "params": {"x": 1}}, "split": "all"}).as_object().unwrap().clone();
        merge(&mut base, json!({"judge_model": {"id": "b"}, "split": ["real_test"]}).as_object().unwrap().clone());
        assert_eq!(
            Value::Object(base),
            json!({"judge_model": {"id": "b", "params": {"x": 1}}, "split": ["real_test"]})
        );
    }

    #[test]
    fn only_whole_references_are_resolved() {
        assert_eq!(resolve("x", "a${HOME}").unwrap(), "a${HOME}");
        assert!(
            resolve("--model-api-key", "${ARGOSY_SURELY_NOT_SET}").unwrap_err().to_string().contains("hint: export")
        );
    }
}
