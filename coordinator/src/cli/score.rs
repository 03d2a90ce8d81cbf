//! `argosy score`: one stored answer against one gold hypothesis, as upstream's `discovery_eval.py` scores it.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::Context as _;
use argosy_coordinator::{
    dataset::{self, bundle},
    judge::{Judge, metadata},
};
use argosy_shared::{
    hms::{Inputs, Judged, Settings, prompt},
    model::{
        openai_chat::{Client, Endpoint},
        secret::Secret,
    },
    prompts::{JudgePrompts, PromptPack},
    pyjson,
    spec::{JudgePolicy, ModelParams, Protocol},
    task::Kind,
};
use clap::ValueEnum;

use super::{
    config,
    output::{self, Usage},
};

/// Arguments. Upstream's own flag names are understood, too.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The gold hypothesis.
    #[arg(long, alias = "gold_hypo", value_name = "TEXT")]
    gold: String,
    /// How the gold was found.
    #[arg(long, alias = "gold_workflow", value_name = "TEXT", default_value = "", hide_default_value = true)]
    gold_workflow: String,
    /// The answer to be scored: the agent's complete final answer.
    #[arg(long, alias = "pred_hypo", value_name = "TEXT")]
    pred: String,
    /// How the answer was found.
    #[arg(long, alias = "pred_workflow", value_name = "TEXT", default_value = "", hide_default_value = true)]
    pred_workflow: String,
    /// The task's metadata file.
    #[arg(long, alias = "metadata_path", value_name = "PATH")]
    metadata: PathBuf,
    /// The shape of the metadata file [default: what it looks like].
    #[arg(long, alias = "metadata_type", value_name = "KIND", value_enum)]
    metadata_type: Option<MetadataType>,
    /// The task's question.
    #[arg(long, value_name = "TEXT")]
    query: String,

    /// The judge's model id.
    #[arg(long, value_name = "ID", help_heading = "Judge")]
    judge_model: String,
    /// The judge's endpoint, for example https://host/v1. `${VAR}` is taken from the environment.
    #[arg(long, value_name = "URL", help_heading = "Judge")]
    model_base_url: String,
    /// Key of the endpoint. Prefer `${VAR}` in single quotes: the key then stays out of the process list.
    #[arg(long, value_name = "KEY", help_heading = "Judge")]
    model_api_key: Option<String>,
    /// The judge's request parameters (JSON object) in place of upstream's, plus `max_retries` and `timeout`.
    #[arg(long, value_name = "JSON", help_heading = "Judge")]
    judge_params: Option<String>,
    /// What is made of replies that are not as asked for: asked again, then no score (`strict`), or bit for bit what
    /// upstream computes, its exceptions included (`upstream`).
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Policy::Strict, help_heading = "Judge")]
    policy: Policy,

    /// Upstream checkout, or a bundle imported from one, to take the judge's prompts from.
    #[arg(long, value_name = "PATH", help_heading = "Prompts", required_unless_present = "prompt_pack")]
    dataset: Option<PathBuf>,
    /// Prompt pack to take them from instead.
    #[arg(long, value_name = "FILE", help_heading = "Prompts")]
    prompt_pack: Option<PathBuf>,
    /// Accept prompts that are not those of the pinned upstream commit.
    #[arg(long, help_heading = "Prompts")]
    allow_unpinned: bool,
}

/// The shape of a metadata file.
#[derive(Clone, Copy, ValueEnum)]
enum MetadataType {
    /// From published papers: columns below `raw`.
    Real,
    /// Generated: a list of columns.
    Synth,
}

/// A judge policy on the command line.
#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    /// Ask again, then no score; a score is within 0..1.
    Strict,
    /// Upstream's arithmetic as it stands.
    Upstream,
}

/// Carries the command out.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let judged = score(arguments)?;
    for warning in &judged.warnings {
        output::say(format!("warning: {warning}"));
    }
    output::data(pyjson::dumps(&judged.eval_rec, Some(4)));
    Ok(ExitCode::SUCCESS)
}

fn score(arguments: Arguments) -> anyhow::Result<Judged> {
    for (flag, text) in [("--gold", &arguments.gold), ("--pred", &arguments.pred), ("--query", &arguments.query)] {
        if text.is_empty() {
            return Err(Usage::new(format!("{flag} is empty")).hint("a task without an answer scores 0").into());
        }
    }
    let judge = judge(&arguments)?;
    let inputs = Inputs {
        datasets: datasets(&arguments)?,
        query: arguments.query,
        gold: arguments.gold,
        gold_workflow: arguments.gold_workflow,
        answer: arguments.pred,
        answer_workflow: arguments.pred_workflow,
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the async runtime")?;
    runtime.block_on(judge.score(inputs)).map_err(|failed| {
        let issue = failed.failure.issue();
        anyhow::anyhow!("{}: {}\nhint: {}", issue.code, issue.message, issue.code.rule().hint)
    })
}

fn judge(arguments: &Arguments) -> anyhow::Result<Judge> {
    let prompts = prompts(arguments)?;
    let params = config::json_object("--judge-params", arguments.judge_params.as_deref())?;
    let params = ModelParams::parse("--judge-params", params).map_err(Usage::from)?;
    let key = arguments.model_api_key.as_deref().unwrap_or_default();
    let endpoint = Endpoint {
        base_url: config::resolve("--model-base-url", &arguments.model_base_url)?,
        api_key: Secret::new(config::resolve("--model-api-key", key)?),
        protocol: Protocol::OpenaiChat,
    };
    let client = Client::new(&endpoint, &params)
        .map_err(|error| Usage::new(error.to_string()).hint("for example --model-base-url https://host/v1"))?;
    let policy = match arguments.policy {
        Policy::Strict => JudgePolicy::Strict,
        Policy::Upstream => JudgePolicy::Upstream,
    };
    let settings = Settings { model: arguments.judge_model.clone(), policy, params: params.request };
    Ok(Judge::new(Arc::new(client), Arc::new(prompts), settings))
}

fn prompts(arguments: &Arguments) -> anyhow::Result<JudgePrompts> {
    let refused = |error: dataset::Error| {
        let hint = "--dataset takes a full upstream checkout or a bundle, --prompt-pack the JSON file made from one";
        Usage::new(error.to_string()).hint(error.hint().unwrap_or_else(|| hint.to_owned()))
    };
    match (&arguments.prompt_pack, &arguments.dataset) {
        (Some(file), _) => {
            let named = |error: String| Usage::new(format!("{}: {error}", file.display()));
            let bytes = std::fs::read(file).map_err(|error| named(error.to_string()))?;
            Ok(PromptPack::from_json(&bytes).map_err(|error| named(error.to_string()))?.judge)
        }
        (None, Some(path)) if path.join(bundle::MANIFEST).is_file() => {
            Ok(bundle::open(path).map_err(refused)?.pack.judge)
        }
        (None, Some(path)) => Ok(dataset::extract_pack(path, arguments.allow_unpinned).map_err(refused)?.judge),
        (None, None) => {
            Err(Usage::new("the judge's prompts are missing").hint("give --dataset or --prompt-pack").into())
        }
    }
}

fn datasets(arguments: &Arguments) -> anyhow::Result<String> {
    let metadata = metadata::read(&arguments.metadata)
        .map_err(|error| Usage::new(error.to_string()).hint("--metadata takes a task's metadata_<n>.json"))?;
    let path = arguments.metadata.display();
    let kind = match arguments.metadata_type {
        Some(MetadataType::Real) => Kind::Real,
        Some(MetadataType::Synth) => Kind::Synth,
        None => prompt::metadata_kind(&metadata).ok_or_else(|| {
            Usage::new(format!("{path}: neither the shape of a real nor of a synthetic split"))
                .hint("say which with --metadata-type real or synth")
        })?,
    };
    let split = if kind == Kind::Real { "real" } else { "synthetic" };
    prompt::datasets_text_of_metadata(&metadata, kind).map_err(|exception| {
        Usage::new(format!("{path}: not the metadata of a {split} split: {exception}"))
            .hint("--metadata-type says which of the two shapes it is")
            .into()
    })
}

#[cfg(test)]
mod tests;
