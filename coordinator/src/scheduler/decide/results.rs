//! A result arrives.

use std::time::Duration;

use argosy_shared::{id::ExecutionKey, issue::Issue, task::Blob};

use super::{Decision, millis};
use crate::scheduler::{
    event::Event,
    input::ResultSummary,
    policy::bounded,
    reply::{Effect, Reply, RetryNotice, RetryScope},
    state::{Place, Stage, State},
};

/// What makes an execution fail.
pub(super) struct Failed {
    /// Of the execution, or what the judge said.
    pub(super) issues: Vec<Issue>,
    /// The execution's stored result.
    pub(super) result: Blob,
    /// It was the judging that failed.
    pub(super) by_judge: bool,
}

impl State {
    /// First valid result wins; whatever is not of the live execution changes nothing.
    pub(super) fn result(&self, now: Duration, execution: ExecutionKey, summary: ResultSummary) -> Decision {
        let Some(place) = self.place(&execution.attempt) else {
            return Decision::reply(Reply::ResultSuperseded { reason: "no such attempt" });
        };
        if !self.is_live(&execution) {
            return Decision::reply(self.stale_result(place, execution.execution));
        }
        let run = self.run(place);
        let attempt = self.at(place);
        let issues = bounded(&summary.issues);
        let mut decision = Decision::reply(Reply::ResultAccepted);
        decision.events.push(Event::ResultStored {
            execution: execution.clone(),
            has_answer: summary.has_answer,
            issues: issues.clone(),
            result: summary.result.clone(),
        });
        let fatal = summary.issues.iter().any(Issue::is_fatal);
        if attempt.retries < run.plan.policy.max_retries
            && let Some(matched) = run.patterns.matched(&summary.issues)
        {
            let failed = Failed { issues, result: summary.result, by_judge: false };
            self.retry_attempt(now, place, execution, matched, failed, &mut decision);
        } else if fatal {
            // The result itself has the issues.
            decision.effects.push(Effect::Publish(execution.attempt.clone()));
            decision.events.push(Event::AttemptFailed { execution, issues: Vec::new() });
        }
        decision
    }

    /// Discards the execution and has the whole attempt run again. The caller has looked at the budget.
    pub(super) fn retry_attempt(
        &self,
        now: Duration,
        place: Place,
        execution: ExecutionKey,
        matched: String,
        failed: Failed,
        decision: &mut Decision,
    ) {
        let Failed { issues, result, by_judge } = failed;
        let policy = &self.run(place).plan.policy;
        let retry = self.at(place).retries + 1;
        let delay = policy.retry_delay(&execution.attempt, execution.execution, retry);
        decision.events.push(Event::AttemptRetried {
            execution: execution.clone(),
            matched: matched.clone(),
            retry,
            delay_ms: millis(delay),
            judge_issues: if by_judge { issues.clone() } else { Vec::new() },
        });
        decision.start_wait(now, place, delay);
        decision.effects.push(Effect::WriteRetry(RetryNotice {
            execution,
            retry,
            max_retries: policy.max_retries,
            delay,
            scope: RetryScope::Attempt,
            matched,
            issues,
            result,
        }));
    }

    /// A worker whose acknowledgement was lost sends its result again: that is no news, and no evidence either.
    fn stale_result(&self, place: Place, execution: u64) -> Reply {
        let attempt = self.at(place);
        let stored = attempt.stage.answer().map(|answer| answer.execution) == Some(execution)
            || attempt
                .stage
                .outcome()
                .is_some_and(|outcome| outcome.execution == execution && outcome.result.is_some())
            || attempt.discarded.iter().any(|discarded| discarded.execution == execution && discarded.result.is_some());
        if stored {
            return Reply::ResultDuplicate;
        }
        let reason = match &attempt.stage {
            Stage::Leased { .. } => "a later execution is the live one",
            Stage::Ready { .. } => "the lease was lost",
            Stage::Answered { .. } | Stage::Judging { .. } | Stage::JudgeWait { .. } => {
                "a later execution has answered"
            }
            Stage::Settled { .. } | Stage::Done { .. } => "the attempt is done",
        };
        Reply::ResultSuperseded { reason }
    }
}
