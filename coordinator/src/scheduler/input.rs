//! What can happen, in the words of the engine.

use std::fmt;

use argosy_shared::{
    id::{ExecutionKey, RunId},
    issue::Issue,
    spec::EnvironmentId,
    task::Blob,
};
use std::time::Duration;

use super::plan::RunPlan;

/// A worker's registration; made by the engine, never used twice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub String);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Someone wants a run. The same plan again is [`Reply::RunKnown`](super::Reply::RunKnown); another policy for
    /// the same tasks replaces the old one; anything else under a known name is refused.
    RunSubmitted(Box<RunPlan>),
    /// A worker joined. A session under a name that has one ends the older one; leases of the name stay until the
    /// new session's first [`Input::Renewed`] says which of them it still holds.
    WorkerRegistered {
        /// The new session.
        session: SessionId,
        /// Unique among live workers.
        name: String,
        /// Leases it carries out at once.
        slots: u32,
        /// What it offers.
        environments: Vec<EnvironmentId>,
    },
    /// A worker asks for work (also sent again for a waiting long poll when [`State::has_work_for`] says so).
    ///
    /// [`State::has_work_for`]: super::State::has_work_for
    LeaseWanted {
        /// The asker.
        session: SessionId,
        /// At most this many grants.
        free: u32,
    },
    /// A worker renews what it holds; whatever of `held` is not live and its own is answered as lost.
    Renewed {
        /// The worker.
        session: SessionId,
        /// All executions it is carrying out, by its own account.
        held: Vec<ExecutionKey>,
    },
    /// The connection to a worker broke: its leases end after `grace` unless it renews before.
    WorkerSuspected {
        /// The worker.
        session: SessionId,
        /// Usually much shorter than a lease.
        grace: Duration,
    },
    /// A worker left.
    WorkerGone {
        /// The worker.
        session: SessionId,
        /// How.
        departure: Departure,
    },
    /// A worker gives an execution back unfinished.
    Released {
        /// The worker.
        session: SessionId,
        /// The execution.
        execution: ExecutionKey,
        /// Its words.
        reason: String,
    },
    /// The result of an execution has been made durable in the journal's blob store.
    ResultUploaded {
        /// The execution.
        execution: ExecutionKey,
        /// What the scheduler needs of it.
        summary: ResultSummary,
    },
    /// The judge pool has room for `n` more.
    JudgeWanted {
        /// At most this many jobs.
        n: u32,
    },
    /// An answer was judged (or scored 0 because there is none) and the judgement is durable in the blob store.
    Judged {
        /// The execution.
        execution: ExecutionKey,
        /// The judgement.
        judgement: Judgement,
    },
    /// Judging ended in a FATAL issue.
    JudgeFailed {
        /// The execution.
        execution: ExecutionKey,
        /// Not empty.
        issues: Vec<Issue>,
    },
    /// Judging was given up for a reason that is not the judge's (shutdown, pause): back into the queue, no charge.
    JudgeReleased {
        /// The execution.
        execution: ExecutionKey,
    },
    /// A settled outcome is in the run directory.
    Published {
        /// The execution of [`Effect::Publish`](super::Effect::Publish).
        execution: ExecutionKey,
    },
    /// Time has passed: expire leases, ready retries. Wanted at [`State::next_wakeup`](super::State::next_wakeup);
    /// more often is harmless. A tick that comes much later than it was wanted means that this process, not the
    /// workers, was away (stopped, swapped, starved): all leases then get a new full length.
    Tick,
    /// Start nothing more of the run.
    PauseRun {
        /// The run.
        run: RunId,
        /// For the operator.
        reason: String,
    },
    /// Go on with a paused run.
    ResumeRun {
        /// The run.
        run: RunId,
    },
    /// End a run without its open attempts.
    CancelRun {
        /// The run.
        run: RunId,
        /// For the operator.
        reason: String,
    },
    /// Try all attempts of the run that ended FATAL again, with fresh budgets.
    RequeueRun {
        /// The run.
        run: RunId,
    },
    /// Change `task_concurrency`.
    SetConcurrency {
        /// The run.
        run: RunId,
        /// At least 1.
        task_concurrency: u32,
    },
    /// How many executions (and judgings) may use an endpoint at once; `None` lifts the limit. Lowering it takes
    /// nothing away from what runs.
    SetAllowance {
        /// As in [`RunPlan::endpoint`].
        endpoint: String,
        /// The limit.
        max_in_flight: Option<u32>,
    },
    /// Give the worker nothing more.
    DrainWorker {
        /// Its name.
        name: String,
    },
}

/// How a worker left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It said goodbye: what it still held is charged to nothing.
    Deregistered,
    /// It is known to be dead: what it held is lost.
    Lost,
}

/// What the scheduler needs to know of an execution's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultSummary {
    /// Whether there is an answer to judge.
    pub has_answer: bool,
    /// All issues of the execution.
    pub issues: Vec<Issue>,
    /// The stored result.
    pub result: Blob,
}

/// What the scheduler needs to know of a judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The stored judgement.
    pub record: Blob,
    /// Warnings and the like; a FATAL one belongs into [`Input::JudgeFailed`].
    pub issues: Vec<Issue>,
}
