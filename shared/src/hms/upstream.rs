//! Policy `upstream`: what `new_eval.py` makes of an outcome, exceptions included.

use std::time::Duration;

use super::{
    CallKind, Exception, Failure,
    judging::{Heard, Verdict},
    parse,
    score::VariableScore,
};
use crate::{
    model::{self, ChatReply},
    pyjson::{self, PyValue},
};

/// Upstream catches failed requests only in the variables and relation questions, and sends them this often.
const REQUEST_TRIES: u32 = 3;
/// After each of them, the last one included.
const PAUSE: Duration = Duration::from_secs(2);

/// `tries`: how often upstream asks for a reply it cannot parse.
pub(super) fn hear(
    kind: CallKind,
    attempt: u32,
    tries: u32,
    hypothesis: &str,
    fallback: impl FnOnce() -> PyValue,
    outcome: &Result<ChatReply, model::Failure>,
) -> Verdict {
    let reply = match outcome {
        Ok(reply) => reply,
        Err(failure) => return request_failed(kind, attempt, failure),
    };
    let content = reply.content.as_deref();
    let heard = match kind {
        CallKind::SubHypotheses => match read_chained(content, attempt, tries) {
            Ok(Read::Again(problem)) => return Verdict::again(problem),
            Ok(Read::Value(value)) => sub_hypotheses(Some(value), hypothesis, fallback),
            Ok(Read::GivenUp) => sub_hypotheses(None, hypothesis, fallback),
            Err(exception) => Err(exception),
        },
        CallKind::Context => match read_chained(content, attempt, tries) {
            Ok(Read::Again(problem)) => return Verdict::again(problem),
            Ok(Read::Value(value)) => context(&value),
            Ok(Read::GivenUp) => context(&PyValue::None),
            Err(exception) => Err(exception),
        },
        CallKind::Variables => parse::stripped(content).map(|answer| Heard::Variables {
            answer: answer.to_owned(),
            score: variables(answer).unwrap_or_else(|_| VariableScore::minus_one()),
        }),
        CallKind::Relation => parse::stripped(content).and_then(|answer| {
            let score = relation(answer)?;
            Ok(Heard::Relation { answer: answer.to_owned(), score })
        }),
    };
    match heard {
        Ok(heard) => Verdict::heard(heard),
        Err(exception) => Verdict::failed(exception.to_string(), Failure::Raised { kind, exception }),
    }
}

fn request_failed(kind: CallKind, attempt: u32, failure: &model::Failure) -> Verdict {
    let problem = failure.to_string();
    let verdict = match kind {
        CallKind::SubHypotheses | CallKind::Context => {
            return Verdict::failed(problem, Failure::Request { kind, failure: Box::new(failure.clone()) });
        }
        _ if attempt < REQUEST_TRIES => Verdict::again(problem),
        CallKind::Variables => {
            Verdict::heard(Heard::Variables { answer: String::new(), score: VariableScore::minus_one() }).but(problem)
        }
        CallKind::Relation => Verdict::heard(Heard::Relation { answer: String::new(), score: 0.0 }).but(problem),
    };
    verdict.after(PAUSE)
}

enum Read {
    Value(PyValue),
    Again(String),
    GivenUp,
}

/// Upstream's `get_response`: retries on `ValueError`, lets everything else through.
fn read_chained(content: Option<&str>, attempt: u32, tries: u32) -> Result<Read, Exception> {
    match parse::chained(parse::stripped(content)?) {
        Ok(value) => Ok(Read::Value(value)),
        Err(error) if !error.is_value_error() => Err(error.into()),
        Err(error) if attempt < tries => Ok(Read::Again(Exception::from(error).to_string())),
        Err(_) => Ok(Read::GivenUp),
    }
}

fn sub_hypotheses(
    reply: Option<PyValue>,
    hypothesis: &str,
    fallback: impl FnOnce() -> PyValue,
) -> Result<Heard, Exception> {
    let mut object = match reply {
        None | Some(PyValue::None) => PyValue::dict([("sub_hypo", PyValue::List(Vec::new()))]),
        Some(value) => value,
    };
    object.set("full_hypo", hypothesis.into())?;
    let mut elements = object.subscript("sub_hypo")?.elements()?;
    if elements.is_empty() {
        elements = vec![fallback()];
        object.set("sub_hypo", PyValue::List(elements.clone()))?;
    }
    Ok(Heard::SubHypotheses { object, elements })
}

fn context(value: &PyValue) -> Result<Heard, Exception> {
    match value {
        PyValue::Dict(members) => Ok(Heard::Context(members.get("match").cloned().unwrap_or(PyValue::Bool(false)))),
        other => Err(Exception::no_attribute(other, "get")),
    }
}

fn variables(answer: &str) -> Result<VariableScore, Exception> {
    let value = pyjson::loads(answer)?;
    VariableScore::of_counts(
        value.subscript("sizeA")?,
        value.subscript("sizeB")?,
        value.subscript("intersection")?,
        value.subscript("explanation")?,
    )
}

fn relation(answer: &str) -> Result<f64, Exception> {
    let value = pyjson::loads(answer)?;
    match value.subscript("answer")? {
        PyValue::Str(option) => Ok(parse::relation_score(option).unwrap_or(-1.0)),
        other => Err(Exception::no_attribute(other, "strip")),
    }
}
