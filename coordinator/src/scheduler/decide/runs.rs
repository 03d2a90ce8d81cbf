//! Runs are submitted, paused, resumed, cancelled, requeued; outcomes are published.

use argosy_shared::id::{ExecutionKey, RunId};

use super::{Decision, Soft};
use crate::scheduler::{
    event::Event,
    plan::{PlanError, RunPlan},
    policy::{bounded_text, validate},
    reply::{Effect, Reply},
    state::{Place, Run, RunState, Stage, State},
};

impl State {
    pub(super) fn submit(&self, plan: Box<RunPlan>) -> Decision {
        if let Err(error) = validate(&plan) {
            return Decision::reply(Reply::RunRefused(error));
        }
        if let Some(known) = self.by_id.get(&plan.id) {
            return resubmit(&self.runs[*known as usize], *plan);
        }
        let mut decision = Decision::reply(Reply::RunAdded);
        let run = plan.id.clone();
        let mut adopted: Vec<_> = plan.adopted.iter().map(|adopted| (&adopted.task, adopted.attempt)).collect();
        adopted.sort_unstable();
        adopted.dedup();
        let complete = adopted.len() == plan.tasks.len() * plan.k as usize;
        decision.events.push(Event::RunAdded { plan });
        if complete {
            decision.events.push(Event::RunFinished { run: run.clone() });
            decision.effects.push(Effect::RunFinished(run));
        }
        decision
    }

    pub(super) fn pause(&self, id: RunId, reason: &str) -> Decision {
        self.for_run(id, |run, id| match &run.state {
            RunState::Running => Decision::event(Event::RunPaused { run: id, reason: bounded_text(reason) }),
            RunState::Paused { .. } => Decision::default(),
            RunState::Finished | RunState::Cancelled { .. } => Decision::reply(Reply::RunIs(run.state.as_str())),
        })
    }

    pub(super) fn resume(&self, id: RunId) -> Decision {
        self.for_run(id, |run, id| match &run.state {
            RunState::Paused { .. } | RunState::Cancelled { .. } => Decision::event(Event::RunResumed { run: id }),
            RunState::Running => Decision::default(),
            RunState::Finished => Decision::reply(Reply::RunIs(run.state.as_str())),
        })
    }

    pub(super) fn cancel_run(&self, id: RunId, reason: &str) -> Decision {
        let number = self.by_id.get(&id).copied();
        self.for_run(id, |run, id| match &run.state {
            RunState::Running | RunState::Paused { .. } => {
                let mut decision = Decision::event(Event::RunCancelled { run: id, reason: bounded_text(reason) });
                let leased = self.queues.leases().filter(|place| Some(place.run) == number);
                decision.effects = leased
                    .filter_map(|place| match &self.at(place).stage {
                        Stage::Leased { execution, .. } => Some(self.execution_key(place, *execution)),
                        _ => None,
                    })
                    .map(Effect::Revoked)
                    .collect();
                decision
            }
            RunState::Cancelled { .. } => Decision::default(),
            RunState::Finished => Decision::reply(Reply::RunIs(run.state.as_str())),
        })
    }

    pub(super) fn requeue(&self, id: RunId) -> Decision {
        let number = self.by_id.get(&id).copied();
        self.for_run(id, |run, id| {
            let failed = run.attempts.iter().zip(0..).filter_map(|(attempt, index)| match &attempt.stage {
                Stage::Done { outcome } if !outcome.is_valid() => {
                    let place = Place { run: number?, attempt: index };
                    Some(Event::AttemptRequeued { execution: self.execution_key(place, outcome.execution) })
                }
                _ => None,
            });
            let failed: Vec<Event> = failed.collect();
            let mut decision = Decision::default();
            if !failed.is_empty() && run.state == RunState::Finished {
                decision.events.push(Event::RunResumed { run: id });
            }
            decision.events.extend(failed);
            decision
        })
    }

    pub(super) fn set_concurrency(&self, id: RunId, task_concurrency: u32) -> Decision {
        self.for_run(id, |run, id| {
            if task_concurrency == 0 {
                return Decision::reply(Reply::RunRefused(PlanError::Zero { run: id, field: "task_concurrency" }));
            }
            let mut policy = run.plan.policy.clone();
            policy.task_concurrency = task_concurrency;
            if policy == run.plan.policy {
                return Decision::default();
            }
            Decision::event(Event::RunPolicyChanged { run: id, policy })
        })
    }

    pub(super) fn published(&self, execution: ExecutionKey) -> Decision {
        let Some(place) = self.place(&execution.attempt) else { return Decision::default() };
        let severity = match &self.at(place).stage {
            Stage::Settled { outcome } if outcome.execution == execution.execution => outcome.severity,
            _ => return Decision::default(),
        };
        let run = execution.attempt.run.clone();
        let mut decision = Decision::event(Event::AttemptDone { execution, severity });
        let tally = self.queues.tally(place.run as usize);
        if tally.done() + 1 == tally.total() {
            decision.events.push(Event::RunFinished { run: run.clone() });
            decision.effects.push(Effect::RunFinished(run));
        }
        decision
    }

    pub(super) fn set_allowance(endpoint: String, max_in_flight: Option<u32>) -> Decision {
        Decision { soft: vec![Soft::AllowanceSet { endpoint, max_in_flight }], ..Decision::default() }
    }

    fn for_run(&self, id: RunId, decide: impl FnOnce(&Run, RunId) -> Decision) -> Decision {
        match self.by_id.get(&id) {
            Some(number) => decide(&self.runs[*number as usize], id),
            None => Decision::reply(Reply::UnknownRun(id)),
        }
    }
}

/// A run that is known is submitted again, usually after a restart: what cannot change a score may differ.
fn resubmit(known: &Run, plan: RunPlan) -> Decision {
    let old = &known.plan;
    let differences = [
        ("k", old.k != plan.k),
        ("tasks", old.tasks != plan.tasks),
        ("environment", old.environment != plan.environment),
    ];
    let run = plan.id;
    if let Some((field, _)) = differences.into_iter().find(|(_, differs)| *differs) {
        return Decision::reply(Reply::RunRefused(PlanError::Differs { run, field }));
    }
    let mut decision = Decision::reply(Reply::RunKnown);
    if old.policy != plan.policy {
        decision.events.push(Event::RunPolicyChanged { run: run.clone(), policy: plan.policy });
    }
    if old.endpoint != plan.endpoint || old.judge_endpoint != plan.judge_endpoint || old.spec != plan.spec {
        decision.events.push(Event::RunRespecified {
            run,
            endpoint: plan.endpoint,
            judge_endpoint: plan.judge_endpoint,
            spec: plan.spec,
        });
    }
    if !decision.events.is_empty() {
        decision.reply = Reply::RunChanged;
    }
    decision
}
