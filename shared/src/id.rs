//! Names: runs, tasks, attempts, executions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A run's name, unique in one results directory: what `--run-id` gives, or a time stamp.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A task's name, `<split>__<dataset directory>__<metadata file number>__<qid>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub String);

impl TaskId {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for TaskId {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

/// One logical repeat of a task within a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttemptKey {
    /// The run.
    pub run: RunId,
    /// The task.
    pub task: TaskId,
    /// Which repeat, 1..=k.
    pub attempt: u32,
}

impl fmt::Display for AttemptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}#{}", self.run, self.task, self.attempt)
    }
}

/// One physical try of an attempt. `execution` counts from 1 over the whole life of the attempt and is its
/// **fencing token**: a message that carries another number than the live one changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExecutionKey {
    /// The attempt.
    pub attempt: AttemptKey,
    /// The fencing token.
    pub execution: u64,
}

impl fmt::Display for ExecutionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.attempt, self.execution)
    }
}
