//! The `runtime` section: where a run is written, how long it may take, what is shown and logged.

use std::{path::PathBuf, time::Duration};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::arguments::{Arguments, Progress};
use crate::cli::{config::Config, log::Level, output::Usage};

/// What the section says, flags included.
#[derive(Clone, Debug)]
pub(crate) struct Runtime {
    /// Where runs are written.
    pub(crate) results_dir: PathBuf,
    /// Where the dataset is looked for.
    pub(crate) data_dir: PathBuf,
    /// Bound of the whole run; `None`: none.
    pub(crate) timeout: Option<Duration>,
    /// How long an interrupted run may finish what is under way.
    pub(crate) grace: Duration,
    /// How progress is shown.
    pub(crate) progress: Progress,
    /// Whether to go on with an earlier run.
    pub(crate) reuse: Reuse,
    /// On stderr.
    pub(crate) log_level: Level,
    /// In `run.log`.
    pub(crate) file_log_level: Level,
}

/// Whether to go on with an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// A new run.
    No,
    /// The newest one if there is one, else a new one.
    IfAny,
    /// The newest one; there must be one.
    Latest,
    /// That one.
    Named(String),
}

impl Runtime {
    /// Reads the section.
    ///
    /// # Errors
    /// A value of the wrong kind.
    pub(super) fn of(arguments: &Arguments, config: &Config) -> anyhow::Result<Self> {
        let mut section = config.section("runtime")?;
        let section = &mut section;
        let seconds: f64 = take(section, "timeout_seconds", "a number of seconds, 0 for none")?.unwrap_or(360_000.0);
        let grace: f64 = take(section, "cleanup_grace_seconds", "a number of seconds")?.unwrap_or(30.0);
        let reuse = match (&arguments.reuse, take(section, "reuse", "true or false")?) {
            (Some(name), _) if name.is_empty() => Reuse::Latest,
            (Some(name), _) => Reuse::Named(name.clone()),
            (None, Some(true)) => Reuse::IfAny,
            (None, Some(false) | None) => Reuse::No,
        };
        let mut level = |name: &str, default: &str| {
            let given: Option<String> = take(section, name, "a level")?;
            Level::parse(&format!("runtime.{name}"), given.as_deref().unwrap_or(default))
        };
        Ok(Self {
            log_level: level("log_level", "WARNING")?,
            file_log_level: level("file_log_level", "DEBUG")?,
            results_dir: take(section, "results_dir", "a path")?.unwrap_or_else(|| PathBuf::from("results")),
            data_dir: take(section, "data_dir", "a path")?.unwrap_or_else(|| PathBuf::from("data")),
            timeout: Some(duration("timeout_seconds", seconds)?).filter(|timeout| !timeout.is_zero()),
            grace: duration("cleanup_grace_seconds", grace)?,
            progress: take(section, "progress", "auto, plain or none")?.unwrap_or_default(),
            reuse,
        })
    }
}

fn take<T: DeserializeOwned>(
    section: &mut Map<String, Value>,
    name: &str,
    expected: &str,
) -> anyhow::Result<Option<T>> {
    let Some(value) = section.shift_remove(name).filter(|value| !value.is_null()) else { return Ok(None) };
    match serde_json::from_value(value.clone()) {
        Ok(value) => Ok(Some(value)),
        Err(_) => Err(Usage::new(format!("runtime.{name}: expected {expected}, found `{value}`")).into()),
    }
}

fn duration(name: &str, seconds: f64) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Usage::new(format!("runtime.{name}: `{seconds}` is not a number of seconds")).into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::config::Layer;

    fn runtime(arguments: &Arguments, section: Value) -> anyhow::Result<Runtime> {
        let mut config = Config::default();
        config.add(Layer::new("test", "runtime", section))?;
        Runtime::of(arguments, &config)
    }

    #[test]
    fn zero_means_no_deadline_and_the_default_is_a_hundred_hours() {
        let arguments = Arguments::default();
        assert_eq!(runtime(&arguments, json!({})).unwrap().timeout, Some(Duration::from_secs(360_000)));
        assert_eq!(runtime(&arguments, json!({"timeout_seconds": 0})).unwrap().timeout, None);
        assert_eq!(
            runtime(&arguments, json!({"timeout_seconds": 1.5})).unwrap().timeout,
            Some(Duration::from_millis(1500))
        );
        for wrong in [json!(-1), json!("soon"), json!(1e300)] {
            assert!(runtime(&arguments, json!({"timeout_seconds": wrong})).is_err());
        }
        assert!(
            runtime(&arguments, json!({"log_level": "LOUD"})).unwrap_err().to_string().contains("runtime.log_level")
        );
    }

    #[test]
    fn a_flag_asks_more_firmly_for_an_earlier_run_than_the_configuration() {
        let reuse = |flag: Option<&str>, section| {
            let arguments = Arguments { reuse: flag.map(ToOwned::to_owned), ..Arguments::default() };
            runtime(&arguments, section).unwrap().reuse
        };
        assert_eq!(reuse(None, json!({})), Reuse::No);
        assert_eq!(reuse(None, json!({"reuse": true})), Reuse::IfAny);
        assert_eq!(reuse(Some(""), json!({"reuse": true})), Reuse::Latest);
        assert_eq!(reuse(Some("r1"), json!({})), Reuse::Named("r1".to_owned()));
    }
}
