//! Choosing: what follows from an input. Nothing is changed here.

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

impl State {
    /// What follows from `input` at the monotonic time `now`. Changes nothing: see [`State::commit`].
    #[must_use]
    pub fn decide(&self, now: Duration, input: Input) -> Decision {
        let _ = (now, input);
        Decision::default()
    }

    /// Whether the worker would get something if it asked now. Costs a look at each run, not at each attempt.
    #[must_use]
    pub fn has_work_for(&self, session: &SessionId) -> bool {
        let _ = session;
        false
    }

    /// Whether an answer could be given to the judge pool now.
    #[must_use]
    pub fn has_judging(&self) -> bool {
        false
    }
}
