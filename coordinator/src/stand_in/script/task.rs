//! What a script says about one task.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Error, check_judge};
use crate::stand_in::{Kind, Say};

/// What is said about one task.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskScript {
    /// Its id; names it in the statistics.
    pub task: String,
    /// The question, as it stands in the prompts.
    pub question: Option<String>,
    /// Texts, usually file names, that an agent's prompt must contain beside the question.
    pub files: Vec<String>,
    /// Texts of which one is enough, for agent and judge.
    #[serde(rename = "match")]
    pub any: Vec<String>,
    /// Texts of which one is enough, for the judge only.
    pub judge_match: Vec<String>,
    /// Replies of the agent by turn.
    pub agent: Vec<Turn>,
    /// Replies of the judge by kind of call.
    pub judge: BTreeMap<Kind, Vec<Say>>,
    /// Errors before anything works.
    pub fail_first: Option<FailFirst>,
}

/// What the agent says in one turn: once, or by how often the same request was answered before.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn(pub Vec<Say>);

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let says = if value.is_array() {
            serde_json::from_value(value)
        } else {
            serde_json::from_value(value).map(|say| vec![say])
        };
        says.map(Self).map_err(serde::de::Error::custom)
    }
}

/// The first calls of a task fail.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailFirst {
    /// How many calls of each kind.
    pub count: u32,
    /// With which status; 500 when absent.
    #[serde(default = "FailFirst::default_status")]
    pub status: u16,
    /// Only calls of these kinds; all when empty.
    #[serde(default)]
    pub kinds: Vec<Kind>,
}

impl FailFirst {
    fn default_status() -> u16 {
        500
    }
}

impl TaskScript {
    pub(super) fn check(&self, place: &str) -> Result<(), Error> {
        let fail = |message: &str| Err(Error::Value { place: place.to_owned(), message: message.to_owned() });
        let texts = self.question.iter().chain(&self.files).chain(&self.any).chain(&self.judge_match);
        let mut count = 0;
        for text in texts {
            if text.is_empty() {
                return fail("an empty text would match every request");
            }
            count += 1;
        }
        if count == 0 {
            return fail("needs `question`, `files`, `match` or `judge_match`, else no request belongs to it");
        }
        check_judge(&format!("{place}.judge"), &self.judge)?;
        for (turn, Turn(says)) in self.agent.iter().enumerate() {
            let place = format!("{place}.agent[{turn}]");
            if says.is_empty() {
                return Err(Error::Value { place, message: "needs a reply".to_owned() });
            }
            for say in says {
                say.check().map_err(|message| Error::Value { place: place.clone(), message })?;
            }
        }
        if self.fail_first.as_ref().is_some_and(|fail| !(400..=599).contains(&fail.status)) {
            return fail("`fail_first.status` must be from 400 to 599");
        }
        Ok(())
    }
}
