//! The flags as the uppermost sources of the configuration, each under its own name.

use argosy_shared::spec::{BENCHMARK, HARNESS};
use serde_json::{Value, json};

use super::arguments::Arguments;
use crate::cli::{
    config::{Config, Layer, json_object},
    output::Usage,
};

/// Files, environment, what `launch` adds, and the flags.
///
/// # Errors
/// A file or flag that cannot be read; an unknown key.
pub(super) fn configure(arguments: &Arguments, environment: Option<&str>) -> anyhow::Result<Config> {
    let mut config = Config::load(&arguments.config)?;
    for layer in &arguments.layers {
        config.add(layer.clone())?;
    }
    let execution = json_object("--execution-params", arguments.execution_params.as_deref())?;
    config.add(Layer::new("--execution-params", "execution", Value::Object(execution)))?;
    let components = [
        ("--benchmark-params", "benchmarks", Some(BENCHMARK), &arguments.benchmark_params),
        ("--harness-params", "harnesses", Some(HARNESS), &arguments.harness_params),
        ("--env-params", "environments", environment, &arguments.env_params),
    ];
    for (flag, section, id, text) in components {
        if let Some(id) = id {
            config.add(Layer::component(flag, section, id, json_object(flag, text.as_deref())?))?;
        }
    }
    for (flag, section, values) in flags(arguments)? {
        config.add(Layer::new(flag, section, values))?;
    }
    Ok(config)
}

/// The flags that are a value each.
fn flags(arguments: &Arguments) -> anyhow::Result<Vec<(&'static str, &'static str, Value)>> {
    let patterns = match &arguments.retry_pattern_list {
        None => None,
        Some(text) => Some(serde_json::from_str::<Value>(text).map_err(|error| {
            Usage::new(format!("--retry-pattern-list: not JSON: {error}"))
                .hint("--retry-pattern-list '[\"^model_timeout$\"]'")
        })?),
    };
    let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| json!(path.to_string_lossy()));
    let progress = arguments.progress.map(|progress| json!(format!("{progress:?}").to_lowercase()));
    let all = [
        ("--task-concurrency", "execution", "task_concurrency", arguments.task_concurrency.map(Value::from)),
        ("--k", "execution", "attempts", arguments.k.map(|k| json!({"k": k}))),
        (
            "--attempt-strategy",
            "execution",
            "attempts",
            arguments.attempt_strategy.as_ref().map(|name| json!({"strategy": name})),
        ),
        ("--max-retries", "execution", "max_retries", arguments.max_retries.map(Value::from)),
        ("--retry-pattern-list", "execution", "retry_pattern_list", patterns),
        ("--results-dir", "runtime", "results_dir", path(&arguments.results_dir)),
        ("--data-dir", "runtime", "data_dir", path(&arguments.data_dir)),
        ("--timeout-seconds", "runtime", "timeout_seconds", arguments.timeout_seconds.map(Value::from)),
        ("--progress", "runtime", "progress", progress),
        ("--log-level", "runtime", "log_level", arguments.log_level.clone().map(Value::from)),
        ("--file-log-level", "runtime", "file_log_level", arguments.file_log_level.clone().map(Value::from)),
    ];
    Ok(all
        .into_iter()
        .filter_map(|(flag, section, name, value)| Some((flag, section, json!({ name: value? }))))
        .collect())
}
