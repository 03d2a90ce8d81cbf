//! A reply as an endpoint wraps it, and the ways to spoil it.

use serde_json::{Map, Value, json};

use super::{Body, JSON};
use crate::stand_in::{Malformed, tokens};

/// A reply before it is written as one body or as events.
pub(super) struct Reply<'a> {
    pub(super) id: &'a str,
    pub(super) created: i64,
    pub(super) model: &'a str,
    pub(super) text: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) finish_reason: &'a str,
    pub(super) n: usize,
    pub(super) prompt_tokens: u64,
}

impl Reply<'_> {
    fn reasoning_tokens(&self) -> u64 {
        self.reasoning.as_deref().map_or(0, tokens::count) * self.n as u64
    }

    pub(super) fn completion_tokens(&self) -> u64 {
        self.text.as_deref().map_or(0, tokens::count) * self.n as u64 + self.reasoning_tokens()
    }

    fn usage(&self) -> Value {
        let completion = self.completion_tokens();
        json!({
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self.prompt_tokens + completion,
            "prompt_tokens_details": { "cached_tokens": 0 },
            "completion_tokens_details": { "reasoning_tokens": self.reasoning_tokens() },
        })
    }

    fn message(&self) -> Value {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), json!(self.text));
        if let Some(reasoning) = &self.reasoning {
            message.insert("reasoning_content".to_owned(), json!(reasoning));
        }
        message.into()
    }

    pub(super) fn json(&self) -> Value {
        let choices: Vec<Value> = (0..self.n)
            .map(|index| {
                json!({
                    "index": index,
                    "message": self.message(),
                    "logprobs": null,
                    "finish_reason": self.finish_reason,
                })
            })
            .collect();
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": choices,
            "usage": self.usage(),
        })
    }

    /// The same as server-sent events, the text in pieces of some 40 characters.
    pub(super) fn events(&self, with_usage: bool) -> Vec<String> {
        let event = |choices: Value, usage: Value| {
            let chunk = json!({
                "id": self.id,
                "object": "chat.completion.chunk",
                "created": self.created,
                "model": self.model,
                "choices": choices,
                "usage": usage,
            });
            format!("data: {chunk}\n\n")
        };
        let mut events = Vec::new();
        for index in 0..self.n {
            let mut delta = |delta: Value, finish_reason: Option<&str>| {
                let choice = json!([{ "index": index, "delta": delta, "finish_reason": finish_reason }]);
                events.push(event(choice, Value::Null));
            };
            delta(json!({ "role": "assistant", "content": "" }), None);
            if let Some(reasoning) = &self.reasoning {
                delta(json!({ "reasoning_content": reasoning }), None);
            }
            let characters: Vec<char> = self.text.as_deref().unwrap_or_default().chars().collect();
            for piece in characters.chunks(40) {
                delta(json!({ "content": piece.iter().collect::<String>() }), None);
            }
            delta(json!({}), Some(self.finish_reason));
        }
        if with_usage {
            events.push(event(json!([]), self.usage()));
        }
        events.push("data: [DONE]\n\n".to_owned());
        events
    }
}

pub(super) fn spoil(how: Malformed, reply: &Value) -> Body {
    let mut changed = reply.clone();
    let text = reply.to_string();
    let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    match how {
        Malformed::TruncatedJson => return Body::Whole(JSON, text[..half].to_owned()),
        Malformed::Cut => return Body::Cut(JSON, text[..half].to_owned()),
        Malformed::Html => {
            return Body::Whole("text/html", "<html><body><h1>Sign in to continue</h1></body></html>\n".to_owned());
        }
        Malformed::NotJson => return Body::Whole("text/plain", "upstream said nothing\n".to_owned()),
        Malformed::EmptyBody => return Body::Whole(JSON, String::new()),
        Malformed::EmptyChoices => changed["choices"] = json!([]),
        Malformed::NoChoices => {
            if let Some(members) = changed.as_object_mut() {
                members.shift_remove("choices");
            }
        }
        Malformed::Error200 => {
            changed =
                json!({ "error": { "message": "the stand-in was told to fail", "type": "stand_in", "code": 500 } });
        }
        Malformed::NullContent | Malformed::EmptyContent | Malformed::ReasoningOnly => {}
    }
    Body::Whole(JSON, changed.to_string())
}
