//! A model that plays a script and remembers what it was asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use argosy_shared::{
    issue::Code,
    model::{ChatReply, ChatRequest, Failure, Model, Usage},
};
use async_trait::async_trait;
use tokio::sync::watch;

/// One line of a script.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A usable answer.
    Reply(ChatReply),
    /// A classified failure.
    Failure(Failure),
    /// No answer as long as somebody waits for it.
    Never,
}

impl From<&str> for Answer {
    fn from(content: &str) -> Self {
        Self::Reply(reply(content))
    }
}

impl From<String> for Answer {
    fn from(content: String) -> Self {
        Self::from(content.as_str())
    }
}

impl From<ChatReply> for Answer {
    fn from(reply: ChatReply) -> Self {
        Self::Reply(reply)
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// A reply as an ordinary endpoint gives it, with ten tokens in and two out.
#[must_use]
pub fn reply(content: &str) -> ChatReply {
    ChatReply {
        content: Some(content.to_owned()),
        finish_reason: Some("stop".to_owned()),
        usage: Usage { prompt: Some(10), completion: Some(2), ..Usage::default() },
        raw: format!("{{\"choices\":[{{\"message\":{{\"content\":{content:?}}}}}]}}"),
        elapsed: Duration::from_millis(5),
        ..ChatReply::default()
    }
}

/// A failure of that kind, with the severity of its code's rule.
#[must_use]
pub fn failure(code: Code, message: &str) -> Failure {
    Failure {
        severity: code.rule().severity,
        code,
        status: None,
        message: message.to_owned(),
        transient: false,
        retries: 0,
        raw: None,
    }
}

/// A model that plays a script. When the script is over, every further request fails FATAL.
#[derive(Debug)]
pub struct ScriptedModel {
    script: Mutex<VecDeque<Answer>>,
    requests: watch::Sender<Vec<ChatRequest>>,
}

impl ScriptedModel {
    /// A model that gives these answers in this order.
    pub fn new(script: impl IntoIterator<Item = impl Into<Answer>>) -> Arc<Self> {
        let script = Mutex::new(script.into_iter().map(Into::into).collect());
        Arc::new(Self { script, requests: watch::Sender::default() })
    }

    /// All requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.borrow().clone()
    }

    /// The text of the last message of every request so far.
    #[must_use]
    pub fn prompts(&self) -> Vec<String> {
        let text = |request: &ChatRequest| request.messages.last().map(|message| message.content.clone());
        self.requests.borrow().iter().filter_map(text).collect()
    }

    /// Waits until that many requests have come.
    pub async fn asked(&self, count: usize) {
        // It fails only when the sender is gone, which lives as long as this.
        let _ = self.requests.subscribe().wait_for(|requests| requests.len() >= count).await;
    }
}

#[async_trait]
impl Model for ScriptedModel {
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, Failure> {
        self.requests.send_modify(|requests| requests.push(request.clone()));
        let answer = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match answer {
            Some(Answer::Reply(reply)) => Ok(reply),
            Some(Answer::Failure(failure)) => Err(failure),
            Some(Answer::Never) => std::future::pending().await,
            None => Err(failure(Code::ModelFailed, "the script is over")),
        }
    }
}
