//! What an endpoint's answer, or the lack of one, means: the table from (transport failure | status, headers, body)
//! to a code, a severity, whether sending the request again can help, and a line for people. Pure.
//!
//! | what happened | issue | retried |
//! |---|---|---|
//! | 401, 402, 403 | FATAL `model_failed` | no |
//! | exhausted quota, whatever its status | FATAL `model_failed` | no |
//! | 408, 409, 429, 5xx | FATAL `model_failed` | yes |
//! | prompt too long (400, 413, 422, or in a 200) | ERROR `model_context_exceeded` | no |
//! | other 4xx, redirects that are not followed | FATAL `model_failed` | no |
//! | no complete answer in time | ERROR `model_timeout` | no |
//! | no connection, connection lost, answer cut short or not HTTP | FATAL `model_failed` | yes |
//! | 200 with an error object | as the status inside it | |
//! | 200 without choices, or broken JSON | FATAL `model_failed` | yes |
//! | 200 with HTML or text | FATAL `model_failed` | no |
//!
//! `x-should-retry` overrules "retried" for statuses, as in the OpenAI client. Sources: the error table of the
//! Discovery Agent page; where it is silent, the decisions in `ARCHITECTURE.md`. A null or empty content is not a
//! failure here: the agent and the judge decide about replies.

mod error_body;
mod recognise;
mod transport;

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};

use super::{retry, scrub};
use crate::{
    issue::{Code, Severity},
    time::Timestamp,
};

pub use error_body::ErrorBody;
pub use transport::{Connect, Transport};

/// Longest part of a server's message that is shown.
const MESSAGE: usize = 400;

/// An HTTP answer.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: &'a HeaderMap,
    /// The body, decompressed, as far as it was read.
    pub body: &'a [u8],
}

/// Why the body of a successful status holds no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It is not JSON, or not a JSON object.
    NotJson(String),
    /// It holds an error.
    Error(ErrorBody),
    /// `choices` is missing, null or empty, or its first element has no message.
    NoChoices,
}

/// The kinds of failure, finer than the codes: what a rate controller or a circuit breaker wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The account is empty; no waiting cures it.
    Quota,
    /// The key is missing, wrong, revoked, or not allowed to do this.
    Denied,
    /// Too many requests for now.
    RateLimited,
    /// The server failed (5xx, 408, 409, or an error inside a 200).
    Server,
    /// The prompt is too long for the model.
    Overflow,
    /// The server blames the request.
    Request,
    /// The server points elsewhere.
    Redirect,
    /// No complete answer in time.
    Timeout,
    /// No connection.
    Unreachable,
    /// The connection was lost, or what came over it is not HTTP.
    Broken,
    /// A success whose body is of no use.
    Unusable,
}

/// What a failed request means.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The kind.
    pub kind: Kind,
    /// The issue's code.
    pub code: Code,
    /// HTTP status, if an answer came.
    pub status: Option<u16>,
    /// Whether sending the same request again can help.
    pub transient: bool,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// One bounded line: what happened, where, and in the server's words. The credential is not yet masked in it.
    pub message: String,
}

impl Verdict {
    /// The severity of the code.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.rule().severity
    }

    /// Whether `max_retries` applies. A timeout is not repeated: it used up its whole bound, and the documents score
    /// it.
    #[must_use]
    pub fn is_retried(&self) -> bool {
        self.transient && self.kind != Kind::Timeout
    }
}

/// The meaning of a status that is no success.
#[must_use]
pub fn status(host: &str, answer: &Answer<'_>, now: Timestamp) -> Verdict {
    let error = ErrorBody::read(answer.body);
    let words = error.as_ref().map_or_else(|| describe(answer), |error| scrub::line(&error.message, MESSAGE));
    let error = error.unwrap_or_else(|| ErrorBody { message: words.clone(), ..ErrorBody::default() });
    let kind = kind_of(answer.status, &error);
    let at = format!("HTTP {} from {host}", answer.status);
    let transient = match kind {
        Kind::Quota => false,
        _ => retry::server_says(answer.headers).unwrap_or_else(|| is_transient(answer.status)),
    };
    let message = match kind {
        Kind::Redirect => format!("{at}: {}", redirect(answer)),
        kind => said(&at, kind, &words),
    };
    let retry_after = retry::asked(answer.headers, now).or(error.retry_after);
    Verdict { kind, code: code_of(kind), status: Some(answer.status), transient, retry_after, message }
}

/// The meaning of a success whose body holds no reply.
#[must_use]
pub fn unusable(host: &str, answer: &Answer<'_>, why: &Unusable, now: Timestamp) -> Verdict {
    let at = format!("HTTP {} from {host}", answer.status);
    let retry_after = retry::asked(answer.headers, now);
    let verdict = |kind: Kind, transient: bool, retry_after: Option<Duration>, message: String| Verdict {
        kind,
        code: code_of(kind),
        status: Some(answer.status),
        transient,
        retry_after,
        message,
    };
    match why {
        Unusable::Error(error) => {
            // Without a status of its own the error counts as the server's.
            let status = error.status.filter(|status| *status >= 400).unwrap_or(500);
            let kind = kind_of(status, error);
            let kind = if recognise::is_overflow(error) && kind != Kind::Quota { Kind::Overflow } else { kind };
            let transient = !matches!(kind, Kind::Quota | Kind::Overflow) && is_transient(status);
            let words = scrub::line(&error.message, MESSAGE);
            let inside = error.status.map_or_else(String::new, |status| format!(" {status}"));
            let message = said(&format!("{at} with an error{inside} inside"), kind, &words);
            verdict(kind, transient, retry_after.or(error.retry_after), message)
        }
        Unusable::NoChoices => {
            let message = format!("{at}, but the reply has no choices");
            verdict(Kind::Unusable, true, retry_after, message)
        }
        Unusable::NotJson(problem) => {
            // JSON that ends too early may come whole the next time; a page or a text will stay one.
            let is_json = matches!(answer.body.trim_ascii_start().first(), Some(b'{' | b'[')) || is_empty(answer.body);
            let what = match answer.body.trim_ascii_start().first() {
                Some(b'{' | b'[') => scrub::line(problem, MESSAGE),
                _ => describe(answer),
            };
            let hint = if is_json { "" } else { "; is the base URL right?" };
            verdict(Kind::Unusable, is_json, retry_after, format!("{at}, but the body is not a reply: {what}{hint}"))
        }
    }
}

/// The meaning of a request that brought no answer.
#[must_use]
pub fn transport(host: &str, failure: &Transport) -> Verdict {
    let (kind, transient) = match failure {
        Transport::Timeout(_) => (Kind::Timeout, true),
        Transport::Connect(Connect::Certificate, _) => (Kind::Unreachable, false),
        Transport::Connect(..) => (Kind::Unreachable, true),
        Transport::Redirects => (Kind::Redirect, false),
        Transport::Oversized(_) | Transport::Request(_) => (Kind::Broken, false),
        Transport::Unanswered { .. } | Transport::Cut(_) | Transport::NotHttp(_) | Transport::Encoding(_) => {
            (Kind::Broken, true)
        }
    };
    let message = scrub::line(&failure.describe(host), MESSAGE + 100);
    Verdict { kind, code: code_of(kind), status: None, transient, retry_after: None, message }
}

fn kind_of(status: u16, error: &ErrorBody) -> Kind {
    if status == 402 || (status != 401 && status < 500 && recognise::is_quota(error)) {
        return Kind::Quota;
    }
    match status {
        300..=399 => Kind::Redirect,
        400 | 413 | 422 if recognise::is_overflow(error) => Kind::Overflow,
        401 | 403 => Kind::Denied,
        429 => Kind::RateLimited,
        408 | 409 | 500.. => Kind::Server,
        _ => Kind::Request,
    }
}

fn code_of(kind: Kind) -> Code {
    match kind {
        Kind::Overflow => Code::ModelContextExceeded,
        Kind::Timeout => Code::ModelTimeout,
        _ => Code::ModelFailed,
    }
}

fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 409 | 429) || status >= 500
}

fn said(at: &str, kind: Kind, words: &str) -> String {
    let lead = match kind {
        Kind::Quota => "the account's quota or credit is exhausted: ",
        Kind::Denied => "the key was not accepted: ",
        Kind::RateLimited => "too many requests: ",
        Kind::Overflow => "the prompt is too long for the model: ",
        _ => "",
    };
    format!("{at}: {lead}{words}")
}

/// What a body that is no JSON looks like.
fn describe(answer: &Answer<'_>) -> String {
    if is_empty(answer.body) {
        return "an empty body".to_owned();
    }
    let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(16 << 10)]);
    let declared = answer.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let lower = text.trim_start().to_ascii_lowercase();
    if lower.starts_with("<!doctype html") || lower.starts_with("<html") || declared.starts_with("text/html") {
        return match title(&text, &lower) {
            Some(title) => format!("an HTML page, \"{}\"", scrub::line(title, 80)),
            None => "an HTML page".to_owned(),
        };
    }
    if declared.starts_with("text/event-stream") {
        return "an event stream, which nobody asked for".to_owned();
    }
    scrub::line(&text, MESSAGE)
}

fn title<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
    let text = text.trim_start();
    let start = lower.find("<title>")? + "<title>".len();
    let end = lower[start..].find("</title>")? + start;
    text.get(start..end)
}

fn redirect(answer: &Answer<'_>) -> String {
    let target = answer.headers.get(LOCATION).and_then(|location| location.to_str().ok());
    // Query and fragment may hold credentials.
    let target = target.map(|target| target.split(['?', '#']).next().unwrap_or_default());
    match target {
        Some(target) => {
            format!("redirected to {}, which is not followed; give the right base URL", scrub::line(target, 200))
        }
        None => "redirected to nowhere".to_owned(),
    }
}

fn is_empty(body: &[u8]) -> bool {
    body.trim_ascii().is_empty()
}

#[cfg(test)]
mod tests;
