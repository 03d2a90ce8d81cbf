//! Recognises, in the error a server gives, which parameter of the request it refuses.
//!
//! Only refusals of the parameter as such count (or of any value but the default), and only of the parameters that
//! upstream's requests have. A value that is out of range, or a parameter the user chose, stays an error.

use serde_json::{Map, Value};

use super::Change;
use crate::model::classify::ErrorBody;

/// Parameters that may be left out.
const DROPPABLE: [&str; 7] =
    ["stop", "temperature", "response_format", "n", "top_p", "frequency_penalty", "presence_penalty"];

const LIMIT: &str = "max_tokens";
const NEW_LIMIT: &str = "max_completion_tokens";

/// Words by which servers refuse a parameter, in lower case.
const REFUSING: [&str; 18] = [
    // OpenAI, Azure, Together, Groq, xAI, LiteLLM
    "not supported",
    "unsupported",
    "does not support",
    "do not support",
    "doesn't support",
    // older OpenAI, Groq, proxies
    "unrecognized request argument",
    "unknown parameter",
    // Mistral, NIM, Anthropic and others that validate with pydantic
    "extra inputs are not permitted",
    "extra_forbidden",
    "extra fields not permitted",
    // Gemini
    "unknown name",
    // Anthropic
    "is deprecated",
    "cannot both be specified",
    "may only be set to",
    // OpenAI and Moonshot, about values
    "only the default",
    "only 1 is allowed",
    // Groq
    "only supports response formats",
    // Python servers without validation
    "unexpected keyword argument",
];

/// How far from the parameter's name the refusal may stand.
const NEAR: usize = 90;

/// The changes that the error of a 400 or 422 demands of a request with these parameters; empty if it demands none.
pub(in crate::model) fn refused(status: u16, error: &ErrorBody, params: &Map<String, Value>) -> Vec<Change> {
    if !matches!(status, 400 | 422) {
        return Vec::new();
    }
    let message = error.message.to_lowercase();
    let says_no = REFUSING.iter().any(|words| message.contains(words))
        || error.is_coded(&["unsupported_parameter", "unsupported_value", "unknown_parameter"]);
    if !says_no {
        return Vec::new();
    }
    let is_sent = |name: &str| params.get(name).is_some_and(|value| !value.is_null());
    let mut changes = Vec::new();
    if is_sent(LIMIT) && !is_sent(NEW_LIMIT) && blames(error, &message, LIMIT) && message.contains(NEW_LIMIT) {
        changes.push(Change::Rename { from: LIMIT.to_owned(), to: NEW_LIMIT.to_owned() });
    }
    // Of two parameters that exclude each other the less important goes.
    let excludes = message.contains("cannot both be specified");
    for name in DROPPABLE {
        let is_vital = (name == "n" && params.get("n") != Some(&Value::from(1)))
            || (name == "temperature" && excludes && is_sent("top_p"));
        if is_sent(name) && !is_vital && blames(error, &message, name) {
            changes.push(Change::Drop(name.to_owned()));
        }
    }
    changes
}

/// Whether the error is about the parameter `name`.
fn blames(error: &ErrorBody, message: &str, name: &str) -> bool {
    // `response_format.type` blames `response_format`.
    let blamed = error.param.as_deref().map(|param| param.split(['.', '[']).next().unwrap_or(param));
    match blamed {
        Some(param) if param == name => true,
        // A parameter that exists blames itself alone; some servers put other things here (`body`, `None`).
        Some(param) if DROPPABLE.contains(&param) || param == LIMIT || param == NEW_LIMIT => false,
        _ => spellings(name).iter().any(|spelling| mentions(message, spelling).any(|at| is_near(message, at, name))),
    }
}

/// How servers write the name, in lower case: xAI in camel case.
fn spellings(name: &str) -> Vec<String> {
    let joined = name.replace('_', "");
    if joined == name { vec![joined] } else { vec![name.to_owned(), joined] }
}

/// Where `message` mentions `name` as a parameter: in quotes or brackets, after `parameter` or `->`, or, unless it is
/// an everyday word, anywhere as a word.
fn mentions<'a>(message: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_everyday = matches!(name, "stop" | "n" | "temperature");
    message.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (&message[..*at], &message[at + name.len()..]);
        let part_of_a_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if part_of_a_word(before.chars().next_back()) || part_of_a_word(after.chars().next()) {
            return false;
        }
        let quoted = before.ends_with(['\'', '"', '`']) && after.starts_with(['\'', '"', '`', '\\']);
        let named =
            ["parameter ", "parameter: ", "parameters: ", "model: ", "-> ", "argument: ", "supported: ", "invalid "]
                .iter()
                .any(|lead| before.ends_with(lead));
        let named =
            named || after.starts_with(" parameter") || after.starts_with(": extra") || after.starts_with(" is ");
        // `temperature` alone is no everyday word in an error, but `stop` and `n` are.
        quoted || named || !is_everyday || (name == "temperature" && before.is_empty())
    })
}

/// Whether a refusal stands near the mention at `at`.
fn is_near(message: &str, at: usize, name: &str) -> bool {
    REFUSING.iter().flat_map(|words| message.match_indices(words)).any(|(start, words)| {
        let (end, mention_end) = (start + words.len(), at + name.len());
        start.saturating_sub(mention_end).max(at.saturating_sub(end)) <= NEAR
    })
}

#[cfg(test)]
mod tests;
