//! Failures below HTTP and what they mean. Answers over HTTP are in the table of `openai_chat`.

use super::*;

#[test]
fn failures_below_http_are_classified() {
    let text = || "cause".to_owned();
    let cases = [
        (
            Transport::Timeout(Duration::from_millis(1500)),
            Code::ModelTimeout,
            true,
            "no complete answer from h:1 within 1.5 s",
        ),
        (
            Transport::Connect(Connect::Refused, text()),
            Code::ModelFailed,
            true,
            "no connection to h:1: refused (cause)",
        ),
        (Transport::Connect(Connect::Dns, text()), Code::ModelFailed, true, "the name is not known"),
        (Transport::Connect(Connect::Tls, text()), Code::ModelFailed, true, "the TLS handshake failed"),
        (Transport::Connect(Connect::Certificate, text()), Code::ModelFailed, false, "certificate was not accepted"),
        (Transport::Connect(Connect::TimedOut, text()), Code::ModelFailed, true, "nobody answered in time"),
        (Transport::Connect(Connect::Other, text()), Code::ModelFailed, true, "no connection to h:1: cause"),
        (Transport::Unanswered { reused: true, cause: text() }, Code::ModelFailed, true, "ended without an answer"),
        (Transport::Unanswered { reused: false, cause: text() }, Code::ModelFailed, true, "ended without an answer"),
        (Transport::Cut(text()), Code::ModelFailed, true, "was cut short"),
        (Transport::NotHttp(text()), Code::ModelFailed, true, "does not speak HTTP"),
        (Transport::Encoding(text()), Code::ModelFailed, true, "does not decompress"),
        (Transport::Oversized(64 << 20), Code::ModelFailed, false, "larger than 64 MiB"),
        (Transport::Redirects, Code::ModelFailed, false, "redirects in a circle"),
        (Transport::Request(text()), Code::ModelFailed, false, "could not be sent"),
    ];
    for (failure, code, transient, words) in cases {
        let verdict = transport("h:1", &failure);
        assert_eq!((&verdict.code, verdict.transient), (&code, transient), "{failure:?}");
        let severity = if code == Code::ModelTimeout { Severity::Error } else { Severity::Fatal };
        assert_eq!(verdict.severity(), severity, "{failure:?}");
        assert!(verdict.message.contains(words) && verdict.message.contains("h:1"), "{}", verdict.message);
        // A timeout has used up its whole bound and is scored: it alone is transient and not repeated.
        assert_eq!(verdict.is_retried(), transient && code != Code::ModelTimeout, "{failure:?}");
    }
}

#[test]
fn a_long_cause_does_not_make_a_long_message() {
    let verdict = transport("h", &Transport::Cut("x\n".repeat(10_000)));
    assert!(verdict.message.len() < 600 && !verdict.message.contains('\n'));
}
