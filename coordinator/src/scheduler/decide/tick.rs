//! Time has passed.

use std::time::Duration;

use super::{Decision, Soft};
use crate::scheduler::{
    event::LossReason,
    state::{Stage, State},
};

impl State {
    pub(super) fn tick(&self, now: Duration) -> Decision {
        let mut decision = Decision::default();
        let away = self.was_away(now);
        for (_, place) in self.queues.due(now) {
            match &self.at(place).stage {
                Stage::Leased { .. } if !away => self.lose(place, LossReason::Expired, &mut decision),
                Stage::Ready { .. } | Stage::JudgeWait { .. } => decision.soft.push(Soft::WaitOver { place }),
                Stage::Leased { .. }
                | Stage::Answered { .. }
                | Stage::Judging { .. }
                | Stage::Settled { .. }
                | Stage::Done { .. } => {}
            }
        }
        if away {
            let deadline = self.lease_end(now);
            decision.soft.extend(self.queues.leases().map(|place| Soft::LeaseBound { place, session: None, deadline }));
            let seen =
                self.workers.keys().map(|session| Soft::WorkerSeen { session: session.clone(), until: deadline });
            decision.soft.extend(seen);
        } else {
            let silent = self.workers.iter().filter(|(_, worker)| worker.until <= now);
            decision.soft.extend(silent.map(|(session, _)| Soft::WorkerLeft { session: session.clone() }));
        }
        decision
    }

    /// Whether this tick comes so late that this process must have been away: a stopped or starved coordinator has
    /// not read the renewals that were sent meanwhile, so their absence says nothing about the workers.
    fn was_away(&self, now: Duration) -> bool {
        let lease = self
            .queues
            .due(now)
            .find(|(_, place)| matches!(self.at(*place).stage, Stage::Leased { .. }))
            .map(|(deadline, _)| deadline);
        let worker = self.workers.values().map(|worker| worker.until).filter(|until| *until <= now).min();
        let overdue = [lease, worker].into_iter().flatten().min();
        overdue.is_some_and(|deadline| now.saturating_sub(deadline) > self.settings.lateness())
    }
}
