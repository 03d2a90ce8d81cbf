//! Parameters that models refuse.

use argosy_shared::model::{
    Model as _,
    portability::{Change, Learned},
};
use serde_json::{Value, json};

use super::{
    agent_request, client, content,
    peer::{Peer, reply, response},
    request,
};

fn refusal(message: &str, param: &str, code: &str) -> Vec<u8> {
    let body = json!({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}});
    response(400, &[], body.to_string())
}

fn no_stop() -> Vec<u8> {
    refusal("Unsupported parameter: 'stop' is not supported with this model.", "stop", "unsupported_parameter")
}

#[tokio::test]
async fn a_refused_stop_is_dropped_once_and_the_reply_is_cut_here() {
    let long = reply("Action: python_repl_ast\nAction Input: 1\nObservation: made up\nFinal Answer: also made up");
    let peer = Peer::answering(&[no_stop(), long]).await;
    let client = client(&peer.url(), 0, 10.0);
    let answer = client.complete(&agent_request("x")).await.unwrap();
    assert_eq!(answer.content.as_deref(), Some("Action: python_repl_ast\nAction Input: 1"));
    assert_eq!(answer.changed_params, ["dropped stop", "cut the reply at a stop sequence"]);
    assert_eq!(answer.retries, 0);

    let again = client.complete(&agent_request("y")).await.unwrap();
    assert_eq!(again.changed_params, answer.changed_params);
    let sent: Vec<bool> = peer.requests().iter().map(|request| request.json().get("stop").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
    // The rest of the request is what it was.
    assert_eq!(peer.requests()[1].json()["temperature"], 0.7);
}

#[tokio::test]
async fn everything_refused_is_learned_one_by_one() {
    let temperature = "Unsupported value: 'temperature' does not support 0 with this model.";
    let limit =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let format = "'response_format' of type 'json_object' is not supported with this model.";
    let peer = Peer::answering(&[
        refusal(temperature, "temperature", "unsupported_value"),
        refusal(limit, "max_tokens", "unsupported_parameter"),
        refusal(format, "response_format", "unsupported_value"),
        reply("{}"),
    ])
    .await;
    let judge = request(
        "x",
        json!({"temperature": 0, "max_tokens": 250, "top_p": 1.0, "response_format": {"type": "json_object"}}),
    );
    let client = client(&peer.url(), 0, 10.0);
    let answer = client.complete(&judge).await.unwrap();
    let changes = ["dropped temperature", "renamed max_tokens to max_completion_tokens", "dropped response_format"];
    assert_eq!(answer.changed_params, changes);
    let last = peer.requests()[3].json();
    assert_eq!(last, json!({"model": "m", "messages": last["messages"], "max_completion_tokens": 250, "top_p": 1.0}));
    // Only what a request has is reported as changed.
    let agent = client.complete(&request("y", json!({"n": 1, "temperature": 0.7}))).await.unwrap();
    assert_eq!(agent.changed_params, ["dropped temperature"]);
}

#[tokio::test]
async fn what_one_client_learned_serves_another() {
    let peer = Peer::answering(&[no_stop(), reply("hi")]).await;
    let first = client(&peer.url(), 0, 10.0);
    content(first.complete(&agent_request("x")).await);
    let entries = first.learned().entries();
    assert_eq!((entries[0].endpoint.as_str(), entries[0].model.as_str()), (peer.url().as_str(), "m"));
    assert!(entries[0].changes.contains(&Change::Drop("stop".to_owned())));

    let learned = Learned::new();
    learned.seed(entries);
    let second = client(&peer.url(), 0, 10.0).with_learned(learned);
    assert_eq!(second.complete(&agent_request("y")).await.unwrap().changed_params, ["dropped stop"]);
    assert_eq!(peer.requests().len(), 3);
    // Another model at the same endpoint is asked for itself.
    let mut other = agent_request("z");
    other.model = "other".to_owned();
    assert!(second.complete(&other).await.unwrap().changed_params.is_empty());
}

#[tokio::test]
async fn a_change_that_did_not_help_is_not_remembered() {
    let other = refusal("The model is out to lunch.", "model", "model_not_found");
    let peer = Peer::answering(&[no_stop(), other]).await;
    let client = client(&peer.url(), 3, 10.0);
    let failure = client.complete(&agent_request("x")).await.unwrap_err();
    assert!(failure.message.contains("out to lunch"), "{failure}");
    assert!(client.learned().entries().is_empty());
    assert_eq!(peer.requests().len(), 2);
}

#[tokio::test]
async fn a_server_that_refuses_for_ever_does_not_hold_the_client_for_ever() {
    let peer = Peer::answering(&[no_stop()]).await;
    let failure = client(&peer.url(), 3, 10.0).complete(&agent_request("x")).await.unwrap_err();
    assert_eq!((failure.status, failure.retries), (Some(400), 0));
    assert_eq!(peer.requests().len(), 2);
}

#[tokio::test]
async fn a_stop_that_was_taken_and_not_honoured_is_honoured_here() {
    let peer = Peer::answering(&[reply("Action: a\nObservation: made up")]).await;
    let answer = client(&peer.url(), 0, 10.0).complete(&agent_request("x")).await.unwrap();
    assert_eq!(answer.content.as_deref(), Some("Action: a"));
    assert_eq!(answer.changed_params, ["cut the reply at a stop sequence"]);
}

#[tokio::test]
async fn a_ping_learns_and_demands_json_mode_only_where_it_is_asked_for() {
    let params = |value: Value| value.as_object().unwrap().clone();
    let peer = Peer::answering(&[no_stop(), reply("ok")]).await;
    let client = client(&peer.url(), 0, 10.0);
    let answer = client.ping("m", &params(json!({"stop": ["x"]}))).await.unwrap();
    assert_eq!(answer.changed_params, ["dropped stop"]);
    assert!(!client.learned().entries().is_empty());

    let format = json!({"response_format": {"type": "json_object"}, "max_tokens": 250});
    let peer = Peer::answering(&[reply("{\"ok\": true}")]).await;
    super::client(&peer.url(), 0, 10.0).ping("m", &params(format.clone())).await.unwrap();
    let asked = peer.requests()[0].json();
    assert!(asked["messages"][0]["content"].as_str().unwrap().contains("JSON"), "{asked}");
    assert_eq!(asked["max_tokens"], 250);

    let refused =
        refusal("'response_format' is not supported with this model", "response_format", "unsupported_parameter");
    let peer = Peer::answering(&[refused, reply("ok")]).await;
    let failure = super::client(&peer.url(), 0, 10.0).ping("m", &params(format)).await.unwrap_err();
    assert!(failure.message.contains("no JSON mode") && !failure.transient, "{failure}");
}
