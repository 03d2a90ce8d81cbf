//! What is kept of every request.

use serde::{Deserialize, Serialize};

use super::CallKind;
use crate::model::{ChatReply, Failure, Usage};

/// How much of an unusable reply's body is kept.
pub const MAX_RAW_BYTES: usize = 16 * 1024;

/// One request to the judge and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Which question.
    pub kind: CallKind,
    /// What it was about: `gold`, `answer`, or a pair such as `P0||G1`.
    pub subject: String,
    /// 1 for the first try of this question.
    pub attempt: u32,
    /// What was wrong with the reply or the request; `None` where it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The endpoint's `finish_reason`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Token counts.
    pub usage: Usage,
    /// Requests sent again by the model client within this call.
    pub request_retries: u32,
    /// Milliseconds from the first request to the complete reply; 0 where none came.
    pub elapsed_ms: f64,
    /// How the request differed from what was asked for (`dropped response_format`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_params: Vec<String>,
    /// The body of a reply that could not be used, cut at [`MAX_RAW_BYTES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl CallRecord {
    /// The record of a request; [`CallRecord::problem`] and the body follow when it has been judged.
    pub(super) fn new(kind: CallKind, subject: &str, attempt: u32, outcome: &Result<ChatReply, Failure>) -> Self {
        let mut record = Self {
            kind,
            subject: subject.to_owned(),
            attempt,
            problem: None,
            finish_reason: None,
            usage: Usage::default(),
            request_retries: 0,
            elapsed_ms: 0.0,
            changed_params: Vec::new(),
            raw: None,
        };
        match outcome {
            Ok(reply) => {
                record.finish_reason.clone_from(&reply.finish_reason);
                record.usage = reply.usage;
                record.request_retries = reply.retries;
                record.elapsed_ms = reply.elapsed.as_secs_f64() * 1000.0;
                record.changed_params.clone_from(&reply.changed_params);
            }
            Err(failure) => record.request_retries = failure.retries,
        }
        record
    }

    /// Notes why the outcome could not be used, with the start of its body.
    pub(super) fn blame(&mut self, problem: String, outcome: &Result<ChatReply, Failure>) {
        self.problem = Some(problem);
        self.raw = match outcome {
            Ok(reply) if reply.raw.is_empty() => reply.content.as_deref().map(head),
            Ok(reply) => Some(head(&reply.raw)),
            Err(failure) => failure.raw.as_deref().map(head),
        };
    }
}

fn head(text: &str) -> String {
    let end = (0..=MAX_RAW_BYTES.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_cut_between_characters() {
        assert_eq!(head("abc"), "abc");
        let long = "\u{20ac}".repeat(MAX_RAW_BYTES);
        let cut = head(&long);
        assert!(cut.len() <= MAX_RAW_BYTES && cut.len() > MAX_RAW_BYTES - 3);
        assert!(long.starts_with(&cut));
    }
}
