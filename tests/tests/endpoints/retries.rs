//! What is sent again, how often, and after how long.

use std::time::Duration;

use argosy_shared::{
    issue::{Code, Severity},
    time::{Clock as _, SystemClock},
};
use serde_json::json;

use super::{
    agent_request, ask, client, content,
    peer::{Peer, reply, response},
};
use argosy_shared::model::Model as _;

fn error(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    response(status, headers, json!({"error": {"message": "not now"}}).to_string())
}

#[tokio::test]
async fn passing_errors_are_repeated_until_the_retries_are_used_up() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        let peer = Peer::answering(&[error(status, &[]), error(status, &[]), reply("hi")]).await;
        let answer = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!((answer.retries, peer.requests().len()), (2, 3), "{status}");

        let peer = Peer::answering(&[error(status, &[])]).await;
        let failure = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err();
        assert_eq!((&failure.code, failure.severity), (&Code::ModelFailed, Severity::Fatal), "{status}");
        assert_eq!((failure.retries, failure.transient, peer.requests().len()), (3, true, 4), "{status}");
        assert!(failure.message.contains(&format!("HTTP {status} from 127.0.0.1:")), "{failure}");
        assert!(failure.message.ends_with("not now (after 3 retries)"), "{failure}");
    }
}

#[tokio::test]
async fn lasting_errors_are_not_repeated() {
    for status in [400, 401, 402, 403, 404, 405, 413, 422] {
        let peer = Peer::answering(&[error(status, &[]), reply("hi")]).await;
        let failure = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err();
        assert_eq!((failure.status, failure.transient, failure.retries), (Some(status), false, 0));
        assert_eq!((&failure.code, failure.severity), (&Code::ModelFailed, Severity::Fatal), "{status}");
        assert_eq!(peer.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn an_exhausted_quota_is_said_at_once() {
    let body = json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    let peer = Peer::answering(&[response(429, &[], body.to_string())]).await;
    let failure = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err();
    assert_eq!((failure.transient, failure.retries), (false, 0));
    assert!(failure.message.contains("quota or credit is exhausted"), "{failure}");
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_an_error_not_a_fatality() {
    let body = json!({"error": {"message": "too long", "code": "context_length_exceeded"}});
    let peer = Peer::answering(&[response(400, &[], body.to_string())]).await;
    let failure = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err();
    assert_eq!((&failure.code, failure.severity), (&Code::ModelContextExceeded, Severity::Error));
}

#[tokio::test]
async fn the_server_is_not_asked_again_before_it_allows() {
    let peer = Peer::answering(&[error(429, &[("retry-after-ms", "250")]), reply("hi")]).await;
    let client = client(&peer.url(), 1, 10.0);
    let clock = SystemClock::new();
    let answer = ask(&client).await.unwrap();
    assert!(clock.monotonic() >= Duration::from_millis(250));
    assert!(answer.elapsed >= Duration::from_millis(250));
    for garbage in ["soon", "-5", "", "Wed, 99 Foo 2015"] {
        let peer = Peer::answering(&[error(429, &[("retry-after", garbage)]), reply("hi")]).await;
        assert_eq!(content(ask(&super::client(&peer.url(), 1, 10.0)).await), "hi", "{garbage}");
    }
}

#[tokio::test]
async fn the_server_may_overrule_its_status() {
    let peer = Peer::answering(&[error(400, &[("x-should-retry", "true")]), reply("hi")]).await;
    assert_eq!(ask(&client(&peer.url(), 3, 10.0)).await.unwrap().retries, 1);
    let peer = Peer::answering(&[error(503, &[("x-should-retry", "false")]), reply("hi")]).await;
    assert_eq!(ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err().retries, 0);
}

#[tokio::test]
async fn a_success_without_a_reply_is_repeated_where_that_can_help() {
    let empty = response(200, &[], r#"{"choices":[]}"#);
    let peer = Peer::answering(&[empty, response(200, &[], "{\"cho"), reply("hi")]).await;
    assert_eq!(ask(&client(&peer.url(), 3, 10.0)).await.unwrap().retries, 2);
    let page = response(200, &[("content-type", "text/html")], "<html><title>Welcome</title></html>");
    let peer = Peer::answering(&[page, reply("hi")]).await;
    let failure = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err();
    assert_eq!((failure.severity, failure.retries), (Severity::Fatal, 0));
    assert!(failure.message.contains("is the base URL right?"), "{failure}");
    assert!(failure.raw.unwrap().contains("Welcome"));
}

#[tokio::test]
async fn null_and_empty_contents_are_replies_for_the_caller_to_judge() {
    let body = json!({"choices": [{"message": {"content": null, "reasoning": "hm"}, "finish_reason": "length"}]});
    let peer = Peer::answering(&[response(200, &[], body.to_string())]).await;
    let answer = client(&peer.url(), 3, 10.0).complete(&agent_request("x")).await.unwrap();
    assert_eq!((answer.content, answer.reasoning.as_deref(), answer.retries), (None, Some("hm"), 0));
    assert_eq!(answer.finish_reason.as_deref(), Some("length"));
}
