//! What happens to one attempt.

use std::time::Duration;

use argosy_shared::{id::ExecutionKey, issue::Severity};

use super::{Attempt, Place};
use crate::scheduler::{RunPlan, Stage, state::Wait};

impl Attempt {
    pub(in crate::scheduler::tests) fn execution(&self) -> ExecutionKey {
        ExecutionKey { attempt: self.key.clone(), execution: self.executions }
    }

    pub(super) fn holder(&self) -> Option<&String> {
        match &self.place {
            Place::Leased { worker, .. } => Some(worker),
            _ => None,
        }
    }

    pub(super) fn lose(&mut self, plan: &RunPlan) {
        self.losses += 1;
        self.releases = 0;
        self.replayable.push(self.executions);
        let survives = self.losses <= plan.policy.max_lease_losses;
        self.place =
            if survives { Place::Ready { until: Duration::ZERO } } else { Place::Settled(Some(Severity::Fatal)) };
    }

    pub(super) fn release(&mut self, now: Duration) {
        self.releases += 1;
        self.replayable.push(self.executions);
        // Free three times in a row, then 5 s doubling to 60 s.
        self.delay = match self.releases {
            0..=3 => Duration::ZERO,
            more => Duration::from_secs((5 << (more - 4).min(10)).min(60)),
        };
        self.place = Place::Ready { until: now + self.delay };
    }

    /// Whether the real stage says the same.
    pub(in crate::scheduler::tests) fn agrees(&self, stage: &Stage) -> bool {
        let wait = |wait: &Wait, until: Duration| match wait {
            // Over is over, at the latest by the tick that made it so.
            Wait::Over => true,
            Wait::Until(at) => *at == until,
            Wait::For(_) => false,
        };
        match (&self.place, stage) {
            (Place::Ready { until }, Stage::Ready { wait: real }) => wait(real, *until),
            (Place::Answered { until }, Stage::JudgeWait { wait: real, .. }) => wait(real, *until),
            (Place::Answered { .. }, Stage::Answered { .. }) | (Place::Judging, Stage::Judging { .. }) => true,
            (
                Place::Leased { worker, session, deadline },
                Stage::Leased { execution, worker: real_worker, session: real_session, deadline: real_deadline },
            ) => {
                *execution == self.executions
                    && (worker, session, Some(*deadline)) == (real_worker, real_session, *real_deadline)
            }
            (Place::Settled(severity), Stage::Settled { outcome })
            | (Place::Done(severity), Stage::Done { outcome }) => {
                outcome.severity == *severity && outcome.execution == self.executions
            }
            _ => false,
        }
    }
}
