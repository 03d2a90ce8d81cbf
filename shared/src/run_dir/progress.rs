//! `progress.jsonl` and `progress.json`: what happens, and the state it adds up to.

pub mod event;

use std::collections::{BTreeMap, HashSet};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use event::{Event, Kind, Origin, TaskRef};

use super::moment;
use crate::{id::TaskId, issue::Severity, time::Timestamp};

/// `progress.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The run.
    pub run_id: String,
    /// Benchmark id.
    pub benchmark: String,
    /// Harness id.
    pub harness: String,
    /// Environment id.
    pub environment: String,
    /// Model id.
    pub model: String,
    /// `created`, `running`, `summarizing`, then a terminal one.
    pub status: String,
    /// Planned tasks.
    pub total_tasks: u64,
    /// Of those, taken over.
    pub reused_tasks: u64,
    /// Not started.
    pub pending_tasks: u64,
    /// Started and not finished.
    pub running_tasks: u64,
    /// Finished, in whatever way.
    pub finished_tasks: u64,
    /// Finished without FATAL.
    pub completed_tasks: u64,
    /// Finished with FATAL.
    pub failed_tasks: u64,
    /// Finished with ERROR at worst.
    pub error_tasks: u64,
    /// Finished with WARNING at worst.
    pub warning_tasks: u64,
    /// Never.
    pub skipped_tasks: u64,
    /// Logical attempts.
    pub attempts_started: u64,
    /// Logical attempts.
    pub attempts_finished: u64,
    /// Published tasks.
    pub partials_saved: u64,
    /// How many tasks are in which phase.
    pub current_phase_counts: BTreeMap<String, u64>,
    /// The started tasks.
    pub active_tasks: IndexMap<String, ActiveTask>,
    /// Since the first event.
    pub elapsed_seconds: f64,
    /// Seconds since the epoch.
    pub updated_at: f64,
}

/// A started task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActiveTask {
    /// `<split>:<domain>`.
    pub category: Option<String>,
    /// Its phase.
    pub phase: String,
    /// Which attempt.
    pub attempt: Option<u32>,
    /// Seconds since the epoch.
    pub updated_at: f64,
    /// Whatever the phase has to say.
    #[serde(default)]
    pub details: Map<String, Value>,
}

/// Adds events up. An event may come twice, for example when a full disk interrupted what belongs to it: tasks and
/// attempts are counted once.
#[derive(Clone, Debug)]
pub struct Tracker {
    started: f64,
    snapshot: Snapshot,
    seen: HashSet<Once>,
}

/// What is counted once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Once {
    TaskStarted(TaskId),
    TaskFinished(TaskId),
    Saved(TaskId),
    AttemptStarted(TaskId, u32),
    AttemptFinished(TaskId, u32),
}

impl Tracker {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(run_id: &str, origin: &Origin, at: Timestamp) -> Self {
        let started = moment::epoch(at);
        let snapshot = Snapshot {
            run_id: run_id.to_owned(),
            benchmark: origin.benchmark.clone(),
            harness: origin.harness.clone(),
            environment: origin.environment.clone(),
            model: origin.model.clone(),
            status: "created".to_owned(),
            total_tasks: 0,
            reused_tasks: 0,
            pending_tasks: 0,
            running_tasks: 0,
            finished_tasks: 0,
            completed_tasks: 0,
            failed_tasks: 0,
            error_tasks: 0,
            warning_tasks: 0,
            skipped_tasks: 0,
            attempts_started: 0,
            attempts_finished: 0,
            partials_saved: 0,
            current_phase_counts: BTreeMap::new(),
            active_tasks: IndexMap::new(),
            elapsed_seconds: 0.0,
            updated_at: started,
        };
        Self { started, snapshot, seen: HashSet::new() }
    }

    /// The present state.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Takes an event in.
    pub fn apply(&mut self, event: &Event) {
        let now = moment::epoch(event.at);
        let state = &mut self.snapshot;
        state.updated_at = now;
        state.elapsed_seconds = ((now - self.started) * 1000.0).round() / 1000.0;
        match &event.kind {
            Kind::RunStarted(_) => "running".clone_into(&mut state.status),
            Kind::TasksLoaded { total_tasks } => {
                state.total_tasks = *total_tasks;
                state.pending_tasks = *total_tasks;
            }
            Kind::ReuseLoaded { reused_tasks, tasks_to_run, severities } => {
                state.reused_tasks = *reused_tasks;
                state.finished_tasks = *reused_tasks;
                state.completed_tasks = *reused_tasks;
                state.pending_tasks = *tasks_to_run;
                state.error_tasks = severities.get("error").copied().unwrap_or(0);
                state.warning_tasks = severities.get("warning").copied().unwrap_or(0);
            }
            Kind::TaskStarted { task, .. } => {
                if self.seen.insert(Once::TaskStarted(task.id.clone())) {
                    state.pending_tasks = state.pending_tasks.saturating_sub(1);
                    state.running_tasks += 1;
                }
                set_phase(state, task, None, "running", now);
            }
            Kind::PhaseChanged { task, attempt, phase } => set_phase(state, task, *attempt, phase, now),
            Kind::AttemptStarted { task, attempt } => {
                state.attempts_started += u64::from(self.seen.insert(Once::AttemptStarted(task.id.clone(), *attempt)));
            }
            Kind::AttemptFinished { task, attempt, .. } => {
                state.attempts_finished +=
                    u64::from(self.seen.insert(Once::AttemptFinished(task.id.clone(), *attempt)));
            }
            Kind::PartialSaved { task } => {
                state.partials_saved += u64::from(self.seen.insert(Once::Saved(task.id.clone())));
            }
            Kind::TaskFinished { task, .. } if !self.seen.insert(Once::TaskFinished(task.id.clone())) => {}
            Kind::TaskFinished { task, severity, .. } => {
                if self.seen.contains(&Once::TaskStarted(task.id.clone())) {
                    state.running_tasks = state.running_tasks.saturating_sub(1);
                } else {
                    state.pending_tasks = state.pending_tasks.saturating_sub(1);
                }
                state.finished_tasks += 1;
                match severity {
                    Some(Severity::Fatal) => state.failed_tasks += 1,
                    Some(Severity::Error) => state.error_tasks += 1,
                    Some(Severity::Warning) => state.warning_tasks += 1,
                    None => {}
                }
                if *severity != Some(Severity::Fatal) {
                    state.completed_tasks += 1;
                }
                state.active_tasks.shift_remove(task.id.as_str());
                count_phases(state);
            }
            Kind::SummaryStarted => "summarizing".clone_into(&mut state.status),
            Kind::RunFinished { status, .. } => {
                status.as_str().clone_into(&mut state.status);
                state.running_tasks = 0;
                state.pending_tasks = state.total_tasks.saturating_sub(state.finished_tasks);
                state.active_tasks.clear();
                state.current_phase_counts.clear();
            }
            Kind::ExecutionPlanResolved { .. } | Kind::AttemptRetry { .. } => {}
        }
    }
}

fn set_phase(state: &mut Snapshot, task: &TaskRef, attempt: Option<u32>, phase: &str, now: f64) {
    let active = ActiveTask {
        category: task.category.clone(),
        phase: phase.to_owned(),
        attempt,
        updated_at: now,
        details: Map::new(),
    };
    state.active_tasks.insert(task.id.to_string(), active);
    count_phases(state);
}

fn count_phases(state: &mut Snapshot) {
    state.current_phase_counts.clear();
    for active in state.active_tasks.values() {
        *state.current_phase_counts.entry(active.phase.clone()).or_default() += 1;
    }
}
