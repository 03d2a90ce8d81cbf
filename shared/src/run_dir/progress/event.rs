//! One line of `progress.jsonl`.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Value, json};

use crate::{
    id::TaskId,
    issue::Severity,
    run_dir::{moment, run_info::RunStatus},
    time::Timestamp,
};

/// Which components a run is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Benchmark id.
    pub benchmark: String,
    /// Harness id.
    pub harness: String,
    /// Environment id.
    pub environment: String,
    /// Model id.
    pub model: String,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: Kind,
}

/// A task with its category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRef {
    /// The task.
    pub id: TaskId,
    /// `<split>:<domain>`.
    pub category: Option<String>,
}

/// What happened, under AgentCompass's names.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The run begins.
    RunStarted(Origin),
    /// The tasks are known.
    TasksLoaded {
        /// How many.
        total_tasks: u64,
    },
    /// Earlier results were looked through.
    ReuseLoaded {
        /// Taken over.
        reused_tasks: u64,
        /// Left to do.
        tasks_to_run: u64,
        /// Worst severity of the tasks taken over, counted.
        severities: BTreeMap<String, u64>,
    },
    /// A task begins.
    TaskStarted {
        /// Which.
        task: TaskRef,
        /// Its position, from 0.
        index: u64,
        /// Of how many.
        total: u64,
    },
    /// An attempt begins.
    AttemptStarted {
        /// Of this task.
        task: TaskRef,
        /// Which attempt.
        attempt: u32,
    },
    /// A task enters a phase; the words are AgentCompass's (`prepare_task`, `run_harness`, `evaluate`, …).
    PhaseChanged {
        /// Which task.
        task: TaskRef,
        /// Which attempt, unless the phase is the task's (`save_partial`).
        attempt: Option<u32>,
        /// The phase.
        phase: String,
    },
    /// The plan of an attempt is known.
    ExecutionPlanResolved {
        /// Which task.
        task: TaskRef,
        /// Which attempt.
        attempt: u32,
        /// The plan.
        plan: Value,
    },
    /// An execution is discarded and will be repeated.
    AttemptRetry {
        /// Which task.
        task: TaskRef,
        /// Which attempt.
        attempt: u32,
        /// From 1.
        retry: u32,
        /// The budget.
        max_retries: u32,
        /// Seconds.
        delay_seconds: f64,
        /// `attempt` or `evaluate`.
        scope: String,
        /// `fatal` or a regular expression.
        matched_pattern: String,
        /// Path of the record of what is discarded.
        retry_detail: String,
    },
    /// An attempt is over.
    AttemptFinished {
        /// Which task.
        task: TaskRef,
        /// Which attempt.
        attempt: u32,
        /// Whether it ended with FATAL.
        failed: bool,
    },
    /// A task is published.
    PartialSaved {
        /// Which.
        task: TaskRef,
    },
    /// A task is over.
    TaskFinished {
        /// Which.
        task: TaskRef,
        /// Its position, from 0.
        index: u64,
        /// Of how many.
        total: u64,
        /// The worst final issue.
        severity: Option<Severity>,
    },
    /// The metrics are being computed.
    SummaryStarted,
    /// The run is over.
    RunFinished {
        /// How.
        status: RunStatus,
        /// Why not well.
        error: Option<String>,
    },
}

/// An event with what every line repeats.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The run.
    pub run_id: &'a str,
    /// Names one process's work on the run.
    pub orchestration_id: &'a str,
    /// The event.
    pub event: &'a Event,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = &self.event.kind;
        let (task, attempt) = kind.subject();
        let mut map = serializer.serialize_map(Some(13))?;
        map.serialize_entry("run_id", self.run_id)?;
        map.serialize_entry("event", kind.name())?;
        map.serialize_entry("timestamp", &moment::epoch(self.event.at))?;
        map.serialize_entry("task_id", &task.map(|task| &task.id))?;
        map.serialize_entry("category", &task.and_then(|task| task.category.as_ref()))?;
        map.serialize_entry("attempt", &attempt)?;
        map.serialize_entry("phase", &kind.phase())?;
        map.serialize_entry("status", &kind.status())?;
        map.serialize_entry("payload", &kind.payload())?;
        map.serialize_entry("orchestration_id", self.orchestration_id)?;
        map.serialize_entry("request_key", &format!("{}/0", self.orchestration_id))?;
        map.serialize_entry("request_name", "run")?;
        map.serialize_entry("request_index", &0)?;
        map.end()
    }
}

impl Kind {
    /// The event's name in the file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted(_) => "run_started",
            Self::TasksLoaded { .. } => "tasks_loaded",
            Self::ReuseLoaded { .. } => "reuse_loaded",
            Self::TaskStarted { .. } => "task_started",
            Self::AttemptStarted { .. } => "attempt_started",
            Self::PhaseChanged { .. } => "phase_changed",
            Self::ExecutionPlanResolved { .. } => "execution_plan_resolved",
            Self::AttemptRetry { .. } => "attempt_retry",
            Self::AttemptFinished { .. } => "attempt_finished",
            Self::PartialSaved { .. } => "partial_saved",
            Self::TaskFinished { .. } => "task_finished",
            Self::SummaryStarted => "summary_started",
            Self::RunFinished { .. } => "run_finished",
        }
    }

    fn subject(&self) -> (Option<&TaskRef>, Option<u32>) {
        match self {
            Self::RunStarted(_)
            | Self::TasksLoaded { .. }
            | Self::ReuseLoaded { .. }
            | Self::SummaryStarted
            | Self::RunFinished { .. } => (None, None),
            Self::TaskStarted { task, .. } | Self::PartialSaved { task } | Self::TaskFinished { task, .. } => {
                (Some(task), None)
            }
            Self::AttemptStarted { task, attempt }
            | Self::ExecutionPlanResolved { task, attempt, .. }
            | Self::AttemptRetry { task, attempt, .. }
            | Self::AttemptFinished { task, attempt, .. } => (Some(task), Some(*attempt)),
            Self::PhaseChanged { task, attempt, .. } => (Some(task), *attempt),
        }
    }

    fn phase(&self) -> Option<&str> {
        match self {
            Self::PhaseChanged { phase, .. } => Some(phase),
            Self::ExecutionPlanResolved { .. } => Some("plan"),
            _ => None,
        }
    }

    fn status(&self) -> Option<&'static str> {
        match self {
            Self::AttemptFinished { failed: true, .. } | Self::TaskFinished { severity: Some(Severity::Fatal), .. } => {
                Some("failed")
            }
            Self::AttemptFinished { .. } | Self::TaskFinished { .. } => Some("completed"),
            Self::RunFinished { status, .. } => Some(status.as_str()),
            _ => None,
        }
    }

    fn payload(&self) -> Value {
        match self {
            Self::RunStarted(Origin { benchmark, harness, environment, model }) => {
                json!({"benchmark": benchmark, "harness": harness, "environment": environment, "model": model})
            }
            Self::TasksLoaded { total_tasks } => json!({"total_tasks": total_tasks}),
            Self::ReuseLoaded { reused_tasks, tasks_to_run, severities } => json!({
                "reused_tasks": reused_tasks, "tasks_to_run": tasks_to_run, "reused_severity_counts": severities,
            }),
            Self::TaskStarted { index, total, .. } => json!({"index": index, "total": total}),
            Self::ExecutionPlanResolved { plan, .. } => plan.clone(),
            Self::AttemptRetry { retry, max_retries, delay_seconds, scope, matched_pattern, retry_detail, .. } => {
                json!({
                    "retry": retry, "max_retries": max_retries, "retry_delay_seconds": delay_seconds, "stage": scope,
                    "scope": scope, "matched_pattern": matched_pattern, "retry_detail": retry_detail,
                })
            }
            Self::TaskFinished { index, total, severity, .. } => {
                let severity = severity.map_or(json!(""), |severity| json!(severity));
                json!({"index": index, "total": total, "severity": severity})
            }
            Self::RunFinished { error: Some(error), .. } => json!({"error": error}),
            Self::AttemptStarted { .. }
            | Self::PhaseChanged { .. }
            | Self::AttemptFinished { .. }
            | Self::PartialSaved { .. }
            | Self::SummaryStarted
            | Self::RunFinished { error: None, .. } => json!({}),
        }
    }
}
