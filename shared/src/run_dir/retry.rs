//! `attempt-<n>/retries/*.json`: one record per discarded execution, with all it had produced.

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Value, json};

use super::{
    attempt::{self, AttemptRecord},
    json::without_empty,
    status::AttemptStatus,
    trajectory::Trajectory,
};
use crate::{
    id::TaskId,
    redact::{self, Redactor},
};

/// `schema_version` of the record.
pub const SCHEMA: &str = "agentcompass.retry.v1";

/// Why and when an execution (or a judging) was discarded and repeated.
#[derive(Clone, Debug)]
pub struct RetryRecord<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// Its category.
    pub category: Option<&'a str>,
    /// Which repeat of the task.
    pub attempt: u32,
    /// The how-manieth retry of the attempt this leads to, from 1.
    pub retry: u32,
    /// The attempt's budget.
    pub max_retries: u32,
    /// Seconds until the retry.
    pub delay_seconds: f64,
    /// What failed.
    pub scope: Scope,
    /// `fatal`, or the regular expression that matched an ERROR.
    pub matched_pattern: &'a str,
    /// What is discarded; its issues are the reason.
    pub discarded: &'a AttemptRecord<'a>,
}

/// What a retry repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole attempt, agent included.
    Attempt,
    /// Only the judging.
    Evaluate,
}

impl Scope {
    /// Both `stage` and `scope` of the record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Attempt => "attempt",
            Self::Evaluate => "evaluate",
        }
    }
}

/// The file's content.
#[derive(Clone, Debug)]
pub struct RetryFile<'a> {
    /// What to write.
    pub record: &'a RetryRecord<'a>,
    /// Hides credentials.
    pub redactor: &'a Redactor,
}

impl Serialize for RetryFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { record, redactor } = *self;
        let mut map = serializer.serialize_map(Some(12))?;
        map.serialize_entry("schema_version", SCHEMA)?;
        map.serialize_entry("task_id", record.task)?;
        map.serialize_entry("category", &record.category)?;
        map.serialize_entry("attempt", &record.attempt)?;
        map.serialize_entry("retry", &record.retry)?;
        map.serialize_entry("max_retries", &record.max_retries)?;
        map.serialize_entry("retry_delay_seconds", &record.delay_seconds)?;
        map.serialize_entry("stage", record.scope.as_str())?;
        map.serialize_entry("scope", record.scope.as_str())?;
        map.serialize_entry("matched_pattern", record.matched_pattern)?;
        map.serialize_entry("issues", &attempt::issues(record.discarded.issues, redactor))?;
        map.serialize_entry("discarded_result", &Discarded { record, redactor })?;
        map.end()
    }
}

/// AgentCompass's shape of a result in memory, which differs from that of `result.json`.
struct Discarded<'a> {
    record: &'a RetryRecord<'a>,
    redactor: &'a Redactor,
}

impl Serialize for Discarded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { record, redactor } = *self;
        let discarded = record.discarded;
        let execution = discarded.execution;
        let mut map = serializer.serialize_map(Some(12))?;
        map.serialize_entry("task_id", record.task)?;
        map.serialize_entry("status", &AttemptStatus::of(discarded.issues))?;
        map.serialize_entry("category", &record.category)?;
        let answer = execution.and_then(|execution| execution.final_answer.as_deref());
        map.serialize_entry("final_answer", &answer.map(|answer| redactor.text(answer)))?;
        map.serialize_entry("ground_truth", &Value::Null)?;
        match execution {
            Some(execution) => {
                map.serialize_entry("trajectory", &Trajectory { execution, template: discarded.template, redactor })?;
            }
            None => map.serialize_entry("trajectory", &json!({}))?,
        }
        map.serialize_entry("issues", &attempt::issues(discarded.issues, redactor))?;
        map.serialize_entry("artifacts", &attempt::artifacts(discarded, redactor))?;
        map.serialize_entry("metrics", &json!({}))?;
        map.serialize_entry("telemetry", &execution.map_or_else(|| json!({}), |execution| json!(execution.telemetry)))?;
        map.serialize_entry("meta", &self.provenance())?;
        map.serialize_entry("extra", &self.extra())?;
        map.end()
    }
}

impl Discarded<'_> {
    fn provenance(&self) -> Value {
        let execution = self.record.discarded.execution;
        self.clean(execution.map_or(Value::Null, |execution| json!({"provenance": execution.provenance})))
    }

    fn extra(&self) -> Value {
        let benchmark = self.record.discarded.benchmark;
        self.clean(benchmark.map_or(Value::Null, |benchmark| json!({"discoverybench": benchmark})))
    }

    fn clean(&self, mut value: Value) -> Value {
        redact::mask(&mut value);
        self.redactor.value(&mut value);
        match without_empty(value) {
            object @ Value::Object(_) => object,
            _ => json!({}),
        }
    }
}
