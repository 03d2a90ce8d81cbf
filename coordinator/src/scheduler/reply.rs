//! What the asker is told, and what the engine has to do besides.

use std::time::Duration;

use argosy_shared::{
    id::{AttemptKey, ExecutionKey, RunId},
    issue::Issue,
    task::Blob,
};

use super::{
    plan::PlanError,
    state::{Discarded, Outcome},
};

/// The answer to an [`Input`](super::Input).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reply {
    /// Done, or nothing was to do (both are fine to the asker: inputs may come twice).
    #[default]
    Ok,
    /// The new run was accepted.
    RunAdded,
    /// The run exists and is the same; nothing changed.
    RunKnown,
    /// The run exists; its policy was replaced.
    RunChanged,
    /// The run cannot be accepted.
    RunRefused(PlanError),
    /// No such run.
    UnknownRun(RunId),
    /// The run is in a state in which this cannot be done; says which.
    RunIs(&'static str),
    /// No such worker; a worker that hears this registers again.
    UnknownWorker,
    /// Answer to `LeaseWanted`.
    Leases {
        /// May be empty.
        grants: Vec<Grant>,
        /// Nothing more will come: finish and deregister.
        draining: bool,
    },
    /// Answer to `Renewed`.
    Renewal {
        /// Executions of `held` that are not the worker's any more: stop and destroy their sandboxes.
        lost: Vec<ExecutionKey>,
        /// As in `Leases`.
        draining: bool,
    },
    /// The result is the attempt's: the worker may forget it.
    ResultAccepted,
    /// The same execution's result was stored before: the worker may forget it.
    ResultDuplicate,
    /// The execution is not the live one; the result is evidence only.
    ResultSuperseded {
        /// For log and evidence.
        reason: &'static str,
    },
    /// Answer to `JudgeWanted`.
    JudgeJobs(Vec<JudgeJob>),
    /// The execution is not being judged (any more); nothing changed.
    StaleJudgement,
}

/// A lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The execution with its fencing token.
    pub execution: ExecutionKey,
    /// Earlier executions of the attempt, oldest first, that lost their worker since the last retry: their recorded
    /// steps may be replayed (`execution.replay`).
    pub lost_before: Vec<u64>,
}

/// An answer to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeJob {
    /// The execution.
    pub execution: ExecutionKey,
    /// False: score 0 without a call.
    pub has_answer: bool,
    /// The stored result.
    pub result: Blob,
}

/// Something the engine has to do once the decision's events are durable. All of it can be derived from the state
/// again after a crash and may be done twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Write the diagnostic of a discarded execution or judging (`retries/`).
    WriteRetry(RetryNotice),
    /// Write the outcome into the run directory ([`State::final_attempt`] after the commit has it), then report
    /// [`Input::Published`](super::Input::Published).
    ///
    /// [`State::final_attempt`]: super::State::final_attempt
    Publish(AttemptKey),
    /// All attempts of the run are published: write metrics and reports.
    RunFinished(RunId),
    /// A lease is void because its run was cancelled; the worker hears it with its next renewal.
    Revoked(ExecutionKey),
}

/// A retry, as its diagnostic tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryNotice {
    /// The discarded execution, or the one whose judging failed.
    pub execution: ExecutionKey,
    /// From 1.
    pub retry: u32,
    /// The budget.
    pub max_retries: u32,
    /// Before the next try.
    pub delay: Duration,
    /// What is repeated.
    pub scope: RetryScope,
    /// `fatal` or the pattern.
    pub matched: String,
    /// Of the discarded execution or judging, each message bounded.
    pub issues: Vec<Issue>,
    /// The stored result of the execution.
    pub result: Blob,
}

/// What a retry repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryScope {
    /// The whole attempt, agent included.
    Attempt,
    /// The judging alone.
    Evaluate,
}

/// A settled outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct FinalAttempt {
    /// The attempt.
    pub attempt: AttemptKey,
    /// Its outcome.
    pub outcome: Outcome,
    /// Retries used, judge retries included (`retry_count`).
    pub retries: u32,
    /// Leases lost.
    pub lease_losses: u32,
    /// Executions that came to nothing, oldest first, with their stored results.
    pub discarded: Vec<Discarded>,
    /// All other attempts of the task are published, so this publication completes the task. Reliable only when
    /// the attempts of a task are published one after another.
    pub last_of_task: bool,
}

impl FinalAttempt {
    /// The execution the outcome came from.
    #[must_use]
    pub fn execution(&self) -> ExecutionKey {
        ExecutionKey { attempt: self.attempt.clone(), execution: self.outcome.execution }
    }
}
