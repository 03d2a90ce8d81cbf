//! `argosy mock-model`: the stand-in model on a port, until a signal ends it.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use argosy_coordinator::stand_in::{Latency, Script, StandIn, Stats, script};
use argosy_shared::model::secret::Secret;
use tokio::signal::unix::{SignalKind, signal};

use super::output::{self, Usage};

const SCRIPT_HELP: &str = "\
The script is a JSON object, or JSON lines in which every line with `task` is a task. All members are optional:

  seed               decides everything that is drawn
  models             ids listed by /v1/models; any id is answered
  latency            {\"fixed\": MS}, {\"uniform\": [MS, MS]} or {\"lognormal\": {\"median\": MS, \"p95\": MS}}
  rate_limit         {\"requests_per_minute\": N, \"burst\": N}; above it 429 with Retry-After
  context_tokens     longer prompts are refused as exceeding the context
  refuse             parameters refused with 400, for example [\"stop\", \"temperature\", \"max_tokens\"]
  ignore_stop        true: `stop` is accepted and not honoured
  match_probability  how likely the built-in judge lets two contexts match, 0.7
  faults             [{\"status\": 500, \"probability\": 0.02, \"first\": N, \"kinds\": [..], \"retry_after\": S, \"body\": ..}]
                     or {\"malformed\": HOW, ..}
  judge              {\"sub_hypotheses\" | \"context\" | \"variables\" | \"relation\": [REPLY, ..]} for unknown tasks
  tasks              [{\"task\": ID, \"question\": TEXT, \"files\": [..], \"match\": [..], \"judge_match\": [..],
                       \"agent\": [REPLY by turn, ..], \"judge\": {..}, \"fail_first\": {\"count\": N, \"status\": 503}}]

A REPLY is a text, or {\"content\": text, null or JSON, \"reasoning\", \"finish_reason\", \"latency_ms\", \"match\"},
or {\"status\", \"body\", \"retry_after\", \"headers\"}, or {\"malformed\": HOW}. HOW is one of truncated_json, html,
not_json, empty_body, empty_choices, no_choices, null_content, empty_content, reasoning_only, error_200, cut.
An agent's requests are recognised by question and files, a judge's by judge_match (and the question).
Everything but the rate limit follows from the seed, the request's content and how often it came before.

Without a script the agent reads the first data file with Python's standard library and answers from what it
saw, and the judge draws plausible verdicts by the seed. GET /stats shows what was asked and answered.";

/// Arguments.
#[derive(clap::Args)]
#[command(after_long_help = SCRIPT_HELP)]
pub(crate) struct Arguments {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8999")]
    listen: SocketAddr,
    /// What to say; see below.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Decides everything that is drawn, in place of the script's.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Time a reply takes, in milliseconds: `50`, `20..200` or `lognormal:MEDIAN,P95`.
    #[arg(long, value_name = "MS|SPEC", value_parser = Latency::parse)]
    latency: Option<Latency>,
    /// Answers this share of the requests with an HTTP error, for example `500=0.05`.
    #[arg(long, value_name = "STATUS=P", value_parser = error_rate)]
    error_rate: Vec<script::Fault>,
    /// Requests a minute; above it 429 with Retry-After.
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<f64>,
    /// Refuses this request parameter with 400, as reasoning models refuse `stop` or `temperature`.
    #[arg(long, value_name = "NAME")]
    refuse: Vec<String>,
    /// Demands the key that this environment variable holds.
    #[arg(long, value_name = "VAR")]
    api_key_env: Option<String>,
}

/// Carries the command out.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let key = arguments.api_key_env.as_deref().map(api_key).transpose()?;
    let listen = arguments.listen;
    let script = script(&arguments)?;
    let model = script.models.first().map_or("stand-in", String::as_str).to_owned();
    let key_option = arguments.api_key_env.map(|name| format!(" --model-api-key '${{{name}}}'")).unwrap_or_default();
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(async {
        // Installed first, so that a signal right after the address is printed already ends it in good order.
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?;
        let mut terminate = signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?;
        let running =
            StandIn::new(script, key).serve(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
        let url = running.base_url();
        output::data(&url);
        output::say(format!(
            "stand-in model and judge at {url}, counters at http://{}/stats; Ctrl-C ends it\n\
             try: argosy run discoverybench discovery_agent {model} --env host_process --dataset PATH \\\n       \
             --benchmark-params '{{\"judge_model\":{{\"id\":\"{model}\"}},\"isolate_network\":false}}' \\\n       \
             --model-base-url {url}{key_option}",
            running.addr()
        ));
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        output::say(closing(&running.stop().await));
        Ok(ExitCode::SUCCESS)
    })
}

fn script(arguments: &Arguments) -> anyhow::Result<Script> {
    let mut script = match &arguments.script {
        None => Script::default(),
        Some(path) => {
            let bad = |error: String| Usage::new(format!("{}: {error}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
            Script::parse(&text)
                .map_err(|error| bad(error.to_string()).hint("`argosy mock-model --help` describes the format"))?
        }
    };
    script.seed = arguments.seed.unwrap_or(script.seed);
    script.latency = arguments.latency.unwrap_or(script.latency);
    script.faults.extend(arguments.error_rate.iter().cloned());
    script.refuse.extend(arguments.refuse.iter().cloned());
    if let Some(requests_per_minute) = arguments.requests_per_minute {
        if !(requests_per_minute.is_finite() && requests_per_minute > 0.0) {
            return Err(Usage::new("--requests-per-minute must be a positive number").into());
        }
        script.rate_limit = Some(script::RateLimit { requests_per_minute, burst: None });
    }
    Ok(script)
}

fn api_key(name: &str) -> anyhow::Result<Secret> {
    match std::env::var(name) {
        Ok(key) if !key.is_empty() => Ok(Secret::new(key)),
        _ => Err(Usage::new(format!("--api-key-env: the environment variable `{name}` is not set"))
            .hint(format!("set it first: {name}=... argosy mock-model --api-key-env {name}"))
            .into()),
    }
}

fn error_rate(text: &str) -> Result<script::Fault, String> {
    let parsed = text
        .split_once('=')
        .and_then(|(status, rate)| Some((status.trim().parse::<u16>().ok()?, rate.trim().parse::<f64>().ok()?)));
    match parsed {
        Some((status, rate)) if (400..=599).contains(&status) && (0.0..=1.0).contains(&rate) => {
            Ok(script::Fault::error(status, rate))
        }
        _ => Err("give a status from 400 to 599 and a probability from 0 to 1, as in `503=0.05`".to_owned()),
    }
}

fn closing(stats: &Stats) -> String {
    let list = |counts: Vec<(String, u64)>| {
        counts.into_iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    };
    let kinds = list(stats.by_kind.iter().map(|(kind, count)| (kind.to_string(), *count)).collect());
    let errors = list(stats.errors.iter().map(|(status, count)| (status.to_string(), *count)).collect());
    format!(
        "{} calls{}; {} replies, {} malformed, errors: {}; at most {} at once; {} prompt and {} completion tokens",
        stats.calls,
        if kinds.is_empty() { String::new() } else { format!(" ({kinds})") },
        stats.replies,
        stats.malformed,
        if errors.is_empty() { "none" } else { &errors },
        stats.peak_in_flight,
        stats.prompt_tokens,
        stats.completion_tokens
    )
}
