//! `argosy rebuild RUN_DIR`: `details/`, `metrics.json` and `summary.md` again from the journal.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use argosy_coordinator::{
    dataset::{Dataset, TaskIndex},
    engine::{
        Run,
        rebuild::{self, Rebuilt},
    },
    journal::{
        Journal as _,
        sqlite::{Options, Sqlite},
    },
    judge::Judge,
    report::load,
    store::RunStore,
};
use argosy_shared::{
    hms,
    id::TaskId,
    model::{
        openai_chat::{Client, Endpoint},
        secret::Secret,
    },
    redact::Redactor,
    run_dir::{
        PlannedRun, RunInfo,
        names::{JOURNAL, PLANNED},
    },
    spec::{
        BenchmarkParams, EnvironmentSpec, ExecutionParams, HarnessParams, JudgePolicy, ModelParams, ModelSpec, Protocol,
    },
    time,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    config::resolve,
    output::{Usage, say},
};

/// Arguments.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The run's directory: <results-dir>/[<run-name>/]<model>_<benchmark>_<harness>/<run-id>
    run_dir: PathBuf,
    /// The dataset the run was made with: a checkout, a copy of its data (with --prompt-pack), or a bundle
    #[arg(long, value_name = "PATH", env = "ARGOSY_DATASET")]
    dataset: PathBuf,
    /// Prompt pack of a data-only copy
    #[arg(long, value_name = "FILE")]
    prompt_pack: Option<PathBuf>,
    /// Key of the model under test, so that it is masked again where the model's code printed it
    #[arg(long, value_name = "KEY")]
    model_api_key: Option<String>,
    /// The same for the judge's key
    #[arg(long, value_name = "KEY")]
    judge_api_key: Option<String>,
}

/// `argosy.json`'s fingerprint, as far as it is needed here.
#[derive(Deserialize)]
struct Fingerprint {
    dataset: String,
    tasks: Vec<TaskId>,
    harness: HarnessParams,
    environment: EnvironmentSpec,
    model: Model,
    judge: JudgeMark,
    attempts: u32,
    run_timeout_seconds: Option<f64>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    base_url: String,
    params: Map<String, Value>,
}

#[derive(Deserialize)]
struct JudgeMark {
    policy: JudgePolicy,
    #[serde(flatten)]
    model: Model,
}

/// Carries the command out.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let info = load::run_info(&arguments.run_dir).map_err(super::summary::load_error)?;
    let mark = fingerprint(&arguments.run_dir)?;
    let journal = arguments.run_dir.join(JOURNAL);
    if !journal.is_file() {
        return Err(Usage::new(format!("{}: there is no journal to rebuild from", journal.display()))
            .hint("a directory without its journal can only be aggregated again: `argosy summary`")
            .into());
    }
    // What the run accepted is accepted here; that it is the same is checked by its digest.
    let dataset = super::dataset::open_any(&arguments.dataset, arguments.prompt_pack.as_deref())?;
    let selection = same_tasks(&mark, &dataset)?;
    let keys = keys(arguments, &info)?;
    let store = RunStore::open(&arguments.run_dir, Redactor::new([&keys.0, &keys.1]), time::wall())?;
    let run = as_it_was(&info, mark, dataset, selection, store, keys)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let rebuilt = runtime.block_on(async {
        let journal = Sqlite::open(&Options::at(&journal)).await?;
        if !rebuild::knows(&journal, &run.id).await? {
            anyhow::bail!("the journal does not know the run `{}`: its directory was renamed or copied", run.id);
        }
        let rebuilt = rebuild::rebuild(&run, &journal).await?;
        journal.close().await?;
        anyhow::Ok(rebuilt)
    })?;
    tell(&run, rebuilt);
    Ok(ExitCode::SUCCESS)
}

fn fingerprint(dir: &Path) -> anyhow::Result<Fingerprint> {
    let path = dir.join(PLANNED);
    let fail = |why: String| Usage::new(format!("{}: {why}", path.display()));
    let text = std::fs::read(&path).map_err(|error| {
        fail(error.to_string()).hint("only runs of Argosy can be rebuilt: AgentCompass keeps no journal")
    })?;
    let planned: PlannedRun = serde_json::from_slice(&text).map_err(|error| fail(error.to_string()))?;
    Ok(serde_json::from_value(planned.fingerprint).map_err(|error| fail(format!("fingerprint: {error}")))?)
}

/// The run's tasks in the dataset that was given.
fn same_tasks(mark: &Fingerprint, dataset: &Dataset) -> anyhow::Result<Vec<TaskIndex>> {
    if dataset.identity.digest != mark.dataset {
        return Err(Usage::new(format!(
            "this is not the dataset the run was made with: its digest is {}, the run's is {}",
            dataset.identity.digest, mark.dataset
        ))
        .hint("gold and prompts are taken from it; give --dataset (and --prompt-pack) as for the run")
        .into());
    }
    mark.tasks
        .iter()
        .map(|id| {
            let place = dataset.data.tasks.iter().position(|task| task.id == *id);
            place.map(TaskIndex).ok_or_else(|| Usage::new(format!("the dataset has no task `{id}`")).into())
        })
        .collect()
}

/// The keys of the run, for masking; empty where none are given.
fn keys(arguments: &Arguments, info: &RunInfo) -> anyhow::Result<(Secret, Secret)> {
    let key = |flag: &str, given: &Option<String>| {
        anyhow::Ok(Secret::new(resolve(flag, given.as_deref().unwrap_or_default())?))
    };
    let had_one = info.requested(&["model", "api_key"]).and_then(Value::as_str).is_some_and(|key| !key.is_empty());
    if had_one && arguments.model_api_key.is_none() {
        say("warning: the run had a key and none is given: should the agent's code have printed it, it would not be \
             masked; --model-api-key '${VAR}' does that");
    }
    Ok((key("--model-api-key", &arguments.model_api_key)?, key("--judge-api-key", &arguments.judge_api_key)?))
}

/// The run as it was submitted, from its own records.
fn as_it_was(
    info: &RunInfo,
    mark: Fingerprint,
    dataset: Dataset,
    selection: Vec<TaskIndex>,
    store: RunStore,
    (model_key, judge_key): (Secret, Secret),
) -> anyhow::Result<Run> {
    // Of these two only what results depend on is looked at; the retries that were allowed are in the journal.
    let mut benchmark = BenchmarkParams::parse(Map::new()).map_err(Usage::from)?;
    benchmark.judge_policy = mark.judge.policy;
    let execution = ExecutionParams {
        k: mark.attempts,
        run_timeout_seconds: mark.run_timeout_seconds,
        ..ExecutionParams::default()
    };
    let judge = spec(mark.judge.model, judge_key);
    let settings =
        hms::Settings { model: judge.id.clone(), policy: mark.judge.policy, params: judge.params.request.clone() };
    // Nothing is asked of it: the judgements are in the journal.
    let client = Client::new(&Endpoint::from(&judge), &judge.params)
        .map_err(|error| anyhow::anyhow!("the judge's endpoint `{}`: {error}", judge.base_url))?;
    let judge = Judge::new(Arc::new(client), Arc::new(dataset.pack.judge.clone()), settings);
    Ok(Run {
        id: info.run_id.clone(),
        dataset: Arc::new(dataset),
        selection,
        benchmark,
        harness: mark.harness,
        environment: mark.environment,
        model: spec(mark.model, model_key),
        execution,
        judge,
        store,
    })
}

fn spec(model: Model, api_key: Secret) -> ModelSpec {
    ModelSpec {
        id: model.id,
        base_url: model.base_url,
        api_key,
        protocol: Protocol::default(),
        params: ModelParams { request: model.params, ..ModelParams::default() },
    }
}

fn tell(run: &Run, rebuilt: Rebuilt) {
    say(format!(
        "rebuilt: {} of {} tasks, {} unfinished, {} records of retries, in {}",
        rebuilt.published,
        rebuilt.planned,
        rebuilt.running,
        rebuilt.retries,
        run.store.dir().display()
    ));
    if rebuilt.adopted > 0 {
        say(format!("warning: {} results came from another run and are not in this journal", rebuilt.adopted));
    }
    if !rebuilt.scored {
        say("the run is not over: no scores were written; `argosy summary` shows what there is");
    }
}
