//! What must always hold, by name.
//!
//! [`check_event`] looks, in constant time, at whether an event may follow in a state; it guards every event, live
//! and replayed, in production too. [`check`] looks at a whole state; tests call it after every step.

mod event;
mod whole;

use std::fmt;

pub use self::{event::check_event, whole::check};

/// The invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// An attempt has at most one live lease, under the number of its latest execution, and numbers only grow.
    OneLiveLease,
    /// An event about an execution that is not the attempt's current one changes nothing.
    StaleChangesNothing,
    /// A settled or published outcome stays, unless it is FATAL and an operator asks.
    DoneIsFinal,
    /// Retries and lost leases stay within their budgets, and no attempt fails while there is budget.
    WithinBudget,
    /// An execution that gave a valid result is not run again.
    ValidResultStays,
    /// A failed judging repeats the judging, not the agent, unless `judge_retry` says so.
    AnsweredStays,
    /// Leases stay within a worker's slots, a run's concurrency and an endpoint's allowance when they are granted.
    WithinSlots,
    /// Nothing starts in a run that is not running, and a finished run has nothing open.
    RunStateHolds,
    /// An event names a run and an attempt that exist, and a run is added once.
    KnownNames,
    /// The queues say what the stages say.
    QueuesAgree,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::OneLiveLease,
        Self::StaleChangesNothing,
        Self::DoneIsFinal,
        Self::WithinBudget,
        Self::ValidResultStays,
        Self::AnsweredStays,
        Self::WithinSlots,
        Self::RunStateHolds,
        Self::KnownNames,
        Self::QueuesAgree,
    ];

    /// The name in metrics and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OneLiveLease => "one_live_lease",
            Self::StaleChangesNothing => "stale_changes_nothing",
            Self::DoneIsFinal => "done_is_final",
            Self::WithinBudget => "within_budget",
            Self::ValidResultStays => "valid_result_stays",
            Self::AnsweredStays => "answered_stays",
            Self::WithinSlots => "within_slots",
            Self::RunStateHolds => "run_state_holds",
            Self::KnownNames => "known_names",
            Self::QueuesAgree => "queues_agree",
        }
    }
}

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// Where and how.
    pub place: String,
}

impl Violation {
    fn new(invariant: Invariant, place: impl Into<String>) -> Self {
        Self { invariant, place: place.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {} broken: {}", self.invariant.as_str(), self.place)
    }
}
