//! Choosing: what follows from an input. Nothing is changed here.

mod judging;
mod leases;
mod results;
mod runs;
mod tick;
mod workers;

use std::time::Duration;

use argosy_shared::spec::EnvironmentId;

use super::{
    event::Event,
    input::{Input, SessionId},
    reply::{Effect, Reply},
    state::{Place, State},
};

/// What follows from an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// To be journalled, in one transaction, before `reply` is given and `effects` are carried out.
    pub events: Vec<Event>,
    /// Changes that are not journalled; applied after the events by [`State::commit`].
    pub soft: Vec<Soft>,
    /// For the asker.
    pub reply: Reply,
    /// For the engine.
    pub effects: Vec<Effect>,
}

/// A change that is lost with the process. Soft changes carry the clock, events never do.
#[derive(Clone, Debug, PartialEq)]
pub enum Soft {
    /// A session began; one under the same name ends.
    WorkerJoined {
        /// The session.
        session: SessionId,
        /// The worker's name.
        name: String,
        /// Leases at once.
        slots: u32,
        /// What it offers.
        environments: Vec<EnvironmentId>,
        /// Forgotten then unless heard of.
        until: Duration,
    },
    /// A worker was heard of.
    WorkerSeen {
        /// The session.
        session: SessionId,
        /// Forgotten then unless heard of again.
        until: Duration,
    },
    /// A worker gets nothing more.
    WorkerDraining {
        /// The session.
        session: SessionId,
    },
    /// A session ended.
    WorkerLeft {
        /// The session.
        session: SessionId,
    },
    /// A lease got its session and deadline: granted, renewed, taken over or shortened.
    LeaseBound {
        /// The leased attempt.
        place: Place,
        /// The session; `None` leaves it as it is.
        session: Option<SessionId>,
        /// The new deadline.
        deadline: Duration,
    },
    /// A delay got its end.
    WaitStarted {
        /// The attempt.
        place: Place,
        /// Its end.
        until: Duration,
    },
    /// A delay is over.
    WaitOver {
        /// The attempt.
        place: Place,
    },
    /// The judge pool took an answer.
    JudgingStarted {
        /// The attempt.
        place: Place,
    },
    /// The judge pool gave it back.
    JudgingStopped {
        /// The attempt.
        place: Place,
    },
    /// An endpoint's allowance changed.
    AllowanceSet {
        /// The endpoint.
        endpoint: String,
        /// The limit.
        max_in_flight: Option<u32>,
    },
}

impl Decision {
    fn reply(reply: Reply) -> Self {
        Self { reply, ..Self::default() }
    }

    fn event(event: Event) -> Self {
        Self { events: vec![event], ..Self::default() }
    }

    /// Starts the clock of a delay that one of the events has just set.
    fn start_wait(&mut self, now: Duration, place: Place, delay: Duration) {
        if !delay.is_zero() {
            self.soft.push(Soft::WaitStarted { place, until: now.saturating_add(delay) });
        }
    }
}

impl State {
    /// What follows from `input` at the monotonic time `now`. Changes nothing: see [`State::commit`].
    #[must_use]
    pub fn decide(&self, now: Duration, input: Input) -> Decision {
        match input {
            Input::RunSubmitted(plan) => self.submit(plan),
            Input::WorkerRegistered { session, name, slots, environments } => {
                self.join(now, session, name, slots, environments)
            }
            Input::LeaseWanted { session, free } => self.lease(now, &session, free),
            Input::Renewed { session, held } => self.renew(now, &session, held),
            Input::WorkerSuspected { session, grace } => self.suspect(now, &session, grace),
            Input::WorkerGone { session, departure } => self.depart(now, session, departure),
            Input::Released { session, execution, reason } => self.release(now, &session, &execution, &reason),
            Input::ResultUploaded { execution, summary } => self.result(now, execution, summary),
            Input::JudgeWanted { n } => self.judge_jobs(n),
            Input::Judged { execution, judgement } => self.judged(now, execution, judgement),
            Input::JudgeFailed { execution, issues } => self.judge_failed(now, execution, issues),
            Input::JudgeReleased { execution } => self.judge_released(&execution),
            Input::Published { execution } => self.published(execution),
            Input::Tick => self.tick(now),
            Input::PauseRun { run, reason } => self.pause(run, &reason),
            Input::ResumeRun { run } => self.resume(run),
            Input::CancelRun { run, reason } => self.cancel_run(run, &reason),
            Input::RequeueRun { run } => self.requeue(run),
            Input::SetConcurrency { run, task_concurrency } => self.set_concurrency(run, task_concurrency),
            Input::SetAllowance { endpoint, max_in_flight } => Self::set_allowance(endpoint, max_in_flight),
            Input::DrainWorker { name } => self.drain(&name),
        }
    }

    /// Whether the worker would get something if it asked now. Costs a look at each run, not at each attempt.
    #[must_use]
    pub fn has_work_for(&self, session: &SessionId) -> bool {
        self.workers.get(session).is_some_and(|worker| !self.choose(worker, 1).is_empty())
    }

    /// Whether an answer could be given to the judge pool now.
    #[must_use]
    pub fn has_judging(&self) -> bool {
        !self.choose_to_judge(1).is_empty()
    }

    fn lease_end(&self, now: Duration) -> Duration {
        now.saturating_add(self.settings.lease)
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
