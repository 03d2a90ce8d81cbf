//! One attempt with all that was stored of it, for the exports. Only one is in memory at a time, and of its prompts only
//! the first: each turn's prompt repeats all earlier ones, so all of them together grow with the square of the turns.

use std::{fmt, path::PathBuf};

use argosy_shared::{
    id::TaskId,
    issue::Issue,
    run_dir::{
        State, TaskIndex,
        names::{self, RESULT, TASK},
        status::AttemptStatus,
    },
};
use indexmap::IndexMap;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use super::{Error, LoadedRun, files};

/// `result.json`, complete but for the repeated prompts.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredAttempt {
    /// AgentCompass's word for how it ended.
    pub status: AttemptStatus,
    /// Numbers by metric id; empty where the attempt has no score.
    pub metrics: IndexMap<String, f64>,
    /// The answer; `None` where there is none.
    pub final_answer: Option<Value>,
    /// What the agent did.
    pub trajectory: StoredTrajectory,
    /// What went wrong.
    pub issues: Vec<Issue>,
    /// `benchmark` and `harness`.
    pub meta: Value,
    /// Discarded executions and repeated judgings.
    pub retry_count: u64,
}

/// `trajectory`; without steps where no execution delivered a result.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StoredTrajectory {
    /// One per model call.
    #[serde(deserialize_with = "steps")]
    pub steps: Vec<StoredStep>,
    /// Without a zone: UTC in directories of Argosy, local time in those of AgentCompass.
    pub started_at: Option<String>,
    /// As `started_at`.
    pub finished_at: Option<String>,
}

/// One model call and what came of it.
#[derive(Clone, Debug, Default)]
pub struct StoredStep {
    /// From 1.
    pub step_id: u64,
    /// The prompt; only of the first step.
    pub prompt: Option<String>,
    /// The reply.
    pub reply: StoredReply,
    /// What Python printed, and the like.
    pub observation: Vec<StoredObservation>,
    /// Tokens, milliseconds and the reason for stopping.
    pub metric: Map<String, Value>,
    /// As in [`StoredTrajectory`].
    pub started_at: Option<String>,
    /// As in [`StoredTrajectory`].
    pub finished_at: Option<String>,
}

/// `assistant_content`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StoredReply {
    /// The text.
    #[serde(deserialize_with = "text")]
    pub content: String,
    /// Reasoning beside it.
    #[serde(deserialize_with = "text")]
    pub reasoning_content: String,
    /// In OpenAI's shape.
    pub tool_calls: Vec<StoredCall>,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StoredCall {
    /// Names the call.
    #[serde(deserialize_with = "text")]
    pub id: String,
    /// What is called.
    pub function: StoredFunction,
}

/// What is called, with what.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StoredFunction {
    /// The tool.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// An object, or (from other writers) its text.
    pub arguments: Value,
}

/// What a tool gave.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StoredObservation {
    /// The call.
    #[serde(deserialize_with = "text")]
    pub tool_call_id: String,
    /// The tool.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// The text.
    #[serde(deserialize_with = "text")]
    pub content: String,
}

impl StoredFunction {
    /// The arguments as an object.
    #[must_use]
    pub fn arguments(&self) -> Map<String, Value> {
        match &self.arguments {
            Value::Object(members) => members.clone(),
            Value::Null => Map::new(),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Object(members)) => members,
                _ => Map::from_iter([("query".to_owned(), self.arguments.clone())]),
            },
            other => Map::from_iter([("query".to_owned(), other.clone())]),
        }
    }
}

impl StoredStep {
    /// A count of the step's metric.
    #[must_use]
    pub fn count(&self, name: &str) -> Option<u64> {
        self.metric.get(name).and_then(Value::as_u64)
    }

    /// A number of the step's metric.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.metric.get(name).and_then(Value::as_f64)
    }
}

impl StoredAttempt {
    /// The answer as text.
    #[must_use]
    pub fn answer(&self) -> Option<String> {
        match self.final_answer.as_ref()? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// A member of DiscoveryBench's part of `meta`.
    #[must_use]
    pub fn benchmark(&self, name: &str) -> Option<&Value> {
        self.meta.get("benchmark")?.get(argosy_shared::spec::BENCHMARK)?.get(name)
    }

    /// A member of the harness's part of `meta`.
    #[must_use]
    pub fn harness(&self, name: &str) -> Option<&Value> {
        self.meta.get("harness")?.get(name)
    }

    /// The sum of a count over all steps; `None` where no step has it.
    #[must_use]
    pub fn total(&self, name: &str) -> Option<u64> {
        let counts: Vec<u64> = self.trajectory.steps.iter().filter_map(|step| step.count(name)).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    }
}

impl LoadedRun {
    /// Where a published task lies.
    #[must_use]
    pub fn published_dir(&self, task: &TaskId) -> Option<PathBuf> {
        State::FINAL.into_iter().map(|state| self.dir.join(names::task_path(state, task))).find(|dir| dir.is_dir())
    }

    /// The index of a published task; its gold hypothesis is in it.
    ///
    /// # Errors
    /// It is not there any more, or not as it should be.
    pub fn index(&self, task: &TaskId) -> Result<TaskIndex, Error> {
        files::index(&self.published(task)?.join(TASK))
    }

    /// An attempt of a published task.
    ///
    /// # Errors
    /// It is not there any more, or not as it should be.
    pub fn attempt(&self, task: &TaskId, attempt: u32) -> Result<StoredAttempt, Error> {
        let path = self.published(task)?.join(names::attempt_dir(attempt)).join(RESULT);
        files::optional(&path)?.ok_or_else(|| Error::Content { path, message: "the file is missing".to_owned() })
    }

    fn published(&self, task: &TaskId) -> Result<PathBuf, Error> {
        self.published_dir(task).ok_or_else(|| Error::Content {
            path: self.dir.join(names::DETAILS),
            message: format!("the task `{task}` is not there any more"),
        })
    }
}

/// A step as it is stored, its prompt read or skipped.
#[derive(Deserialize)]
#[serde(bound = "P: Default + Deserialize<'de>", default)]
struct Raw<P> {
    step_id: u64,
    user_content: P,
    assistant_content: StoredReply,
    observation: Option<Observation>,
    metric: Option<Map<String, Value>>,
    started_at: Option<String>,
    finished_at: Option<String>,
}

impl<P: Default> Default for Raw<P> {
    fn default() -> Self {
        Self {
            step_id: 0,
            user_content: P::default(),
            assistant_content: StoredReply::default(),
            observation: None,
            metric: None,
            started_at: None,
            finished_at: None,
        }
    }
}

/// A list, or (from other writers) anything else.
#[derive(Deserialize)]
#[serde(untagged)]
enum Observation {
    List(Vec<StoredObservation>),
    Other(Value),
}

impl<P> Raw<P> {
    fn step(self, prompt: impl FnOnce(P) -> Option<String>) -> StoredStep {
        let observation = match self.observation {
            Some(Observation::List(list)) => list,
            None | Some(Observation::Other(Value::Null)) => Vec::new(),
            Some(Observation::Other(other)) => {
                vec![StoredObservation { content: plain(&other), ..StoredObservation::default() }]
            }
        };
        StoredStep {
            step_id: self.step_id,
            prompt: prompt(self.user_content),
            reply: self.assistant_content,
            observation,
            metric: self.metric.unwrap_or_default(),
            started_at: self.started_at,
            finished_at: self.finished_at,
        }
    }
}

/// Reads the first step's prompt and skips the others'.
fn steps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<StoredStep>, D::Error> {
    struct Steps;
    impl<'de> Visitor<'de> for Steps {
        type Value = Vec<StoredStep>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of steps")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
            let mut steps = Vec::new();
            if let Some(first) = sequence.next_element::<Raw<Value>>()? {
                steps.push(first.step(|prompt| Some(plain(&prompt))));
            }
            while let Some(next) = sequence.next_element::<Raw<IgnoredAny>>()? {
                steps.push(next.step(|_| None));
            }
            Ok(steps)
        }
    }
    deserializer.deserialize_seq(Steps)
}

/// Text; null is empty, anything else its JSON.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Value::deserialize(deserializer).map(|value| plain(&value))
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn later_prompts_are_skipped_and_foreign_shapes_are_read() {
        let trajectory: StoredTrajectory = serde_json::from_value(json!({
            "steps": [
                {"step_id": 1, "user_content": "the task", "observation": [{"content": "6"}],
                 "assistant_content": {"content": "a", "reasoning_content": null, "tool_calls": [
                     {"id": "c", "function": {"name": "t", "arguments": "{\"query\": \"1\"}"}}]},
                 "metric": {"prompt_tokens_len": 3, "llm_infer_ms": 1.5}},
                {"step_id": 2, "user_content": "the task, a, 6", "observation": "loose"},
            ],
        }))
        .unwrap();
        let [first, second] = trajectory.steps.as_slice() else { panic!("two steps") };
        assert_eq!((first.prompt.as_deref(), second.prompt.as_deref()), (Some("the task"), None));
        assert_eq!(first.reply.tool_calls[0].function.arguments(), *json!({"query": "1"}).as_object().unwrap());
        assert_eq!((first.count("prompt_tokens_len"), first.number("llm_infer_ms")), (Some(3), Some(1.5)));
        assert_eq!(second.observation[0].content, "loose");
        let empty: StoredTrajectory = serde_json::from_value(json!({})).unwrap();
        assert!(empty.steps.is_empty());
    }
}
