//! The script file.
//!
//! A script is a JSON object, or JSON lines: one object a line, where a line with `task` describes a task and any
//! other line holds settings. Everything is optional; the empty script `{}` is the built-in behaviour.
//!
//! ```json
//! {
//!   "seed": 7,
//!   "models": ["agent-model", "judge-model"],
//!   "latency": {"lognormal": {"median": 800, "p95": 5000}},
//!   "rate_limit": {"requests_per_minute": 600, "burst": 10},
//!   "context_tokens": 128000,
//!   "refuse": ["stop", "temperature", "max_tokens", "response_format"],
//!   "ignore_stop": false,
//!   "match_probability": 0.7,
//!   "faults": [
//!     {"status": 500, "probability": 0.02},
//!     {"status": 429, "retry_after": 2, "first": 1, "kinds": ["agent"]},
//!     {"malformed": "truncated_json", "probability": 0.01}
//!   ],
//!   "tasks": [
//!     {
//!       "task": "real_test__nls_ses__0__0",
//!       "question": "How strongly does BA degree completion vary with socioeconomic status?",
//!       "files": ["nls_ses_processed.csv"],
//!       "judge_match": ["the gold hypothesis of this task", "[answer 17]"],
//!       "fail_first": {"count": 2, "status": 503},
//!       "agent": [
//!         "Action: python_repl_ast\nAction Input: print(1)",
//!         ["Final Answer: first time", {"content": null, "finish_reason": "length"}],
//!         "Final Answer: [answer 17] degrees rise with status"
//!       ],
//!       "judge": {
//!         "sub_hypotheses": [{"match": "[answer 17]", "content": {"sub_hypo": []}}, "{\"sub_hypo\": []}"],
//!         "context": ["not JSON", {"content": {"match": true}}],
//!         "variables": [{"content": {"sizeA": 2, "sizeB": 2, "intersection": 1, "explanation": ""}}],
//!         "relation": [{"content": {"answer": "A", "explanation": ""}}]
//!       }
//!     }
//!   ]
//! }
//! ```
//!
//! **Which task a request belongs to.** An agent's request belongs to a task when it contains its `question` and all
//! of its `files`, or one of its `match` texts. A judge's request belongs to it when it contains one of `judge_match`
//! or `match`; the variables and relation questions also when they contain the `question`. Where several tasks
//! fit, the one whose texts are longest counts.
//!
//! **Which reply.** An agent's list is indexed by turn; its last entry is repeated. A judge's list is indexed by how
//! often this very request was answered before, so `["not JSON", {…}]` is a judge that gets it right the second
//! time; an entry with `match` serves only the requests that contain that text, the others serve the rest. An agent's
//! entry may be a list, indexed like a judge's. What a task does not script is played by the built-in behaviour, and
//! the top-level `judge` scripts the judge for requests of no known task.
//!
//! **What a reply is.** A string, or an object with `content` (text, null, or JSON to be written as text), `reasoning`,
//! `finish_reason`, `latency_ms`; or `status` with `body`, `retry_after`, `headers`; or `malformed`, one of
//! `truncated_json html not_json empty_body empty_choices no_choices null_content empty_content reasoning_only
//! error_200 cut`.
//!
//! **Faults** are drawn in order before a reply, each for every occurrence of a request anew, with `probability`
//! (default 1), for the given `kinds` (default all), and with `first` only for the first so many occurrences.
//! `fail_first` of a task answers its first `count` calls with an error, whatever they are.

mod finder;
mod task;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Kind, Latency, Say};
pub(super) use finder::Finder;
pub use task::{FailFirst, TaskScript, Turn};

/// A script; see the module's documentation for the file format.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Decides everything that is drawn.
    pub seed: u64,
    /// Ids listed by `/v1/models`. Any model id is answered.
    pub models: Vec<String>,
    /// How long a reply takes.
    pub latency: Latency,
    /// Requests a minute; above it 429 with `Retry-After`.
    pub rate_limit: Option<RateLimit>,
    /// Longer prompts are refused as exceeding the context.
    pub context_tokens: Option<u64>,
    /// Parameters refused with 400, as reasoning models refuse `stop` or `temperature`.
    pub refuse: Vec<String>,
    /// Whether `stop` is accepted and not honoured.
    pub ignore_stop: bool,
    /// How likely the built-in judge finds two different contexts to match.
    pub match_probability: f64,
    /// Faults that strike any request.
    pub faults: Vec<Fault>,
    /// Replies for known tasks.
    pub tasks: Vec<TaskScript>,
    /// Judge replies for requests of no known task.
    pub judge: BTreeMap<Kind, Vec<Say>>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            seed: 0,
            models: vec!["stand-in".to_owned()],
            latency: Latency::default(),
            rate_limit: None,
            context_tokens: None,
            refuse: Vec::new(),
            ignore_stop: false,
            match_probability: 0.7,
            faults: Vec::new(),
            tasks: Vec::new(),
            judge: BTreeMap::new(),
        }
    }
}

/// A limit as a token bucket that starts full.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// Tokens that flow in each minute.
    pub requests_per_minute: f64,
    /// Tokens the bucket holds; 1 when absent.
    pub burst: Option<u32>,
}

/// A fault that strikes requests at random or a fixed number of times.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "FaultForm")]
pub struct Fault {
    /// What is answered instead of a reply.
    pub say: Say,
    /// How likely, for each occurrence of a request anew.
    pub probability: f64,
    /// Strikes only the first so many occurrences of a request.
    pub first: Option<u32>,
    /// Strikes only these kinds; all when empty.
    pub kinds: Vec<Kind>,
}

impl Fault {
    /// An HTTP error with this probability.
    #[must_use]
    pub fn error(status: u16, probability: f64) -> Self {
        Self { say: Say::error(status), probability, first: None, kinds: Vec::new() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultForm {
    status: Option<u16>,
    body: Option<serde_json::Value>,
    retry_after: Option<serde_json::Value>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    malformed: Option<super::Malformed>,
    latency_ms: Option<f64>,
    probability: Option<f64>,
    first: Option<u32>,
    #[serde(default)]
    kinds: Vec<Kind>,
}

impl From<FaultForm> for Fault {
    fn from(form: FaultForm) -> Self {
        let retry_after = form.retry_after.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let say = Say {
            content: serde_json::Value::String("lost".to_owned()),
            status: form.status,
            body: form.body,
            retry_after,
            headers: form.headers,
            malformed: form.malformed,
            latency_ms: form.latency_ms,
            ..Say::default()
        };
        Self { say, probability: form.probability.unwrap_or(1.0), first: form.first, kinds: form.kinds }
    }
}

/// A script that cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not JSON of the right shape.
    #[error("{place}: {message}")]
    Form {
        /// `line 3`, or the whole script.
        place: String,
        /// What is wrong there.
        message: String,
    },
    /// A value makes no sense.
    #[error("{place}: {message}")]
    Value {
        /// The member, for example `tasks[2].agent`.
        place: String,
        /// What is wrong and what would be right.
        message: String,
    },
}

impl Script {
    /// Reads a script, JSON or JSON lines.
    ///
    /// # Errors
    /// The first line or member that is wrong.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let script = match serde_json::from_str::<Self>(text) {
            Ok(script) => script,
            Err(error) => match lines(text) {
                Some(script) => script?,
                None => return Err(Error::Form { place: "script".to_owned(), message: error.to_string() }),
            },
        };
        script.check()?;
        Ok(script)
    }

    fn check(&self) -> Result<(), Error> {
        let fail = |place: &str, message: String| Err(Error::Value { place: place.to_owned(), message });
        self.latency.check().or_else(|message| fail("latency", message))?;
        if !(0.0..=1.0).contains(&self.match_probability) {
            return fail("match_probability", "must be between 0 and 1".to_owned());
        }
        if let Some(limit) = self.rate_limit
            && !(limit.requests_per_minute.is_finite() && limit.requests_per_minute > 0.0)
        {
            return fail("rate_limit.requests_per_minute", "must be a positive number".to_owned());
        }
        for (index, fault) in self.faults.iter().enumerate() {
            let place = format!("faults[{index}]");
            if !(0.0..=1.0).contains(&fault.probability) {
                return fail(&format!("{place}.probability"), "must be between 0 and 1".to_owned());
            }
            if fault.say.status.is_none() && fault.say.malformed.is_none() {
                return fail(&place, "needs `status` or `malformed`".to_owned());
            }
            fault.say.check().or_else(|message| fail(&place, message))?;
        }
        check_judge("judge", &self.judge)?;
        for (index, task) in self.tasks.iter().enumerate() {
            task.check(&format!("tasks[{index}] `{}`", task.task))?;
        }
        Ok(())
    }
}

fn check_judge(place: &str, judge: &BTreeMap<Kind, Vec<Say>>) -> Result<(), Error> {
    for (kind, says) in judge {
        let place = format!("{place}.{kind}");
        let fail = |message: String| Err(Error::Value { place: place.clone(), message });
        if matches!(kind, Kind::Agent | Kind::Other) {
            return fail("a judge's calls are sub_hypotheses, context, variables and relation".to_owned());
        }
        for say in says {
            say.check().or_else(fail)?;
        }
    }
    Ok(())
}

/// A script in JSON lines; `None` if it is none.
fn lines(text: &str) -> Option<Result<Script, Error>> {
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(|(at, line)| (at + 1, line)).collect();
    // A JSON object over several lines does not have a whole object in its first one.
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(lines.first()?.1).ok()?;
    let mut settings = serde_json::Map::new();
    let mut tasks = Vec::new();
    for (number, line) in lines {
        let at = |error: serde_json::Error| Error::Form { place: format!("line {number}"), message: error.to_string() };
        let members: serde_json::Map<String, serde_json::Value> = match serde_json::from_str(line) {
            Ok(members) => members,
            Err(error) => return Some(Err(at(error))),
        };
        if members.contains_key("task") {
            match serde_json::from_value(members.into()) {
                Ok(task) => tasks.push(task),
                Err(error) => return Some(Err(at(error))),
            }
        } else {
            if let Err(error) = serde_json::from_value::<Script>(members.clone().into()) {
                return Some(Err(at(error)));
            }
            settings.extend(members);
        }
    }
    let script = serde_json::from_value::<Script>(settings.into());
    Some(script.map_err(|error| Error::Form { place: "script".to_owned(), message: error.to_string() }).map(
        |mut script| {
            script.tasks.extend(tasks);
            script
        },
    ))
}

#[cfg(test)]
mod tests;
