//! `argosy launch FILE`: several runs from one of AgentCompass's launch files, in the order of the file.

mod file;

use std::{path::PathBuf, process::ExitCode};

use argosy_shared::{
    run_dir::{RunStatus, moment},
    supervise::Shutdown,
    time,
};
use clap::{ArgAction, Args};
use serde_json::{Map, Value, json};

use self::file::Launch;
use super::{
    log,
    output::{Usage, data, say},
    run::{
        self, Datasets, Deadline, Prepared,
        arguments::{AlwaysOff, Progress},
    },
};

/// Arguments of `argosy launch`.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Launch file, YAML or JSON.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// DiscoveryBench: an upstream checkout, a copy of its data (with --prompt-pack), or an imported bundle.
    #[arg(long, value_name = "PATH", env = "ARGOSY_DATASET")]
    dataset: Option<PathBuf>,
    /// Folder in which `discoverybench/` is looked for when --dataset is not given [default: data].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Prompt pack of a data-only copy.
    #[arg(long, value_name = "FILE")]
    prompt_pack: Option<PathBuf>,
    /// Accept a dataset that is not upstream's pinned commit.
    #[arg(long)]
    allow_unpinned: bool,
    /// Further configuration files, later ones win.
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    config: Vec<PathBuf>,
    /// Tasks at once.
    #[arg(long, value_name = "N")]
    task_concurrency: Option<u32>,
    /// Where runs are written.
    #[arg(long, value_name = "DIR")]
    results_dir: Option<PathBuf>,
    /// Name of every run's directory [default: the local time].
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// Bound of everything after preflight, in seconds; 0: none [default: 360000].
    #[arg(long, value_name = "SECONDS")]
    timeout_seconds: Option<f64>,
    /// How long an interrupted run may finish what is under way, in seconds [default: 30].
    #[arg(long, value_name = "SECONDS")]
    cleanup_grace_seconds: Option<f64>,
    /// Progress on stderr: auto, plain or none.
    #[arg(long, value_name = "HOW", value_enum, hide_possible_values = true)]
    progress: Option<Progress>,
    /// Log on stderr: DEBUG, INFO, WARNING, ERROR, CRITICAL [default: WARNING].
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Log in each run's run.log [default: DEBUG].
    #[arg(long, value_name = "LEVEL")]
    file_log_level: Option<String>,
    /// Go on with each request's newest run; begin one where there is none.
    #[arg(long, overrides_with = "no_reuse")]
    reuse: bool,
    #[arg(long, hide = true, overrides_with = "reuse")]
    no_reuse: bool,
    /// Start without asking models and judges one small question first.
    #[arg(long)]
    no_preflight: bool,
    /// Print what would be run; run nothing.
    #[arg(long, overrides_with = "no_dry_run")]
    dry_run: bool,
    #[arg(long, hide = true, overrides_with = "dry_run")]
    no_dry_run: bool,
    #[command(flatten)]
    always_off: AlwaysOff,
}

/// Carries the command out.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let launch = Launch::read(&arguments.file)?;
    let mut datasets = Datasets::default();
    let mut prepared = Vec::with_capacity(launch.requests.len());
    for request in &launch.requests {
        let run = Prepared::new(&complete(request.arguments.clone(), arguments), &mut datasets)
            .map_err(|error| in_request(&request.name, &error))?;
        prepared.push((request.name.clone(), run));
    }
    if arguments.dry_run {
        for (name, run) in &prepared {
            data(format!("== {name}\n{}\n", run.dry_run()?));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(level) = &arguments.log_level {
        log::console(log::Level::parse("--log-level", level)?);
    }
    let started = time::wall();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcomes = runtime.block_on(carry_out(prepared))?;
    runtime.shutdown_background();
    let status = overall(&outcomes);
    let requests: Map<String, Value> =
        outcomes.iter().map(|(name, _, record)| (name.clone(), record.clone())).collect();
    let result = json!({
        "orchestration_id": uuid::Uuid::new_v4().simple().to_string(),
        "name": launch.name,
        "status": status,
        "requests": requests,
        "started_at": moment::iso(started),
        "finished_at": moment::iso(time::wall()),
    });
    data(serde_json::to_string_pretty(&result)?);
    Ok(match status {
        "completed" => ExitCode::SUCCESS,
        "cancelled" => ExitCode::from(130),
        _ => ExitCode::from(1),
    })
}

type Done = (String, RunStatus, Value);

/// One run after another. One that cannot be started or fails does not keep the others from running.
async fn carry_out(prepared: Vec<(String, Prepared)>) -> anyhow::Result<Vec<Done>> {
    let shutdown = Shutdown::on_signals()?;
    for (name, run) in &prepared {
        run.preflight().await.map_err(|error| in_request(name, &error))?;
    }
    let deadline = Deadline::after(prepared.first().and_then(|(_, run)| run.timeout()));
    let mut outcomes = Vec::with_capacity(prepared.len());
    for (name, run) in prepared {
        let not_begun = |status: RunStatus, error: String| {
            let record = json!({"name": name, "status": status.as_str(), "result": null, "error": error, "paths": {}});
            (name.clone(), status, record)
        };
        let done = if deadline.has_passed() {
            not_begun(RunStatus::TimedOut, "not begun: orchestration deadline exceeded".to_owned())
        } else if shutdown.drain.is_cancelled() {
            not_begun(RunStatus::Cancelled, "not begun: interrupted".to_owned())
        } else {
            say(format!("== {name}"));
            match run.carry_out(&shutdown, &deadline).await {
                Ok(outcome) => {
                    outcome.say_report();
                    (name.clone(), outcome.status, outcome.record(&name))
                }
                Err(error) => {
                    say(format!("error: request `{name}`: {error:#}"));
                    not_begun(RunStatus::Failed, format!("{error:#}"))
                }
            }
        };
        outcomes.push(done);
    }
    Ok(outcomes)
}

/// The status of the whole, as AgentCompass says it.
fn overall(outcomes: &[Done]) -> &'static str {
    let any = |wanted| outcomes.iter().any(|(_, status, _)| *status == wanted);
    if any(RunStatus::Cancelled) {
        "cancelled"
    } else if any(RunStatus::TimedOut) {
        "timed_out"
    } else if !any(RunStatus::Failed) {
        "completed"
    } else if any(RunStatus::Completed) {
        "partial_failure"
    } else {
        "failed"
    }
}

/// The request with what the command line of `launch` says about all of them.
fn complete(mut request: run::Arguments, arguments: &Arguments) -> run::Arguments {
    let seconds = [
        ("--timeout-seconds", "timeout_seconds", arguments.timeout_seconds),
        ("--cleanup-grace-seconds", "cleanup_grace_seconds", arguments.cleanup_grace_seconds),
    ];
    for (flag, name, value) in seconds {
        if let Some(value) = value {
            request.layers.push(super::config::Layer::new(flag, "runtime", json!({ name: value })));
        }
    }
    if arguments.reuse {
        request.layers.push(super::config::Layer::new("--reuse", "runtime", json!({"reuse": true})));
    }
    run::Arguments {
        dataset: arguments.dataset.clone(),
        data_dir: arguments.data_dir.clone(),
        prompt_pack: arguments.prompt_pack.clone(),
        allow_unpinned: arguments.allow_unpinned,
        config: arguments.config.clone(),
        task_concurrency: arguments.task_concurrency,
        results_dir: arguments.results_dir.clone(),
        run_id: arguments.run_id.clone().or(request.run_id),
        progress: arguments.progress,
        log_level: arguments.log_level.clone(),
        file_log_level: arguments.file_log_level.clone(),
        no_preflight: arguments.no_preflight,
        ..request
    }
}

/// The same error with the request it concerns; bad input stays bad input.
fn in_request(name: &str, error: &anyhow::Error) -> anyhow::Error {
    let text = format!("request `{name}`: {error:#}");
    if error.downcast_ref::<Usage>().is_some() { Usage::new(text).into() } else { anyhow::anyhow!(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_is_as_good_as_its_worst_part() {
        let of = |statuses: &[RunStatus]| {
            let outcomes: Vec<Done> = statuses.iter().map(|status| (String::new(), *status, Value::Null)).collect();
            overall(&outcomes)
        };
        use RunStatus::{Cancelled, Completed, Failed, TimedOut};
        assert_eq!(of(&[Completed, Completed]), "completed");
        assert_eq!(of(&[Completed, Failed]), "partial_failure");
        assert_eq!(of(&[Failed, Failed]), "failed");
        assert_eq!(of(&[Completed, Failed, TimedOut]), "timed_out");
        assert_eq!(of(&[TimedOut, Cancelled]), "cancelled");
    }
}
