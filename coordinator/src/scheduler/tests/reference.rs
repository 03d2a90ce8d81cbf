//! The same rules once more, as plainly as possible: no queues, no events, everything by looking at every attempt.
//! Slow and easy to read; the random test compares it with the real one after every step.

mod attempt;

use std::{collections::BTreeMap, time::Duration};

use argosy_shared::{
    id::{AttemptKey, ExecutionKey},
    issue::{Issue, Severity, worst},
    spec::{EnvironmentId, JudgeRetry},
};

use super::world::{LEASE, blob};
use crate::scheduler::{Departure, Effect, Grant, Input, JudgeJob, Reply, RunPlan, SessionId, queue::STRIDE};

#[derive(Clone, Debug, Default)]
pub(super) struct Reference {
    pub(super) runs: Vec<Run>,
    workers: BTreeMap<SessionId, Worker>,
    allowances: BTreeMap<String, u32>,
    virtual_time: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) plan: RunPlan,
    pub(super) state: &'static str,
    finish_tag: u64,
    pub(super) attempts: Vec<Attempt>,
}

#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) key: AttemptKey,
    pub(super) place: Place,
    pub(super) executions: u64,
    pub(super) retries: u32,
    pub(super) losses: u32,
    releases: u32,
    replayable: Vec<u64>,
    stored: Vec<u64>,
    issues: Vec<Issue>,
    /// Starts again after a restart.
    delay: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    Ready { until: Duration },
    Leased { worker: String, session: Option<SessionId>, deadline: Duration },
    Answered { until: Duration },
    Judging,
    Settled(Option<Severity>),
    Done(Option<Severity>),
}

#[derive(Clone, Debug)]
struct Worker {
    name: String,
    slots: u32,
    draining: bool,
    until: Duration,
}

impl Reference {
    /// What the reply must be. Lengths of delays are taken from the real decision's `effects` (their bounds are
    /// tested elsewhere).
    pub(super) fn step(&mut self, now: Duration, input: &Input, effects: &[Effect]) -> Reply {
        match input.clone() {
            Input::RunSubmitted(plan) => self.submit(*plan),
            Input::WorkerRegistered { session, name, slots, environments } => {
                assert_eq!(environments, [EnvironmentId::HostProcess]);
                self.workers.retain(|_, worker| worker.name != name);
                self.workers.insert(session, Worker { name, slots, draining: false, until: now + LEASE });
                Reply::Ok
            }
            Input::LeaseWanted { session, free } => self.lease(now, &session, free),
            Input::Renewed { session, held } => self.renew(now, &session, &held),
            Input::WorkerSuspected { session, grace } => {
                let Some(name) = self.name(&session) else { return Reply::UnknownWorker };
                for attempt in self.all() {
                    if let Place::Leased { worker, deadline, .. } = &mut attempt.place
                        && *worker == name
                    {
                        *deadline = (*deadline).min(now + grace);
                    }
                }
                Reply::Ok
            }
            Input::WorkerGone { session, departure } => {
                let Some(name) = self.name(&session) else { return Reply::UnknownWorker };
                self.workers.remove(&session);
                for run in &mut self.runs {
                    for attempt in &mut run.attempts {
                        if attempt.holder() == Some(&name) {
                            match departure {
                                Departure::Lost => attempt.lose(&run.plan),
                                Departure::Deregistered => attempt.release(now),
                            }
                        }
                    }
                }
                Reply::Ok
            }
            Input::Released { session, execution, .. } => {
                let Some(name) = self.name(&session) else { return Reply::UnknownWorker };
                if let Some(attempt) = self.live(&execution)
                    && attempt.holder() == Some(&name)
                {
                    attempt.release(now);
                }
                Reply::Ok
            }
            Input::ResultUploaded { execution, summary } => {
                self.result(now, &execution, &summary.issues, summary.has_answer, effects)
            }
            Input::JudgeWanted { n } => self.judge(now, n),
            Input::Judged { execution, judgement } => self.judging(&execution, |attempt, _| {
                attempt.place = Place::Settled(worst(&attempt.issues).max(worst(&judgement.issues)));
            }),
            Input::JudgeFailed { execution, .. } => self.judging(&execution, |attempt, plan| {
                if attempt.retries == plan.policy.max_retries {
                    attempt.place = Place::Settled(Some(Severity::Fatal));
                    return;
                }
                attempt.retries += 1;
                attempt.delay = delay(effects);
                let until = now + attempt.delay;
                match plan.policy.judge_retry {
                    JudgeRetry::Evaluate => attempt.place = Place::Answered { until },
                    JudgeRetry::Attempt => {
                        attempt.replayable.clear();
                        attempt.place = Place::Ready { until };
                    }
                }
            }),
            Input::JudgeReleased { execution } => self.judging(&execution, |attempt, _| {
                attempt.place = Place::Answered { until: Duration::ZERO };
            }),
            Input::Published { execution } => {
                for run in &mut self.runs {
                    for attempt in &mut run.attempts {
                        if attempt.key == execution.attempt
                            && attempt.executions == execution.execution
                            && let Place::Settled(severity) = attempt.place
                        {
                            attempt.place = Place::Done(severity);
                        }
                    }
                    if run.attempts.iter().all(|attempt| matches!(attempt.place, Place::Done(_))) {
                        run.state = "finished";
                    }
                }
                Reply::Ok
            }
            Input::Tick => self.tick(now),
            Input::PauseRun { run, .. } => self.change(&run.0, |run| match run.state {
                "running" | "paused" => run.state = "paused",
                _ => {}
            }),
            Input::ResumeRun { run } => self.change(&run.0, |run| match run.state {
                "finished" => {}
                _ => run.state = "running",
            }),
            Input::CancelRun { run, .. } => self.change(&run.0, |run| match run.state {
                "running" | "paused" => {
                    run.state = "cancelled";
                    for attempt in &mut run.attempts {
                        match attempt.place {
                            Place::Leased { .. } => {
                                attempt.replayable.push(attempt.executions);
                                attempt.delay = Duration::ZERO;
                                attempt.place = Place::Ready { until: Duration::ZERO };
                            }
                            Place::Judging => attempt.place = Place::Answered { until: Duration::ZERO },
                            _ => {}
                        }
                    }
                }
                _ => {}
            }),
            Input::RequeueRun { run } => {
                let Some(run) = self.runs.iter_mut().find(|found| found.plan.id == run) else {
                    return Reply::UnknownRun(run);
                };
                for attempt in &mut run.attempts {
                    if attempt.place == Place::Done(Some(Severity::Fatal)) {
                        (attempt.retries, attempt.losses, attempt.releases) = (0, 0, 0);
                        attempt.replayable.clear();
                        attempt.delay = Duration::ZERO;
                        attempt.place = Place::Ready { until: Duration::ZERO };
                        if run.state == "finished" {
                            run.state = "running";
                        }
                    }
                }
                Reply::Ok
            }
            Input::SetConcurrency { run, task_concurrency } => {
                let Some(run) = self.runs.iter_mut().find(|found| found.plan.id == run) else {
                    return Reply::UnknownRun(run);
                };
                run.plan.policy.task_concurrency = task_concurrency;
                Reply::Ok
            }
            Input::SetAllowance { endpoint, max_in_flight } => {
                self.allowances.insert(endpoint, max_in_flight.unwrap_or(u32::MAX));
                Reply::Ok
            }
            Input::DrainWorker { name } => {
                let found = self.workers.values_mut().find(|worker| worker.name == name);
                let Some(worker) = found else { return Reply::UnknownWorker };
                worker.draining = true;
                Reply::Ok
            }
        }
    }

    /// The process died and came back at `now`.
    pub(super) fn restart(&mut self, now: Duration) {
        self.workers.clear();
        self.allowances.clear();
        for attempt in self.all() {
            let until = now + attempt.delay;
            match &mut attempt.place {
                Place::Ready { until: waiting } | Place::Answered { until: waiting } => *waiting = until,
                Place::Leased { session, deadline, .. } => (*session, *deadline) = (None, now + LEASE),
                Place::Judging => attempt.place = Place::Answered { until },
                Place::Settled(_) | Place::Done(_) => {}
            }
        }
    }

    fn submit(&mut self, plan: RunPlan) -> Reply {
        if self.runs.iter().any(|run| run.plan.id == plan.id) {
            return Reply::RunKnown;
        }
        let keys = plan.tasks.iter().flat_map(|task| (1..=plan.k).map(move |attempt| (task.clone(), attempt)));
        let attempts = keys.map(|(task, attempt)| Attempt {
            key: AttemptKey { run: plan.id.clone(), task, attempt },
            place: Place::Ready { until: Duration::ZERO },
            executions: 0,
            retries: 0,
            losses: 0,
            releases: 0,
            replayable: Vec::new(),
            stored: Vec::new(),
            issues: Vec::new(),
            delay: Duration::ZERO,
        });
        let attempts = attempts.collect();
        self.runs.push(Run { attempts, state: "running", finish_tag: self.virtual_time, plan });
        Reply::RunAdded
    }

    fn lease(&mut self, now: Duration, session: &SessionId, free: u32) -> Reply {
        let Some(worker) = self.workers.get_mut(session) else { return Reply::UnknownWorker };
        worker.until = now + LEASE;
        let worker = worker.clone();
        let mut grants = Vec::new();
        while !worker.draining && (grants.len() as u32) < free && self.leases(|_, w| w == worker.name) < worker.slots {
            let open = (0..self.runs.len()).filter(|index| {
                let run = &self.runs[*index];
                let plan = &run.plan;
                run.state == "running"
                    && run.next(now).is_some()
                    && self.leases(|other, _| other.id == plan.id) < plan.policy.task_concurrency
                    && self.in_flight(&plan.endpoint) < self.allowance(&plan.endpoint)
            });
            let start = |index: &usize| self.runs[*index].finish_tag.max(self.virtual_time);
            let Some(index) = open.min_by_key(|index| (start(index), *index)) else { break };
            self.virtual_time = start(&index);
            let run = &mut self.runs[index];
            run.finish_tag = self.virtual_time + STRIDE / u64::from(run.plan.policy.weight);
            let next = run.next(now).unwrap();
            let attempt = &mut run.attempts[next];
            attempt.executions += 1;
            attempt.delay = Duration::ZERO;
            attempt.place =
                Place::Leased { worker: worker.name.clone(), session: Some(session.clone()), deadline: now + LEASE };
            let execution = attempt.execution();
            grants.push(Grant { execution, lost_before: attempt.replayable.clone() });
        }
        Reply::Leases { grants, draining: worker.draining }
    }

    fn renew(&mut self, now: Duration, session: &SessionId, held: &[ExecutionKey]) -> Reply {
        let Some(worker) = self.workers.get_mut(session) else { return Reply::UnknownWorker };
        worker.until = now + LEASE;
        let worker = worker.clone();
        let mut lost = Vec::new();
        for key in held {
            match self.live(key).map(|attempt| &mut attempt.place) {
                Some(Place::Leased { worker: holder, session: bound, deadline }) if *holder == worker.name => {
                    (*bound, *deadline) = (Some(session.clone()), now + LEASE);
                }
                _ => lost.push(key.clone()),
            }
        }
        for run in &mut self.runs {
            for attempt in &mut run.attempts {
                if let Place::Leased { worker: holder, session: bound, .. } = &attempt.place
                    && *holder == worker.name
                    && bound.as_ref() != Some(session)
                {
                    attempt.lose(&run.plan);
                }
            }
        }
        Reply::Renewal { lost, draining: worker.draining }
    }

    fn result(
        &mut self,
        now: Duration,
        key: &ExecutionKey,
        issues: &[Issue],
        has_answer: bool,
        effects: &[Effect],
    ) -> Reply {
        assert_eq!(has_answer, issues.is_empty());
        let Some(run) = self.runs.iter_mut().find(|run| run.plan.id == key.attempt.run) else {
            return Reply::ResultSuperseded { reason: "no such attempt" };
        };
        let attempt = run.attempts.iter_mut().find(|attempt| attempt.key == key.attempt).unwrap();
        if attempt.stored.contains(&key.execution) {
            return Reply::ResultDuplicate;
        }
        let live = attempt.holder().is_some() && attempt.executions == key.execution;
        if !live {
            let reason = match attempt.place {
                Place::Leased { .. } => "a later execution is the live one",
                Place::Ready { .. } => "the lease was lost",
                Place::Answered { .. } | Place::Judging => "a later execution has answered",
                Place::Settled(_) | Place::Done(_) => "the attempt is done",
            };
            return Reply::ResultSuperseded { reason };
        }
        attempt.stored.push(key.execution);
        attempt.releases = 0;
        attempt.issues = issues.to_vec();
        attempt.delay = Duration::ZERO;
        let fatal = issues.iter().any(Issue::is_fatal);
        let pattern = !run.plan.policy.retry_pattern_list.is_empty() && !issues.is_empty();
        if (fatal || pattern) && attempt.retries < run.plan.policy.max_retries {
            attempt.retries += 1;
            attempt.replayable.clear();
            attempt.delay = delay(effects);
            attempt.place = Place::Ready { until: now + attempt.delay };
        } else if fatal {
            attempt.place = Place::Settled(Some(Severity::Fatal));
        } else {
            attempt.place = Place::Answered { until: Duration::ZERO };
        }
        Reply::ResultAccepted
    }

    fn judge(&mut self, now: Duration, n: u32) -> Reply {
        let mut jobs = Vec::new();
        while (jobs.len() as u32) < n {
            let mut best: Option<(usize, usize, usize)> = None;
            for (index, run) in self.runs.iter().enumerate() {
                let judging = run.attempts.iter().filter(|attempt| attempt.place == Place::Judging).count();
                let judge = run.plan.judge_endpoint.as_deref();
                let full = judge.is_some_and(|judge| self.in_flight(judge) >= self.allowance(judge));
                let waiting = |answered: bool| {
                    run.attempts.iter().position(|attempt| {
                        matches!(attempt.place, Place::Answered { until } if until <= now)
                            && attempt.issues.is_empty() == answered
                    })
                };
                let next = waiting(false).or_else(|| waiting(true).filter(|_| !full));
                if run.state == "running"
                    && let Some(next) = next
                    && best.is_none_or(|(fewest, ..)| judging < fewest)
                {
                    best = Some((judging, index, next));
                }
            }
            let Some((_, index, next)) = best else { break };
            let attempt = &mut self.runs[index].attempts[next];
            attempt.place = Place::Judging;
            let execution = attempt.execution();
            let result = blob(&execution, "result");
            jobs.push(JudgeJob { execution, has_answer: attempt.issues.is_empty(), result });
        }
        Reply::JudgeJobs(jobs)
    }

    fn tick(&mut self, now: Duration) -> Reply {
        let leases = self.all().filter_map(|attempt| match &attempt.place {
            Place::Leased { deadline, .. } => Some(*deadline),
            _ => None,
        });
        let oldest =
            leases.collect::<Vec<_>>().into_iter().chain(self.workers.values().map(|worker| worker.until)).min();
        if oldest.is_some_and(|oldest| now > oldest && now - oldest > LEASE / 4) {
            for attempt in self.all() {
                if let Place::Leased { deadline, .. } = &mut attempt.place {
                    *deadline = now + LEASE;
                }
            }
            self.workers.values_mut().for_each(|worker| worker.until = now + LEASE);
            return Reply::Ok;
        }
        self.workers.retain(|_, worker| worker.until > now);
        for run in &mut self.runs {
            for attempt in &mut run.attempts {
                if matches!(attempt.place, Place::Leased { deadline, .. } if deadline <= now) {
                    attempt.lose(&run.plan);
                }
            }
        }
        Reply::Ok
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut Run)) -> Reply {
        let Some(run) = self.runs.iter_mut().find(|run| run.plan.id.0 == id) else {
            return Reply::UnknownRun(argosy_shared::id::RunId(id.to_owned()));
        };
        let before = run.state;
        change(run);
        // The only refusals: nothing more can be done to a finished run, and a cancelled one cannot be paused.
        if before == "finished" { Reply::RunIs("finished") } else { Reply::Ok }
    }

    fn judging(&mut self, key: &ExecutionKey, change: impl FnOnce(&mut Attempt, &RunPlan)) -> Reply {
        for run in &mut self.runs {
            for attempt in &mut run.attempts {
                if attempt.execution() == *key && attempt.place == Place::Judging {
                    change(attempt, &run.plan);
                    return Reply::Ok;
                }
            }
        }
        Reply::StaleJudgement
    }

    fn live(&mut self, key: &ExecutionKey) -> Option<&mut Attempt> {
        self.all().find(|attempt| attempt.execution() == *key && attempt.holder().is_some())
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Attempt> {
        self.runs.iter_mut().flat_map(|run| &mut run.attempts)
    }

    fn name(&self, session: &SessionId) -> Option<String> {
        Some(self.workers.get(session)?.name.clone())
    }

    fn leases(&self, counts: impl Fn(&RunPlan, &str) -> bool) -> u32 {
        let each = self.runs.iter().flat_map(|run| run.attempts.iter().map(move |attempt| (run, attempt)));
        each.filter(|(run, attempt)| attempt.holder().is_some_and(|worker| counts(&run.plan, worker))).count() as u32
    }

    fn in_flight(&self, endpoint: &str) -> u32 {
        let judging = self.runs.iter().filter(|run| run.plan.judge_endpoint.as_deref() == Some(endpoint));
        let judging = judging.flat_map(|run| &run.attempts);
        let judging = judging.filter(|attempt| attempt.place == Place::Judging && attempt.issues.is_empty());
        self.leases(|plan, _| plan.endpoint == endpoint) + judging.count() as u32
    }

    fn allowance(&self, endpoint: &str) -> u32 {
        self.allowances.get(endpoint).copied().unwrap_or(u32::MAX)
    }
}

impl Run {
    /// The next attempt that may start.
    fn next(&self, now: Duration) -> Option<usize> {
        self.attempts.iter().position(|attempt| matches!(attempt.place, Place::Ready { until } if until <= now))
    }
}

fn delay(effects: &[Effect]) -> Duration {
    let mut delays = effects.iter().filter_map(|effect| match effect {
        Effect::WriteRetry(notice) => Some(notice.delay),
        _ => None,
    });
    delays.next().expect("a retry has its notice")
}
