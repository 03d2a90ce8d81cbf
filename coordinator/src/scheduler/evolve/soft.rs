//! What a soft change does. A change that no longer fits (its attempt moved on in the same decision) does nothing.

use crate::scheduler::{
    decide::Soft,
    state::{Stage, State, Wait, Worker},
};

impl State {
    pub(super) fn evolve_soft(&mut self, change: &Soft) {
        match change {
            Soft::WorkerJoined { session, name, slots, environments, until } => {
                self.workers.retain(|_, worker| worker.name != *name);
                let worker = Worker {
                    name: name.clone(),
                    slots: *slots,
                    environments: environments.clone(),
                    draining: false,
                    until: *until,
                };
                self.workers.insert(session.clone(), worker);
            }
            Soft::WorkerSeen { session, until } => {
                if let Some(worker) = self.workers.get_mut(session) {
                    worker.until = *until;
                }
            }
            Soft::WorkerDraining { session } => {
                if let Some(worker) = self.workers.get_mut(session) {
                    worker.draining = true;
                }
            }
            Soft::WorkerLeft { session } => {
                self.workers.remove(session);
            }
            Soft::LeaseBound { place, session, deadline } => {
                if let Stage::Leased { execution, worker, session: bound, .. } = self.at(*place).stage.clone() {
                    let stage = Stage::Leased {
                        execution,
                        worker,
                        session: session.clone().or(bound),
                        deadline: Some(*deadline),
                    };
                    self.set_stage(*place, stage);
                }
            }
            Soft::WaitStarted { place, until } => match self.at(*place).stage.clone() {
                Stage::Ready { wait: Wait::For(_) } => {
                    self.set_stage(*place, Stage::Ready { wait: Wait::Until(*until) });
                }
                Stage::JudgeWait { answer, wait: Wait::For(_) } => {
                    self.set_stage(*place, Stage::JudgeWait { answer, wait: Wait::Until(*until) });
                }
                Stage::Ready { .. }
                | Stage::Leased { .. }
                | Stage::Answered { .. }
                | Stage::Judging { .. }
                | Stage::JudgeWait { .. }
                | Stage::Settled { .. }
                | Stage::Done { .. } => {}
            },
            Soft::WaitOver { place } => match self.at(*place).stage.clone() {
                Stage::Ready { .. } => self.set_stage(*place, Stage::Ready { wait: Wait::Over }),
                Stage::JudgeWait { answer, .. } => self.set_stage(*place, Stage::Answered { answer }),
                Stage::Leased { .. }
                | Stage::Answered { .. }
                | Stage::Judging { .. }
                | Stage::Settled { .. }
                | Stage::Done { .. } => {}
            },
            Soft::JudgingStarted { place } => {
                if let Stage::Answered { answer } = self.at(*place).stage.clone() {
                    self.set_stage(*place, Stage::Judging { answer });
                }
            }
            Soft::JudgingStopped { place } => {
                if let Stage::Judging { answer } = self.at(*place).stage.clone() {
                    self.set_stage(*place, Stage::Answered { answer });
                }
            }
            Soft::AllowanceSet { endpoint, max_in_flight } => {
                self.queues.set_allowance(endpoint, *max_in_flight);
            }
        }
    }
}
