//! Retries, read out of a journal: what [`Effect::WriteRetry`](super::Effect::WriteRetry) said when they happened.

use std::time::Duration;

use super::{
    event::Event,
    policy::FATAL,
    reply::{RetryNotice, RetryScope},
    state::{Settings, State},
};

impl State {
    /// The notice of an event that is about to be applied; `None` where it is no retry.
    #[must_use]
    pub fn notice_of(&self, event: &Event) -> Option<RetryNotice> {
        let (execution, retry, delay_ms, scope, matched, judge_issues) = match event {
            Event::AttemptRetried { execution, matched, retry, delay_ms, judge_issues } => {
                (execution, *retry, *delay_ms, RetryScope::Attempt, matched.as_str(), judge_issues)
            }
            Event::JudgeAttemptFailed { execution, issues, retry, delay_ms } => {
                (execution, *retry, *delay_ms, RetryScope::Evaluate, FATAL, issues)
            }
            _ => return None,
        };
        let place = self.place(&execution.attempt)?;
        let answer = self.at(place).stage.answer()?;
        Some(RetryNotice {
            execution: execution.clone(),
            retry,
            max_retries: self.run(place).plan.policy.max_retries,
            delay: Duration::from_millis(delay_ms),
            scope,
            matched: matched.to_owned(),
            issues: if judge_issues.is_empty() { answer.issues.clone() } else { judge_issues.clone() },
            result: answer.result.clone(),
        })
    }
}

/// All retries of a journal in their order, and the state it ends in.
#[must_use]
pub fn notices<'a>(settings: Settings, events: impl IntoIterator<Item = &'a Event>) -> (Vec<RetryNotice>, State) {
    let mut state = State::new(settings);
    let mut notices = Vec::new();
    for event in events {
        let notice = state.notice_of(event);
        // An event that cannot follow was not applied when it happened either, and nothing came of it.
        if state.evolve(event).is_ok() {
            notices.extend(notice);
        }
    }
    (notices, state)
}
