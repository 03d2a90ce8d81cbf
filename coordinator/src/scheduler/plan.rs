//! A run as it is submitted and journalled.

use argosy_shared::{
    id::{RunId, TaskId},
    issue::Severity,
    spec::{EnvironmentId, ExecutionParams, JudgeRetry},
};
use serde::{Deserialize, Serialize};

/// A run. Everything in it is journalled, so nothing in it may be a secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// The run's name.
    pub id: RunId,
    /// Attempts per task, at least 1.
    pub k: u32,
    /// Tasks in dataset order, without repeats.
    pub tasks: Vec<TaskId>,
    /// Where the executions run; only workers that offer it get leases.
    pub environment: EnvironmentId,
    /// Names the endpoint and model under test for allowances (never with credentials in it); several runs may
    /// share one.
    pub endpoint: String,
    /// The same for the judge. `None`: judging is not counted against any allowance.
    #[serde(default)]
    pub judge_endpoint: Option<String>,
    /// What may change while the run goes on.
    pub policy: Policy,
    /// The order in which tasks start.
    #[serde(default)]
    pub order: Order,
    /// Expected seconds of each task, as long as `tasks`; empty when unknown. Only for [`Order::LongestFirst`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected_seconds: Vec<f64>,
    /// Attempts whose results exist already (a directory that another program wrote).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adopted: Vec<Adopted>,
    /// Whatever the engine needs to carry the run out again after a restart; opaque here, never with credentials.
    #[serde(default)]
    pub spec: serde_json::Value,
}

/// The order in which the tasks of a run start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// As in `tasks`, all attempts of a task before the next task.
    #[default]
    Dataset,
    /// By falling expectation, so that the last tasks to end are short ones.
    LongestFirst,
}

/// An attempt that is done before the run starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// The task.
    pub task: TaskId,
    /// Which repeat, 1..=k.
    pub attempt: u32,
    /// Worst severity of its issues.
    pub severity: Option<Severity>,
}

/// The part of a run's parameters that the scheduler acts on and that may change while it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Share among runs that compete for slots, at least 1.
    #[serde(default = "one")]
    pub weight: u32,
    /// Leases of the run at once, at least 1.
    pub task_concurrency: u32,
    /// Retries of one attempt after FATAL (and ERROR matched by the patterns), judge retries included.
    pub max_retries: u32,
    /// Regular expressions searched in message and code of ERROR issues.
    #[serde(default)]
    pub retry_pattern_list: Vec<String>,
    /// First delay before a retry, seconds; doubles.
    pub retry_min_delay_seconds: f64,
    /// Largest delay, seconds.
    pub retry_max_delay_seconds: f64,
    /// What a judge failure repeats.
    #[serde(default)]
    pub judge_retry: JudgeRetry,
    /// Lost leases an attempt survives.
    pub max_lease_losses: u32,
}

impl Policy {
    /// The policy of these parameters, with weight 1.
    #[must_use]
    pub fn of(params: &ExecutionParams) -> Self {
        Self {
            weight: 1,
            task_concurrency: params.task_concurrency,
            max_retries: params.max_retries,
            retry_pattern_list: params.retry_pattern_list.clone(),
            retry_min_delay_seconds: params.retry_min_delay_seconds,
            retry_max_delay_seconds: params.retry_max_delay_seconds,
            judge_retry: params.judge_retry,
            max_lease_losses: params.max_lease_losses,
        }
    }
}

/// Why a plan cannot be scheduled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Nothing to run.
    #[error("run {0} has no tasks")]
    NoTasks(RunId),
    /// `k`, `weight` or `task_concurrency` is 0.
    #[error("run {run}: {field} is 0; it must be at least 1")]
    Zero {
        /// The run.
        run: RunId,
        /// The field.
        field: &'static str,
    },
    /// A task occurs twice.
    #[error("run {run}: task {task} is listed twice")]
    Repeated {
        /// The run.
        run: RunId,
        /// The task.
        task: TaskId,
    },
    /// An adopted attempt is not part of the plan.
    #[error("run {run}: adopted attempt {task}#{attempt} is not in the plan")]
    Adopted {
        /// The run.
        run: RunId,
        /// The task.
        task: TaskId,
        /// The attempt.
        attempt: u32,
    },
    /// `expected_seconds` is neither empty nor one number a task.
    #[error("run {run}: {found} expected durations for {tasks} tasks")]
    Expectations {
        /// The run.
        run: RunId,
        /// How many were given.
        found: usize,
        /// How many tasks there are.
        tasks: usize,
    },
    /// A retry pattern or delay that cannot be used.
    #[error("run {run}: {reason}")]
    Policy {
        /// The run.
        run: RunId,
        /// What is wrong.
        reason: String,
    },
    /// A run of that name exists and differs in what it runs.
    #[error("run {run} exists with another {field}; give the new one another name")]
    Differs {
        /// The run.
        run: RunId,
        /// Which field.
        field: &'static str,
    },
}

fn one() -> u32 {
    1
}
