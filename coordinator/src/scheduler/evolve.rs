//! Changing: what an event does to the state. Nothing is chosen here.

use std::time::Duration;

use super::{
    decide::Decision,
    event::Event,
    state::{Settings, State},
};

/// The journal does not fit: an event cannot follow from those before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {position} of the journal cannot follow from those before it: {reason}")]
pub struct ReplayError {
    /// 0-based, over all events given.
    pub position: u64,
    /// Which invariant it breaks, and where.
    pub reason: String,
}

impl State {
    /// Applies a decision: its events in order, then its soft changes.
    pub fn commit(&mut self, decision: &Decision) {
        for event in &decision.events {
            self.evolve(event);
        }
    }

    /// Applies one journalled event.
    pub fn evolve(&mut self, event: &Event) {
        let _ = event;
    }

    /// The state after all `events`, without its soft part.
    ///
    /// # Errors
    /// The first event that cannot follow from those before it.
    pub fn replay<'a>(settings: Settings, events: impl IntoIterator<Item = &'a Event>) -> Result<Self, ReplayError> {
        let mut state = Self::new(settings);
        for event in events {
            state.evolve(event);
        }
        Ok(state)
    }

    /// Starts the clocks of a replayed state: each outstanding lease gets one full length, each delay its full
    /// length from now.
    pub fn after_restart(&mut self, now: Duration) {
        let _ = now;
    }
}
