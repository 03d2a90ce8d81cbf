//! Reads the body of a successful answer. Pure.

use std::borrow::Cow;

use serde_json::Value;

use crate::model::{
    Usage,
    classify::{ErrorBody, Unusable},
};

/// A reply read from a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) content: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) finish_reason: Option<String>,
    pub(super) usage: Usage,
}

/// Reads a body: a JSON object whose `choices` begin with a message. The message's content may be null.
pub(super) fn read(body: &[u8]) -> Result<Reply, Unusable> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        // Python servers write half an emoji as a lone surrogate, which is no Unicode.
        Err(error) => match without_lone_surrogates(body) {
            Some(repaired) => serde_json::from_str(&repaired).map_err(|_| Unusable::NotJson(error.to_string()))?,
            None => return Err(Unusable::NotJson(error.to_string())),
        },
    };
    let choice = value.get("choices").and_then(Value::as_array).and_then(|choices| choices.first());
    let message = choice.and_then(|choice| choice.get("message")).filter(|message| message.is_object());
    let finish_reason = choice.and_then(|choice| choice.get("finish_reason")).and_then(Value::as_str);
    let has_error = |value: &Value| value.get("error").is_some_and(|error| !error.is_null());
    // OpenRouter reports a provider's failure beside an empty or broken-off choice.
    let failed_choice = choice.filter(|choice| has_error(choice) || finish_reason == Some("error"));
    let is_error_object = value.get("object").and_then(Value::as_str) == Some("error");
    if has_error(&value) || value.is_array() || (message.is_none() && is_error_object) {
        return Err(Unusable::Error(ErrorBody::of(&value)));
    }
    if let Some(choice) = failed_choice {
        return Err(Unusable::Error(ErrorBody::of(choice)));
    }
    if !value.is_object() {
        return Err(Unusable::NotJson("a JSON object was expected".to_owned()));
    }
    let Some(message) = message else { return Err(Unusable::NoChoices) };
    let (content, thoughts) = content(message.get("content"));
    let reasoning = ["reasoning_content", "reasoning"]
        .iter()
        .filter_map(|name| message.get(*name).and_then(Value::as_str))
        .find(|text| !text.is_empty())
        .map(ToOwned::to_owned);
    Ok(Reply {
        content,
        reasoning: reasoning.or(thoughts),
        finish_reason: finish_reason.map(ToOwned::to_owned),
        usage: value.get("usage").map(usage).unwrap_or_default(),
    })
}

/// The content and the thoughts in it: a text, or parts of which some are texts and some `thinking` (Mistral).
fn content(value: Option<&Value>) -> (Option<String>, Option<String>) {
    let parts = match value {
        Some(Value::String(text)) => return (Some(text.clone()), None),
        Some(Value::Array(parts)) => parts,
        _ => return (None, None),
    };
    let text_of = |part: &Value| part.get("text").and_then(Value::as_str).map(ToOwned::to_owned);
    let texts: Vec<String> = parts.iter().filter_map(text_of).collect();
    let thoughts: String = parts
        .iter()
        .filter_map(|part| part.get("thinking"))
        .map(|thinking| match thinking {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(text_of).collect(),
            _ => String::new(),
        })
        .collect();
    let content = if texts.is_empty() { None } else { Some(texts.concat()) };
    (content, Some(thoughts).filter(|thoughts| !thoughts.is_empty()))
}

fn usage(usage: &Value) -> Usage {
    // Some proxies write counts as floats.
    let whole = |number: f64| (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64);
    let count = |value: &Value| value.as_u64().or_else(|| value.as_f64().and_then(whole));
    let of = |name: &str| usage.get(name).and_then(count);
    let detail = |group: &str, name: &str| usage.get(group).and_then(|group| group.get(name)).and_then(count);
    Usage {
        prompt: of("prompt_tokens"),
        completion: of("completion_tokens"),
        // DeepSeek names its cache differently.
        cached: detail("prompt_tokens_details", "cached_tokens").or_else(|| of("prompt_cache_hit_tokens")),
        reasoning: detail("completion_tokens_details", "reasoning_tokens").or_else(|| of("reasoning_tokens")),
    }
}

/// The text with every `\uD800`..`\uDFFF` that has no partner written as U+FFFD; `None` if there is none.
fn without_lone_surrogates(body: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(body).ok()?;
    let unit = |at: usize| {
        let escape = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(escape, 16).ok()
    };
    let mut repaired = String::with_capacity(text.len());
    let (mut kept, mut at, mut found) = (0, 0, false);
    while let Some(step) = text[at..].find('\\') {
        at += step;
        let length = match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                repaired.push_str(&text[kept..at]);
                repaired.push_str("\\ufffd");
                (kept, found) = (at + 6, true);
                6
            }
            // An escaped backslash is passed over with what it escapes.
            _ => text[at + 1..].chars().next().map_or(1, |next| 1 + next.len_utf8()),
        };
        at += length;
    }
    repaired.push_str(&text[kept..]);
    found.then_some(Cow::Owned(repaired))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(body: &str) -> Reply {
        read(body.as_bytes()).unwrap()
    }

    #[test]
    fn a_whole_reply_is_read() {
        let reply = ok(
            r#"{"choices":[{"message":{"role":"assistant","content":"hi","reasoning_content":"hm"},"finish_reason":"stop"}],
            "usage":{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}"#,
        );
        assert_eq!((reply.content.as_deref(), reply.reasoning.as_deref()), (Some("hi"), Some("hm")));
        assert_eq!(reply.finish_reason.as_deref(), Some("stop"));
        assert_eq!(reply.usage, Usage { prompt: Some(9), completion: Some(3), cached: Some(4), reasoning: Some(2) });
    }

    #[test]
    fn the_forms_other_servers_use_are_read() {
        let of = |message: &str| ok(&format!(r#"{{"choices":[{{"message":{message}}}]}}"#));
        assert_eq!(of(r#"{"content":null}"#), Reply::default());
        assert_eq!(of(r#"{}"#), Reply::default());
        assert_eq!(of(r#"{"content":null,"reasoning":"hm"}"#).reasoning.as_deref(), Some("hm"));
        let parts = of(
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hi"}]}"#,
        );
        assert_eq!((parts.content.as_deref(), parts.reasoning.as_deref()), (Some("hi"), Some("hm")));
        let deepseek = ok(
            r#"{"choices":[{"message":{"content":""}}],"usage":{"prompt_tokens":5.0,"prompt_cache_hit_tokens":2,"completion_tokens":-1}}"#,
        );
        assert_eq!(deepseek.usage, Usage { prompt: Some(5), cached: Some(2), ..Usage::default() });
        assert_eq!(deepseek.content.as_deref(), Some(""));
        assert_eq!(ok("\u{feff}{\"choices\":[{\"message\":{\"content\":\"x\"}}]}").content.as_deref(), Some("x"));
    }

    #[test]
    fn half_an_emoji_does_not_lose_the_reply() {
        let reply = ok(r#"{"choices":[{"message":{"content":"a \ud83d b \ud83d\ude00 c \\ud83d \udE00"}}]}"#);
        assert_eq!(reply.content.as_deref(), Some("a \u{fffd} b \u{1f600} c \\ud83d \u{fffd}"));
        assert!(matches!(read(br#"{"choices": "\ud83d"#), Err(Unusable::NotJson(_))));
    }

    #[test]
    fn what_is_no_reply_says_why() {
        let error = |body: &str| read(body.as_bytes()).unwrap_err();
        for body in ["", "{", "<html>", "\"text\"", "5", "null", "\u{feff}"] {
            assert!(matches!(error(body), Unusable::NotJson(_)), "{body}");
        }
        for body in [
            "{}",
            r#"{"choices":[]}"#,
            r#"{"choices":null}"#,
            r#"{"choices":[{}]}"#,
            r#"{"choices":[{"message":null}]}"#,
        ] {
            assert_eq!(error(body), Unusable::NoChoices, "{body}");
        }
        for body in [
            r#"{"error":{"message":"m"}}"#,
            r#"{"error":"m"}"#,
            r#"[{"error":{"message":"m"}}]"#,
            r#"{"object":"error","message":"m"}"#,
            r#"{"choices":[{"message":{"content":null}}],"error":{"message":"m"}}"#,
            r#"{"choices":[{"message":{"content":"half"},"error":{"message":"m"},"finish_reason":"error"}]}"#,
        ] {
            let Unusable::Error(error) = error(body) else { panic!("{body}") };
            assert_eq!(error.message, "m", "{body}");
        }
    }
}
