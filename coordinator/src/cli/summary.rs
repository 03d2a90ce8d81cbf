//! `argosy summary RUN_DIR`: scores from the results on disk, of our runs and of AgentCompass's.

use std::{path::PathBuf, process::ExitCode};

use argosy_coordinator::{
    report::{load, metrics, outcome::Aggregation, table},
    store::{self, RunStore},
};
use argosy_shared::{redact::Redactor, spec::BenchmarkParams};
use serde_json::{Map, Value};

use super::output::{self, Usage};

/// Arguments.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The run's directory, RESULTS_DIR/[RUN_NAME/]MODEL_BENCHMARK_HARNESS/RUN_ID
    run_dir: PathBuf,
    /// Other parameters of the benchmark: `aggregation_mode` and `category_hierarchy` have an effect here
    #[arg(long, value_name = "JSON")]
    benchmark_params: Option<String>,
    /// Show the scores and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Carries the command out.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut run = load::run(&arguments.run_dir).map_err(load_error)?;
    let params = parse(arguments.benchmark_params.as_deref())?;
    if !params.is_empty() {
        let parsed = BenchmarkParams::parse(params.clone()).map_err(Usage::from)?;
        run.plan.aggregation = Aggregation::of(&parsed).map_err(|error| Usage::new(error.to_string()))?;
    }
    let report = metrics::aggregate(&run.tasks, &run.plan).map_err(|error| Usage::new(error.to_string()))?;
    output::data(table::scores(&report));
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let now = argosy_shared::time::wall();
    let store = RunStore::open(&arguments.run_dir, Redactor::default(), now).map_err(store_error)?;
    store.write_report(&report, Some(params), now).map_err(store_error)?;
    output::say(format!("written: metrics.json and summary.md in {}", store.dir().display()));
    Ok(ExitCode::SUCCESS)
}

fn parse(params: Option<&str>) -> anyhow::Result<Map<String, Value>> {
    let Some(text) = params else { return Ok(Map::new()) };
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(other) => Err(Usage::new(format!("--benchmark-params: expected a JSON object, found `{other}`")).into()),
        Err(error) => Err(Usage::new(format!("--benchmark-params: not JSON: {error}")).into()),
    }
}

/// With a hint where the path is not what it should be.
pub(crate) fn load_error(error: load::Error) -> anyhow::Error {
    match &error {
        load::Error::NotARun { .. } => Usage::new(error.to_string())
            .hint("a run directory is <results-dir>/[<run-name>/]<model>_<benchmark>_<harness>/<run-id>")
            .into(),
        load::Error::Io { .. }
        | load::Error::Content { .. }
        | load::Error::TwoStates { .. }
        | load::Error::Hierarchy(_) => error.into(),
    }
}

fn store_error(error: store::Error) -> anyhow::Error {
    let hint = match &error {
        store::Error::Locked { .. } => Some("--dry-run shows the scores without writing".to_owned()),
        other => other.hint(),
    };
    match hint {
        Some(hint) => anyhow::anyhow!("{error}\nhint: {hint}"),
        None => error.into(),
    }
}
