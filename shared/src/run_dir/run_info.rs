//! `run_info.json`: the run as it was asked for, and how it ended.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::RunId;

/// `schema_version` of the file.
pub const SCHEMA: &str = "agentcompass.run_info.v3";
/// The older one AgentCompass still reads.
pub const PREVIOUS_SCHEMA: &str = "agentcompass.run_info.v2";

/// `run_info.json`, written with sorted keys, and read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// [`SCHEMA`].
    pub schema_version: String,
    /// The run's directory name.
    pub run_id: RunId,
    /// ISO 8601 with offset, seconds.
    #[serde(default)]
    pub started_at: String,
    /// Only once the run is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// Absent while the run is alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<RunStatus>,
    /// Why it did not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the user asked for, see [`super::request`].
    pub request: Value,
    /// `{task: {"attempts": {"1": plan}}}`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub resolved_execution_plans: Map<String, Value>,
    /// Where the metric files come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric_artifacts: Option<MetricArtifacts>,
    /// The run whose results were taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused_from: Option<ReusedFrom>,
    /// Members other writers added.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Every task has a result, none of them FATAL.
    Completed,
    /// A FATAL result, or the run itself failed.
    Failed,
    /// Ended by the user.
    Cancelled,
    /// Out of time.
    TimedOut,
}

impl RunStatus {
    /// The word in the files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }
}

/// Provenance of `metrics.json` and `summary.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricArtifacts {
    /// ISO 8601 with offset, seconds.
    pub generated_at: String,
    /// `evaluation` at the end of a run, `summary` by the command of that name.
    pub source: MetricSource,
    /// What was computed.
    pub report: ReportKind,
    /// Parameters the command was given; only with `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark_params_override: Option<Map<String, Value>>,
}

/// Who wrote the metric files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricSource {
    /// The run itself.
    Evaluation,
    /// `argosy summary`.
    Summary,
}

/// What the metric files hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportKind {
    /// Attempts per task.
    pub k: u32,
    /// `avg`.
    pub strategy: String,
    /// `micro_weighted`, `category_mean` or `category_hierarchy`.
    pub aggregation: String,
}

/// The run whose results were taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReusedFrom {
    /// Its id.
    pub run_id: String,
    /// Its directory.
    pub path: String,
}

impl RunInfo {
    /// A run that just starts. `request` is cleaned by [`super::request::sanitise`].
    #[must_use]
    pub fn new(run_id: RunId, started_at: String, request: Value, reused_from: Option<ReusedFrom>) -> Self {
        Self {
            schema_version: SCHEMA.to_owned(),
            run_id,
            started_at,
            finished_at: None,
            status: None,
            error: None,
            request,
            resolved_execution_plans: Map::new(),
            metric_artifacts: None,
            reused_from,
            other: Map::new(),
        }
    }

    /// A member of the request by path, for example `["model", "id"]`.
    #[must_use]
    pub fn requested(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(&self.request, |value, key| value.get(key))
    }

    /// Records the plan of one attempt.
    pub fn record_plan(&mut self, task: &str, attempt: u32, plan: Value) {
        let entry = self.resolved_execution_plans.entry(task).or_insert_with(|| Value::Object(Map::new()));
        if !entry["attempts"].is_object() {
            entry["attempts"] = Value::Object(Map::new());
        }
        entry["attempts"][attempt.to_string()] = plan;
    }
}
