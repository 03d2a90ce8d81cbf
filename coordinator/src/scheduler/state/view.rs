//! What can be seen of the state from outside.

use std::time::Duration;

use argosy_shared::{
    id::{AttemptKey, ExecutionKey, RunId, TaskId},
    issue::Severity,
};

use super::{Attempt, Place, Run, RunState, Settings, Stage, State, Worker};
use crate::scheduler::{input::SessionId, plan::RunPlan, reply::FinalAttempt};

/// How many attempts of a run are where. The fields add up to all attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Wait for a worker.
    pub ready: u32,
    /// Wait for the delay of a retry (of the attempt or of its judging).
    pub waiting: u32,
    /// Are being carried out.
    pub leased: u32,
    /// Wait for the judge.
    pub answered: u32,
    /// Are being judged.
    pub judging: u32,
    /// Have an outcome that is not yet published.
    pub settled: u32,
    /// Done without FATAL or ERROR.
    pub normal: u32,
    /// Done with ERROR.
    pub error: u32,
    /// Done with FATAL.
    pub fatal: u32,
}

impl Tally {
    /// All that are done.
    #[must_use]
    pub fn done(&self) -> u32 {
        self.normal + self.error + self.fatal
    }

    /// All.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.ready + self.waiting + self.leased + self.answered + self.judging + self.settled + self.done()
    }

    pub(in crate::scheduler) fn field(&mut self, stage: &Stage) -> &mut u32 {
        use super::Wait;
        match stage {
            Stage::Ready { wait: Wait::Over } => &mut self.ready,
            Stage::Ready { .. } | Stage::JudgeWait { .. } => &mut self.waiting,
            Stage::Leased { .. } => &mut self.leased,
            Stage::Answered { .. } => &mut self.answered,
            Stage::Judging { .. } => &mut self.judging,
            Stage::Settled { .. } => &mut self.settled,
            Stage::Done { outcome } => match outcome.severity {
                None | Some(Severity::Warning) => &mut self.normal,
                Some(Severity::Error) => &mut self.error,
                Some(Severity::Fatal) => &mut self.fatal,
            },
        }
    }
}

/// A run, to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct RunView<'a> {
    /// As submitted, with the policy in force.
    pub plan: &'a RunPlan,
    /// What it is doing.
    pub state: &'a RunState,
    /// Its attempts by stage.
    pub tally: Tally,
}

/// A worker, to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct WorkerView<'a> {
    /// Its session.
    pub session: &'a SessionId,
    /// Its name.
    pub name: &'a str,
    /// Leases it carries out at once.
    pub slots: u32,
    /// Leases it has.
    pub leases: u32,
    /// It gets nothing more.
    pub draining: bool,
}

impl State {
    /// The settings.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// All runs in the order of submission.
    pub fn runs(&self) -> impl Iterator<Item = RunView<'_>> {
        self.runs.iter().enumerate().map(|(index, run)| self.view(index, run))
    }

    /// One run.
    #[must_use]
    pub fn run_of(&self, id: &RunId) -> Option<RunView<'_>> {
        let index = *self.by_id.get(id)? as usize;
        Some(self.view(index, &self.runs[index]))
    }

    /// One attempt.
    #[must_use]
    pub fn attempt(&self, key: &AttemptKey) -> Option<&Attempt> {
        self.place(key).map(|place| self.at(place))
    }

    /// All attempts of a task, in order; empty for an unknown one.
    #[must_use]
    pub fn attempts_of(&self, run: &RunId, task: &TaskId) -> &[Attempt] {
        let key = AttemptKey { run: run.clone(), task: task.clone(), attempt: 1 };
        self.place(&key).map_or(&[], |first| {
            let run = self.run(first);
            &run.attempts[first.attempt as usize..(first.attempt + run.plan.k) as usize]
        })
    }

    /// All attempts of a run with their keys, in dataset order.
    pub fn attempts(&self, run: &RunId) -> impl Iterator<Item = (AttemptKey, &Attempt)> {
        let index = self.by_id.get(run).copied();
        index.into_iter().flat_map(move |run| {
            let attempts = &self.runs[run as usize].attempts;
            (0u32..).zip(attempts).map(move |(attempt, found)| (self.key(Place { run, attempt }), found))
        })
    }

    /// All live workers.
    pub fn workers(&self) -> impl Iterator<Item = WorkerView<'_>> {
        self.workers.iter().map(|(session, worker)| WorkerView {
            session,
            name: &worker.name,
            slots: worker.slots,
            leases: self.queues.leases_of(&worker.name),
            draining: worker.draining,
        })
    }

    /// Whether the execution is the live one of its attempt, so that its steps and its result are wanted.
    #[must_use]
    pub fn is_live(&self, key: &ExecutionKey) -> bool {
        self.holder(key).is_some()
    }

    /// The name of the worker that carries the execution out, while it is live.
    #[must_use]
    pub fn holder(&self, key: &ExecutionKey) -> Option<&str> {
        match &self.attempt(&key.attempt)?.stage {
            Stage::Leased { execution, worker, .. } if *execution == key.execution => Some(worker),
            Stage::Leased { .. }
            | Stage::Ready { .. }
            | Stage::Answered { .. }
            | Stage::Judging { .. }
            | Stage::JudgeWait { .. }
            | Stage::Settled { .. }
            | Stage::Done { .. } => None,
        }
    }

    /// Settled outcomes that are not in their run directory yet: after a restart, all that still has to be written.
    pub fn unpublished(&self) -> impl Iterator<Item = FinalAttempt> {
        self.queues.settled().filter_map(|place| self.final_at(place))
    }

    /// Whether any run still has something to do that is not paused away.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.runs.iter().all(|run| run.state != RunState::Running)
    }

    /// The earliest monotonic time at which [`Input::Tick`](crate::scheduler::Input::Tick) has something to do.
    #[must_use]
    pub fn next_wakeup(&self) -> Option<Duration> {
        let workers = self.workers.values().map(|worker| worker.until).min();
        [self.queues.next_timer(), workers].into_iter().flatten().min()
    }

    /// The outcome of an attempt with what its publication needs; `None` before it is settled.
    #[must_use]
    pub fn final_attempt(&self, key: &AttemptKey) -> Option<FinalAttempt> {
        self.final_at(self.place(key)?)
    }

    fn final_at(&self, place: Place) -> Option<FinalAttempt> {
        let attempt = self.at(place);
        let outcome = attempt.stage.outcome()?.clone();
        let run = self.run(place);
        let first = place.attempt - place.attempt % run.plan.k;
        let last_of_task = (first..first + run.plan.k)
            .filter(|other| *other != place.attempt)
            .all(|other| matches!(run.attempts[other as usize].stage, Stage::Done { .. }));
        Some(FinalAttempt {
            attempt: self.key(place),
            outcome,
            retries: attempt.retries,
            lease_losses: attempt.lease_losses,
            discarded: attempt.discarded.clone(),
            last_of_task,
        })
    }

    fn view<'a>(&'a self, index: usize, run: &'a Run) -> RunView<'a> {
        RunView { plan: &run.plan, state: &run.state, tally: self.queues.tally(index) }
    }
}

impl Worker {
    /// Whether it can carry out the run's executions.
    pub(in crate::scheduler) fn serves(&self, plan: &RunPlan) -> bool {
        self.environments.contains(&plan.environment)
    }
}
