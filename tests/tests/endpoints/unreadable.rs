//! Answers that are slow, broken, huge or telling too much.

use std::{io::Write as _, time::Duration};

use argosy_shared::issue::{Code, Severity};
use flate2::{Compression, write::GzEncoder};

use super::{
    KEY, ask, client, content,
    peer::{Do, Peer, reply, response},
};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The body of a good reply, without its head.
fn body(text: &str) -> Vec<u8> {
    let whole = reply(text);
    let start = whole.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    whole[start..].to_vec()
}

#[tokio::test]
async fn silence_and_dripping_are_timeouts_and_are_not_repeated() {
    let drip = |bytes: Vec<u8>| Do::Drip(bytes, Duration::from_millis(20));
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec();
    let scripts = [
        vec![Do::Silence],
        // The head never ends; then: the body never ends.
        vec![Do::Read, drip(reply("slow"))],
        vec![Do::Read, Do::Say(head), drip(body("slow"))],
        // An error's body never ends: the status is known, but the bound is the bound.
        vec![Do::Read, Do::Say(b"HTTP/1.1 500 Oops\r\ncontent-length: 900\r\n\r\n".to_vec()), Do::Silence],
    ];
    for script in scripts {
        let peer = Peer::start(vec![script.clone()]).await;
        let failure = ask(&client(&peer.url(), 3, 0.3)).await.unwrap_err();
        assert_eq!((&failure.code, failure.severity), (&Code::ModelTimeout, Severity::Error), "{script:?}: {failure}");
        assert_eq!((failure.retries, peer.connections()), (0, 1), "{script:?}");
        assert!(failure.message.contains("within 0.3 s"), "{failure}");
    }
}

#[tokio::test]
async fn a_body_cut_short_is_fatal_and_repeated() {
    let promised = b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{\"choices\":".to_vec();
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"cho\r\n".to_vec();
    let chunk_lie = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nwhat".to_vec();
    for broken in [promised, chunked, chunk_lie] {
        let peer = Peer::start(vec![vec![Do::Read, Do::Say(broken.clone())]]).await;
        let failure = ask(&client(&peer.url(), 0, 10.0)).await.unwrap_err();
        assert_eq!((&failure.code, failure.severity, failure.transient), (&Code::ModelFailed, Severity::Fatal, true));
        assert!(failure.message.contains("was cut short"), "{failure}");
        let good = vec![Do::Read, Do::Say(reply("hi"))];
        let peer = Peer::start(vec![vec![Do::Read, Do::Say(broken)], good]).await;
        assert_eq!(ask(&client(&peer.url(), 1, 10.0)).await.unwrap().retries, 1);
    }
}

#[tokio::test]
async fn a_length_that_is_too_small_cuts_the_json() {
    let whole = body("hi");
    let mut response = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", whole.len() - 10).into_bytes();
    response.extend(&whole);
    let peer = Peer::start(vec![vec![Do::Read, Do::Say(response)]]).await;
    let failure = ask(&client(&peer.url(), 0, 10.0)).await.unwrap_err();
    assert_eq!((&failure.code, failure.transient, failure.status), (&Code::ModelFailed, true, Some(200)));
    assert!(failure.message.contains("not a reply") && failure.raw.is_some(), "{failure}");
}

#[tokio::test]
async fn a_cut_error_still_counts_by_its_status() {
    let cut = b"HTTP/1.1 401 No\r\ncontent-length: 900\r\n\r\n{\"error\":{\"mess".to_vec();
    let peer = Peer::start(vec![vec![Do::Read, Do::Say(cut)]]).await;
    let failure = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err();
    assert_eq!((failure.status, failure.transient, failure.retries), (Some(401), false, 0));
}

#[tokio::test]
async fn compressed_answers_are_read_and_broken_ones_are_not() {
    let gzipped = |bytes: &[u8]| response(200, &[("content-encoding", "gzip")], bytes);
    let peer = Peer::answering(&[gzipped(&gzip(&body("hi")))]).await;
    assert_eq!(content(ask(&client(&peer.url(), 0, 10.0)).await), "hi");
    assert!(peer.requests()[0].header("accept-encoding").is_some_and(|accepted| accepted.contains("gzip")));

    let mut corrupt = gzip(&body("hi"));
    corrupt[12] ^= 0xff;
    for bytes in [corrupt, b"not gzip at all, but long enough".to_vec()] {
        let peer = Peer::answering(&[gzipped(&bytes)]).await;
        let failure = ask(&client(&peer.url(), 0, 10.0)).await.unwrap_err();
        assert_eq!((&failure.code, failure.severity, failure.transient), (&Code::ModelFailed, Severity::Fatal, true));
        assert!(failure.message.contains("does not decompress"), "{failure}");
    }
}

#[tokio::test]
async fn nothing_huge_is_swallowed() {
    // 80 MiB of nothing in some 350 KiB.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let mebibyte = vec![b' '; 1 << 20];
    for _ in 0..80 {
        encoder.write_all(&mebibyte).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let peer = Peer::answering(&[response(200, &[("content-encoding", "gzip")], bomb)]).await;
    let failure = ask(&client(&peer.url(), 3, 60.0)).await.unwrap_err();
    assert_eq!((&failure.code, failure.transient, failure.retries), (&Code::ModelFailed, false, 0));
    assert!(failure.message.contains("larger than 64 MiB"), "{failure}");

    // The same without compression and without end.
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec();
    let peer = Peer::start(vec![vec![Do::Read, Do::Say(head), Do::Repeat(mebibyte, 200)]]).await;
    let failure = ask(&client(&peer.url(), 3, 60.0)).await.unwrap_err();
    assert!(failure.message.contains("larger than 64 MiB"), "{failure}");
    assert_eq!(failure.retries, 0);
}

#[tokio::test]
async fn what_is_kept_of_a_body_is_bounded_and_without_the_key() {
    let echo = format!(r#"{{"error":{{"message":"key {KEY} is bad"}},"pad":"{}{KEY}"}}"#, "µ".repeat(100_000));
    let peer = Peer::answering(&[response(401, &[], &echo)]).await;
    let failure = ask(&client(&peer.url(), 3, 10.0)).await.unwrap_err();
    assert_eq!((failure.status, failure.retries), (Some(401), 0));
    assert!(failure.message.contains("key ******** is bad"), "{failure}");
    let raw = failure.raw.unwrap();
    assert!(raw.len() <= 64 << 10 && !raw.contains(KEY), "{}", raw.len());

    let page = format!("<html><title>{KEY}</title></html>");
    let peer = Peer::answering(&[response(502, &[("content-type", "text/html")], &page)]).await;
    let failure = ask(&client(&peer.url(), 0, 10.0)).await.unwrap_err();
    assert!(!format!("{failure:?}").contains(KEY), "{failure:?}");

    // Also in a reply: a model that repeats what a gateway put into its prompt.
    let peer = Peer::answering(&[reply(&format!("the key is {KEY}"))]).await;
    assert!(!ask(&client(&peer.url(), 0, 10.0)).await.unwrap().raw.contains(KEY));
}
