//! The error a server describes in a body, in the many forms that OpenAI-compatible servers use.

use std::time::Duration;

use serde_json::Value;

/// What a body says about an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorBody {
    /// The server's words, untrimmed and unbounded.
    pub message: String,
    /// `type` or `status`.
    pub kind: Option<String>,
    /// `code`, where it is a word.
    pub code: Option<String>,
    /// The parameter that is blamed.
    pub param: Option<String>,
    /// `code` or `status`, where it is an HTTP status.
    pub status: Option<u16>,
    /// How long to wait, where the body says so (Google's `RetryInfo`).
    pub retry_after: Option<Duration>,
}

impl ErrorBody {
    /// Reads a whole body; `None` if it is no JSON.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(body).ok()?;
        Some(Self::of(&value))
    }

    /// Reads an error from a JSON value: `{"error": {..}}` (OpenAI, Anthropic, vLLM), `[{"error": {..}}]` (Gemini),
    /// `{"error": ".."}` (TGI, Ollama, xAI), `{"object": "error", "message": ..}` (older vLLM, Mistral),
    /// `{"detail": ..}` (FastAPI), `{"message": ..}` (Cohere, Bedrock), or anything at all.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        let outer = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let inner = outer.get("error").filter(|error| !error.is_null());
        let error = inner.filter(|error| error.is_object()).unwrap_or(outer);
        let member = |name: &str| error.get(name).or_else(|| outer.get(name)).filter(|value| !value.is_null());
        let word = |name: &str| member(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let status = |name: &str| {
            let value = member(name)?;
            let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
            u16::try_from(number).ok().filter(|status| (100..600).contains(status))
        };
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let mut message = match inner.filter(|error| error.is_string()) {
            Some(words) => text(words),
            None => ["message", "detail", "details", "error_description", "title"]
                .iter()
                .find_map(|name| member(name))
                .map_or_else(|| outer.to_string(), text),
        };
        // OpenRouter keeps the words of the provider behind it apart from its own.
        if let Some(raw) = error.get("metadata").and_then(|metadata| metadata.get("raw")).and_then(Value::as_str) {
            message = format!("{message}: {raw}");
        }
        Self {
            message,
            kind: word("type").or_else(|| word("status")).or_else(|| word("error_type")).map(ToOwned::to_owned),
            code: word("code").map(ToOwned::to_owned),
            param: word("param").map(ToOwned::to_owned),
            status: status("code").or_else(|| status("status")),
            retry_after: error.get("details").and_then(google_delay),
        }
    }

    /// Whether `code` or `type` is one of these words.
    #[must_use]
    pub fn is_coded(&self, words: &[&str]) -> bool {
        [&self.code, &self.kind]
            .into_iter()
            .flatten()
            .any(|code| words.iter().any(|word| code.eq_ignore_ascii_case(word)))
    }
}

/// `[{"@type": "…RetryInfo", "retryDelay": "34s"}]`.
fn google_delay(details: &Value) -> Option<Duration> {
    let delay = details.as_array()?.iter().find_map(|detail| detail.get("retryDelay"))?;
    let seconds: f64 = delay.as_str()?.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds.min(1e9)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_servers_form_is_read() {
        let cases = [
            (r#"{"error":{"message":"m","type":"t","param":"stop","code":"c"}}"#, "m", Some("t"), Some("c")),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
                "m",
                Some("overloaded_error"),
                None,
            ),
            (
                r#"[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]"#,
                "m",
                Some("INVALID_ARGUMENT"),
                None,
            ),
            (r#"{"error":"m","error_type":"validation"}"#, "m", Some("validation"), None),
            (
                r#"{"code":"Client specified an invalid argument","error":"m"}"#,
                "m",
                None,
                Some("Client specified an invalid argument"),
            ),
            (
                r#"{"object":"error","message":"m","type":"BadRequestError","param":null,"code":400}"#,
                "m",
                Some("BadRequestError"),
                None,
            ),
            (r#"{"detail":"m"}"#, "m", None, None),
            (r#"{"detail":[{"loc":["body","n"],"msg":"x"}]}"#, r#"[{"loc":["body","n"],"msg":"x"}]"#, None, None),
            (r#"{"message":"m"}"#, "m", None, None),
            (r#"{"odd":1}"#, r#"{"odd":1}"#, None, None),
            ("[]", "[]", None, None),
            ("null", "null", None, None),
        ];
        for (body, message, kind, code) in cases {
            let error = ErrorBody::read(body.as_bytes()).unwrap();
            assert_eq!(
                (error.message.as_str(), error.kind.as_deref(), error.code.as_deref()),
                (message, kind, code),
                "{body}"
            );
        }
        assert_eq!(ErrorBody::read(b"<html>"), None);
    }

    #[test]
    fn statuses_delays_and_a_providers_own_words_are_found() {
        let body =
            r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"error code: 1015"}}}"#;
        let error = ErrorBody::read(body.as_bytes()).unwrap();
        assert_eq!((error.status, error.message.as_str()), (Some(429), "Provider returned error: error code: 1015"));
        let body = r#"{"error":{"code":"503","message":"m","details":[{"@type":"x"},{"@type":"RetryInfo","retryDelay":"34.5s"}]}}"#;
        let error = ErrorBody::read(body.as_bytes()).unwrap();
        assert_eq!((error.status, error.retry_after), (Some(503), Some(Duration::from_millis(34_500))));
    }
}
