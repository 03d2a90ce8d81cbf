//! Workers come, renew, give back and go.

use std::{collections::BTreeSet, time::Duration};

use argosy_shared::{
    id::ExecutionKey,
    issue::{Code, Issue, Phase},
    spec::EnvironmentId,
};

use super::{Decision, Soft};
use crate::scheduler::{
    event::{Event, LossReason},
    input::{Departure, SessionId},
    policy::bounded_text,
    reply::{Effect, Reply},
    state::{Place, Stage, State},
};

impl State {
    pub(super) fn join(
        &self,
        now: Duration,
        session: SessionId,
        name: String,
        slots: u32,
        environments: Vec<EnvironmentId>,
    ) -> Decision {
        let until = self.lease_end(now);
        Decision { soft: vec![Soft::WorkerJoined { session, name, slots, environments, until }], ..Decision::default() }
    }

    pub(super) fn renew(&self, now: Duration, session: &SessionId, held: Vec<ExecutionKey>) -> Decision {
        let Some(worker) = self.workers.get(session) else { return Decision::reply(Reply::UnknownWorker) };
        let deadline = self.lease_end(now);
        let mut decision = Decision::default();
        let mut kept = BTreeSet::new();
        let mut lost = Vec::new();
        for key in held {
            match self.live_at(&key, &worker.name) {
                Some(place) => {
                    kept.insert(place);
                    decision.soft.push(Soft::LeaseBound { place, session: Some(session.clone()), deadline });
                }
                None => lost.push(key),
            }
        }
        // Leases of an earlier session of the same worker that the new one does not hold: its process is another,
        // nobody is working on them. A lease of this session that is not in `held` may be on its way to the worker.
        for place in self.queues.held_by(&worker.name).filter(|place| !kept.contains(place)) {
            if let Stage::Leased { session: bound, .. } = &self.at(place).stage
                && bound.as_ref() != Some(session)
            {
                self.lose(place, LossReason::Forgotten, &mut decision);
            }
        }
        decision.soft.push(Soft::WorkerSeen { session: session.clone(), until: deadline });
        decision.reply = Reply::Renewal { lost, draining: worker.draining };
        decision
    }

    pub(super) fn suspect(&self, now: Duration, session: &SessionId, grace: Duration) -> Decision {
        let Some(worker) = self.workers.get(session) else { return Decision::reply(Reply::UnknownWorker) };
        let sooner = now.saturating_add(grace);
        let shortened = self.queues.held_by(&worker.name).filter_map(|place| match &self.at(place).stage {
            Stage::Leased { deadline: Some(at), .. } if *at > sooner => {
                Some(Soft::LeaseBound { place, session: None, deadline: sooner })
            }
            _ => None,
        });
        Decision { soft: shortened.collect(), ..Decision::default() }
    }

    pub(super) fn depart(&self, now: Duration, session: SessionId, departure: Departure) -> Decision {
        let Some(worker) = self.workers.get(&session) else { return Decision::reply(Reply::UnknownWorker) };
        let mut decision = Decision::default();
        for place in self.queues.held_by(&worker.name) {
            match departure {
                Departure::Deregistered => self.release_at(now, place, "the worker left", &mut decision),
                Departure::Lost => self.lose(place, LossReason::WorkerGone, &mut decision),
            }
        }
        decision.soft.push(Soft::WorkerLeft { session });
        decision
    }

    pub(super) fn release(&self, now: Duration, session: &SessionId, key: &ExecutionKey, reason: &str) -> Decision {
        let Some(worker) = self.workers.get(session) else { return Decision::reply(Reply::UnknownWorker) };
        let mut decision = Decision::default();
        if let Some(place) = self.live_at(key, &worker.name) {
            self.release_at(now, place, reason, &mut decision);
        }
        decision
    }

    pub(super) fn drain(&self, name: &str) -> Decision {
        match self.workers.iter().find(|(_, worker)| worker.name == name) {
            Some((session, _)) => {
                Decision { soft: vec![Soft::WorkerDraining { session: session.clone() }], ..Decision::default() }
            }
            None => Decision::reply(Reply::UnknownWorker),
        }
    }

    /// A lease is lost; the attempt runs again or, without budget, fails.
    pub(super) fn lose(&self, place: Place, reason: LossReason, decision: &mut Decision) {
        let Stage::Leased { execution, worker, .. } = &self.at(place).stage else { return };
        let execution = self.execution_key(place, *execution);
        let losses = self.at(place).lease_losses + 1;
        decision.events.push(Event::LeaseLost { execution: execution.clone(), reason });
        if losses > self.run(place).plan.policy.max_lease_losses {
            let message = format!("lost its worker {losses} times, at last `{worker}`: {}", reason.as_str());
            let issues = vec![Issue::new(Phase::Run, Code::WorkerLost, bounded_text(&message))];
            decision.effects.push(Effect::Publish(execution.attempt.clone()));
            decision.events.push(Event::AttemptFailed { execution, issues });
        }
    }

    fn release_at(&self, now: Duration, place: Place, reason: &str, decision: &mut Decision) {
        let Stage::Leased { execution, .. } = &self.at(place).stage else { return };
        let delay = self.run(place).plan.policy.release_delay(self.at(place));
        decision.events.push(Event::LeaseReleased {
            execution: self.execution_key(place, *execution),
            reason: bounded_text(reason),
            delay_ms: super::millis(delay),
        });
        decision.start_wait(now, place, delay);
    }

    /// Where the execution is, if it is the live one and that worker's.
    fn live_at(&self, key: &ExecutionKey, worker: &str) -> Option<Place> {
        (self.holder(key)? == worker).then(|| self.place(&key.attempt)).flatten()
    }
}
