//! The wire table: every answer over HTTP, and what it means.

use reqwest::header::{HeaderName, HeaderValue};

use super::*;
use crate::{
    issue::{Code, Severity},
    model::classify::Kind,
};

/// What a row expects.
enum Means {
    /// A reply with this content.
    Reply(Option<&'static str>),
    /// A failure of this kind; whether it is retried; words of the message.
    Fails(Kind, bool, &'static str),
}
use Means::{Fails, Reply as Says};

struct Row {
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
    means: Means,
}

const fn row(status: u16, body: &'static str, means: Means) -> Row {
    Row { status, headers: &[], body, means }
}

const fn with(status: u16, headers: &'static [(&'static str, &'static str)], body: &'static str, means: Means) -> Row {
    Row { status, headers, body, means }
}

const HTML: &[(&str, &str)] = &[("content-type", "text/html; charset=utf-8")];
const GATEWAY: &str = "<html>\r\n<head><title>504 Gateway Time-out</title></head><body>nginx</body></html>";

const TABLE: &[Row] = &[
    // --- replies
    row(200, r#"{"choices":[{"message":{"content":"hi"}}]}"#, Says(Some("hi"))),
    row(201, r#"{"choices":[{"message":{"content":"hi"}}]}"#, Says(Some("hi"))),
    row(200, r#"{"choices":[{"message":{"content":null}}]}"#, Says(None)),
    row(200, r#"{"choices":[{"message":{"content":""}}]}"#, Says(Some(""))),
    row(200, r#"{"choices":[{"message":{}}]}"#, Says(None)),
    row(
        200,
        r#"{"choices":[{"message":{"content":null,"reasoning_content":"hm"},"finish_reason":"length"}]}"#,
        Says(None),
    ),
    row(200, r#"{"choices":[{"message":{"content":null,"refusal":"I will not"}}]}"#, Says(None)),
    row(200, r#"{"choices":[{"message":{"content":"hi"}}],"error":null}"#, Says(Some("hi"))),
    with(200, &[("content-type", "text/plain")], r#" {"choices":[{"message":{"content":"hi"}}]}"#, Says(Some("hi"))),
    row(200, r#"{"choices":[{"message":{"content":"half \ud83d"}}]}"#, Says(Some("half \u{fffd}"))),
    // --- a success that is none
    row(200, "", Fails(Kind::Unusable, true, "an empty body")),
    row(204, "", Fails(Kind::Unusable, true, "HTTP 204 from h")),
    row(200, r#"{"choices":[{"message":{"content":"h"#, Fails(Kind::Unusable, true, "EOF")),
    row(200, "{}", Fails(Kind::Unusable, true, "no choices")),
    row(200, r#"{"choices":[]}"#, Fails(Kind::Unusable, true, "no choices")),
    row(200, r#"{"choices":null}"#, Fails(Kind::Unusable, true, "no choices")),
    row(200, r#"{"choices":[{"text":"legacy"}]}"#, Fails(Kind::Unusable, true, "no choices")),
    row(200, "OK", Fails(Kind::Unusable, false, "is the base URL right?")),
    row(200, r#""a string""#, Fails(Kind::Unusable, false, "not a reply")),
    with(200, HTML, "<!DOCTYPE html><title>Log in</title>", Fails(Kind::Unusable, false, "an HTML page, \"Log in\"")),
    row(
        200,
        "  <html><body>Welcome</body></html>",
        Fails(Kind::Unusable, false, "an HTML page; is the base URL right?"),
    ),
    with(
        200,
        &[("content-type", "text/event-stream")],
        "data: {}\n\n",
        Fails(Kind::Unusable, false, "an event stream"),
    ),
    row(
        200,
        r#"{"error":{"message":"boom","type":"server_error"}}"#,
        Fails(Kind::Server, true, "with an error inside: boom"),
    ),
    row(200, r#"{"error":"boom"}"#, Fails(Kind::Server, true, "boom")),
    row(
        200,
        r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"error code: 1015"}}}"#,
        Fails(Kind::RateLimited, true, "an error 429 inside"),
    ),
    row(200, r#"{"error":{"message":"bad model","code":404}}"#, Fails(Kind::Request, false, "bad model")),
    row(
        200,
        r#"{"error":{"message":"no credits left: insufficient credits","code":402}}"#,
        Fails(Kind::Quota, false, "quota or credit is exhausted"),
    ),
    row(
        200,
        r#"{"choices":[{"message":{"content":null},"finish_reason":"stop"}],"error":{"message":"upstream","code":502}}"#,
        Fails(Kind::Server, true, "upstream"),
    ),
    row(
        200,
        r#"{"choices":[{"message":{"content":"half"},"finish_reason":"error","error":{"message":"broke off","code":502}}]}"#,
        Fails(Kind::Server, true, "broke off"),
    ),
    row(200, r#"{"object":"error","message":"engine died","code":50001}"#, Fails(Kind::Server, true, "engine died")),
    row(
        200,
        r#"{"error":"Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens"}"#,
        Fails(Kind::Overflow, false, "too long for the model"),
    ),
    // --- keys and money
    row(
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-ab***yz.","type":"invalid_request_error","code":"invalid_api_key"}}"#,
        Fails(Kind::Denied, false, "HTTP 401 from h: the key was not accepted"),
    ),
    row(401, "", Fails(Kind::Denied, false, "an empty body")),
    row(
        403,
        r#"{"error":{"message":"Country not supported","code":"unsupported_country_region_territory"}}"#,
        Fails(Kind::Denied, false, "Country not supported"),
    ),
    with(
        403,
        HTML,
        "<html><title>Attention Required! | Cloudflare</title>",
        Fails(Kind::Denied, false, "Attention Required!"),
    ),
    row(402, r#"{"error":{"message":"Insufficient Balance"}}"#, Fails(Kind::Quota, false, "Insufficient Balance")),
    row(
        429,
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        Fails(Kind::Quota, false, "quota or credit is exhausted"),
    ),
    row(
        429,
        r#"{"error":{"message":"litellm.RateLimitError: OpenAIException - You exceeded your current quota, please check your plan","code":"429"}}"#,
        Fails(Kind::Quota, false, "current quota"),
    ),
    row(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
        Fails(Kind::Quota, false, "credit balance is too low"),
    ),
    row(
        400,
        r#"{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","code":"billing_hard_limit_reached"}}"#,
        Fails(Kind::Quota, false, "Billing hard limit"),
    ),
    with(
        429,
        &[("x-should-retry", "true")],
        r#"{"error":{"message":"q","code":"insufficient_quota"}}"#,
        Fails(Kind::Quota, false, "exhausted"),
    ),
    // --- too many requests
    row(
        429,
        r#"{"error":{"message":"Rate limit reached for gpt-4 on requests per min (RPM): Limit 3","type":"requests","code":"rate_limit_exceeded"}}"#,
        Fails(Kind::RateLimited, true, "HTTP 429 from h: too many requests: Rate limit"),
    ),
    row(
        429,
        r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34s"}]}}]"#,
        Fails(Kind::RateLimited, true, "retry in 34.07s"),
    ),
    row(429, "", Fails(Kind::RateLimited, true, "an empty body")),
    with(429, HTML, GATEWAY, Fails(Kind::RateLimited, true, "an HTML page")),
    with(429, &[("x-should-retry", "false")], r#"{"error":{"message":"no"}}"#, Fails(Kind::RateLimited, false, "no")),
    row(
        413,
        r#"{"error":{"message":"Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7043","type":"tokens","code":"rate_limit_exceeded"}}"#,
        Fails(Kind::Request, false, "per minute"),
    ),
    // --- the server
    row(
        500,
        r#"{"error":{"message":"The server had an error","type":"server_error"}}"#,
        Fails(Kind::Server, true, "The server had an error"),
    ),
    row(500, "Internal Server Error", Fails(Kind::Server, true, "HTTP 500 from h: Internal Server Error")),
    with(502, HTML, "<html><title>502 Bad Gateway</title></html>", Fails(Kind::Server, true, "502 Bad Gateway")),
    row(503, r#"{"error":{"message":"Service unavailable"}}"#, Fails(Kind::Server, true, "Service unavailable")),
    with(504, HTML, GATEWAY, Fails(Kind::Server, true, "504 Gateway Time-out")),
    row(520, "error code: 520", Fails(Kind::Server, true, "error code: 520")),
    row(
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        Fails(Kind::Server, true, "Overloaded"),
    ),
    row(501, "", Fails(Kind::Server, true, "HTTP 501")),
    with(500, &[("x-should-retry", "false")], "{}", Fails(Kind::Server, false, "HTTP 500")),
    row(500, r#"{"error":{"message":"input exceeds context length"}}"#, Fails(Kind::Server, true, "input exceeds")),
    row(408, r#"{"detail":"Request timed out"}"#, Fails(Kind::Server, true, "Request timed out")),
    row(409, r#"{"error":{"message":"Conflict"}}"#, Fails(Kind::Server, true, "Conflict")),
    // --- the prompt is too long
    row(
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        Fails(Kind::Overflow, false, "HTTP 400 from h: the prompt is too long for the model: This model's"),
    ),
    row(
        400,
        r#"{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 19591 tokens.","type":"BadRequestError","param":null,"code":400}"#,
        Fails(Kind::Overflow, false, "16384"),
    ),
    row(
        400,
        r#"{"object":"error","message":"The decoder prompt (length 33000) is longer than the maximum model length of 32768.","code":400}"#,
        Fails(Kind::Overflow, false, "33000"),
    ),
    row(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 207791 tokens > 200000 maximum"}}"#,
        Fails(Kind::Overflow, false, "207791"),
    ),
    row(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000"}}"#,
        Fails(Kind::Overflow, false, "178959"),
    ),
    row(
        400,
        r#"[{"error":{"code":400,"message":"The input token count (2845475) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
        Fails(Kind::Overflow, false, "2845475"),
    ),
    row(
        400,
        r#"{"error":{"code":400,"message":"request (36146 tokens) exceeds the available context size (32768 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":36146,"n_ctx":32768}}"#,
        Fails(Kind::Overflow, false, "36146"),
    ),
    row(
        422,
        r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000","error_type":"validation"}"#,
        Fails(Kind::Overflow, false, "5000"),
    ),
    row(
        413,
        r#"{"message":"Input is too long for requested model."}"#,
        Fails(Kind::Overflow, false, "Input is too long"),
    ),
    row(
        400,
        r#"{"error":{"message":"length of prompt_tokens (163280) must be less than max_seq_len (32768)."}}"#,
        Fails(Kind::Overflow, false, "163280"),
    ),
    row(
        400,
        r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192"}}"#,
        Fails(Kind::Overflow, false, "8192"),
    ),
    row(
        400,
        r#"{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081"}"#,
        Fails(Kind::Overflow, false, "4081"),
    ),
    // --- the request
    row(
        400,
        r#"{"error":{"message":"Invalid 'temperature': must be at most 2","param":"temperature"}}"#,
        Fails(Kind::Request, false, "must be at most 2"),
    ),
    row(400, "Bad Request", Fails(Kind::Request, false, "Bad Request")),
    with(400, &[("x-should-retry", "true")], r#"{"error":{"message":"odd"}}"#, Fails(Kind::Request, true, "odd")),
    row(
        400,
        r#"{"error":{"message":"The response was filtered","code":"content_filter"}}"#,
        Fails(Kind::Request, false, "filtered"),
    ),
    row(
        404,
        r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
        Fails(Kind::Request, false, "does not exist"),
    ),
    row(404, r#"{"detail":"Not Found"}"#, Fails(Kind::Request, false, "HTTP 404 from h: Not Found")),
    with(404, HTML, "<html><body>no title</body></html>", Fails(Kind::Request, false, "an HTML page")),
    row(405, r#"{"detail":"Method Not Allowed"}"#, Fails(Kind::Request, false, "Method Not Allowed")),
    with(
        413,
        HTML,
        "<html><title>413 Request Entity Too Large</title>",
        Fails(Kind::Request, false, "413 Request Entity Too Large"),
    ),
    row(415, "", Fails(Kind::Request, false, "HTTP 415")),
    row(
        422,
        r#"{"detail":[{"loc":["body","messages"],"msg":"field required"}]}"#,
        Fails(Kind::Request, false, "field required"),
    ),
    row(451, "{}", Fails(Kind::Request, false, "HTTP 451")),
    // --- elsewhere
    with(
        301,
        &[("location", "https://h/v1/chat/completions?key=sekret")],
        "",
        Fails(Kind::Redirect, false, "redirected to https://h/v1/chat/completions, which"),
    ),
    with(307, &[("location", "https://other/v1")], "", Fails(Kind::Redirect, false, "redirected to https://other/v1")),
    row(304, "", Fails(Kind::Redirect, false, "redirected to nowhere")),
];

fn judged(row: &Row) -> Result<Reply, Verdict> {
    let headers =
        row.headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    let received = Received { status: row.status, headers: headers.collect(), body: row.body.as_bytes().to_vec() };
    judge("h", &received, &Secret::default(), Timestamp::UNIX_EPOCH)
}

#[test]
fn every_answer_means_what_the_table_says() {
    assert!(TABLE.len() >= 60, "{}", TABLE.len());
    for row in TABLE {
        let place = format!("{} {:?} {}", row.status, row.headers, row.body);
        match (&row.means, judged(row)) {
            (Says(content), Ok(reply)) => assert_eq!(reply.content.as_deref(), *content, "{place}"),
            (Fails(kind, retried, words), Err(verdict)) => {
                assert_eq!((verdict.kind, verdict.is_retried()), (*kind, *retried), "{place}: {}", verdict.message);
                let (code, severity) = match kind {
                    Kind::Overflow => (Code::ModelContextExceeded, Severity::Error),
                    _ => (Code::ModelFailed, Severity::Fatal),
                };
                assert_eq!((verdict.severity(), &verdict.code), (severity, &code), "{place}");
                let message = &verdict.message;
                assert!(
                    message.contains(words) && message.contains(&format!("HTTP {} from h", row.status)),
                    "{place}: {message}"
                );
                assert!(!message.contains('\n') && !message.contains("sekret"), "{place}: {message}");
                assert_eq!(verdict.status, Some(row.status), "{place}");
            }
            (_, got) => panic!("{place}: {got:?}"),
        }
    }
}

#[test]
fn a_wait_is_taken_from_the_header_or_from_the_body() {
    let wait = |headers: &'static [(&'static str, &'static str)], body| {
        judged(&with(429, headers, body, Says(None))).unwrap_err().retry_after
    };
    let google = r#"[{"error":{"code":429,"message":"m","details":[{"retryDelay":"34s"}]}}]"#;
    assert_eq!(wait(&[], google), Some(Duration::from_secs(34)));
    assert_eq!(wait(&[("retry-after", "5")], google), Some(Duration::from_secs(5)));
    assert_eq!(wait(&[("retry-after", "soon")], "{}"), None);
}

#[test]
fn messages_are_bounded_whatever_the_server_says() {
    let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "word \\n".repeat(50_000));
    let received = Received { status: 500, headers: reqwest::header::HeaderMap::new(), body: long.into_bytes() };
    let message = judge("h", &received, &Secret::default(), Timestamp::UNIX_EPOCH).unwrap_err().message;
    assert!(message.chars().count() < 450 && message.ends_with("..."), "{message}");
}

#[test]
fn a_reply_stands_as_it_is_and_an_error_loses_the_key() {
    let key = Secret::new("dummy-key");
    let of = |status, body: &str| {
        let received = Received { status, headers: reqwest::header::HeaderMap::new(), body: body.as_bytes().to_vec() };
        judge("h", &received, &key, Timestamp::UNIX_EPOCH)
    };
    let reply = of(200, r#"{"choices":[{"message":{"content":"a dummy-key"}}]}"#).unwrap();
    assert_eq!(reply.content.as_deref(), Some("a dummy-key"));
    // The cut of a long message must not leave half a key behind.
    let long = format!("{}dummy-key and more", "x".repeat(395));
    for status in [200, 500] {
        let verdict = of(status, &format!(r#"{{"error":{{"message":"{long}"}}}}"#)).unwrap_err();
        assert!(!verdict.message.contains("dummy"), "{}", verdict.message);
    }
    assert!(!raw(format!("{}dummy-key", "x".repeat(RAW - 4)).as_bytes(), &key).contains("dumm"));
}

proptest::proptest! {
    #[test]
    fn no_answer_whatever_panics_or_loses_its_meaning(status in 200u16..600, body: Vec<u8>) {
        let received = Received { status, headers: reqwest::header::HeaderMap::new(), body };
        if let Err(verdict) = judge("h", &received, &Secret::default(), Timestamp::UNIX_EPOCH) {
            proptest::prop_assert!(!verdict.message.is_empty());
            proptest::prop_assert_eq!(verdict.status, Some(status));
        }
    }

    #[test]
    fn no_json_answer_panics(text in "[\\[\\]{}\":,a-z\\\\ud83 0-9]{0,60}") {
        let body = format!("{{\"choices\":[{{\"message\":{{\"content\":\"{text}\"}}}}]}}").into_bytes();
        let received = Received { status: 200, headers: reqwest::header::HeaderMap::new(), body };
        let _ = judge("h", &received, &Secret::default(), Timestamp::UNIX_EPOCH);
    }
}
