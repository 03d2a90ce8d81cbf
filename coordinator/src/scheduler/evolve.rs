//! Changing: what an event does to the state. Nothing is chosen here.
//!
//! An event that breaks an invariant is not applied, neither live nor in a replay, so that the two stay equal; it is
//! reported, and in a debug build a live one panics.

#![warn(clippy::wildcard_enum_match_arm, reason = "a new stage or event must be thought of here")]

mod soft;

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use argosy_shared::{
    id::{ExecutionKey, RunId},
    issue::{self, Severity},
};

use super::{
    decide::Decision,
    event::Event,
    invariants::{Violation, check_event},
    plan::{Order, RunPlan},
    policy::Patterns,
    queue::{Queues, finish_tag, start_tag},
    state::{Answer, Attempt, Discarded, Outcome, Place, Run, RunState, Settings, Stage, State, Wait, Why},
};

/// A state made out of a journal.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The state, without its soft part: see [`State::after_restart`].
    pub state: State,
    /// Events that could not follow from those before them, by their 0-based position. They were not applied, just
    /// as they were not applied when they were journalled: each is a defect to be reported loudly.
    pub skipped: Vec<(u64, Violation)>,
}

impl State {
    /// Applies a decision: its events in order, then its soft changes. What is returned should be counted and never
    /// occur.
    pub fn commit(&mut self, decision: &Decision) -> Vec<Violation> {
        let violations: Vec<Violation> = decision.events.iter().filter_map(|event| self.evolve(event).err()).collect();
        debug_assert!(violations.is_empty(), "{violations:?}");
        for change in &decision.soft {
            self.evolve_soft(change);
        }
        violations
    }

    /// Applies one journalled event.
    ///
    /// # Errors
    /// The event breaks an invariant; it was not applied.
    pub fn evolve(&mut self, event: &Event) -> Result<(), Violation> {
        check_event(self, event)?;
        self.apply(event);
        Ok(())
    }

    /// The state after all `events`, without its soft part.
    #[must_use]
    pub fn replay<'a>(settings: Settings, events: impl IntoIterator<Item = &'a Event>) -> Replayed {
        let mut state = Self::new(settings);
        let mut skipped = Vec::new();
        for (event, position) in events.into_iter().zip(0..) {
            if let Err(violation) = state.evolve(event) {
                skipped.push((position, violation));
            }
        }
        Replayed { state, skipped }
    }

    /// Starts the clocks of a replayed state: each outstanding lease gets one full length, each delay its full
    /// length from now.
    pub fn after_restart(&mut self, now: Duration) {
        let lease_end = now.saturating_add(self.settings.lease);
        self.change_stages(|stage| match stage {
            Stage::Leased { deadline, .. } => *deadline = Some(lease_end),
            Stage::Ready { wait } | Stage::JudgeWait { wait, .. } => {
                if let Wait::For(delay) = *wait {
                    *wait = Wait::Until(now.saturating_add(delay));
                }
            }
            Stage::Answered { .. } | Stage::Judging { .. } | Stage::Settled { .. } | Stage::Done { .. } => {}
        });
    }

    /// The state as a replay of its events would give it: workers, deadlines, allowances and judgings left out. Live
    /// and replayed states are equal in this form.
    #[must_use]
    pub fn without_soft(&self) -> Self {
        let mut state = self.clone();
        state.workers = BTreeMap::new();
        state.queues = Queues::of(&state.runs);
        state.change_stages(|stage| match stage {
            Stage::Leased { session, deadline, .. } => (*session, *deadline) = (None, None),
            Stage::Ready { wait } => *wait = Wait::Over,
            Stage::Judging { answer } | Stage::JudgeWait { answer, .. } => {
                *stage = Stage::Answered { answer: answer.clone() };
            }
            Stage::Answered { .. } | Stage::Settled { .. } | Stage::Done { .. } => {}
        });
        state
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::RunAdded { plan } => self.add_run(plan),
            Event::RunPolicyChanged { run, policy } => {
                self.with_run(run, |run| {
                    run.patterns = Patterns::of(policy);
                    run.plan.policy = policy.clone();
                });
            }
            Event::RunRespecified { run, endpoint, judge_endpoint, spec } => {
                self.with_run(run, |run| {
                    run.plan.endpoint.clone_from(endpoint);
                    run.plan.judge_endpoint.clone_from(judge_endpoint);
                    run.plan.spec = spec.clone();
                });
                // What is in flight is counted under another name now.
                let kept = std::mem::take(&mut self.queues);
                self.queues = Queues::of(&self.runs);
                self.queues.keep_allowances(kept);
            }
            Event::RunPaused { run, reason } => {
                self.with_run(run, |run| run.state = RunState::Paused { reason: reason.clone() });
            }
            Event::RunResumed { run } => self.with_run(run, |run| run.state = RunState::Running),
            Event::RunCancelled { run, reason } => self.cancel(run, reason),
            Event::RunFinished { run } => self.with_run(run, |run| run.state = RunState::Finished),
            Event::LeaseGranted { execution, worker } => self.at_place(execution, |state, place| {
                state.grant(place, execution.execution, worker);
            }),
            Event::LeaseLost { execution, .. } => self.at_place(execution, |state, place| {
                let attempt = state.at_mut(place);
                attempt.lease_losses += 1;
                attempt.releases = 0;
                state.discard(place, execution.execution, Why::Lost, Wait::Over);
            }),
            Event::LeaseReleased { execution, delay_ms, .. } => self.at_place(execution, |state, place| {
                state.at_mut(place).releases += 1;
                state.discard(place, execution.execution, Why::Released, wait(*delay_ms));
            }),
            Event::ResultStored { execution, has_answer, issues, result } => {
                let answer = Answer {
                    execution: execution.execution,
                    has_answer: *has_answer,
                    issues: issues.clone(),
                    result: result.clone(),
                };
                self.at_place(execution, |state, place| {
                    state.at_mut(place).releases = 0;
                    state.set_stage(place, Stage::Answered { answer });
                });
            }
            Event::AttemptRetried { execution, delay_ms, .. } => self.at_place(execution, |state, place| {
                state.at_mut(place).retries += 1;
                state.discard(place, execution.execution, Why::Retried, wait(*delay_ms));
            }),
            Event::JudgeAttemptFailed { execution, delay_ms, .. } => self.at_place(execution, |state, place| {
                state.at_mut(place).retries += 1;
                if let Some(answer) = state.at(place).stage.answer().cloned() {
                    state.set_stage(place, Stage::JudgeWait { answer, wait: wait(*delay_ms) });
                }
            }),
            Event::Judged { execution, judgement, issues, severity } => self.at_place(execution, |state, place| {
                let outcome = Outcome {
                    execution: execution.execution,
                    severity: *severity,
                    result: state.at(place).stage.answer().map(|answer| answer.result.clone()),
                    judgement: Some(judgement.clone()),
                    issues: issues.clone(),
                };
                state.set_stage(place, Stage::Settled { outcome });
            }),
            Event::AttemptFailed { execution, issues } => self.at_place(execution, |state, place| {
                let outcome = Outcome {
                    execution: execution.execution,
                    severity: issue::worst(issues).max(Some(Severity::Fatal)),
                    result: state.at(place).stage.answer().map(|answer| answer.result.clone()),
                    judgement: None,
                    issues: issues.clone(),
                };
                state.set_stage(place, Stage::Settled { outcome });
            }),
            Event::AttemptDone { execution, .. } => self.at_place(execution, |state, place| {
                if let Stage::Settled { outcome } = &state.at(place).stage {
                    let outcome = outcome.clone();
                    state.set_stage(place, Stage::Done { outcome });
                }
            }),
            Event::AttemptRequeued { execution } => self.at_place(execution, |state, place| {
                let attempt = state.at_mut(place);
                (attempt.retries, attempt.lease_losses, attempt.releases) = (0, 0, 0);
                state.discard(place, execution.execution, Why::Requeued, Wait::Over);
            }),
        }
    }

    fn add_run(&mut self, plan: &RunPlan) {
        let number = u32::try_from(self.runs.len()).unwrap_or(u32::MAX);
        let tasks: HashMap<_, _> = plan.tasks.iter().cloned().zip(0..).collect();
        let mut attempts = vec![Attempt::new(Stage::Ready { wait: Wait::Over }); plan.tasks.len() * plan.k as usize];
        for adopted in &plan.adopted {
            let place = tasks[&adopted.task] * plan.k + adopted.attempt - 1;
            let outcome =
                Outcome { execution: 0, severity: adopted.severity, result: None, judgement: None, issues: Vec::new() };
            attempts[place as usize].stage = Stage::Done { outcome };
        }
        let run = Run {
            patterns: Patterns::of(&plan.policy),
            ranks: ranks(plan),
            plan: plan.clone(),
            state: RunState::Running,
            tasks,
            attempts,
            finish_tag: self.virtual_time,
        };
        self.queues.add_run();
        for (attempt, index) in run.attempts.iter().zip(0..) {
            let place = Place { run: number, attempt: index };
            self.queues.enter(&run.plan, run.rank(place), place, &attempt.stage);
        }
        self.by_id.insert(plan.id.clone(), number);
        self.runs.push(run);
    }

    fn cancel(&mut self, id: &RunId, reason: &str) {
        let Some(number) = self.by_id.get(id).copied() else { return };
        self.runs[number as usize].state = RunState::Cancelled { reason: reason.to_owned() };
        let attempts = 0..u32::try_from(self.runs[number as usize].attempts.len()).unwrap_or(u32::MAX);
        for place in attempts.map(|attempt| Place { run: number, attempt }) {
            match &self.at(place).stage {
                Stage::Leased { execution, .. } => {
                    let execution = *execution;
                    self.discard(place, execution, Why::Cancelled, Wait::Over);
                }
                Stage::Judging { answer } => {
                    let answer = answer.clone();
                    self.set_stage(place, Stage::Answered { answer });
                }
                Stage::Ready { .. }
                | Stage::Answered { .. }
                | Stage::JudgeWait { .. }
                | Stage::Settled { .. }
                | Stage::Done { .. } => {}
            }
        }
    }

    fn grant(&mut self, place: Place, execution: u64, worker: &str) {
        let start = start_tag(self.virtual_time, self.run(place).finish_tag);
        self.virtual_time = start;
        let run = &mut self.runs[place.run as usize];
        run.finish_tag = finish_tag(start, run.plan.policy.weight);
        self.at_mut(place).executions = execution;
        let stage = Stage::Leased { execution, worker: worker.to_owned(), session: None, deadline: None };
        self.set_stage(place, stage);
    }

    /// The execution comes to nothing; the attempt waits for another.
    fn discard(&mut self, place: Place, execution: u64, why: Why, wait: Wait) {
        let stage = &self.at(place).stage;
        let result = match stage {
            Stage::Settled { outcome } | Stage::Done { outcome } => outcome.result.clone(),
            Stage::Ready { .. }
            | Stage::Leased { .. }
            | Stage::Answered { .. }
            | Stage::Judging { .. }
            | Stage::JudgeWait { .. } => stage.answer().map(|answer| answer.result.clone()),
        };
        let attempt = self.at_mut(place);
        match attempt.discarded.last_mut() {
            // It ended FATAL with its last worker and is wanted again: one line about it, with the later reason.
            Some(last) if last.execution == execution => last.why = why,
            _ => attempt.discarded.push(Discarded { execution, why, result }),
        }
        self.set_stage(place, Stage::Ready { wait });
    }

    fn at_place(&mut self, execution: &ExecutionKey, change: impl FnOnce(&mut Self, Place)) {
        if let Some(place) = self.place(&execution.attempt) {
            change(self, place);
        }
    }

    fn with_run(&mut self, id: &RunId, change: impl FnOnce(&mut Run)) {
        if let Some(number) = self.by_id.get(id) {
            change(&mut self.runs[*number as usize]);
        }
    }

    /// Changes stages in place without changing what their durable part says.
    fn change_stages(&mut self, change: impl Fn(&mut Stage)) {
        let places: Vec<Place> = (0u32..)
            .zip(&self.runs)
            .flat_map(|(run, found)| (0u32..).zip(&found.attempts).map(move |(attempt, _)| Place { run, attempt }))
            .collect();
        for place in places {
            let mut stage = self.at(place).stage.clone();
            change(&mut stage);
            if stage != self.at(place).stage {
                self.set_stage(place, stage);
            }
        }
    }
}

fn wait(delay_ms: u64) -> Wait {
    if delay_ms == 0 { Wait::Over } else { Wait::For(Duration::from_millis(delay_ms)) }
}

/// The position of each task in the order of starting.
fn ranks(plan: &RunPlan) -> Vec<u32> {
    let count = u32::try_from(plan.tasks.len()).unwrap_or(u32::MAX);
    let mut order: Vec<u32> = (0..count).collect();
    if plan.order == Order::LongestFirst && plan.expected_seconds.len() == plan.tasks.len() {
        // Stable: equal expectations keep dataset order.
        order.sort_by(|a, b| plan.expected_seconds[*b as usize].total_cmp(&plan.expected_seconds[*a as usize]));
    }
    let mut ranks = vec![0; order.len()];
    for (task, rank) in order.into_iter().zip(0..) {
        ranks[task as usize] = rank;
    }
    ranks
}
