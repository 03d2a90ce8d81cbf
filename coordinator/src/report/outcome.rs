//! What aggregation takes in: finished tasks, and the plan they belong to.

use std::collections::BTreeMap;

use argosy_shared::{
    id::TaskId,
    issue::{Issue, Severity},
    run_dir::PlannedTask,
    spec::{AggregationMode, BenchmarkParams},
};
use indexmap::IndexMap;

use super::hierarchy::{self, Node};

/// The category of tasks that have none.
pub const UNCATEGORISED: &str = "__uncategorized__";

/// A published task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskOutcome {
    /// The task.
    pub task: TaskId,
    /// `<split>:<domain>`.
    pub category: Option<String>,
    /// By number, from 1.
    pub attempts: BTreeMap<u32, AttemptOutcome>,
}

/// One attempt of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptOutcome {
    /// Finite numbers by metric id; empty where the attempt was never scored.
    pub metrics: IndexMap<String, f64>,
    /// Its final issues.
    pub issues: Vec<Issue>,
}

impl AttemptOutcome {
    /// The worst severity of its issues.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        argosy_shared::issue::worst(&self.issues)
    }
}

/// What the run was to do, and how its scores are put together.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Attempts per task.
    pub k: u32,
    /// The metrics, the headline first.
    pub metrics: Vec<String>,
    /// How the headline value is made.
    pub aggregation: Aggregation,
    /// The tasks, in the order of the dataset. Outcomes of other tasks count all the same.
    pub tasks: Vec<PlannedTask>,
    /// Tasks that are known to be missing without being known by name (a directory without Argosy's plan).
    pub unnamed_missing: usize,
}

/// How the headline value is made of the tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregation {
    /// Mean over evaluated tasks.
    MicroWeighted,
    /// Mean of the categories' means.
    CategoryMean,
    /// The value of the root of this tree.
    Hierarchy(Node),
    /// The three levels overall, split, domain, each the mean over its tasks.
    ThreeLevels,
}

impl Aggregation {
    /// What the benchmark's parameters ask for.
    ///
    /// # Errors
    /// `category_hierarchy` is not a valid tree.
    pub fn of(params: &BenchmarkParams) -> Result<Self, hierarchy::Error> {
        Ok(match (&params.category_hierarchy, params.aggregation_mode) {
            (Some(tree), _) => Self::Hierarchy(hierarchy::parse(tree)?),
            (None, Some(AggregationMode::MicroWeighted)) => Self::MicroWeighted,
            (None, Some(AggregationMode::CategoryMean)) => Self::CategoryMean,
            (None, None) => Self::ThreeLevels,
        })
    }
}

/// DiscoveryBench's metrics, the headline first.
#[must_use]
pub fn discoverybench_metrics() -> Vec<String> {
    ["score", "recall_context", "mean_accuracy_score"].map(ToOwned::to_owned).to_vec()
}
