//! How a run ended.

use std::{path::PathBuf, process::ExitCode};

use argosy_coordinator::{
    engine::{Ending, Progress, progress::State},
    report::{load, metric_report::MetricReport, metrics, table},
};
use argosy_shared::run_dir::{
    RunStatus,
    names::{METRICS, PROGRESS, RUN_INFO, RUN_LOG, SUMMARY},
};
use serde_json::{Map, Value, json};

use crate::cli::output::{data, say};

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// As in `run_info.json`.
    pub(crate) status: RunStatus,
    dir: PathBuf,
    error: Option<String>,
    report: Option<MetricReport>,
    last: Progress,
}

impl Outcome {
    /// Reads what the run came to; only a finished one has scores.
    ///
    /// # Errors
    /// The run directory cannot be read back.
    pub(super) fn of(dir: PathBuf, last: Progress, ending: &Ending) -> anyhow::Result<Self> {
        // What is on disk is what counts: the last attempt may have been published while the fleet was ending.
        let finished = matches!(load::run_info(&dir)?.status, Some(RunStatus::Completed | RunStatus::Failed));
        if !finished {
            let (status, error) = match &last.state {
                State::Failed(why) => (RunStatus::Failed, why.clone()),
                _ => (ending.status, ending.reason.clone()),
            };
            return Ok(Self { status, dir, error: Some(error), report: None, last });
        }
        let loaded = load::run(&dir)?;
        let report = metrics::aggregate(&loaded.tasks, &loaded.plan)?;
        let (status, error) = if report.evaluation_failed {
            (RunStatus::Failed, Some(format!("Final FATAL issues; results: {}", dir.display())))
        } else {
            (RunStatus::Completed, None)
        };
        Ok(Self { status, dir, error, report: Some(report), last })
    }

    /// Shows the scores and says where everything lies.
    pub(crate) fn show(&self) {
        let last = &self.last;
        let Some(report) = &self.report else {
            if let State::Failed(why) = &last.state {
                say(format!("error: {why}"));
            }
            say(format!("{} of {} tasks are done: {}", last.done, last.total, self.dir.display()));
            say("hint: the same command with --reuse goes on where this one ended; nothing is paid twice");
            return;
        };
        data(table::scores(report));
        self.say_report();
    }

    /// The talk about a finished run.
    pub(crate) fn say_report(&self) {
        say(format!("report: {}", self.dir.join(SUMMARY).display()));
        if self.report.as_ref().is_some_and(|report| report.evaluation_failed) {
            let (fatal, total) = (self.last.fatal, self.last.total);
            say(format!("{fatal} of {total} tasks are invalidated by FATAL issues: no official score"));
            say("hint: `details/fatal/` says why; --max-retries 2 repeats such tasks");
        }
    }

    /// 0, 1, or 130 where the user ended it.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.status {
            RunStatus::Completed => ExitCode::SUCCESS,
            RunStatus::Cancelled => ExitCode::from(130),
            RunStatus::Failed | RunStatus::TimedOut => ExitCode::from(1),
        }
    }

    /// The outcome as a launch file's result has it.
    pub(crate) fn record(&self, name: &str) -> Value {
        let paths: Map<String, Value> = [
            ("output_dir", ""),
            ("run_info", RUN_INFO),
            ("progress", PROGRESS),
            ("metrics", METRICS),
            ("summary", SUMMARY),
            ("log_file", RUN_LOG),
        ]
        .into_iter()
        .map(|(what, file)| (what, if file.is_empty() { self.dir.clone() } else { self.dir.join(file) }))
        .filter(|(_, path)| path.exists())
        .map(|(what, path)| (what.to_owned(), Value::from(path.to_string_lossy())))
        .collect();
        json!({
            "name": name,
            "status": self.status.as_str(),
            "result": self.report,
            "error": self.error.clone().unwrap_or_default(),
            "paths": paths,
        })
    }
}
