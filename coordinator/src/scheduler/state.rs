//! Runs, attempts and their stages, workers.
//!
//! Fields are private to the scheduler: outside, [`State`] is read through its methods (see `state/view.rs`) and
//! changed only by [`State::commit`].

mod view;

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use argosy_shared::{
    id::{AttemptKey, ExecutionKey, RunId, TaskId},
    issue::{Issue, Severity},
    spec::EnvironmentId,
    task::Blob,
};

pub use self::view::{RunView, Tally, WorkerView};
use super::{input::SessionId, plan::RunPlan, policy::Patterns, queue::Queues};

/// What the scheduler is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A lease that is not renewed for this long is lost.
    pub lease: Duration,
}

impl Settings {
    /// A tick that comes this much later than the deadline it was wanted for means that this process was away.
    #[must_use]
    pub fn lateness(&self) -> Duration {
        self.lease / 4
    }
}

/// Everything the coordinator knows about what is to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub(super) settings: Settings,
    /// In the order of submission; never removed, so that a [`Place`] stays valid.
    pub(super) runs: Vec<Run>,
    pub(super) by_id: HashMap<RunId, u32>,
    /// Live sessions. Soft.
    pub(super) workers: BTreeMap<SessionId, Worker>,
    /// Derived from the stages.
    pub(super) queues: Queues,
    /// The start tag of the latest grant, see [`super::queue`].
    pub(super) virtual_time: u64,
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) plan: RunPlan,
    pub(super) state: RunState,
    pub(super) patterns: Patterns,
    pub(super) tasks: HashMap<TaskId, u32>,
    /// Position of each task in the order of starting.
    pub(super) ranks: Vec<u32>,
    /// `task * k + (attempt - 1)`.
    pub(super) attempts: Vec<Attempt>,
    /// Finish tag of the run's latest grant, see [`super::queue`].
    pub(super) finish_tag: u64,
}

/// Where an attempt is in [`State`]: cheap to copy, unlike a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub(super) run: u32,
    pub(super) attempt: u32,
}

/// What a run as a whole is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Its attempts are handed out.
    Running,
    /// Nothing of it starts.
    Paused {
        /// For the operator.
        reason: String,
    },
    /// Every attempt is done.
    Finished,
    /// It ended before that. It can be resumed.
    Cancelled {
        /// For the operator.
        reason: String,
    },
}

impl RunState {
    /// One word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused { .. } => "paused",
            Self::Finished => "finished",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

/// One logical repeat of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Where it is.
    pub stage: Stage,
    /// Executions ever begun; the highest fencing token given out.
    pub executions: u64,
    /// Retries used of `max_retries`, judge retries included.
    pub retries: u32,
    /// Leases lost.
    pub lease_losses: u32,
    /// Leases given back in a row.
    pub releases: u32,
    /// Executions that came to nothing, oldest first.
    pub discarded: Vec<Discarded>,
}

/// An execution that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discarded {
    /// Its number.
    pub execution: u64,
    /// Why.
    pub why: Why,
    /// Its stored result, if it got that far.
    pub result: Option<Blob>,
}

/// Why an execution was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It failed and the budget allowed another.
    Retried,
    /// Its worker was lost.
    Lost,
    /// Its worker gave it back.
    Released,
    /// Its run was cancelled.
    Cancelled,
    /// An operator wanted the FATAL attempt again.
    Requeued,
}

/// Where an attempt is in its life. `execution` is always the attempt's latest.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// Waits for a worker. Holds no slot, whatever it waits for.
    Ready {
        /// A retry waits for its delay first.
        wait: Wait,
    },
    /// A worker carries it out.
    Leased {
        /// The live execution.
        execution: u64,
        /// The worker's name.
        worker: String,
        /// The session that took it or took it over. Soft: `None` after a restart until the worker is back.
        session: Option<SessionId>,
        /// Monotonic time at which it is lost unless renewed. Soft: `None` only between replay and
        /// [`State::after_restart`].
        deadline: Option<Duration>,
    },
    /// The result is durable and waits for the judge.
    Answered {
        /// What was answered.
        answer: Answer,
    },
    /// The judge pool has it. Soft: after a restart it is `Answered` again.
    Judging {
        /// What was answered.
        answer: Answer,
    },
    /// Judging failed and waits for its delay.
    JudgeWait {
        /// What was answered.
        answer: Answer,
        /// The delay.
        wait: Wait,
    },
    /// The outcome is final and waits to be written into the run directory.
    Settled {
        /// The outcome.
        outcome: Outcome,
    },
    /// The outcome is published.
    Done {
        /// The outcome.
        outcome: Outcome,
    },
}

impl Stage {
    /// The answer that waits for its judgement.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered { answer } | Self::Judging { answer } | Self::JudgeWait { answer, .. } => Some(answer),
            Self::Ready { .. } | Self::Leased { .. } | Self::Settled { .. } | Self::Done { .. } => None,
        }
    }

    /// The final outcome, published or not.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Settled { outcome } | Self::Done { outcome } => Some(outcome),
            Self::Ready { .. }
            | Self::Leased { .. }
            | Self::Answered { .. }
            | Self::Judging { .. }
            | Self::JudgeWait { .. } => None,
        }
    }

    /// The moment at which a tick has to look at it.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self {
            Self::Leased { deadline, .. } => *deadline,
            Self::Ready { wait } | Self::JudgeWait { wait, .. } => match wait {
                Wait::Until(at) => Some(*at),
                Wait::Over | Wait::For(_) => None,
            },
            Self::Answered { .. } | Self::Judging { .. } | Self::Settled { .. } | Self::Done { .. } => None,
        }
    }
}

/// A delay in the life of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// None, or none any more.
    Over,
    /// As journalled: its clock does not run yet.
    For(Duration),
    /// Ends at that monotonic time. Soft.
    Until(Duration),
}

/// A durable result that waits for the judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The execution that gave it.
    pub execution: u64,
    /// Whether there is something to judge.
    pub has_answer: bool,
    /// The execution's issues.
    pub issues: Vec<Issue>,
    /// The stored result.
    pub result: Blob,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The execution it came from; 0 for an adopted attempt.
    pub execution: u64,
    /// Worst severity; FATAL means that there is no score.
    pub severity: Option<Severity>,
    /// The execution's stored result; `None` where it never gave one (or it was adopted).
    pub result: Option<Blob>,
    /// The stored judgement; `None` after FATAL (or it was adopted).
    pub judgement: Option<Blob>,
    /// Issues beyond those in the result: the judge's, `worker_lost`.
    pub issues: Vec<Issue>,
}

impl Outcome {
    /// Whether there is a score.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.severity != Some(Severity::Fatal)
    }
}

/// A live worker. Soft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Worker {
    pub(super) name: String,
    pub(super) slots: u32,
    pub(super) environments: Vec<EnvironmentId>,
    pub(super) draining: bool,
    /// Forgotten at that moment unless it is heard of before.
    pub(super) until: Duration,
}

impl State {
    /// Nothing to do yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            runs: Vec::new(),
            by_id: HashMap::new(),
            workers: BTreeMap::new(),
            queues: Queues::default(),
            virtual_time: 0,
        }
    }

    /// Where that attempt is.
    pub(super) fn place(&self, key: &AttemptKey) -> Option<Place> {
        let run = *self.by_id.get(&key.run)?;
        let found = &self.runs[run as usize];
        let task = *found.tasks.get(&key.task)?;
        let repeat = key.attempt.checked_sub(1).filter(|repeat| *repeat < found.plan.k)?;
        Some(Place { run, attempt: task * found.plan.k + repeat })
    }

    pub(super) fn run(&self, place: Place) -> &Run {
        &self.runs[place.run as usize]
    }

    pub(super) fn at(&self, place: Place) -> &Attempt {
        &self.run(place).attempts[place.attempt as usize]
    }

    pub(super) fn key(&self, place: Place) -> AttemptKey {
        let plan = &self.run(place).plan;
        AttemptKey {
            run: plan.id.clone(),
            task: plan.tasks[(place.attempt / plan.k) as usize].clone(),
            attempt: place.attempt % plan.k + 1,
        }
    }

    pub(super) fn execution_key(&self, place: Place, execution: u64) -> ExecutionKey {
        ExecutionKey { attempt: self.key(place), execution }
    }

    /// Puts an attempt into another stage and keeps the queues right.
    pub(super) fn set_stage(&mut self, place: Place, stage: Stage) {
        let run = &mut self.runs[place.run as usize];
        let rank = run.rank(place);
        let attempt = &mut run.attempts[place.attempt as usize];
        self.queues.leave(&run.plan, rank, place, &attempt.stage);
        self.queues.enter(&run.plan, rank, place, &stage);
        attempt.stage = stage;
    }

    pub(super) fn at_mut(&mut self, place: Place) -> &mut Attempt {
        &mut self.runs[place.run as usize].attempts[place.attempt as usize]
    }
}

impl Run {
    /// The attempt's position in the order of starting.
    pub(super) fn rank(&self, place: Place) -> u32 {
        let k = self.plan.k;
        self.ranks[(place.attempt / k) as usize] * k + place.attempt % k
    }
}

impl Attempt {
    pub(super) fn new(stage: Stage) -> Self {
        Self { stage, executions: 0, retries: 0, lease_losses: 0, releases: 0, discarded: Vec::new() }
    }

    /// Executions whose recorded steps the next one may replay: lost or given back since the last retry.
    #[must_use]
    pub fn lost_before(&self) -> Vec<u64> {
        let tail = self
            .discarded
            .iter()
            .rposition(|discarded| !matches!(discarded.why, Why::Lost | Why::Released | Why::Cancelled))
            .map_or(0, |last| last + 1);
        self.discarded[tail..].iter().map(|discarded| discarded.execution).collect()
    }
}
