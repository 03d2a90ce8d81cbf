//! The model client against servers of every kind: scripted byte by byte, the stand-in, and, when
//! `ARGOSY_TEST_SMALL_LLM` names the base URL of one, a real language model server.
#![allow(clippy::disallowed_methods, reason = "scripted peers live as long as their test")]

mod connections;
mod parameters;
mod peer;
mod real_server;
mod retries;
mod stand_in;
mod unreadable;

use std::time::Duration;

use argosy_shared::{
    model::{
        ChatReply, ChatRequest, Failure, Message, Model as _, Role,
        openai_chat::{Client, Endpoint},
        retry::Policy,
        secret::Secret,
    },
    spec::{ModelParams, Protocol},
};
use serde_json::{Map, Value, json};

/// A key that must not turn up anywhere.
const KEY: &str = "sk-very-secret-key";

/// A client with a key, a timeout in seconds, and quick retries.
fn client(base_url: &str, max_retries: u32, timeout: f64) -> Client {
    let endpoint =
        Endpoint { base_url: base_url.to_owned(), api_key: Secret::new(KEY), protocol: Protocol::OpenaiChat };
    let params = ModelParams { max_retries, timeout, ..ModelParams::default() };
    let policy = Policy { max_retries, base: Duration::from_millis(1), ..Policy::default() };
    Client::new(&endpoint, &params).expect("a client").with_retry(policy)
}

/// What upstream's agents send.
fn agent_request(text: &str) -> ChatRequest {
    request(text, json!({"temperature": 0.7, "n": 1, "stop": ["\nObservation:"]}))
}

fn request(text: &str, params: Value) -> ChatRequest {
    let params: Map<String, Value> = params.as_object().expect("parameters are an object").clone();
    ChatRequest {
        model: "m".to_owned(),
        messages: vec![Message { role: Role::User, content: text.to_owned() }],
        params,
    }
}

async fn ask(client: &Client) -> Result<ChatReply, Failure> {
    client.complete(&agent_request("hello")).await
}

/// The content of a reply that must have come.
fn content(reply: Result<ChatReply, Failure>) -> String {
    reply.unwrap_or_else(|failure| panic!("{failure}")).content.expect("a content")
}
