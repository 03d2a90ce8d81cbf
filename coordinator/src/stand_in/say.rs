//! One thing the stand-in says: a reply, an error, or something no client should have to read.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

/// A reply in a script. A plain string is short for `{"content": …}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Say {
    /// The reply's text; an object or list is written as JSON; null stays null.
    pub content: Value,
    /// `reasoning_content` beside it.
    pub reasoning: Option<String>,
    /// Instead of the true `stop` or `length`.
    pub finish_reason: Option<String>,
    /// An HTTP error instead of a reply.
    pub status: Option<u16>,
    /// The error's body; a string is sent as it stands, anything else as JSON.
    pub body: Option<Value>,
    /// `Retry-After` of the error, verbatim.
    pub retry_after: Option<String>,
    /// More headers of the error.
    pub headers: BTreeMap<String, String>,
    /// Something unreadable instead of a reply.
    pub malformed: Option<Malformed>,
    /// Milliseconds instead of the script's latency.
    pub latency_ms: Option<f64>,
    /// Judge replies: only for requests that contain this text.
    pub only_for: Option<String>,
}

/// Ways not to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Malformed {
    /// Status 200, the first half of the JSON.
    TruncatedJson,
    /// Status 200, an HTML page.
    Html,
    /// Status 200, plain text.
    NotJson,
    /// Status 200, nothing.
    EmptyBody,
    /// `"choices": []`.
    EmptyChoices,
    /// No `choices` at all.
    NoChoices,
    /// `"content": null`.
    NullContent,
    /// `"content": ""`.
    EmptyContent,
    /// Null content, all text in `reasoning_content`, `finish_reason` `length`.
    ReasoningOnly,
    /// Status 200 with an `error` object.
    #[serde(rename = "error_200")]
    Error200,
    /// The connection ends in the middle of the body.
    Cut,
}

impl Say {
    /// A reply with this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: Value::String(text.into()), ..Self::default() }
    }

    /// An HTTP error.
    #[must_use]
    pub fn error(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Something unreadable.
    #[must_use]
    pub fn malformed(how: Malformed) -> Self {
        Self { malformed: Some(how), ..Self::text("lost") }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(status) = self.status
            && !(300..=599).contains(&status)
        {
            return Err(format!("`status` {status} is no error: give one from 300 to 599"));
        }
        if self.latency_ms.is_some_and(|millis| !(millis.is_finite() && millis >= 0.0)) {
            return Err("`latency_ms` must be a non-negative number".to_owned());
        }
        for (name, value) in &self.headers {
            let visible = |text: &str| text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') || !visible(value) {
                return Err(format!("`{name}: {value}` is no header"));
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Say {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Form {
            #[serde(default)]
            content: Value,
            reasoning: Option<String>,
            finish_reason: Option<String>,
            status: Option<u16>,
            body: Option<Value>,
            retry_after: Option<Value>,
            #[serde(default)]
            headers: BTreeMap<String, String>,
            malformed: Option<Malformed>,
            latency_ms: Option<f64>,
            #[serde(rename = "match")]
            only_for: Option<String>,
        }
        let value = Value::deserialize(deserializer)?;
        if let Value::String(text) = value {
            return Ok(Self::text(text));
        }
        if !value.is_object() {
            return Err(D::Error::custom(format!("a reply is a string or an object, not `{value}`")));
        }
        let form: Form = serde_json::from_value(value).map_err(D::Error::custom)?;
        let retry_after = form.retry_after.map(|value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        });
        Ok(Self {
            content: form.content,
            reasoning: form.reasoning,
            finish_reason: form.finish_reason,
            status: form.status,
            body: form.body,
            retry_after,
            headers: form.headers,
            malformed: form.malformed,
            latency_ms: form.latency_ms,
            only_for: form.only_for,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_a_string_or_an_object() {
        let read = |text: &str| serde_json::from_str::<Say>(text);
        assert_eq!(read("\"x\"").unwrap(), Say::text("x"));
        let error = read(r#"{"status": 429, "retry_after": 5}"#).unwrap();
        assert_eq!((error.status, error.retry_after.as_deref()), (Some(429), Some("5")));
        assert_eq!(read(r#"{"content": null}"#).unwrap().content, Value::Null);
        assert!(read("5").unwrap_err().to_string().contains("a string or an object"));
        assert!(read(r#"{"contents": "x"}"#).unwrap_err().to_string().contains("contents"));
        assert!(Say::error(200).check().is_err());
    }
}
