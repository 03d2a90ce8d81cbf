//! Random stories: compared with the reference after every step; afterwards the faults stop and everything must
//! finish.

use std::{collections::BTreeSet, time::Duration};

use argosy_shared::{
    id::{AttemptKey, ExecutionKey, RunId},
    issue::{Code, Issue, Phase},
    spec::{EnvironmentId, JudgeRetry},
};
use proptest::prelude::*;

use super::{
    reference::Reference,
    world::{LEASE, World, blob, error, fatal, plan, secs},
};
use crate::scheduler::{
    Decision, Departure, Effect, Input, Judgement, Reply, ResultSummary, RunPlan, SessionId, Stage, invariants,
    state::State,
};

/// One random step. Numbers pick among what there is at that moment.
#[derive(Clone, Debug)]
enum Step {
    Submit(usize),
    Join {
        worker: usize,
        slots: u32,
    },
    Lease {
        worker: usize,
        free: u32,
    },
    /// Renews those of the worker's own whose bit is set, and perhaps something that is not its own.
    Renew {
        worker: usize,
        held: u8,
        foreign: Option<usize>,
    },
    Suspect {
        worker: usize,
    },
    Gone {
        worker: usize,
        politely: bool,
    },
    /// By its holder, or by whoever `thief` is.
    Release {
        thief: Option<usize>,
        pick: usize,
    },
    Upload {
        pick: usize,
        fate: Fate,
    },
    Judge(u32),
    Verdict {
        pick: usize,
        fate: Fate,
    },
    Publish {
        pick: usize,
    },
    Pass(u64),
    Freeze(u64),
    Pause(usize),
    Resume(usize),
    Cancel(usize),
    Requeue(usize),
    Concurrency {
        run: usize,
        limit: u32,
    },
    Allowance {
        endpoint: usize,
        limit: Option<u32>,
    },
    Drain(usize),
    Restart,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Well,
    Badly,
    Fatally,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let worker = 0usize..3;
    let run = 0usize..4;
    let pick = 0usize..64;
    let fate = || prop_oneof![4 => Just(Fate::Well), 2 => Just(Fate::Badly), 3 => Just(Fate::Fatally)];
    let step = prop_oneof![
        1 => (0usize..3).prop_map(Step::Submit),
        6 => (worker.clone(), 0u32..5).prop_map(|(worker, slots)| Step::Join { worker, slots }),
        20 => (worker.clone(), 0u32..6).prop_map(|(worker, free)| Step::Lease { worker, free }),
        14 => (worker.clone(), prop_oneof![1 => Just(255u8), 1 => any::<u8>()], proptest::option::weighted(0.2, pick.clone()))
            .prop_map(|(worker, held, foreign)| Step::Renew { worker, held, foreign }),
        1 => worker.clone().prop_map(|worker| Step::Suspect { worker }),
        3 => (worker.clone(), any::<bool>()).prop_map(|(worker, politely)| Step::Gone { worker, politely }),
        8 => (proptest::option::weighted(0.2, worker.clone()), 0usize..8)
            .prop_map(|(thief, pick)| Step::Release { thief, pick }),
        30 => (pick.clone(), fate()).prop_map(|(pick, fate)| Step::Upload { pick, fate }),
        10 => (0u32..5).prop_map(Step::Judge),
        15 => (pick.clone(), fate()).prop_map(|(pick, fate)| Step::Verdict { pick, fate }),
        12 => pick.prop_map(|pick| Step::Publish { pick }),
        12 => (0u64..12).prop_map(Step::Pass),
        2 => (0u64..60).prop_map(Step::Freeze),
        1 => run.clone().prop_map(Step::Pause),
        3 => run.clone().prop_map(Step::Resume),
        1 => run.clone().prop_map(Step::Cancel),
        2 => run.clone().prop_map(Step::Requeue),
        1 => (run, 1u32..6).prop_map(|(run, limit)| Step::Concurrency { run, limit }),
        6 => (0usize..3, proptest::option::weighted(0.7, 0u32..4))
            .prop_map(|(endpoint, limit)| Step::Allowance { endpoint, limit }),
        1 => worker.prop_map(Step::Drain),
        2 => Just(Step::Restart),
    ];
    proptest::collection::vec(step, 1..120)
}

fn plans() -> impl Strategy<Value = Vec<RunPlan>> {
    let one =
        (1usize..4, 1u32..3, 1u32..4, 1u32..5, 0u32..3, 0u32..3, any::<bool>(), any::<bool>(), 0usize..2, 0usize..3);
    proptest::collection::vec(one, 3).prop_map(|runs| {
        let made = runs.into_iter().enumerate().map(
            |(number, (tasks, k, weight, limit, retries, losses, patterns, whole, endpoint, judge))| {
                let mut plan = plan(&format!("run {number}"), &["a", "b", "c"][..tasks]);
                plan.k = k;
                plan.endpoint = ENDPOINTS[endpoint].to_owned();
                // Sometimes the model judges itself.
                plan.judge_endpoint = ENDPOINTS.get(judge + 1).map(|name| (*name).to_owned());
                plan.policy.weight = weight;
                plan.policy.task_concurrency = limit;
                plan.policy.max_retries = retries;
                plan.policy.max_lease_losses = losses;
                plan.policy.judge_retry = if whole { JudgeRetry::Attempt } else { JudgeRetry::Evaluate };
                if patterns {
                    plan.policy.retry_pattern_list = vec!["model_output".to_owned()];
                }
                plan
            },
        );
        made.collect()
    })
}

const ENDPOINTS: [&str; 3] = ["one", "two", "three"];

struct Story {
    world: World,
    reference: Reference,
    plans: Vec<RunPlan>,
    /// The present session of each worker, which may have ended without its knowing.
    sessions: [SessionId; 3],
    joined: u32,
    /// Every execution ever granted, oldest first, and by which worker.
    granted: Vec<(ExecutionKey, usize)>,
}

impl Story {
    fn new(plans: Vec<RunPlan>) -> Self {
        let mut world = World::new();
        world.check_replay = false;
        let sessions = ["none 0", "none 1", "none 2"].map(|name| SessionId(name.to_owned()));
        Self { world, reference: Reference::default(), plans, sessions, joined: 0, granted: Vec::new() }
    }

    fn take(&mut self, step: Step) {
        let run = |number: usize| RunId(format!("run {number}"));
        match step {
            Step::Submit(number) => {
                let known = self.world.state.run_of(&self.plans[number].id).map(|known| known.plan.clone());
                // The same plan again, with the concurrency it has meanwhile.
                let plan = known.unwrap_or_else(|| self.plans[number].clone());
                self.input(Input::RunSubmitted(Box::new(plan)));
            }
            Step::Join { worker, slots } => self.join(worker, slots),
            Step::Lease { worker, free } => self.lease(worker, free),
            Step::Renew { worker, held, foreign } => {
                let own = self.held_by(worker).into_iter().zip(0..).filter(|(_, bit)| held & (1 << (bit % 8)) != 0);
                let mut held: Vec<ExecutionKey> = own.map(|(key, _)| key).collect();
                held.extend(foreign.and_then(|pick| self.any_execution(pick)).filter(|key| !held.contains(key)));
                self.input(Input::Renewed { session: self.sessions[worker].clone(), held });
            }
            Step::Suspect { worker } => {
                self.input(Input::WorkerSuspected { session: self.sessions[worker].clone(), grace: secs(3) });
            }
            Step::Gone { worker, politely } => {
                let departure = if politely { Departure::Deregistered } else { Departure::Lost };
                self.input(Input::WorkerGone { session: self.sessions[worker].clone(), departure });
            }
            Step::Release { thief, pick } => {
                if let Some(execution) = self.any_execution(pick) {
                    let holder = self.granted.iter().find(|(key, _)| *key == execution).map_or(0, |(_, by)| *by);
                    let session = self.sessions[thief.unwrap_or(holder)].clone();
                    self.input(Input::Released { session, execution, reason: "test".to_owned() });
                }
            }
            Step::Upload { pick, fate } => {
                if let Some(execution) = self.any_execution(pick) {
                    self.upload(execution, fate);
                }
            }
            Step::Judge(n) => {
                self.input(Input::JudgeWanted { n });
            }
            Step::Verdict { pick, fate } => {
                if let Some(execution) = self.any_execution(pick) {
                    self.verdict(execution, fate);
                }
            }
            Step::Publish { pick } => {
                let open: Vec<_> = self.world.state.unpublished().map(|open| open.execution()).collect();
                let stale = self.any_execution(pick);
                let pick = if open.is_empty() { stale } else { open.get(pick % (open.len() + 1)).cloned().or(stale) };
                if let Some(execution) = pick {
                    self.input(Input::Published { execution });
                }
            }
            Step::Pass(seconds) => self.pass(secs(seconds)),
            Step::Freeze(seconds) => {
                self.world.freeze(secs(seconds));
                self.input(Input::Tick);
            }
            Step::Pause(number) => {
                let before = self.world.state.run_of(&run(number)).map(|run| run.state.as_str());
                if before != Some("cancelled") {
                    self.input(Input::PauseRun { run: run(number), reason: "test".to_owned() });
                }
            }
            Step::Resume(number) => {
                self.input(Input::ResumeRun { run: run(number) });
            }
            Step::Cancel(number) => {
                self.input(Input::CancelRun { run: run(number), reason: "test".to_owned() });
            }
            Step::Requeue(number) => {
                self.input(Input::RequeueRun { run: run(number) });
            }
            Step::Concurrency { run: number, limit } => {
                self.input(Input::SetConcurrency { run: run(number), task_concurrency: limit });
            }
            Step::Allowance { endpoint, limit } => {
                let endpoint = ENDPOINTS[endpoint].to_owned();
                self.input(Input::SetAllowance { endpoint, max_in_flight: limit });
            }
            Step::Drain(worker) => {
                self.input(Input::DrainWorker { name: format!("worker {worker}") });
            }
            Step::Restart => {
                self.world.assert_replay();
                self.world.restart();
                self.reference.restart(self.world.now);
                self.compare();
            }
        }
    }

    fn join(&mut self, worker: usize, slots: u32) {
        self.joined += 1;
        self.sessions[worker] = SessionId(format!("session {}", self.joined));
        self.input(Input::WorkerRegistered {
            session: self.sessions[worker].clone(),
            name: format!("worker {worker}"),
            slots,
            environments: vec![EnvironmentId::HostProcess],
        });
    }

    fn lease(&mut self, worker: usize, free: u32) {
        let session = self.sessions[worker].clone();
        let wakes = free > 0 && self.world.state.has_work_for(&session);
        let reply = self.input(Input::LeaseWanted { session, free });
        if let Reply::Leases { grants, .. } = reply {
            assert!(free == 0 || wakes != grants.is_empty(), "a long poll would have been woken for nothing, or not");
            self.granted.extend(grants.into_iter().map(|grant| (grant.execution, worker)));
        }
    }

    fn upload(&mut self, execution: ExecutionKey, fate: Fate) {
        let issues = match fate {
            Fate::Well => vec![],
            Fate::Badly => error(),
            Fate::Fatally => fatal(),
        };
        let result = blob(&execution, "result");
        let summary = ResultSummary { has_answer: issues.is_empty(), issues, result };
        self.input(Input::ResultUploaded { execution, summary });
    }

    fn verdict(&mut self, execution: ExecutionKey, fate: Fate) {
        let record = blob(&execution, "judgement");
        self.input(match fate {
            Fate::Well => {
                let issues = vec![Issue::new(Phase::Evaluate, Code::JudgeCountAdjusted, "3 of 2")];
                Input::Judged { execution, judgement: Judgement { record, issues } }
            }
            Fate::Badly => Input::JudgeReleased { execution },
            Fate::Fatally => Input::JudgeFailed { execution, issues: fatal() },
        });
    }

    /// The newest executions are the most interesting ones.
    fn any_execution(&self, pick: usize) -> Option<ExecutionKey> {
        let (key, _) = self.granted.get(self.granted.len().checked_sub(1 + pick % self.granted.len().max(1))?)?;
        Some(key.clone())
    }

    fn held_by(&self, worker: usize) -> Vec<ExecutionKey> {
        let name = format!("worker {worker}");
        let held = self.granted.iter().filter(|(key, _)| self.world.state.holder(key) == Some(&name));
        held.map(|(key, _)| key.clone()).collect()
    }

    fn pass(&mut self, length: Duration) {
        let end = self.world.now + length;
        while let Some(at) = self.world.state.next_wakeup().filter(|at| *at <= end) {
            self.world.now = self.world.now.max(at);
            self.input(Input::Tick);
            assert!(self.world.state.next_wakeup().is_none_or(|next| next > at), "the same moment again");
        }
        self.world.now = end;
    }

    /// One input to both, compared.
    fn input(&mut self, input: Input) -> Reply {
        let before = self.world.state.clone();
        let decision = self.world.decide(input.clone());
        assert_eq!(decision, self.world.decide(input.clone()), "deciding twice gives the same");
        self.world.effects.clear();
        let reply = self.world.step(input.clone());
        let expected = self.reference.step(self.world.now, &input, &decision.effects);
        assert_eq!(reply, expected, "{input:?}");
        self.compare();
        transitions(&before, &self.world.state, &decision.effects);
        retries_can_be_told_again(before, &decision);
        reply
    }

    fn compare(&self) {
        for run in &self.reference.runs {
            let view = self.world.state.run_of(&run.plan.id).unwrap();
            assert_eq!(view.state.as_str(), run.state, "{}", run.plan.id);
            for attempt in &run.attempts {
                let real = self.world.state.attempt(&attempt.key).unwrap();
                assert!(attempt.agrees(&real.stage), "{}: {:?} and {:?}", attempt.key, attempt.place, real.stage);
                let counts = (real.executions, real.retries, real.lease_losses);
                assert_eq!(counts, (attempt.executions, attempt.retries, attempt.losses), "{}", attempt.key);
            }
        }
    }

    /// The faults stop: one good worker, a good judge, a good disk. Everything that is not cancelled finishes.
    fn must_finish(&mut self) {
        for number in 0..3 {
            self.take(Step::Submit(number));
            self.take(Step::Resume(number));
        }
        for endpoint in ENDPOINTS {
            self.input(Input::SetAllowance { endpoint: endpoint.to_owned(), max_in_flight: None });
        }
        self.join(0, 4);
        let mut rounds = 0;
        while self.world.state.runs().any(|run| run.state.as_str() != "finished") {
            rounds += 1;
            assert!(rounds < 500, "no progress: {:?}", self.world.state);
            let held = self.held_by(0);
            self.input(Input::Renewed { session: self.sessions[0].clone(), held: held.clone() });
            for execution in held {
                self.upload(execution, Fate::Well);
            }
            self.lease(0, 4);
            if let Reply::JudgeJobs(jobs) = self.input(Input::JudgeWanted { n: 4 }) {
                for job in jobs {
                    self.verdict(job.execution, Fate::Well);
                }
            }
            // What was in judgement when the faults stopped ends too.
            let judging: Vec<ExecutionKey> = self.in_judgement();
            for execution in judging {
                self.verdict(execution, Fate::Badly);
            }
            for open in self.world.state.unpublished().map(|open| open.execution()).collect::<Vec<_>>() {
                self.input(Input::Published { execution: open });
            }
            self.pass(secs(3));
        }
        self.world.assert_replay();
    }

    fn in_judgement(&self) -> Vec<ExecutionKey> {
        let all = self.world.state.runs().flat_map(|run| self.world.state.attempts(&run.plan.id));
        let judging = all.filter(|(_, attempt)| matches!(attempt.stage, Stage::Judging { .. }));
        judging.map(|(key, attempt)| ExecutionKey { attempt: key, execution: attempt.executions }).collect()
    }
}

/// A journal says of each retry what was said when it happened.
fn retries_can_be_told_again(mut state: State, decision: &Decision) {
    let mut told = Vec::new();
    for event in &decision.events {
        told.extend(state.notice_of(event));
        state.evolve(event).unwrap();
    }
    let said = decision.effects.iter().filter_map(|effect| match effect {
        Effect::WriteRetry(notice) => Some(notice.clone()),
        _ => None,
    });
    assert_eq!(told, said.collect::<Vec<_>>());
}

/// What no single step may do, whatever it is.
fn transitions(before: &State, after: &State, effects: &[Effect]) {
    let mut settled = BTreeSet::new();
    let mut retried = 0;
    for run in before.runs() {
        let tally = after.run_of(&run.plan.id).unwrap().tally;
        assert_eq!(tally.total(), run.tally.total());
        for (key, old) in before.attempts(&run.plan.id) {
            let new = after.attempt(&key).unwrap();
            assert!(new.executions >= old.executions, "{key}: numbers only grow");
            match (old.stage.outcome(), new.stage.outcome()) {
                (Some(old), Some(new)) => assert_eq!(old, new, "{key}: an outcome stays"),
                (Some(old), None) => assert!(!old.is_valid(), "{key}: a valid outcome stays"),
                (None, Some(_)) => {
                    settled.insert(key.clone());
                }
                (None, None) => {}
            }
            retried += new.retries.saturating_sub(old.retries);
        }
    }
    let publish: BTreeSet<AttemptKey> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Publish(key) => Some(key.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(publish, settled, "exactly what was settled is to be published");
    assert!(publish.iter().all(|key| after.final_attempt(key).is_some()));
    let notices = effects.iter().filter(|effect| matches!(effect, Effect::WriteRetry(_))).count();
    assert_eq!(notices, retried as usize, "each retry has its diagnostic");
    let finished = |state: &State| state.runs().filter(|run| run.state.as_str() == "finished").count();
    let told = effects.iter().filter(|effect| matches!(effect, Effect::RunFinished(_))).count();
    assert_eq!(told, finished(after).saturating_sub(finished(before)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn random_stories_agree_with_the_reference_and_end_well(plans in plans(), steps in steps()) {
        let mut story = Story::new(plans);
        for number in 0..3 {
            story.take(Step::Submit(number));
        }
        for worker in 0..2 {
            story.take(Step::Join { worker, slots: 4 });
        }
        for step in steps {
            story.take(step);
        }
        story.world.assert_replay();
        prop_assert_eq!(invariants::check(&story.world.state), []);
        story.must_finish();
    }
}

#[test]
fn a_lease_is_longer_than_the_delays_of_the_stories() {
    // The stories pass time in steps of up to 12 s: a lease must survive one of them to be renewed at all.
    assert!(LEASE > secs(12));
}
