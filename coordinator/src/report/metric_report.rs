//! `metrics.json`: AgentCompass's `MetricReport`. Its reader forbids unknown members, so ours are under `extra` only.

use std::collections::BTreeMap;

use argosy_shared::run_dir::json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricReport {
    /// Attempts per task.
    pub k: u32,
    /// `avg`.
    pub strategy: String,
    /// `micro_weighted`, `category_mean` or `category_hierarchy`.
    pub aggregation: String,
    /// Whether a task is invalidated or missing: then there are reference values only.
    #[serde(default)]
    pub evaluation_failed: bool,
    /// One per metric, the headline first.
    pub series: Vec<Series>,
    /// Argosy's own: [`Coverage`] under `coverage`.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

/// One metric over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// `<metric>.<reducer>@<k>`.
    pub series_id: String,
    /// `score`.
    pub metric_id: String,
    /// `scalar`.
    pub kind: String,
    /// `native` for k = 1, else `avg`.
    pub reducer: String,
    /// `headline` or `auxiliary`.
    pub role: String,
    /// As in the report.
    pub aggregation: String,
    /// How it is shown.
    pub display: Option<Display>,
    /// Attempts per task.
    pub k: u32,
    /// The official value.
    pub value: Option<f64>,
    /// In its place, where there is none: the value over the tasks that count.
    #[serde(default)]
    pub reference_value: Option<f64>,
    /// Tasks.
    pub counts: Counts,
    /// By category.
    #[serde(default)]
    pub categories: BTreeMap<String, Breakdown>,
    /// By path of the hierarchy.
    #[serde(default)]
    pub hierarchy: BTreeMap<String, Breakdown>,
    /// Argosy's own: `statistics`, see [`super::stats`].
    #[serde(default)]
    pub extra: Map<String, Value>,
}

/// How a series is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Display {
    /// Title.
    pub label: String,
    /// Longer text.
    pub description: Option<String>,
    /// Unit.
    pub unit: Option<String>,
    /// Digits after the point; four where there is none.
    pub precision: Option<usize>,
}

/// A category or a node of the hierarchy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Breakdown {
    /// The official value.
    pub value: Option<f64>,
    /// In its place, where there is none.
    #[serde(default)]
    pub reference_value: Option<f64>,
    /// Tasks.
    pub counts: Counts,
    /// Evaluated tasks, as the weight in the level above.
    pub aggregation_weight: f64,
}

/// Tasks: `evaluated + unavailable + invalidated = total`; `error` overlaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// All.
    pub total: u64,
    /// With a value.
    pub evaluated: u64,
    /// With an ERROR or FATAL issue, or an attempt that is missing.
    pub error: u64,
    /// Without a value though nothing is FATAL.
    pub unavailable: u64,
    /// With a FATAL issue; and, in an unfinished run, tasks without any result.
    #[serde(default)]
    pub invalidated: u64,
}

/// `extra.coverage`: what a run's numbers rest on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Whether every planned task has a value: only then are values official.
    pub complete: bool,
    /// Planned tasks.
    pub planned: u64,
    /// Tasks with a value.
    pub evaluated: u64,
    /// Tasks invalidated by a FATAL issue.
    pub fatal: u64,
    /// Published tasks without a value and without FATAL.
    pub unavailable: u64,
    /// Tasks without a published result.
    pub missing: u64,
}

impl MetricReport {
    /// The series of the headline metric.
    #[must_use]
    pub fn headline(&self) -> Option<&Series> {
        let mut headlines = self.series.iter().filter(|series| series.role == "headline");
        headlines.clone().find(|series| series.reducer == self.strategy).or_else(|| headlines.next())
    }

    /// What the numbers rest on; `None` in a report AgentCompass wrote.
    #[must_use]
    pub fn coverage(&self) -> Option<Coverage> {
        serde_json::from_value(self.extra.get("coverage")?.clone()).ok()
    }

    /// The content of `metrics.json`.
    ///
    /// # Errors
    /// Those of serde_json; there are none for a report made here.
    pub fn to_json(&self) -> serde_json::Result<String> {
        json::pretty_sorted(self)
    }
}

impl Series {
    /// The value or, in its absence, the reference value.
    #[must_use]
    pub fn any_value(&self) -> Option<f64> {
        self.value.or(self.reference_value)
    }
}

impl Breakdown {
    /// The value or, in its absence, the reference value.
    #[must_use]
    pub fn any_value(&self) -> Option<f64> {
        self.value.or(self.reference_value)
    }
}
