//! What a watcher of a run sees.

use std::time::Duration;

/// A run at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// What the run does.
    pub state: State,
    /// Attempts in all.
    pub total: usize,
    /// Attempts waiting for a worker, first tries and retries together.
    pub waiting: usize,
    /// Of those, waiting for the delay before a retry to pass.
    pub delayed: usize,
    /// Attempts with a worker.
    pub running: usize,
    /// Attempts answered and not judged yet.
    pub judging: usize,
    /// Attempts finished.
    pub done: usize,
    /// Of those, taken over finished from an earlier session.
    pub reused: usize,
    /// Finished attempts with a FATAL issue: invalidated.
    pub fatal: usize,
    /// Finished attempts with an ERROR issue: scored all the same.
    pub error: usize,
    /// Executions discarded and repeated so far.
    pub retries: usize,
    /// Sum of the scores of evaluated attempts.
    pub score_sum: f64,
    /// Evaluated attempts.
    pub evaluated: usize,
    /// Model calls whose reply arrived.
    pub turns: u64,
    /// Prompt and completion tokens of the model under test, as reported.
    pub tokens: u64,
    /// Live workers.
    pub workers: usize,
    /// Since the run was started in this process.
    pub elapsed: Duration,
    /// The newest noteworthy message.
    pub message: Option<String>,
}

/// What a run does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Attempts are running or judged.
    #[default]
    Running,
    /// There is work and no worker that could take it.
    WaitingForWorkers,
    /// Nothing new is started until somebody acts; the text says why and what to do.
    Paused(String),
    /// All attempts are done and everything is on disk.
    Finished,
    /// Ended by the user.
    Cancelled,
    /// The coordinator itself failed; the text says how. Nothing acknowledged is lost.
    Failed(String),
}

impl Progress {
    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Finished | State::Cancelled | State::Failed(_))
    }

    /// Mean score of what has been evaluated so far; no result, since the rest is missing.
    #[must_use]
    pub fn mean_so_far(&self) -> Option<f64> {
        #[allow(clippy::cast_precision_loss, reason = "counts of attempts stay far below 2^52")]
        let mean = self.score_sum / self.evaluated as f64;
        (self.evaluated > 0).then_some(mean)
    }
}
