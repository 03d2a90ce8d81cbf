//! `argosy.json`: which tasks the run was to do. AgentCompass takes the number of tasks from the results it finds, so an
//! interrupted run looks complete there; here what is missing stays known.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::TaskId;

/// `schema_version` of the file.
pub const SCHEMA: &str = "argosy.run.v1";

/// `argosy.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// [`SCHEMA`].
    pub schema_version: String,
    /// The version that planned the run.
    pub argosy_version: String,
    /// All that can change a score, for the decision whether the run may be resumed or compared.
    #[serde(default)]
    pub fingerprint: Value,
    /// The tasks in the order of the dataset.
    pub tasks: Vec<PlannedTask>,
    /// Members later versions may add.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A task that is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// The task.
    pub task_id: TaskId,
    /// `<split>:<domain>`.
    pub category: String,
    /// Equal for tasks that ask the same question, for example a hash of it. Their scores are not independent, so
    /// standard errors are clustered by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_group: Option<String>,
}

impl PlannedRun {
    /// A plan of this version.
    #[must_use]
    pub fn new(tasks: Vec<PlannedTask>, fingerprint: Value) -> Self {
        Self {
            schema_version: SCHEMA.to_owned(),
            argosy_version: crate::VERSION.to_owned(),
            fingerprint,
            tasks,
            other: Map::new(),
        }
    }
}
