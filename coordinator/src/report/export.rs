//! A run in the formats of others: [`rows`] (JSON lines, CSV), [`atif`] (Harbor's trajectories), [`inspect`] (an eval log
//! of Inspect). The modules only convert; [`super::load`] reads.
//!
//! Two rules hold in every format. An attempt with a FATAL issue, or without a result, has no score: never a zero. And
//! what the run was to do and did not is named: see [`missing`].

pub mod atif;
pub mod inspect;
pub mod rows;

use std::collections::HashSet;

use argosy_shared::{
    id::TaskId,
    run_dir::{RunStatus, State, status},
    spec::{BENCHMARK, HARNESS},
};
use serde_json::Value;

use super::load::{self, LoadedRun};

/// Why a run cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error(transparent)]
    Load(#[from] load::Error),
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// A record cannot be written as JSON or CSV.
    #[error("a record cannot be written: {0}")]
    Record(String),
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(_) => Self::Write(error.into()),
            None => Self::Record(error.to_string()),
        }
    }
}

/// One attempt the run was to make, whether or not there is a result of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedAttempt {
    /// The task.
    pub task: TaskId,
    /// `<split>:<domain>`.
    pub category: Option<String>,
    /// Equal for tasks that ask the same question.
    pub question_group: Option<String>,
    /// From 1.
    pub attempt: u32,
    /// What there is of it.
    pub place: Place,
}

/// What there is of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its task is published in this state.
    Published(State),
    /// Its task was begun and is not published.
    Running,
    /// Nothing.
    Missing,
}

impl Place {
    /// The word in the data.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Published(state) => state.as_str(),
            Self::Running => "running",
            Self::Missing => "missing",
        }
    }
}

/// All attempts: those of planned tasks in the order of the dataset, then those of tasks no plan names.
#[must_use]
pub fn attempts(run: &LoadedRun) -> Vec<PlannedAttempt> {
    let planned: HashSet<&TaskId> = run.plan.tasks.iter().map(|task| &task.task_id).collect();
    let known = run.plan.tasks.iter().map(|task| {
        let category = Some(task.category.clone());
        (task.task_id.clone(), category, task.question_group.clone())
    });
    let outcomes = run.tasks.iter().filter(|task| !planned.contains(&task.task));
    let outcomes = outcomes.map(|task| (task.task.clone(), task.category.clone(), None));
    let running = run.running.iter().filter(|task| !planned.contains(task)).map(|task| (task.clone(), None, None));
    let published: std::collections::HashMap<&TaskId, _> = run.tasks.iter().map(|task| (&task.task, task)).collect();
    let begun: HashSet<&TaskId> = run.running.iter().collect();
    let mut attempts = Vec::new();
    for (task, category, question_group) in known.chain(outcomes).chain(running) {
        let outcome = published.get(&task);
        let state = outcome.map(|outcome| {
            status::state_of(outcome.attempts.values().filter_map(super::outcome::AttemptOutcome::worst).max())
        });
        for attempt in 1..=run.plan.k {
            let place = match state {
                Some(state) if outcome.is_some_and(|outcome| outcome.attempts.contains_key(&attempt)) => {
                    Place::Published(state)
                }
                Some(_) => Place::Missing,
                None if begun.contains(&task) => Place::Running,
                None => Place::Missing,
            };
            attempts.push(PlannedAttempt {
                task: task.clone(),
                category: category.clone(),
                question_group: question_group.clone(),
                attempt,
                place,
            });
        }
    }
    attempts
}

/// What the run lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Attempts that were to be made.
    pub planned: usize,
    /// Those without a published result, by task and number.
    pub without_result: Vec<(TaskId, u32)>,
    /// Tasks known to be missing but not by name (directories of AgentCompass).
    pub unnamed: usize,
    /// Attempts of tasks invalidated by a FATAL issue.
    pub invalidated: Vec<(TaskId, u32)>,
}

impl Missing {
    /// Whether everything that was planned has a valid result.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.without_result.is_empty() && self.unnamed == 0 && self.invalidated.is_empty()
    }

    /// As JSON, for formats with room for it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let list = |attempts: &[(TaskId, u32)]| -> Vec<Value> {
            attempts.iter().map(|(task, attempt)| serde_json::json!({"task_id": task, "attempt": attempt})).collect()
        };
        serde_json::json!({
            "planned_attempts": self.planned,
            "without_result": list(&self.without_result),
            "unnamed_missing_tasks": self.unnamed,
            "invalidated": list(&self.invalidated),
        })
    }
}

/// What the run lacks.
#[must_use]
pub fn missing(run: &LoadedRun, attempts: &[PlannedAttempt]) -> Missing {
    let of = |wanted: fn(Place) -> bool| {
        attempts
            .iter()
            .filter(|attempt| wanted(attempt.place))
            .map(|attempt| (attempt.task.clone(), attempt.attempt))
            .collect()
    };
    Missing {
        planned: attempts.len(),
        without_result: of(|place| matches!(place, Place::Running | Place::Missing)),
        unnamed: run.plan.unnamed_missing.saturating_sub(run.running.len()),
        invalidated: of(|place| place == Place::Published(State::Fatal)),
    }
}

/// What all attempts of a run have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The run's id.
    pub run_id: String,
    /// `completed`, `failed`, `cancelled`, `timed_out`, or `running` where no end was written.
    pub run_status: &'static str,
    /// The model under test.
    pub model: String,
    /// The benchmark.
    pub benchmark: String,
    /// The harness.
    pub harness: String,
    /// `coder` or `react`.
    pub agent_type: Option<String>,
    /// Where Python ran.
    pub environment: Option<String>,
    /// The writer's version; `None` for directories of AgentCompass.
    pub argosy_version: Option<String>,
}

impl Facts {
    /// Of a run.
    #[must_use]
    pub fn of(run: &LoadedRun) -> Self {
        let text = |path: &[&str]| run.info.requested(path).and_then(Value::as_str).map(ToOwned::to_owned);
        let fingerprint = run.planned.as_ref().map(|planned| &planned.fingerprint);
        let agent_type = fingerprint
            .and_then(|fingerprint| fingerprint.get("harness")?.get("agent_type")?.as_str().map(ToOwned::to_owned))
            .or_else(|| text(&["harness", "params", "agent_type"]));
        Self {
            run_id: run.info.run_id.0.clone(),
            run_status: run.info.status.map_or("running", RunStatus::as_str),
            model: run.model().to_owned(),
            benchmark: text(&["benchmark", "id"]).unwrap_or_else(|| BENCHMARK.to_owned()),
            harness: text(&["harness", "id"]).unwrap_or_else(|| HARNESS.to_owned()),
            agent_type,
            environment: text(&["environment", "id"]),
            argosy_version: run.planned.as_ref().map(|planned| planned.argosy_version.clone()),
        }
    }

    /// A time of a trajectory with its zone, where that is known: Argosy writes UTC, AgentCompass the local time of
    /// some host.
    #[must_use]
    pub fn time(&self, naive: &str) -> String {
        let time = naive.replacen(' ', "T", 1);
        if self.argosy_version.is_some() { format!("{time}+00:00") } else { time }
    }
}
