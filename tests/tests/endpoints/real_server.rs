//! A real language model server, where `ARGOSY_TEST_SMALL_LLM` gives its base URL (for example
//! `http://127.0.0.1:8080/v1`). The model may be very small: nothing here depends on what it says.

use argosy_shared::model::Model as _;
use argosy_tests::places;
use serde_json::json;

use super::{client, request};

fn base_url(test: &str) -> Option<String> {
    let url = std::env::var("ARGOSY_TEST_SMALL_LLM").ok().filter(|url| !url.is_empty());
    if url.is_none() {
        places::skipped(test, "ARGOSY_TEST_SMALL_LLM is not set");
    }
    url
}

#[tokio::test]
async fn usage_finish_reason_stop_and_json_mode_are_recorded_right() {
    let Some(url) = base_url("usage_finish_reason_stop_and_json_mode_are_recorded_right") else { return };
    let client = client(&url, 3, 300.0);

    let counting = "Count from one to nine in words, one word a line.";
    let short = client.complete(&request(counting, json!({"temperature": 0, "max_tokens": 5}))).await.unwrap();
    assert_eq!((short.finish_reason.as_deref(), short.usage.completion), (Some("length"), Some(5)));
    assert!(short.usage.prompt.is_some_and(|tokens| tokens > 5), "{:?}", short.usage);
    assert!(short.changed_params.is_empty() && short.retries == 0);

    let free = client.complete(&request(counting, json!({"temperature": 0, "max_tokens": 200}))).await.unwrap();
    let text = free.content.clone().unwrap();
    let stop = text.split_whitespace().nth(1).expect("two words").to_owned();
    let params = json!({"temperature": 0, "max_tokens": 200, "stop": [stop.clone()]});
    let stopped = client.complete(&request(counting, params)).await.unwrap();
    assert_eq!(stopped.finish_reason.as_deref(), Some("stop"));
    assert!(!stopped.content.unwrap().contains(&stop));
    assert!(stopped.changed_params.is_empty(), "the server itself honoured the stop: {:?}", stopped.changed_params);
    assert!(stopped.usage.completion < free.usage.completion);

    let params = json!({"temperature": 0, "max_tokens": 60, "response_format": {"type": "json_object"}});
    let json = client.complete(&request("Reply with the JSON object {\"ok\": true}.", params)).await.unwrap();
    if json.finish_reason.as_deref() == Some("stop") {
        serde_json::from_str::<serde_json::Value>(json.content.as_deref().unwrap()).expect("JSON mode gives JSON");
    }
    assert!(!client.models().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_prompt_longer_than_the_context_is_recognised() {
    let Some(url) = base_url("a_prompt_longer_than_the_context_is_recognised") else { return };
    let long = "word ".repeat(60_000);
    let failure = client(&url, 0, 300.0).complete(&request(&long, json!({"max_tokens": 1}))).await.unwrap_err();
    assert_eq!(failure.code, argosy_shared::issue::Code::ModelContextExceeded, "{failure}");
}
