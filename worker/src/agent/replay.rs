//! Turns of an earlier execution, used instead of being paid again.

use std::collections::VecDeque;

use argosy_shared::trajectory::StepRecord;

/// The recorded turns that are still to be replayed.
///
/// Only the model calls are replayed: the code runs again, in a fresh Python. As long as it brings the recorded
/// observations, the next recorded reply is the one the model would have been asked for; from the first difference on
/// the model is asked again.
#[derive(Debug, Default)]
pub(super) struct Replay(VecDeque<StepRecord>);

impl Replay {
    /// The records up to the first gap in their numbers: beyond it the prompt is unknown.
    pub(super) fn new(records: &[StepRecord]) -> Self {
        Self(
            records
                .iter()
                .zip(1..)
                .take_while(|(record, id)| record.step_id == *id)
                .map(|(record, _)| record.clone())
                .collect(),
        )
    }

    /// The record of the next turn.
    pub(super) fn next(&mut self) -> Option<StepRecord> {
        self.0.pop_front()
    }

    /// Forgets the rest unless a replayed turn brought again what it had brought.
    pub(super) fn compare(&mut self, recorded: Option<&str>, observed: &str) {
        if recorded != Some(observed) {
            self.0.clear();
        }
    }
}
