//! Configuration. From low to high: defaults, the user's file, the nearest project file, `--config` files, environment
//! variables `ARGOSY_<SECTION>__<KEY>`, `--execution-params`, the other flags. Each value remembers where it came from.

mod check;
pub(crate) mod command;
mod docs;
pub(crate) mod keys;
mod references;
mod show;
mod sources;

use std::path::PathBuf;

use anyhow::Context as _;
use figment::{
    Figment, Metadata, Profile, Provider,
    value::{Dict, Tag, Value as Tagged},
};
use serde_json::{Map, Value, json};

use super::output::Usage;
pub(crate) use references::{resolve, resolve_all};
pub(crate) use sources::mapping;

/// Values of one source, by section.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// How the source is called in messages: a file, a variable, a flag.
    pub(crate) origin: String,
    /// `benchmarks`, `harnesses`, `environments`, `execution`, `runtime`.
    pub(crate) values: Map<String, Value>,
}

impl Layer {
    /// A layer of one section.
    pub(crate) fn new(origin: impl Into<String>, section: &str, values: Value) -> Self {
        Self { origin: origin.into(), values: Map::from_iter([(section.to_owned(), values)]) }
    }

    /// A layer of one component: `benchmarks.<id>` and the like.
    pub(crate) fn component(origin: impl Into<String>, section: &str, id: &str, values: Map<String, Value>) -> Self {
        Self::new(origin, section, json!({ id: values }))
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.origin.clone())
    }

    fn data(&self) -> Result<figment::value::Map<Profile, Dict>, figment::Error> {
        let values = Tagged::serialize(&self.values)?.into_dict().unwrap_or_default();
        Ok(Profile::Default.collect(values))
    }
}

/// All sources, merged.
#[derive(Debug, Default)]
pub(crate) struct Config {
    figment: Figment,
}

impl Config {
    /// Reads the files and the environment.
    ///
    /// # Errors
    /// A file that cannot be read or has an unknown key.
    pub(crate) fn load(extra: &[PathBuf]) -> anyhow::Result<Self> {
        let mut config = Self::default();
        for path in sources::default_files().iter().chain(extra) {
            config.add(sources::file(path)?)?;
        }
        for layer in sources::environment()? {
            config.add(layer)?;
        }
        Ok(config)
    }

    /// Puts a source over those that are there.
    ///
    /// # Errors
    /// An unknown key, or one without a meaning here.
    pub(crate) fn add(&mut self, layer: Layer) -> anyhow::Result<()> {
        let layer = check::layer(layer)?;
        self.figment = std::mem::take(&mut self.figment).merge(layer);
        Ok(())
    }

    /// The merged values of `execution` or `runtime`, with `${VAR}` resolved.
    ///
    /// # Errors
    /// Not a mapping; a reference that cannot be resolved.
    pub(crate) fn section(&self, name: &str) -> anyhow::Result<Map<String, Value>> {
        resolve_all(name, self.raw(&[name])?)
    }

    /// The merged values of `<section>.<id>`, with `${VAR}` resolved.
    ///
    /// # Errors
    /// Not a mapping; a reference that cannot be resolved.
    pub(crate) fn component(&self, section: &str, id: &str) -> anyhow::Result<Map<String, Value>> {
        resolve_all(&format!("{section}.{id}"), self.raw(&[section, id])?)
    }

    /// The merged values at a place as they were written, references and all.
    ///
    /// # Errors
    /// Not a mapping.
    pub(crate) fn raw(&self, path: &[&str]) -> anyhow::Result<Map<String, Value>> {
        let mut value = self.values()?;
        for name in path {
            value = value.get_mut(*name).map(Value::take).unwrap_or_default();
        }
        match value {
            Value::Null => Ok(Map::new()),
            Value::Object(members) => Ok(members),
            other => {
                Err(Usage::new(format!("configuration: {}: expected a mapping, found `{other}`", path.join(".")))
                    .into())
            }
        }
    }

    /// What `error.place` says, with the source of the value where there is one.
    pub(crate) fn blame(&self, mut error: argosy_shared::spec::Error, prefix: &str, section: &str) -> Usage {
        let path = error.place.strip_prefix(prefix).map(|rest| format!("{section}{rest}"));
        if let Some(origin) = path.and_then(|path| self.origin(&path)) {
            error.message = format!("{} (from {origin})", error.message);
        }
        Usage::from(error)
    }

    /// Where the value at a dotted path came from.
    fn origin(&self, path: &str) -> Option<String> {
        let value = self.figment.find_value(path).ok()?;
        self.origin_of(value.tag())
    }

    fn origin_of(&self, tag: Tag) -> Option<String> {
        self.figment.get_metadata(tag).map(|metadata| metadata.name.to_string())
    }

    fn values(&self) -> anyhow::Result<Value> {
        let values: Map<String, Value> = self.figment.extract().context("the configuration cannot be merged")?;
        Ok(Value::Object(values))
    }

    /// The same over the defaults of all keys.
    fn with_defaults(&self) -> Self {
        Self { figment: Figment::new().merge(keys::defaults()).merge(&self.figment) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(origin: &str, values: Value) -> Layer {
        Layer { origin: origin.to_owned(), values: values.as_object().unwrap().clone() }
    }

    #[test]
    fn later_sources_replace_members_keep_the_rest_and_are_remembered() {
        let mut config = Config::default();
        let low = json!({"judge_model": {"id": "a", "params": {"x": 1.5}}, "split": ["synth_test", "real_test"]});
        config.add(layer("low.yaml", json!({"benchmarks": {"discoverybench": low}}))).unwrap();
        let high = json!({"judge_model": {"id": "b"}, "split": "real_test"});
        config.add(layer("high.yaml", json!({"benchmark": {"params": high}}))).unwrap();
        assert_eq!(
            Value::Object(config.component("benchmarks", "discoverybench").unwrap()),
            json!({"judge_model": {"id": "b", "params": {"x": 1.5}}, "split": "real_test"})
        );
        let origin = |path: &str| config.origin(&format!("benchmarks.discoverybench.{path}"));
        assert_eq!(origin("judge_model.id").as_deref(), Some("high.yaml"));
        assert_eq!(origin("judge_model.params.x").as_deref(), Some("low.yaml"));
        let refused = argosy_shared::spec::Error::new("benchmark_params.split", "is wrong");
        let text = config.blame(refused, "benchmark_params", "benchmarks.discoverybench").to_string();
        assert_eq!(text, "benchmark_params.split: is wrong (from high.yaml)");
    }

    #[test]
    fn a_null_replaces_what_lower_sources_say() {
        let mut config = Config::default();
        config.add(layer("low", json!({"execution": {"run_timeout_seconds": 5}}))).unwrap();
        config.add(layer("high", json!({"execution": {"run_timeout_seconds": null}}))).unwrap();
        assert_eq!(config.section("execution").unwrap()["run_timeout_seconds"], Value::Null);
    }
}
