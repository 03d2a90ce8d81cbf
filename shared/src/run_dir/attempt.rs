//! `attempt-<n>/result.json`: exactly nine keys; readers refuse one more or one less.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value, json};

use super::{meta, meta::BenchmarkMeta, status::AttemptStatus, trajectory::Trajectory};
use crate::{
    issue::{self, Issue, Severity},
    prompts::AgentTemplate,
    redact::{self, Redactor},
    result::ExecutionResult,
};

/// The nine keys in the order in which they are written.
pub const KEYS: [&str; 9] = [
    "status",
    "metrics",
    "final_answer",
    "trajectory",
    "issues",
    "artifacts",
    "analysis_result",
    "meta",
    "retry_count",
];

/// DiscoveryBench's three metrics of an attempt, each 0..=1 under the strict policy and always finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The Hypothesis Matching Score.
    pub score: f64,
    /// Share of gold sub-hypotheses that were matched.
    pub recall_context: f64,
    /// Summed pair accuracy over the number of predicted sub-hypotheses.
    pub mean_accuracy_score: f64,
}

impl Metrics {
    /// What an attempt without an answer gets.
    pub const ZERO: Self = Self { score: 0.0, recall_context: 0.0, mean_accuracy_score: 0.0 };

    fn is_finite(&self) -> bool {
        [self.score, self.recall_context, self.mean_accuracy_score].iter().all(|value| value.is_finite())
    }
}

/// Everything known about an attempt once it is over.
#[derive(Clone, Debug)]
pub struct AttemptRecord<'a> {
    /// The scores; `None` where the attempt was never scored. Left out of the file when an issue is FATAL.
    pub metrics: Option<Metrics>,
    /// The last execution; `None` where none ever delivered a result (its worker was lost each time).
    pub execution: Option<&'a ExecutionResult>,
    /// The template of the execution's prompts.
    pub template: &'a AgentTemplate,
    /// The final issues, of the execution and of the judging. Issues of discarded executions are not among them.
    pub issues: &'a [Issue],
    /// What the benchmark says.
    pub benchmark: Option<&'a BenchmarkMeta>,
    /// Text for whoever looks into a failure.
    pub diagnostics: Option<&'a str>,
    /// Where the result was taken over from.
    pub reused: Option<ReuseHistory>,
    /// Discarded executions and repeated judgings.
    pub retry_count: u32,
}

/// `artifacts.reuse_history` of a result that another run produced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReuseHistory {
    /// The other run's directory.
    pub source_run: String,
    /// Its `retry_count`; that of the reused result starts at 0 again.
    pub retry_count: u32,
}

impl AttemptRecord<'_> {
    /// The worst severity of its issues.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        issue::worst(self.issues)
    }
}

/// The file's content. Serialised in a stream: see [`Trajectory`].
#[derive(Clone, Debug)]
pub struct AttemptResult<'a> {
    /// What to write.
    pub record: &'a AttemptRecord<'a>,
    /// Hides credentials.
    pub redactor: &'a Redactor,
}

impl Serialize for AttemptResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { record, redactor } = *self;
        let mut map = serializer.serialize_map(Some(KEYS.len()))?;
        map.serialize_entry("status", &AttemptStatus::of(record.issues))?;
        map.serialize_entry("metrics", &metrics::<S::Error>(record)?)?;
        let answer = record.execution.and_then(|execution| execution.final_answer.as_deref());
        map.serialize_entry("final_answer", &answer.map(|answer| redactor.text(answer)))?;
        match record.execution {
            Some(execution) => {
                map.serialize_entry("trajectory", &Trajectory { execution, template: record.template, redactor })?;
            }
            None => map.serialize_entry("trajectory", &json!({}))?,
        }
        map.serialize_entry("issues", &issues(record.issues, redactor))?;
        map.serialize_entry("artifacts", &artifacts(record, redactor))?;
        map.serialize_entry("analysis_result", &json!({}))?;
        map.serialize_entry("meta", &meta::meta(record.benchmark, record.execution, redactor))?;
        map.serialize_entry("retry_count", &record.retry_count)?;
        map.end()
    }
}

/// `{}` for an attempt that was never scored or is invalidated.
pub(super) fn metrics<E: serde::ser::Error>(record: &AttemptRecord<'_>) -> Result<Value, E> {
    match record.metrics {
        Some(metrics) if record.worst() != Some(Severity::Fatal) => {
            if !metrics.is_finite() {
                return Err(E::custom(format!("a metric is not a finite number: {metrics:?}")));
            }
            serde_json::to_value(metrics).map_err(E::custom)
        }
        _ => Ok(json!({})),
    }
}

pub(super) fn issues(issues: &[Issue], redactor: &Redactor) -> Value {
    let mut issues = json!(issues);
    redactor.value(&mut issues);
    issues
}

pub(super) fn artifacts(record: &AttemptRecord<'_>, redactor: &Redactor) -> Value {
    let mut artifacts = Map::new();
    if let Some(diagnostics) = record.diagnostics.filter(|text| !text.is_empty()) {
        artifacts.insert("execution_diagnostics".to_owned(), json!(diagnostics));
    }
    if let Some(reused) = &record.reused {
        artifacts.insert("reuse_history".to_owned(), json!(reused));
    }
    let mut artifacts = Value::Object(artifacts);
    redact::mask(&mut artifacts);
    redactor.value(&mut artifacts);
    artifacts
}
