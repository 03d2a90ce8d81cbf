//! A state with a clock and a journal, driven in the words of a story. Every step checks every invariant and that a
//! replay of the journal equals the live state.

use std::time::Duration;

use argosy_shared::{
    id::{AttemptKey, ExecutionKey, RunId, TaskId},
    issue::{Code, Issue, Phase},
    spec::{EnvironmentId, ExecutionParams},
    task::Blob,
};

use crate::scheduler::{
    Decision, Effect, Event, Grant, Input, JudgeJob, Judgement, Policy, Reply, ResultSummary, RunPlan, RunState,
    SessionId, Settings, Stage, State, invariants,
};

pub(super) const LEASE: Duration = Duration::from_secs(20);

pub(super) struct World {
    pub(super) state: State,
    pub(super) now: Duration,
    pub(super) journal: Vec<Event>,
    pub(super) effects: Vec<Effect>,
    /// Replaying after every step is quadratic; long stories do it at the end.
    pub(super) check_replay: bool,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            state: State::new(Settings { lease: LEASE }),
            now: Duration::from_secs(1000),
            journal: Vec::new(),
            effects: Vec::new(),
            check_replay: true,
        }
    }

    /// A world with one run `r` of these tasks and one worker `w` of eight slots.
    pub(super) fn with(tasks: &[&str], change: impl FnOnce(&mut RunPlan)) -> Self {
        let mut world = Self::new();
        let mut plan = plan("r", tasks);
        change(&mut plan);
        assert_eq!(world.step(Input::RunSubmitted(Box::new(plan))), Reply::RunAdded);
        world.join("w", 8);
        world
    }

    pub(super) fn decide(&self, input: Input) -> Decision {
        self.state.decide(self.now, input)
    }

    /// One input; the effects are kept.
    pub(super) fn step(&mut self, input: Input) -> Reply {
        let decision = self.decide(input);
        self.journal.extend(decision.events.iter().cloned());
        self.effects.extend(decision.effects.iter().cloned());
        assert_eq!(self.state.commit(&decision), []);
        assert_eq!(invariants::check(&self.state), []);
        if self.check_replay {
            self.assert_replay();
        }
        decision.reply
    }

    pub(super) fn assert_replay(&self) {
        let replayed = State::replay(self.state.settings(), &self.journal);
        assert_eq!(replayed.skipped, []);
        assert_eq!(replayed.state.without_soft(), self.state.without_soft());
    }

    /// The process dies and another reads the journal.
    pub(super) fn restart(&mut self) {
        let text = crate::scheduler::event::encode(&self.journal);
        self.journal = crate::scheduler::event::decode(crate::scheduler::event::VERSION, &text).unwrap();
        self.state = State::replay(self.state.settings(), &self.journal).state;
        self.now = Duration::from_secs(1);
        self.state.after_restart(self.now);
        assert_eq!(invariants::check(&self.state), []);
    }

    /// Time passes and the engine ticks exactly when it is asked to.
    pub(super) fn pass(&mut self, length: Duration) {
        let end = self.now + length;
        while let Some(at) = self.state.next_wakeup().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.step(Input::Tick);
        }
        self.now = end;
    }

    /// Time passes and nobody ticks.
    pub(super) fn freeze(&mut self, length: Duration) {
        self.now += length;
    }

    pub(super) fn join(&mut self, name: &str, slots: u32) {
        self.join_as(name, name, slots);
    }

    pub(super) fn join_as(&mut self, session: &str, name: &str, slots: u32) {
        let reply = self.step(Input::WorkerRegistered {
            session: SessionId(session.to_owned()),
            name: name.to_owned(),
            slots,
            environments: vec![EnvironmentId::HostProcess],
        });
        assert_eq!(reply, Reply::Ok);
    }

    pub(super) fn lease(&mut self, session: &str, free: u32) -> Vec<Grant> {
        match self.step(Input::LeaseWanted { session: SessionId(session.to_owned()), free }) {
            Reply::Leases { grants, .. } => grants,
            other => panic!("{other:?}"),
        }
    }

    /// One lease, which must be had.
    pub(super) fn one(&mut self, session: &str) -> ExecutionKey {
        let grants = self.lease(session, 1);
        assert_eq!(grants.len(), 1, "no work for {session}");
        grants[0].execution.clone()
    }

    pub(super) fn renew(&mut self, session: &str, held: &[&ExecutionKey]) -> Vec<ExecutionKey> {
        let held = held.iter().copied().cloned().collect();
        match self.step(Input::Renewed { session: SessionId(session.to_owned()), held }) {
            Reply::Renewal { lost, .. } => lost,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn upload(&mut self, execution: &ExecutionKey, issues: Vec<Issue>) -> Reply {
        let has_answer = issues.is_empty();
        let result = blob(execution, "result");
        self.step(Input::ResultUploaded {
            execution: execution.clone(),
            summary: ResultSummary { has_answer, issues, result },
        })
    }

    pub(super) fn answer(&mut self, execution: &ExecutionKey) {
        assert_eq!(self.upload(execution, Vec::new()), Reply::ResultAccepted);
    }

    pub(super) fn jobs(&mut self, n: u32) -> Vec<JudgeJob> {
        match self.step(Input::JudgeWanted { n }) {
            Reply::JudgeJobs(jobs) => jobs,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn judged(&mut self, execution: &ExecutionKey) -> Reply {
        let judgement = Judgement { record: blob(execution, "judgement"), issues: Vec::new() };
        self.step(Input::Judged { execution: execution.clone(), judgement })
    }

    pub(super) fn judge_fails(&mut self, execution: &ExecutionKey) -> Reply {
        let issues = vec![Issue::new(Phase::Evaluate, Code::JudgeFailed, "HTTP 500")];
        self.step(Input::JudgeFailed { execution: execution.clone(), issues })
    }

    pub(super) fn published(&mut self, execution: &ExecutionKey) {
        assert_eq!(self.step(Input::Published { execution: execution.clone() }), Reply::Ok);
    }

    /// From lease to publication without a hitch.
    pub(super) fn finish(&mut self, execution: &ExecutionKey) {
        self.answer(execution);
        let jobs = self.jobs(1);
        assert_eq!(jobs.len(), 1);
        assert_eq!(&jobs[0].execution, execution);
        assert_eq!(self.judged(execution), Reply::Ok);
        self.published(execution);
    }

    pub(super) fn stage(&self, task: &str) -> &Stage {
        &self.state.attempt(&attempt(task)).unwrap().stage
    }

    pub(super) fn run_state(&self) -> &RunState {
        self.state.run_of(&RunId("r".to_owned())).unwrap().state
    }

    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
}

pub(super) fn plan(id: &str, tasks: &[&str]) -> RunPlan {
    RunPlan {
        id: RunId(id.to_owned()),
        k: 1,
        tasks: tasks.iter().map(|task| TaskId::from(*task)).collect(),
        environment: EnvironmentId::HostProcess,
        endpoint: format!("endpoint of {id}"),
        judge_endpoint: None,
        policy: Policy::of(&ExecutionParams::default()),
        order: crate::scheduler::Order::Dataset,
        expected_seconds: Vec::new(),
        adopted: Vec::new(),
        spec: serde_json::Value::Null,
    }
}

/// The only attempt of a task of run `r`.
pub(super) fn attempt(task: &str) -> AttemptKey {
    AttemptKey { run: RunId("r".to_owned()), task: TaskId::from(task), attempt: 1 }
}

pub(super) fn execution(task: &str, execution: u64) -> ExecutionKey {
    ExecutionKey { attempt: attempt(task), execution }
}

pub(super) fn blob(execution: &ExecutionKey, what: &str) -> Blob {
    Blob { sha256: format!("{what} of {execution}"), bytes: 1 }
}

pub(super) fn fatal() -> Vec<Issue> {
    vec![Issue::new(Phase::Run, Code::ModelFailed, "HTTP 503")]
}

pub(super) fn error() -> Vec<Issue> {
    vec![Issue::new(Phase::Run, Code::ModelOutputInvalid, "neither answer nor action")]
}

pub(super) fn tasks_of(grants: &[Grant]) -> Vec<&str> {
    grants.iter().map(|grant| grant.execution.attempt.task.as_str()).collect()
}

pub(super) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
