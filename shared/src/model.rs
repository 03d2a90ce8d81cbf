//! The one client that talks to language models, for the model under test (in workers) and the judge (in the
//! coordinator).
//!
//! [`Model`] is the seam: [`openai_chat::Client`] is the real one; tests put scripted ones behind it. What a server's
//! answer means is decided in [`classify`], what a model refuses in [`portability`], how long to wait in [`retry`];
//! those three are pure.

pub mod classify;
pub mod download;
pub mod openai_chat;
pub mod portability;
pub mod retry;
pub mod secret;

mod scrub;

use std::{fmt, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::issue::{Code, Severity};

/// Something that answers chat requests.
#[async_trait]
pub trait Model: Send + Sync {
    /// Sends one request, with the retries its configuration allows.
    ///
    /// # Errors
    /// A classified [`Failure`].
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, Failure>;
}

/// A chat request. `params` are sent verbatim beside `model` and `messages`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// Model id.
    pub model: String,
    /// The messages.
    pub messages: Vec<Message>,
    /// Everything else of the body, in order (`temperature`, `n`, `stop`, `response_format`, …).
    pub params: Map<String, Value>,
}

/// One message of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The text.
    pub content: String,
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// The one who asks.
    User,
}

/// A usable answer of an endpoint: HTTP 200 with a first choice. Its content may still be null or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatReply {
    /// `choices[0].message.content`, `None` where it is null or missing.
    pub content: Option<String>,
    /// `reasoning_content` or `reasoning` beside it; never taken for the answer.
    pub reasoning: Option<String>,
    /// `choices[0].finish_reason`.
    pub finish_reason: Option<String>,
    /// Token counts.
    pub usage: Usage,
    /// The body as received, cut at 64 KiB, for the record of unusable replies.
    pub raw: String,
    /// Requests sent again before this answer came.
    pub retries: u32,
    /// From the first request to the complete body.
    pub elapsed: Duration,
    /// How the request differs from what was asked for, in words (`dropped stop`); empty when it does not.
    pub changed_params: Vec<String>,
}

/// Token counts as the endpoint reports them; `None` where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All tokens of the prompt.
    pub prompt: Option<u64>,
    /// All tokens of the completion.
    pub completion: Option<u64>,
    /// Prompt tokens from a cache, a part of `prompt`.
    pub cached: Option<u64>,
    /// Reasoning tokens, a part of `completion`.
    pub reasoning: Option<u64>,
}

/// A request that brought no usable answer, classified by [`classify`].
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What it means for an agent run (`model_failed`, `model_timeout`, `model_context_exceeded`,
    /// `model_output_invalid`). The judge has codes of its own.
    pub code: Code,
    /// FATAL or ERROR.
    pub severity: Severity,
    /// HTTP status, if an answer came.
    pub status: Option<u16>,
    /// One line for people; names host and status, holds no secret.
    pub message: String,
    /// Whether sending the same request again can help.
    pub transient: bool,
    /// Requests sent again before giving up.
    pub retries: u32,
    /// The body as received, cut at 64 KiB.
    pub raw: Option<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
