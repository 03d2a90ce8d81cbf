//! Who gets work.

use std::{collections::HashMap, time::Duration};

use super::{Decision, Soft};
use crate::scheduler::{
    event::Event,
    input::SessionId,
    queue::{finish_tag, start_tag},
    reply::{Grant, Reply},
    state::{Place, RunState, State, Worker},
};

impl State {
    pub(super) fn lease(&self, now: Duration, session: &SessionId, free: u32) -> Decision {
        let Some(worker) = self.workers.get(session) else { return Decision::reply(Reply::UnknownWorker) };
        let deadline = self.lease_end(now);
        let mut decision = Decision::default();
        let mut grants = Vec::new();
        for place in self.choose(worker, free) {
            let attempt = self.at(place);
            let execution = self.execution_key(place, attempt.executions + 1);
            grants.push(Grant { execution: execution.clone(), lost_before: attempt.lost_before() });
            decision.events.push(Event::LeaseGranted { execution, worker: worker.name.clone() });
            decision.soft.push(Soft::LeaseBound { place, session: Some(session.clone()), deadline });
        }
        decision.soft.push(Soft::WorkerSeen { session: session.clone(), until: deadline });
        decision.reply = Reply::Leases { grants, draining: worker.draining };
        decision
    }

    /// At most `free` attempts for the worker, by the fairness of [`crate::scheduler::queue`]. Looks at each run once
    /// per grant, at attempts only as far as they are granted.
    pub(super) fn choose(&self, worker: &Worker, free: u32) -> Vec<Place> {
        if worker.draining {
            return Vec::new();
        }
        let mut room = free.min(worker.slots.saturating_sub(self.queues.leases_of(&worker.name)));
        if room == 0 {
            return Vec::new();
        }
        // The grants of this decision are not in the state yet, so their effect on the next choice is kept here.
        let mut candidates: Vec<Candidate<'_, _>> = (0..self.runs.len())
            .filter(|index| self.runs[*index].state == RunState::Running && worker.serves(&self.runs[*index].plan))
            .filter_map(|index| {
                let run = &self.runs[index];
                let room = run.plan.policy.task_concurrency.saturating_sub(self.queues.tally(index).leased);
                let mut ready = self.queues.ready(index).peekable();
                ready.peek()?;
                Some(Candidate { room, ready, finish_tag: run.finish_tag, endpoint: &run.plan.endpoint, index })
            })
            .collect();
        let mut taken_at: HashMap<&str, u32> = HashMap::new();
        let mut virtual_time = self.virtual_time;
        let mut chosen = Vec::new();
        while room > 0 {
            let next = candidates
                .iter_mut()
                .filter_map(|candidate| {
                    let taken = taken_at.get(candidate.endpoint).copied().unwrap_or(0);
                    let open = candidate.room > 0
                        && candidate.ready.peek().is_some()
                        && self.queues.room_at(candidate.endpoint) > taken;
                    open.then_some(candidate)
                })
                .min_by_key(|candidate| (start_tag(virtual_time, candidate.finish_tag), candidate.index));
            let Some(next) = next else { break };
            chosen.extend(next.ready.next());
            virtual_time = start_tag(virtual_time, next.finish_tag);
            next.finish_tag = finish_tag(virtual_time, self.runs[next.index].plan.policy.weight);
            next.room -= 1;
            *taken_at.entry(next.endpoint).or_default() += 1;
            room -= 1;
        }
        chosen
    }
}

struct Candidate<'a, I: Iterator<Item = Place>> {
    /// What `task_concurrency` leaves.
    room: u32,
    ready: std::iter::Peekable<I>,
    finish_tag: u64,
    endpoint: &'a str,
    index: usize,
}
