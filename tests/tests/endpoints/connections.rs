//! Connections: kept, closed, refused, never made.

use argosy_shared::{
    issue::{Code, Severity},
    model::{
        openai_chat::{Client, Endpoint},
        secret::Secret,
    },
    spec::{ModelParams, Protocol},
};
use argosy_tests::places;

use super::{
    KEY, ask, client, content,
    peer::{Do, Peer, reply, response},
};

#[tokio::test]
async fn a_request_says_what_it_must_and_nothing_else() {
    let peer = Peer::answering(&[reply("hi")]).await;
    let answer = ask(&client(&peer.url(), 0, 10.0)).await.unwrap();
    assert_eq!((answer.content.as_deref(), answer.finish_reason.as_deref()), (Some("hi"), Some("stop")));
    assert_eq!((answer.usage.prompt, answer.usage.completion, answer.retries), (Some(7), Some(2), 0));
    assert!(answer.raw.contains("\"choices\"") && answer.changed_params.is_empty());

    let request = &peer.requests()[0];
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", request.head);
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("argosy/")));
    assert_eq!(
        String::from_utf8_lossy(&request.body),
        r#"{"model":"m","messages":[{"role":"user","content":"hello"}],"temperature":0.7,"n":1,"stop":["\nObservation:"]}"#
    );
}

#[tokio::test]
async fn without_a_key_no_authorization_is_sent() {
    let peer = Peer::answering(&[reply("hi")]).await;
    let endpoint = Endpoint { base_url: peer.url(), api_key: Secret::default(), protocol: Protocol::OpenaiChat };
    let client = Client::new(&endpoint, &ModelParams::default()).unwrap();
    assert_eq!(content(ask(&client).await), "hi");
    assert_eq!(peer.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let serve = [Do::Read, Do::Say(reply("hi"))];
    let peer = Peer::start(vec![serve.iter().cloned().cycle().take(20).collect()]).await;
    let client = client(&peer.url(), 0, 10.0);
    for _ in 0..10 {
        assert_eq!(content(ask(&client).await), "hi");
    }
    assert_eq!(peer.connections(), 1);
}

#[tokio::test]
async fn a_kept_connection_that_dies_under_a_request_costs_no_retry() {
    // The server takes the second request on the kept connection and closes without a word; or resets it.
    for end in [Do::Read, Do::Nibble] {
        let first = vec![Do::Read, Do::Say(reply("one")), end.clone()];
        let peer = Peer::start(vec![first, vec![Do::Read, Do::Say(reply("two"))]]).await;
        let client = client(&peer.url(), 0, 10.0);
        assert_eq!(content(ask(&client).await), "one");
        let second = ask(&client).await.unwrap_or_else(|failure| panic!("{end:?}: {failure}"));
        assert_eq!((second.content.as_deref(), second.retries), (Some("two"), 0), "{end:?}");
        assert_eq!(peer.connections(), 2, "{end:?}");
    }
}

#[tokio::test]
async fn many_dead_kept_connections_cost_no_retry_either() {
    // Eight requests at once leave eight kept connections; the server lets each die under its second request.
    let dying = vec![Do::Read, Do::Say(reply("one")), Do::Read];
    let good = vec![Do::Read, Do::Say(reply("two"))];
    let peer = Peer::start([vec![dying; 8], vec![good]].concat()).await;
    let client = client(&peer.url(), 0, 10.0);
    let all = || futures::future::join_all((0..8).map(|_| ask(&client)));
    // Fewer connections than requests are possible: a fast one may be used twice and die, which must not show.
    for answer in all().await {
        answer.unwrap_or_else(|failure| panic!("{failure}"));
    }
    for answer in all().await {
        assert_eq!(answer.unwrap_or_else(|failure| panic!("{failure}")).retries, 0);
    }
}

#[tokio::test]
async fn a_server_that_closes_after_every_answer_is_no_trouble() {
    let peer = Peer::start(vec![vec![Do::Read, Do::Say(reply("hi"))]]).await;
    let client = client(&peer.url(), 0, 10.0);
    for _ in 0..20 {
        assert_eq!(ask(&client).await.unwrap_or_else(|failure| panic!("{failure}")).retries, 0);
    }
}

#[tokio::test]
async fn a_new_connection_that_dies_is_a_failure_and_is_retried() {
    let peer = Peer::start(vec![vec![Do::Read]]).await;
    let failure = ask(&client(&peer.url(), 0, 10.0)).await.unwrap_err();
    assert_eq!((&failure.code, failure.severity, failure.transient), (&Code::ModelFailed, Severity::Fatal, true));
    assert!(failure.message.contains("without an answer") && failure.message.contains(&peer.addr.to_string()));
    assert_eq!((failure.status, failure.raw, peer.connections()), (None, None, 1));

    let peer = Peer::start(vec![vec![Do::Read], vec![Do::Nibble], vec![Do::Read, Do::Say(reply("hi"))]]).await;
    let answer = ask(&client(&peer.url(), 3, 10.0)).await.unwrap();
    assert_eq!((answer.retries, peer.connections()), (2, 3));
}

#[tokio::test]
async fn nobody_there_is_fatal_and_names_the_place() {
    // A port that was free a moment ago.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failure = ask(&client(&format!("http://{address}/v1"), 2, 10.0)).await.unwrap_err();
    assert_eq!((&failure.code, failure.severity, failure.retries), (&Code::ModelFailed, Severity::Fatal, 2));
    assert!(failure.message.contains("refused") && failure.message.contains("after 2 retries"), "{failure}");

    let failure = ask(&client("http://no-such-host.invalid:8000/v1", 0, 60.0)).await.unwrap_err();
    assert_eq!((&failure.code, failure.severity), (&Code::ModelFailed, Severity::Fatal));
    // Some networks answer for every name; what they then say is no reply either.
    let unknown = failure.message.contains("no-such-host.invalid:8000: the name is not known");
    assert!(unknown || failure.status.is_some(), "{failure}");
}

#[tokio::test]
async fn tls_and_plain_text_do_not_mix() {
    let peer = Peer::start(vec![vec![Do::Nibble, Do::Say(reply("hi"))]]).await;
    let endpoint = Endpoint {
        base_url: format!("https://{}/v1", peer.addr),
        api_key: Secret::new(KEY),
        protocol: Protocol::OpenaiChat,
    };
    match Client::new(&endpoint, &ModelParams { max_retries: 0, timeout: 10.0, ..ModelParams::default() }) {
        Ok(client) => {
            let failure = ask(&client).await.unwrap_err();
            assert_eq!((&failure.code, failure.severity), (&Code::ModelFailed, Severity::Fatal));
            assert!(failure.message.contains("the TLS handshake failed"), "{failure}");
        }
        Err(error) => places::skipped("tls_and_plain_text_do_not_mix", &error.to_string()),
    }
    // The other way round: something that is no HTTP server, and greets at once or waits.
    let banner = Do::Say(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec());
    for (script, words) in
        [(vec![Do::Nibble, banner.clone(), Do::Silence], "does not speak HTTP"), (vec![banner, Do::Silence], "")]
    {
        let peer = Peer::start(vec![script]).await;
        let failure = ask(&client(&peer.url(), 0, 10.0)).await.unwrap_err();
        assert_eq!((&failure.code, failure.severity), (&Code::ModelFailed, Severity::Fatal));
        assert!(failure.message.contains(words), "{failure}");
    }
}

#[tokio::test]
async fn redirects_stay_on_the_host_and_keep_the_request() {
    let here = response(307, &[("location", "/elsewhere")], "");
    let peer = Peer::start(vec![vec![Do::Read, Do::Say(here), Do::Read, Do::Say(reply("hi"))]]).await;
    assert_eq!(content(ask(&client(&peer.url(), 0, 10.0)).await), "hi");
    let requests = peer.requests();
    assert!(requests[1].head.starts_with("POST /elsewhere "), "{}", requests[1].head);
    assert_eq!(requests[1].body, requests[0].body);
    assert!(requests[1].header("authorization").is_some());
}

#[tokio::test]
async fn neither_key_nor_prompt_goes_to_another_host() {
    let other = Peer::answering(&[reply("stolen")]).await;
    for status in [301, 302, 303, 307, 308] {
        let target = format!("http://{}/v1/chat/completions?sig=sekret", other.addr);
        let peer = Peer::answering(&[response(status, &[("location", &target)], "")]).await;
        let failure = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err();
        assert_eq!((&failure.code, failure.transient, failure.retries), (&Code::ModelFailed, false, 0), "{status}");
        assert!(failure.message.contains("redirected to http://127.0.0.1:"), "{failure}");
        assert!(!failure.message.contains("sekret"), "{failure}");
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_circle_of_redirects_ends() {
    let again = response(308, &[("location", "/v1/chat/completions")], "");
    let circle: Vec<Do> = [Do::Read, Do::Say(again)].iter().cloned().cycle().take(100).collect();
    let peer = Peer::start(vec![circle]).await;
    let failure = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err();
    assert_eq!((&failure.code, failure.transient), (&Code::ModelFailed, false));
    assert!(failure.message.contains("in a circle"), "{failure}");
    assert!(peer.requests().len() <= 7, "{}", peer.requests().len());
}
