//! From flags and configuration files to validated parameters. Nothing is started here.

use std::path::PathBuf;

use argosy_shared::{
    model::secret::Secret,
    run_dir::request,
    spec::{
        self, BENCHMARK, BenchmarkParams, EnvironmentId, EnvironmentSpec, ExecutionParams, HARNESS, HarnessParams,
        ModelParams, ModelSpec, Protocol,
    },
};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use crate::cli::{
    config::{Config, json_object, merge, resolve},
    output::Usage,
};

/// Everything a run needs to know.
#[derive(Debug)]
pub(crate) struct Plan {
    /// `--benchmark-params` over the configuration files.
    pub(crate) benchmark: BenchmarkParams,
    /// `--harness-params` over the configuration files.
    pub(crate) harness: HarnessParams,
    /// `--env` and `--env-params`.
    pub(crate) environment: EnvironmentSpec,
    /// The model under test.
    pub(crate) model: ModelSpec,
    /// The judge, with what it inherits from the model under test.
    pub(crate) judge: ModelSpec,
    /// Attempts, retries, timeouts.
    pub(crate) execution: ExecutionParams,
    /// Where runs are written.
    pub(crate) results_dir: PathBuf,
    /// Folder below it.
    pub(crate) run_name: String,
    /// The request as it is written into `run_info.json`; secrets are masked there.
    pub(crate) request: Value,
}

impl Plan {
    /// Validates everything that can be known without touching dataset, endpoint or disk.
    pub(crate) fn make(arguments: &Arguments) -> anyhow::Result<Self> {
        let position = |first: &Option<String>, second: &Option<String>| first.clone().or_else(|| second.clone());
        let benchmark_id = known("benchmark", position(&arguments.benchmark, &arguments.benchmark_flag), BENCHMARK)?;
        let harness_id = known("harness", position(&arguments.harness, &arguments.harness_flag), HARNESS)?;
        let model_id = position(&arguments.model, &arguments.model_flag)
            .filter(|id| !id.trim().is_empty())
            .ok_or_else(|| Usage::new("no model given").hint("argosy run discoverybench discovery_agent MODEL …"))?;
        let config = Config::load(&arguments.config)?;

        let mut benchmark_raw = config.component("benchmarks", &benchmark_id)?;
        merge(&mut benchmark_raw, config.benchmark_params()?);
        merge(&mut benchmark_raw, json_object("--benchmark-params", arguments.benchmark_params.as_deref())?);
        let benchmark = BenchmarkParams::parse(benchmark_raw.clone()).map_err(Usage::from)?;

        let mut harness_raw = config.component("harnesses", &harness_id)?;
        merge(&mut harness_raw, json_object("--harness-params", arguments.harness_params.as_deref())?);
        let harness = HarnessParams::parse(harness_raw.clone()).map_err(Usage::from)?;

        let (environment, environment_raw) = environment(arguments, &config, &benchmark)?;
        let (execution, execution_raw) = execution(arguments, &config)?;
        let model = model(arguments, model_id)?;
        let judge = judge(&benchmark, &model)?;
        let (results_dir, run_name) = output(arguments, &config)?;

        let request = json!({
            "benchmark": {"id": benchmark_id, "params": benchmark_raw},
            "harness": {"id": harness_id, "params": harness_raw},
            "environment": environment_raw,
            "model": {
                "id": model.id,
                "base_url": model.base_url,
                "api_key": model.api_key.expose(),
                "api_protocol": "openai-chat",
                "params": json_object("--model-params", arguments.model_params.as_deref())?,
                "wrap_api_key": false,
            },
            "execution": execution_raw,
            "runtime": {"reuse": arguments.reuse.is_some(), "checkpoint_resume": true},
            "output": {"run_name": run_name, "run_id": arguments.run_id.clone().unwrap_or_default()},
        });
        Ok(Self { benchmark, harness, environment, model, judge, execution, results_dir, run_name, request })
    }
}

fn known(what: &str, given: Option<String>, only: &str) -> anyhow::Result<String> {
    match given {
        Some(id) if id == only => Ok(id),
        Some(id) => Err(Usage::new(format!("unknown {what} `{id}`")).hint(format!("Argosy runs `{only}`")).into()),
        None => {
            Err(Usage::new(format!("no {what} given")).hint("argosy run discoverybench discovery_agent MODEL …").into())
        }
    }
}

fn environment(
    arguments: &Arguments,
    config: &Config,
    benchmark: &BenchmarkParams,
) -> anyhow::Result<(EnvironmentSpec, Value)> {
    let Some(name) = &arguments.env else {
        return Err(Usage::new("no environment given: none of the isolating ones is available here")
            .hint(
                "`--env host_process` runs the agent's code as your own user, without isolation; it also needs \
                 `\"isolate_network\": false` in --benchmark-params",
            )
            .into());
    };
    let id = EnvironmentId::parse(name).map_err(Usage::from)?;
    let mut raw = config.component("environments", id.as_str())?;
    merge(&mut raw, json_object("--env-params", arguments.env_params.as_deref())?);
    let spec = EnvironmentSpec::parse(id, raw.clone()).map_err(Usage::from)?;
    if benchmark.isolate_network && !id.isolates_network() {
        return Err(Usage::new(format!(
            "`{name}` cannot keep the agent from the network, and `isolate_network` is true"
        ))
        .hint(
            "set `\"isolate_network\": false` in --benchmark-params; the agent can then reach the public answer \
                 keys, and the results are not comparable with isolated runs",
        )
        .into());
    }
    let mut recorded = Map::from_iter([("id".to_owned(), json!(id.as_str()))]);
    recorded.extend(raw);
    Ok((spec, Value::Object(recorded)))
}

fn execution(arguments: &Arguments, config: &Config) -> anyhow::Result<(ExecutionParams, Value)> {
    let mut raw = config.section("execution")?;
    merge(&mut raw, json_object("--execution-params", arguments.execution_params.as_deref())?);
    let mut flags = Map::new();
    if let Some(n) = arguments.task_concurrency {
        flags.insert("task_concurrency".to_owned(), json!(n));
    }
    if let Some(n) = arguments.max_retries {
        flags.insert("max_retries".to_owned(), json!(n));
    }
    let mut attempts = Map::new();
    if let Some(k) = arguments.k {
        attempts.insert("k".to_owned(), json!(k));
    }
    if let Some(strategy) = &arguments.attempt_strategy {
        attempts.insert("strategy".to_owned(), json!(strategy));
    }
    if !attempts.is_empty() {
        flags.insert("attempts".to_owned(), Value::Object(attempts));
    }
    if let Some(text) = &arguments.retry_pattern_list {
        let list: Value = serde_json::from_str(text).map_err(|error| {
            Usage::new(format!("--retry-pattern-list: not JSON: {error}"))
                .hint("--retry-pattern-list '[\"^model_timeout$\"]'")
        })?;
        flags.insert("retry_pattern_list".to_owned(), list);
    }
    merge(&mut raw, flags);
    let params = ExecutionParams::parse(raw).map_err(Usage::from)?;
    // Under AgentCompass's names: its readers look for `attempts`.
    let recorded = request::execution(&params);
    Ok((params, recorded))
}

fn model(arguments: &Arguments, id: String) -> anyhow::Result<ModelSpec> {
    let base_url = resolve("--model-base-url", arguments.model_base_url.as_deref().unwrap_or_default())?;
    if base_url.is_empty() {
        return Err(Usage::new("no endpoint given")
            .hint("--model-base-url https://host/v1 (rehearse against `argosy mock-model`)")
            .into());
    }
    let api_key = resolve("--model-api-key", arguments.model_api_key.as_deref().unwrap_or_default())?;
    let protocol = json!(arguments.model_api_protocol.clone().unwrap_or_default());
    let params = json_object("--model-params", arguments.model_params.as_deref())?;
    Ok(ModelSpec {
        id,
        base_url,
        api_key: Secret::new(api_key),
        protocol: Protocol::parse("--model-api-protocol", &protocol).map_err(Usage::from)?,
        params: ModelParams::parse("model_params", params).map_err(Usage::from)?,
    })
}

fn judge(benchmark: &BenchmarkParams, model: &ModelSpec) -> anyhow::Result<ModelSpec> {
    let spec = benchmark.judge_model.as_ref().ok_or_else(|| {
        Usage::new("no judge given: `judge_model` is required").hint(
            "--benchmark-params '{\"judge_model\": {\"id\": \"JUDGE\"}}' inherits endpoint and key from the model",
        )
    })?;
    let place = "benchmark_params.judge_model";
    let base_url = match &spec.base_url {
        Some(url) => resolve(&format!("{place}.base_url"), url)?,
        None => model.base_url.clone(),
    };
    let api_key = match &spec.api_key {
        Some(key) => Secret::new(resolve(&format!("{place}.api_key"), key)?),
        None => model.api_key.clone(),
    };
    Ok(ModelSpec {
        id: spec.id.clone(),
        base_url,
        api_key,
        protocol: spec.api_protocol.unwrap_or(model.protocol),
        params: ModelParams::parse(&format!("{place}.params"), spec.params.clone()).map_err(Usage::from)?,
    })
}

fn output(arguments: &Arguments, config: &Config) -> anyhow::Result<(PathBuf, String)> {
    let runtime = config.section("runtime")?;
    let known = ["results_dir", "progress"];
    if let Some(name) = runtime.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(Usage::new(format!("configuration: unknown key `runtime.{name}`"))
            .hint(match spec::nearest(name, known) {
                Some(near) => format!("did you mean `runtime.{near}`?"),
                None => format!("valid: {}", known.join(", ")),
            })
            .into());
    }
    let results_dir = arguments
        .results_dir
        .clone()
        .or_else(|| runtime.get("results_dir").and_then(Value::as_str).map(PathBuf::from))
        .unwrap_or_else(|| PathBuf::from("results"));
    Ok((results_dir, arguments.run_name.clone().unwrap_or_default()))
}
