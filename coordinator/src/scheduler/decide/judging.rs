//! The judge pool asks, succeeds, fails.

use std::{collections::HashMap, time::Duration};

use argosy_shared::{
    id::ExecutionKey,
    issue::{self, Code, Issue, Phase, Severity},
    spec::JudgeRetry,
};

use super::{Decision, Soft, millis, results::Failed};
use crate::scheduler::{
    event::Event,
    input::Judgement,
    policy::{FATAL, bounded},
    reply::{Effect, JudgeJob, Reply, RetryNotice, RetryScope},
    state::{Answer, Place, RunState, Stage, State},
};

impl State {
    pub(super) fn judge_jobs(&self, n: u32) -> Decision {
        let places = self.choose_to_judge(n);
        let jobs = places.iter().filter_map(|place| {
            let answer = self.at(*place).stage.answer()?;
            let execution = self.execution_key(*place, answer.execution);
            Some(JudgeJob { execution, has_answer: answer.has_answer, result: answer.result.clone() })
        });
        let mut decision = Decision::reply(Reply::JudgeJobs(jobs.collect()));
        decision.soft.extend(places.into_iter().map(|place| Soft::JudgingStarted { place }));
        decision
    }

    pub(super) fn judged(&self, now: Duration, execution: ExecutionKey, judgement: Judgement) -> Decision {
        if judgement.issues.iter().any(Issue::is_fatal) {
            return self.judge_failed(now, execution, judgement.issues);
        }
        let Some((_, answer)) = self.being_judged(&execution) else { return Decision::reply(Reply::StaleJudgement) };
        let mut decision = Decision::default();
        decision.effects.push(Effect::Publish(execution.attempt.clone()));
        decision.events.push(Event::Judged {
            execution,
            severity: issue::worst(&answer.issues).max(issue::worst(&judgement.issues)),
            issues: bounded(&judgement.issues),
            judgement: judgement.record,
        });
        decision
    }

    pub(super) fn judge_failed(&self, now: Duration, execution: ExecutionKey, issues: Vec<Issue>) -> Decision {
        let Some((place, answer)) = self.being_judged(&execution) else {
            return Decision::reply(Reply::StaleJudgement);
        };
        let mut issues = bounded(&issues);
        if issue::worst(&issues) != Some(Severity::Fatal) {
            issues.push(Issue::new(Phase::Evaluate, Code::JudgeFailed, "the judge gave no judgement"));
        }
        let policy = &self.run(place).plan.policy;
        let retry = self.at(place).retries + 1;
        let mut decision = Decision::default();
        if retry > policy.max_retries {
            decision.effects.push(Effect::Publish(execution.attempt.clone()));
            decision.events.push(Event::AttemptFailed { execution, issues });
            return decision;
        }
        match policy.judge_retry {
            JudgeRetry::Attempt => {
                let failed = Failed { issues, result: answer.result.clone(), by_judge: true };
                self.retry_attempt(now, place, execution, FATAL.to_owned(), failed, &mut decision);
            }
            JudgeRetry::Evaluate => {
                let delay = policy.retry_delay(&execution.attempt, execution.execution, retry);
                decision.events.push(Event::JudgeAttemptFailed {
                    execution: execution.clone(),
                    issues: issues.clone(),
                    retry,
                    delay_ms: millis(delay),
                });
                decision.start_wait(now, place, delay);
                decision.effects.push(Effect::WriteRetry(RetryNotice {
                    execution,
                    retry,
                    max_retries: policy.max_retries,
                    delay,
                    scope: RetryScope::Evaluate,
                    matched: FATAL.to_owned(),
                    issues,
                    result: answer.result.clone(),
                }));
            }
        }
        decision
    }

    pub(super) fn judge_released(&self, execution: &ExecutionKey) -> Decision {
        match self.being_judged(execution) {
            Some((place, _)) => Decision { soft: vec![Soft::JudgingStopped { place }], ..Decision::default() },
            None => Decision::reply(Reply::StaleJudgement),
        }
    }

    /// At most `n` answers: each time of the run with the fewest in judgement, as far as the judges' allowances go.
    pub(super) fn choose_to_judge(&self, n: u32) -> Vec<Place> {
        let mut candidates: Vec<_> = (0..self.runs.len())
            .filter(|index| self.runs[*index].state == RunState::Running)
            .filter_map(|index| {
                let mut answers = self.queues.to_judge(index).peekable();
                answers.peek()?;
                Some((self.queues.tally(index).judging, index, answers))
            })
            .collect();
        let mut taken_at: HashMap<&str, u32> = HashMap::new();
        let mut chosen = Vec::new();
        while chosen.len() < n as usize {
            let next = candidates
                .iter_mut()
                .filter_map(|candidate| {
                    let (has_answer, _) = *candidate.2.peek()?;
                    let judge = self.runs[candidate.1].plan.judge_endpoint.as_deref().filter(|_| has_answer);
                    let open = judge
                        .is_none_or(|judge| self.queues.room_at(judge) > taken_at.get(judge).copied().unwrap_or(0));
                    open.then_some((judge, candidate))
                })
                .min_by_key(|(_, (judging, index, _))| (*judging, *index));
            let Some((judge, (judging, _, answers))) = next else { break };
            *judging += 1;
            if let Some(judge) = judge {
                *taken_at.entry(judge).or_default() += 1;
            }
            chosen.extend(answers.next().map(|(_, place)| place));
        }
        chosen
    }

    fn being_judged(&self, execution: &ExecutionKey) -> Option<(Place, &Answer)> {
        let place = self.place(&execution.attempt)?;
        match &self.at(place).stage {
            Stage::Judging { answer } if answer.execution == execution.execution => Some((place, answer)),
            _ => None,
        }
    }
}
