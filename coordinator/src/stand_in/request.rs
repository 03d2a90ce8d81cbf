//! A chat request as the stand-in reads it.

use serde_json::{Map, Value};

/// What matters of a request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) model: String,
    /// Whether a system message is present: judge calls have one, upstream's agents do not.
    pub(super) has_system: bool,
    /// All messages, joined by blank lines.
    pub(super) text: String,
    pub(super) stop: Vec<String>,
    /// `max_completion_tokens` or `max_tokens`.
    pub(super) max_tokens: Option<u64>,
    pub(super) n: usize,
    pub(super) json_mode: bool,
    pub(super) stream: bool,
    pub(super) stream_usage: bool,
    /// Every member of the body, for refusals by name.
    pub(super) members: Map<String, Value>,
}

impl Request {
    /// Reads a body. The error is what an OpenAI-compatible server says in a 400.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| Refusal::new(format!("the body is not valid JSON: {error}"), None))?;
        let Value::Object(members) = value else {
            return Err(Refusal::new("the body must be a JSON object", None));
        };
        let model = match members.get("model").and_then(Value::as_str) {
            Some(model) if !model.is_empty() => model.to_owned(),
            _ => return Err(Refusal::new("you must provide a model parameter", Some("model"))),
        };
        let messages = match members.get("messages").and_then(Value::as_array) {
            Some(messages) if !messages.is_empty() => messages,
            _ => return Err(Refusal::new("`messages` must be a non-empty list", Some("messages"))),
        };
        let mut has_system = false;
        let mut texts = Vec::with_capacity(messages.len());
        for message in messages {
            let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
            match role {
                "system" | "developer" => has_system = true,
                "user" | "assistant" | "tool" => {}
                _ => return Err(Refusal::new(format!("`{role}` is not a role"), Some("messages"))),
            }
            texts.push(content(message.get("content")));
        }
        let stop = match members.get("stop") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(list)) if list.len() <= 4 && list.iter().all(Value::is_string) => {
                list.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
            }
            Some(_) => return Err(Refusal::new("`stop` must be a string or up to 4 strings", Some("stop"))),
        };
        let n = members.get("n").and_then(Value::as_u64).unwrap_or(1);
        if !(1..=16).contains(&n) {
            return Err(Refusal::new("`n` must be between 1 and 16", Some("n")));
        }
        let flag = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
        let format = members.get("response_format").and_then(|format| format.get("type")).and_then(Value::as_str);
        Ok(Self {
            model,
            has_system,
            text: texts.join("\n\n"),
            stop: stop.into_iter().filter(|text| !text.is_empty()).collect(),
            max_tokens: ["max_completion_tokens", "max_tokens"].iter().find_map(|name| members.get(*name)?.as_u64()),
            n: n as usize,
            json_mode: matches!(format, Some("json_object" | "json_schema")),
            stream: flag(members.get("stream")),
            stream_usage: flag(members.get("stream_options").and_then(|options| options.get("include_usage"))),
            members,
        })
    }
}

/// Why a request cannot be answered, and which parameter is to blame.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) param: Option<&'static str>,
}

impl Refusal {
    fn new(message: impl Into<String>, param: Option<&'static str>) -> Self {
        Self { message: message.into(), param }
    }
}

fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_whole() {
        let body = br#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"u"}]}],
            "stop":["\nObservation:"],"max_tokens":250,"response_format":{"type":"json_object"},"n":2}"#;
        let request = Request::parse(body).unwrap();
        assert_eq!((request.model.as_str(), request.text.as_str(), request.has_system), ("m", "s\n\nu", true));
        assert_eq!((request.stop.len(), request.max_tokens, request.n, request.json_mode), (1, Some(250), 2, true));
        assert!(!request.stream);
    }

    #[test]
    fn what_cannot_be_answered_is_refused_with_the_parameter() {
        let cases: [(&[u8], Option<&str>); 6] = [
            (b"{", None),
            (b"[]", None),
            (br#"{"messages":[{"role":"user","content":"x"}]}"#, Some("model")),
            (br#"{"model":"m","messages":[]}"#, Some("messages")),
            (br#"{"model":"m","messages":[{"role":"narrator","content":"x"}]}"#, Some("messages")),
            (br#"{"model":"m","messages":[{"role":"user","content":"x"}],"stop":[1]}"#, Some("stop")),
        ];
        for (body, param) in cases {
            assert_eq!(Request::parse(body).unwrap_err().param, param);
        }
    }
}
