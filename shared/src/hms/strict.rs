//! Policy `strict`: a reply is what was asked for, or it is asked for again, or there is no score.
//!
//! Beyond upstream's reading it takes a Markdown fence off variables and relation replies, reads counts written as
//! strings, and cuts an intersection that exceeds a size; the latter two are recorded as warnings.

use num_traits::ToPrimitive as _;

use super::{
    CallKind, Failure,
    judging::{Heard, Verdict},
    parse,
    score::VariableScore,
};
use crate::{
    model::{self, ChatReply},
    pyjson::{self, PyValue},
    pystr,
};

/// How often each question is asked. Upstream's five for contexts; where upstream asks once, three.
pub(super) fn tries(kind: CallKind, upstream: u32) -> u32 {
    match kind {
        CallKind::Context => upstream,
        CallKind::SubHypotheses | CallKind::Variables | CallKind::Relation => upstream.max(3),
    }
}

/// More sub-hypotheses than this are no segmentation of one hypothesis; each pair of them may cost a request.
const MAX_SUB_HYPOTHESES: usize = 100;

/// Counts beyond it are no longer exact as floats.
const MAX_COUNT: f64 = 9_007_199_254_740_992.0;

pub(super) fn hear(
    kind: CallKind,
    subject: &str,
    attempt: u32,
    tries: u32,
    hypothesis: &str,
    fallback: impl FnOnce() -> PyValue,
    outcome: &Result<ChatReply, model::Failure>,
) -> Verdict {
    let reply = match outcome {
        Ok(reply) => reply,
        Err(failure) => {
            return Verdict::failed(failure.to_string(), Failure::Request { kind, failure: Box::new(failure.clone()) });
        }
    };
    if reply.finish_reason.as_deref() == Some("length") {
        let failure = Failure::Truncated { kind, subject: subject.to_owned() };
        return Verdict::failed("stopped at the token limit".to_owned(), failure);
    }
    let mut warnings = Vec::new();
    let read = match (kind, reply.content.as_deref()) {
        (_, None) => Err("the content is null".to_owned()),
        (CallKind::SubHypotheses, Some(content)) => sub_hypotheses(content, hypothesis, fallback),
        (CallKind::Context, Some(content)) => context(content),
        (CallKind::Variables, Some(content)) => variables(content, &mut warnings).map(|score| {
            let answer = pystr::strip(content).to_owned();
            Heard::Variables { answer, score }
        }),
        (CallKind::Relation, Some(content)) => relation(content).map(|score| {
            let answer = pystr::strip(content).to_owned();
            Heard::Relation { answer, score }
        }),
    };
    match read {
        Ok(heard) => Verdict::heard(heard).warning(warnings),
        Err(reason) if attempt < tries => Verdict::again(reason),
        Err(reason) => {
            let failure =
                Failure::Unusable { kind, subject: subject.to_owned(), attempts: attempt, reason: reason.clone() };
            Verdict::failed(reason, failure)
        }
    }
}

fn sub_hypotheses(content: &str, hypothesis: &str, fallback: impl FnOnce() -> PyValue) -> Result<Heard, String> {
    let mut object = finite_object(parse::chained(content))?;
    let mut elements = match object.get("sub_hypo") {
        Some(PyValue::List(elements)) => elements.clone(),
        Some(other) => return Err(format!("`sub_hypo` is {}, expected a list", json_type(other))),
        None => return Err("the key `sub_hypo` is missing".to_owned()),
    };
    if elements.len() > MAX_SUB_HYPOTHESES {
        return Err(format!("{} sub-hypotheses, expected at most {MAX_SUB_HYPOTHESES}", elements.len()));
    }
    for (n, element) in elements.iter().enumerate() {
        if !matches!(element, PyValue::Dict(_)) {
            return Err(format!("sub_hypo[{n}] is {}, expected an object", json_type(element)));
        }
        if let Some(key) = ["text", "context"].into_iter().find(|key| element.get(key).is_none()) {
            return Err(format!("sub_hypo[{n}] lacks the key `{key}`"));
        }
    }
    let PyValue::Dict(members) = &mut object else { return Err("not an object".to_owned()) };
    members.insert("full_hypo".to_owned(), hypothesis.into());
    if elements.is_empty() {
        elements = vec![fallback()];
        members.insert("sub_hypo".to_owned(), PyValue::List(elements.clone()));
    }
    Ok(Heard::SubHypotheses { object, elements })
}

fn context(content: &str) -> Result<Heard, String> {
    let object = finite_object(parse::chained(content))?;
    Ok(Heard::Context(object.get("match").cloned().unwrap_or(PyValue::Bool(false))))
}

fn variables(content: &str, warnings: &mut Vec<String>) -> Result<VariableScore, String> {
    let object = finite_object(pyjson::loads(parse::unfenced(content)))?;
    let get = |key: &str| object.get(key).ok_or_else(|| format!("the key `{key}` is missing"));
    let explanation = get("explanation")?;
    let mut count = |key: &str| count(key, get(key)?, warnings);
    let (size_a, size_b, mut intersection) = (count("sizeA")?, count("sizeB")?, count("intersection")?);
    let smaller = if size_a.1 <= size_b.1 { &size_a } else { &size_b };
    if intersection.1 > smaller.1 {
        warnings.push(format!(
            "the judge counts {} common variables of {} and {}: cut to {}",
            intersection.1, size_a.1, size_b.1, smaller.1
        ));
        intersection = smaller.clone();
    }
    VariableScore::of_counts(&size_a.0, &size_b.0, &intersection.0, explanation)
        .map_err(|exception| exception.to_string())
}

/// A count as Python would compute with it, and its size.
fn count(key: &str, value: &PyValue, warnings: &mut Vec<String>) -> Result<(PyValue, f64), String> {
    let number = match value {
        PyValue::Str(text) => match pyjson::loads(pystr::strip(text)) {
            Ok(number @ (PyValue::Int(_) | PyValue::Float(_))) => {
                warnings
                    .push(format!("the judge's `{key}` is the string \"{}\": read as a number", text.escape_debug()));
                number
            }
            _ => return Err(format!("`{key}` is a string that is no number")),
        },
        other => other.clone(),
    };
    let size = match &number {
        PyValue::Int(value) => value.to_f64().unwrap_or(f64::INFINITY),
        PyValue::Float(value) => *value,
        other => return Err(format!("`{key}` is {}, expected a number", json_type(other))),
    };
    if !(0.0..=MAX_COUNT).contains(&size) {
        return Err(format!("`{key}` is {size}, expected a count of 0 or more"));
    }
    Ok((number, size.abs()))
}

fn relation(content: &str) -> Result<f64, String> {
    let object = finite_object(pyjson::loads(parse::unfenced(content)))?;
    match object.get("answer") {
        Some(PyValue::Str(option)) => {
            parse::relation_score(option).ok_or_else(|| "`answer` names none of the options".to_owned())
        }
        Some(other) => Err(format!("`answer` is {}, expected a string", json_type(other))),
        None => Err("the key `answer` is missing".to_owned()),
    }
}

/// An object in which every number is one.
fn finite_object(read: Result<PyValue, pyjson::Error>) -> Result<PyValue, String> {
    match read {
        Ok(value) if value.has_non_finite() => Err("a number is not finite".to_owned()),
        Ok(object @ PyValue::Dict(_)) => Ok(object),
        Ok(other) => Err(format!("the reply is {}, expected an object", json_type(&other))),
        Err(error) => Err(format!("the reply is not JSON: {error}")),
    }
}

fn json_type(value: &PyValue) -> &'static str {
    match value {
        PyValue::None => "null",
        PyValue::Bool(_) => "a boolean",
        PyValue::Int(_) | PyValue::Float(_) => "a number",
        PyValue::Str(_) => "a string",
        PyValue::List(_) => "a list",
        PyValue::Dict(_) => "an object",
    }
}
