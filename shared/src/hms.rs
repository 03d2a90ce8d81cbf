//! The Hypothesis Matching Score, without IO.
//!
//! [`Judging`] is one scoring as a state machine: it says what to ask the judge model next, takes the reply, and ends
//! with an evaluation record or a failure. What upstream's `eval/new_eval.py` does in a straight line happens here in
//! the same order: segment the gold hypothesis, segment the answer, compare contexts, then for each matched pair count
//! variables and compare relations.
//!
//! - [`prompt`]: what the judge is asked.
//! - `upstream`, `strict`: what is made of a reply, by [`JudgePolicy`]. They share `parse`.
//! - `matching`: which sub-hypothesis of the answer meets which of the gold.
//! - `score`, `record`: the arithmetic and the record.
//!
//! The two policies differ only in what they make of replies that are not as asked for. `upstream` does what the
//! Python code does, to the last bit and to the exception. `strict` asks again, and then fails with
//! `judge_invalid_output`; its scores are always within 0..1.

pub mod prompt;

mod judging;
mod matching;
mod parse;
mod record;
mod score;
mod strict;
mod telemetry;
mod upstream;

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    issue::{Code, Issue, Phase},
    model::{self, ChatRequest},
    pyjson::{self, PyValue},
    spec::JudgePolicy,
};

pub use judging::Judging;
pub use pyjson::Exception;
pub use telemetry::{CallRecord, MAX_RAW_BYTES};

/// What is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The task's question.
    pub query: String,
    /// The gold hypothesis.
    pub gold: String,
    /// How the gold was found; empty where nothing is published.
    pub gold_workflow: String,
    /// The predicted hypothesis: the agent's complete answer.
    pub answer: String,
    /// How the answer was found; empty in DiscoveryBench's runs.
    pub answer_workflow: String,
    /// The datasets as Python shows them; see [`prompt::datasets_text`].
    pub datasets: String,
}

/// How it is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The judge's model id.
    pub model: String,
    /// What is made of replies that are not as asked for.
    pub policy: JudgePolicy,
    /// `judge_model.params` without the client's own settings: replaces request parameters, null removes one.
    pub params: Map<String, Value>,
}

/// The four kinds of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallKind {
    /// Segment a hypothesis.
    #[serde(rename = "sub_hypotheses")]
    SubHypotheses,
    /// Compare two contexts.
    #[serde(rename = "context")]
    Context,
    /// Count the variables of both hypotheses.
    #[serde(rename = "var")]
    Variables,
    /// Compare the relations of both hypotheses.
    #[serde(rename = "rel")]
    Relation,
}

impl CallKind {
    /// The name, as in upstream's record where it has one there.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SubHypotheses => "sub_hypotheses",
            Self::Context => "context",
            Self::Variables => "var",
            Self::Relation => "rel",
        }
    }
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A question to the judge.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeRequest {
    /// Its kind.
    pub kind: CallKind,
    /// What it is about: `gold`, `answer`, or a pair such as `P0||G1`.
    pub subject: String,
    /// 1 for the first try.
    pub attempt: u32,
    /// The request itself.
    pub chat: ChatRequest,
}

/// What has to happen next.
#[derive(Debug)]
pub enum Step {
    /// Send this and hand the outcome to [`Judging::answer`].
    Ask(Box<JudgeRequest>),
    /// Wait that long, then go on. Only under the upstream policy, after a failed request.
    Pause(Duration),
    /// The end.
    Done(Box<Judged>),
    /// The end, without a score.
    Failed(Box<Failed>),
}

/// A finished scoring.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Upstream's evaluation record, its keys in upstream's order.
    pub eval_rec: PyValue,
    /// Share of gold sub-hypotheses that were matched.
    pub recall_context: f64,
    /// Summed accuracy of the pairs by the number of predicted sub-hypotheses.
    pub mean_accuracy_score: f64,
    /// The score: the product of the two.
    pub final_score: f64,
    /// Counts that were read as something else than the judge wrote, in words.
    pub warnings: Vec<String>,
    /// Every request that was sent.
    pub calls: Vec<CallRecord>,
}

impl Judged {
    /// The record as JSON. Numbers that JSON cannot say are tagged, see [`pyjson::to_json`].
    #[must_use]
    pub fn eval_rec_json(&self) -> Value {
        pyjson::to_json(&self.eval_rec)
    }

    /// The warnings as issues.
    #[must_use]
    pub fn issues(&self) -> Vec<Issue> {
        self.warnings.iter().map(|text| Issue::new(Phase::Evaluate, Code::JudgeCountAdjusted, text)).collect()
    }
}

/// A scoring that came to no score.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Why.
    pub failure: Failure,
    /// Every request that was sent, the last one included.
    pub calls: Vec<CallRecord>,
}

/// Why there is no score.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// A request failed.
    #[error("the judge's {kind} request failed: {failure}")]
    Request {
        /// Which question.
        kind: CallKind,
        /// What the model client says.
        failure: Box<model::Failure>,
    },
    /// A reply stayed unusable (strict policy).
    #[error("the judge's {kind} reply ({subject}) is unusable after {attempts} of {attempts} tries: {reason}")]
    Unusable {
        /// Which question.
        kind: CallKind,
        /// What it was about.
        subject: String,
        /// How often it was asked.
        attempts: u32,
        /// What is wrong with the last reply.
        reason: String,
    },
    /// A reply was cut off by the token limit (strict policy).
    #[error(
        "the judge's {kind} reply ({subject}) stopped at the token limit (finish_reason=length): raise `max_tokens` in `judge_model.params`"
    )]
    Truncated {
        /// Which question.
        kind: CallKind,
        /// What it was about.
        subject: String,
    },
    /// Upstream's evaluator ends with this exception (upstream policy).
    #[error("upstream's evaluator raises {exception} on the judge's {kind} reply")]
    Raised {
        /// Which question it had just asked.
        kind: CallKind,
        /// The exception.
        exception: Exception,
    },
}

impl Failure {
    /// `judge_failed` or `judge_invalid_output`.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Request { .. } => Code::JudgeFailed,
            Self::Unusable { .. } | Self::Truncated { .. } | Self::Raised { .. } => Code::JudgeInvalidOutput,
        }
    }

    /// The FATAL issue.
    #[must_use]
    pub fn issue(&self) -> Issue {
        Issue::new(Phase::Evaluate, self.code(), self.to_string())
    }
}
