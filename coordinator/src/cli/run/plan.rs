//! From flags and configuration files to validated parameters. Nothing is started here.

use argosy_coordinator::report::outcome::Aggregation;
use argosy_shared::{
    model::secret::Secret,
    run_dir::{names, request},
    spec::{
        BENCHMARK, BenchmarkParams, EnvironmentId, EnvironmentSpec, ExecutionParams, HARNESS, HarnessParams,
        ModelParams, ModelSpec, Protocol,
    },
};
use serde_json::{Map, Value, json};

use super::{
    arguments::Arguments,
    runtime::{Reuse, Runtime},
    sources,
};
use crate::cli::{
    config::{Config, json_object, resolve, resolve_all},
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
    /// Where it is written, how long it may take, what is shown and logged.
    pub(crate) runtime: Runtime,
    /// Folder below the results directory.
    pub(crate) run_name: String,
    /// Folder below that: all runs of this model, or of this request of a launch file.
    pub(crate) namespace: String,
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
            .ok_or_else(|| Usage::new("no model given").hint("argosy run discoverybench discovery_agent MODEL ..."))?;
        let environment_id = arguments.env.as_deref().map(EnvironmentId::parse).transpose().map_err(Usage::from)?;
        let config = sources::configure(arguments, environment_id.map(EnvironmentId::as_str))?;

        let section = format!("benchmarks.{benchmark_id}");
        let benchmark = BenchmarkParams::parse(config.component("benchmarks", &benchmark_id)?)
            .map_err(|error| config.blame(error, "benchmark_params", &section))?;
        Aggregation::of(&benchmark).map_err(|error| {
            Usage::new(format!("benchmark_params.{error}"))
                .hint("{\"overall\": {\"aggregation\": \"unweighted\", \"children\": {\"real_test:sociology\": {}}}}")
        })?;
        let section = format!("harnesses.{harness_id}");
        let harness = HarnessParams::parse(config.component("harnesses", &harness_id)?)
            .map_err(|error| config.blame(error, "harness_params", &section))?;
        let (environment, environment_raw) = environment(environment_id, &config, &benchmark)?;
        let execution = execution(&config)?;
        let model = model(arguments, model_id)?;
        let judge = judge(&benchmark, &model)?;
        let runtime = Runtime::of(arguments, &config)?;
        let run_name = arguments.run_name.clone().unwrap_or_default();
        let namespace = match &arguments.request_name {
            Some(name) => names::request_namespace(name),
            None => names::namespace(&model.id, BENCHMARK, HARNESS),
        };

        let metadata = match (arguments.config.as_slice(), &arguments.request_name) {
            ([], None) => Value::Null,
            (config_path, request_name) => json!({"config_path": config_path, "request_name": request_name}),
        };
        let request = json!({
            "benchmark": {"id": benchmark_id, "params": config.raw(&["benchmarks", &benchmark_id])?},
            "harness": {"id": harness_id, "params": config.raw(&["harnesses", &harness_id])?},
            "environment": environment_raw,
            "model": {
                "id": model.id,
                "base_url": arguments.model_base_url.clone().unwrap_or_default(),
                // A reference stays one; anything else is masked before it is written.
                "api_key": arguments.model_api_key.clone().unwrap_or_default(),
                "api_protocol": "openai-chat",
                "params": json_object("--model-params", arguments.model_params.as_deref())?,
                "wrap_api_key": false,
            },
            "execution": request::execution(&execution),
            "runtime": {"reuse": runtime.reuse != Reuse::No, "checkpoint_resume": true},
            "output": {"run_name": run_name, "run_id": arguments.run_id.clone().unwrap_or_default()},
            "metadata": metadata,
        });
        Ok(Self { benchmark, harness, environment, model, judge, execution, runtime, run_name, namespace, request })
    }
}

fn known(what: &str, given: Option<String>, only: &str) -> anyhow::Result<String> {
    match given {
        Some(id) if id == only => Ok(id),
        Some(id) => Err(Usage::new(format!("unknown {what} `{id}`")).hint(format!("Argosy runs `{only}`")).into()),
        None => Err(Usage::new(format!("no {what} given"))
            .hint("argosy run discoverybench discovery_agent MODEL ...")
            .into()),
    }
}

fn environment(
    id: Option<EnvironmentId>,
    config: &Config,
    benchmark: &BenchmarkParams,
) -> anyhow::Result<(EnvironmentSpec, Value)> {
    let Some(id) = id else {
        return Err(Usage::new("no environment given: none of the isolating ones is available here")
            .hint(
                "`--env host_process` runs the agent's code as your own user, without isolation; it also needs \
                 `\"isolate_network\": false` in --benchmark-params",
            )
            .into());
    };
    let name = id.as_str();
    let spec = EnvironmentSpec::parse(id, config.component("environments", name)?)
        .map_err(|error| config.blame(error, "env_params", &format!("environments.{name}")))?;
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
    let mut recorded = Map::from_iter([("id".to_owned(), json!(name))]);
    recorded.extend(config.raw(&["environments", name])?);
    Ok((spec, Value::Object(recorded)))
}

fn execution(config: &Config) -> anyhow::Result<ExecutionParams> {
    let mut raw = config.section("execution")?;
    let multiplier = |value: Option<Value>, name: &str| match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64().filter(|factor| factor.is_finite() && *factor > 0.0) {
            Some(factor) => Ok(Some(factor)),
            None => Err(Usage::new(format!("execution.{name}: expected a positive number, found `{value}`"))),
        },
    };
    let common = multiplier(raw.shift_remove("timeout_multiplier"), "timeout_multiplier")?;
    let own = multiplier(raw.shift_remove("run_timeout_multiplier"), "run_timeout_multiplier")?;
    let mut params = ExecutionParams::parse(raw).map_err(|error| config.blame(error, "execution", "execution"))?;
    if let (Some(seconds), Some(factor)) = (params.run_timeout_seconds, own.or(common)) {
        params.run_timeout_seconds = Some(seconds * factor);
    }
    Ok(params)
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
    let params = resolve_all("--model-params", json_object("--model-params", arguments.model_params.as_deref())?)?;
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
    // Present and empty is not absent: an empty key is sent as none, an empty endpoint is a mistake.
    let base_url = spec.base_url.clone().unwrap_or_else(|| model.base_url.clone());
    if base_url.trim().is_empty() {
        return Err(Usage::new(format!("{place}.base_url: the judge's endpoint is empty"))
            .hint("leave `base_url` away to take the model's")
            .into());
    }
    let api_key = spec.api_key.clone().map_or_else(|| model.api_key.clone(), Secret::new);
    Ok(ModelSpec {
        id: spec.id.clone(),
        base_url,
        api_key,
        protocol: spec.api_protocol.unwrap_or(model.protocol),
        params: ModelParams::parse(&format!("{place}.params"), spec.params.clone()).map_err(Usage::from)?,
    })
}
