//! A run while it is being carried out: its figures and its publisher.

use std::{sync::Arc, time::Duration};

use argosy_shared::{id::TaskId, supervise::Task, trajectory::StepRecord};
use tokio::sync::{mpsc, watch};

use super::{
    Run,
    progress::{Progress, State},
    publish::Job,
};
use crate::scheduler::Tally;

/// A run being carried out.
pub(super) struct Active {
    pub(super) run: Arc<Run>,
    pub(super) publisher: mpsc::UnboundedSender<Job>,
    /// Ends with the run; taken at a shutdown to wait for it.
    pub(super) publishing: Option<Task<()>>,
    pub(super) progress: watch::Sender<Progress>,
    pub(super) figures: Figures,
    pub(super) started: Duration,
}

/// What is counted besides the scheduler's own tally.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// Attempts that were over when the run was submitted.
    pub(super) reused: usize,
    pub(super) retries: usize,
    pub(super) turns: u64,
    pub(super) tokens: u64,
    pub(super) score_sum: f64,
    pub(super) evaluated: usize,
    pub(super) message: Option<String>,
    pub(super) over: Option<State>,
    /// Set while something outside the run (disk, journal) holds it up.
    pub(super) trouble: Option<String>,
}

impl Active {
    pub(super) fn count_step(&mut self, step: &StepRecord) {
        self.figures.turns += 1;
        let tokens = |count: Option<u64>| count.unwrap_or_default();
        self.figures.tokens += tokens(step.metric.prompt_tokens) + tokens(step.metric.completion_tokens);
    }

    pub(super) fn say(&mut self, task: &TaskId, message: &str) {
        self.figures.message = Some(format!("{task}: {message}"));
    }

    /// Tells the watchers where the run stands.
    pub(super) fn show(&self, tally: &Tally, paused: Option<&str>, workers: usize, now: Duration) {
        let state = match (&self.figures.over, &self.figures.trouble, paused) {
            (Some(over), _, _) => over.clone(),
            (None, Some(why), _) => State::Paused(why.clone()),
            (None, None, Some(why)) => State::Paused(why.to_owned()),
            (None, None, None) if workers == 0 && tally.ready > 0 => State::WaitingForWorkers,
            (None, None, None) => State::Running,
        };
        let progress = Progress {
            state,
            total: tally.total() as usize,
            waiting: tally.ready as usize,
            delayed: tally.waiting as usize,
            running: tally.leased as usize,
            judging: (tally.answered + tally.judging + tally.settled) as usize,
            done: tally.done() as usize,
            reused: self.figures.reused,
            fatal: tally.fatal as usize,
            error: tally.error as usize,
            retries: self.figures.retries,
            score_sum: self.figures.score_sum,
            evaluated: self.figures.evaluated,
            turns: self.figures.turns,
            tokens: self.figures.tokens,
            workers,
            elapsed: now.saturating_sub(self.started),
            message: self.figures.message.clone(),
        };
        self.progress.send_if_modified(|shown| {
            // The clock alone is no news.
            let news = Progress { elapsed: shown.elapsed, ..progress.clone() } != *shown;
            if news {
                *shown = progress;
            }
            news
        });
    }
}
