//! `task.json`: which attempts a task has, and, once it is published, what they share.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value};

use super::names;
use crate::{id::TaskId, spec::AttemptStrategy};

/// `schema_version` of the file.
pub const SCHEMA: &str = "agentcompass.task.v3";

/// What the attempts of a task share. The gold is part of it: run directories stay with the coordinator.
#[derive(Clone, Copy, Debug)]
pub struct TaskHeader<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// `<split>:<domain>`.
    pub category: Option<&'a str>,
    /// The gold hypothesis.
    pub ground_truth: &'a Value,
    /// Planned attempts.
    pub k: u32,
    /// How they are combined.
    pub strategy: AttemptStrategy,
}

/// `task.json`, written and read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TaskIndex {
    /// [`SCHEMA`].
    pub schema_version: String,
    /// The task.
    pub task_id: TaskId,
    /// `{"1": "attempt-1"}`.
    #[serde(default)]
    pub attempts: AttemptNames,
    /// Present once the task is published.
    #[serde(flatten)]
    pub shared: Option<Shared>,
    /// Members other writers added; readers tolerate them.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The members a published task has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    /// `<split>:<domain>`.
    #[serde(deserialize_with = "present")]
    pub category: Option<String>,
    /// The gold hypothesis.
    pub ground_truth: Value,
    /// How many attempts were planned.
    pub attempt_plan: AttemptPlan,
}

/// `{"k": 1, "strategy": "avg"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptPlan {
    /// Planned attempts.
    pub k: u32,
    /// `avg`, or `pass` in foreign directories.
    pub strategy: String,
}

/// The attempts of a task by number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>")]
pub struct AttemptNames(pub Vec<u32>);

impl TaskIndex {
    /// The index of a task that is not published yet.
    #[must_use]
    pub fn running(task: &TaskId, attempts: Vec<u32>) -> Self {
        Self {
            schema_version: SCHEMA.to_owned(),
            task_id: task.clone(),
            attempts: AttemptNames(attempts),
            shared: None,
            other: Map::new(),
        }
    }

    /// The index of a published task.
    #[must_use]
    pub fn published(header: &TaskHeader<'_>, attempts: Vec<u32>) -> Self {
        let strategy = match header.strategy {
            AttemptStrategy::Avg => "avg",
        };
        Self {
            shared: Some(Shared {
                category: header.category.map(ToOwned::to_owned),
                ground_truth: header.ground_truth.clone(),
                attempt_plan: AttemptPlan { k: header.k, strategy: strategy.to_owned() },
            }),
            ..Self::running(header.task, attempts)
        }
    }
}

impl AttemptNames {
    /// Adds an attempt, in order, once.
    pub fn insert(&mut self, attempt: u32) {
        if let Err(at) = self.0.binary_search(&attempt) {
            self.0.insert(at, attempt);
        }
    }
}

impl Serialize for TaskIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &self.schema_version)?;
        map.serialize_entry("task_id", &self.task_id)?;
        map.serialize_entry("attempts", &self.attempts)?;
        if let Some(shared) = &self.shared {
            map.serialize_entry("category", &shared.category)?;
            map.serialize_entry("ground_truth", &shared.ground_truth)?;
            map.serialize_entry("attempt_plan", &shared.attempt_plan)?;
        }
        for (key, value) in &self.other {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Serialize for AttemptNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|attempt| (attempt.to_string(), names::attempt_dir(*attempt))))
    }
}

impl TryFrom<BTreeMap<String, String>> for AttemptNames {
    type Error = String;

    fn try_from(attempts: BTreeMap<String, String>) -> Result<Self, String> {
        let mut numbers = Vec::with_capacity(attempts.len());
        for (number, directory) in attempts {
            let attempt = number
                .parse::<u32>()
                .ok()
                .filter(|attempt| *attempt > 0 && attempt.to_string() == number)
                .ok_or_else(|| format!("`attempts`: `{number}` is not a positive number"))?;
            let expected = names::attempt_dir(attempt);
            if directory != expected {
                return Err(format!("`attempts.{number}`: expected `{expected}`, found `{directory}`"));
            }
            numbers.push(attempt);
        }
        numbers.sort_unstable();
        Ok(Self(numbers))
    }
}

/// Unlike serde's default, a missing member is an error: null and absent mean different things here.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(deserializer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::json, *};

    #[test]
    fn shared_members_come_with_the_publication() {
        let task = TaskId::from("t");
        let running = TaskIndex::running(&task, vec![1]);
        let expected = "{\n  \"schema_version\": \"agentcompass.task.v3\",\n  \"task_id\": \"t\",\n  \"attempts\": {\n    \
                        \"1\": \"attempt-1\"\n  }\n}\n";
        assert_eq!(json::pretty(&running).unwrap(), expected);

        let gold = json!("g");
        let header =
            TaskHeader { task: &task, category: None, ground_truth: &gold, k: 10, strategy: AttemptStrategy::Avg };
        let published = TaskIndex::published(&header, (1..=10).collect());
        let text = json::pretty(&published).unwrap();
        assert!(text.contains("\"9\": \"attempt-9\",\n    \"10\": \"attempt-10\"\n"), "numeric order: {text}");
        assert!(text.ends_with(
            "\"category\": null,\n  \"ground_truth\": \"g\",\n  \"attempt_plan\": {\n    \"k\": 10,\n    \
                                \"strategy\": \"avg\"\n  }\n}\n"
        ));
        assert_eq!(serde_json::from_str::<TaskIndex>(&text).unwrap(), published);
    }

    #[test]
    fn an_index_without_all_shared_members_is_not_published() {
        let read = |value: Value| serde_json::from_value::<TaskIndex>(value);
        let base = json!({"schema_version": SCHEMA, "task_id": "t", "attempts": {"1": "attempt-1"}});
        assert_eq!(read(base.clone()).unwrap().shared, None);
        let mut partial = base.clone();
        partial["ground_truth"] = json!("g");
        partial["attempt_plan"] = json!({"k": 1, "strategy": "avg"});
        assert_eq!(read(partial.clone()).unwrap().shared, None, "no category");
        partial["category"] = Value::Null;
        partial["note"] = json!(1);
        let index = read(partial).unwrap();
        assert_eq!(index.shared.unwrap().category, None);
        for bad in
            [json!({"01": "attempt-01"}), json!({"0": "attempt-0"}), json!({"1": "attempt-2"}), json!({"x": "y"})]
        {
            let mut value = base.clone();
            value["attempts"] = bad;
            assert!(read(value).is_err());
        }
    }
}
