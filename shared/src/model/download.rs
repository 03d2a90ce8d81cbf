//! Downloads one file, bounded. It has nothing to do with models; it lives here because this module is the one place
//! that may use the HTTP client, so that proxies, TLS and its certificates are dealt with once.

use std::time::Duration;

use futures::StreamExt as _;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use url::Url;

/// Bounds of a download.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest accepted body.
    pub max_bytes: u64,
    /// For name resolution, connection and TLS.
    pub connect: Duration,
    /// For each further piece of the answer to arrive.
    pub idle: Duration,
}

/// A download that failed. Messages name host and path, never a user name or password in the URL.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not an `http` or `https` URL.
    #[error("{url}: not an http or https URL")]
    Scheme {
        /// What was given.
        url: String,
    },
    /// No answer.
    #[error("{url}: {reason}")]
    Request {
        /// The URL.
        url: String,
        /// Why, down to the first cause.
        reason: String,
    },
    /// An answer, but not the file.
    #[error("{url}: the server answered {status}")]
    Status {
        /// The URL, after redirects.
        url: String,
        /// HTTP status.
        status: u16,
    },
    /// The body does not fit.
    #[error("{url}: larger than {limit} bytes")]
    TooLarge {
        /// The URL.
        url: String,
        /// The bound.
        limit: u64,
    },
    /// Nothing arrived for too long.
    #[error("{url}: nothing arrived for {} seconds, after {received} bytes", idle.as_secs())]
    Stalled {
        /// The URL.
        url: String,
        /// The bound.
        idle: Duration,
        /// What had arrived.
        received: u64,
    },
    /// The body ended early.
    #[error("{url}: ended after {received} of {expected} bytes")]
    Incomplete {
        /// The URL.
        url: String,
        /// What had arrived.
        received: u64,
        /// What was announced.
        expected: u64,
    },
    /// The bytes cannot be put away.
    #[error("cannot store the download: {0}")]
    Store(#[from] std::io::Error),
}

/// Streams what `url` gives into `out` and returns its size. `progress` hears of every piece: bytes so far, and the
/// size if the server said it.
///
/// # Errors
/// See [`Error`]. `out` then holds a part of the file.
pub async fn download(
    url: &Url,
    out: &mut (impl AsyncWrite + Unpin),
    limits: Limits,
    progress: &(dyn Fn(u64, Option<u64>) + Sync),
) -> Result<u64, Error> {
    let shown = without_credentials(url);
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Error::Scheme { url: shown });
    }
    let failed = |error: reqwest::Error| Error::Request { url: shown.clone(), reason: causes(&error.without_url()) };
    // Whoever comes first in the process installs it; a second time is no error worth telling.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .connect_timeout(limits.connect)
        .read_timeout(limits.idle)
        // The bytes are wanted as they lie there.
        .no_gzip()
        .user_agent(concat!("argosy/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(failed)?;
    let response = client.get(url.clone()).send().await.map_err(failed)?;
    if !response.status().is_success() {
        let status = response.status().as_u16();
        return Err(Error::Status { url: without_credentials(response.url()), status });
    }
    let expected = response.content_length();
    let too_large = || Error::TooLarge { url: shown.clone(), limit: limits.max_bytes };
    if expected.is_some_and(|expected| expected > limits.max_bytes) {
        return Err(too_large());
    }
    let mut received = 0;
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| {
            let url = shown.clone();
            match expected.filter(|expected| *expected > received) {
                _ if error.is_timeout() => Error::Stalled { url, idle: limits.idle, received },
                Some(expected) => Error::Incomplete { url, received, expected },
                None => failed(error),
            }
        })?;
        received += piece.len() as u64;
        if received > limits.max_bytes {
            return Err(too_large());
        }
        out.write_all(&piece).await?;
        progress(received, expected);
    }
    out.flush().await?;
    Ok(received)
}

fn without_credentials(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that cannot have any.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.to_string()
}

/// An error with its causes: reqwest's own message alone rarely says what happened.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let next_text = next.to_string();
        if !text.contains(&next_text) {
            text.push_str(": ");
            text.push_str(&next_text);
        }
        cause = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// A server that gives `answer` to the first request and then closes, or stays silent.
    async fn serve(answer: &'static [u8], close: bool) -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://user:secret@{}/file.tar.gz?token=secret", listener.local_addr().unwrap());
        crate::supervise::detach("server", async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            stream.write_all(answer).await.unwrap();
            if !close {
                std::future::pending::<()>().await;
            }
        });
        Url::parse(&url).unwrap()
    }

    async fn get(answer: &'static [u8], close: bool, limits: Limits) -> Result<Vec<u8>, String> {
        let url = serve(answer, close).await;
        let mut out = Vec::new();
        match download(&url, &mut out, limits, &|_, _| {}).await {
            Ok(size) => {
                assert_eq!(size, out.len() as u64);
                Ok(out)
            }
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains("secret"), "{text}");
                Err(text)
            }
        }
    }

    const LIMITS: Limits = Limits { max_bytes: 10, connect: Duration::from_secs(30), idle: Duration::from_secs(30) };

    #[tokio::test]
    async fn the_body_arrives_as_it_is() {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x00\x01";
        assert_eq!(get(answer, true, LIMITS).await.unwrap(), b"\x1f\x8b\x00\x01");
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        assert_eq!(get(chunked, true, LIMITS).await.unwrap(), b"abcde");
    }

    #[tokio::test]
    async fn refusals_name_the_reason() {
        let cases: [(&[u8], &str); 4] = [
            (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "the server answered 404"),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n", "larger than 10 bytes"),
            (
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n",
                "larger than 10 bytes",
            ),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", "ended after 3 of 9 bytes"),
        ];
        for (answer, expected) in cases {
            let error = get(answer, true, LIMITS).await.unwrap_err();
            assert!(error.contains(expected), "`{error}` lacks `{expected}`");
        }
    }

    #[tokio::test]
    async fn silence_ends() {
        let limits = Limits { idle: Duration::from_millis(50), ..LIMITS };
        let error = get(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", false, limits).await.unwrap_err();
        assert!(error.contains("nothing arrived"), "{error}");
    }

    #[tokio::test]
    async fn other_schemes_and_dead_servers_are_errors() {
        let url = Url::parse("ftp://127.0.0.1/x").unwrap();
        let error = download(&url, &mut Vec::new(), LIMITS, &|_, _| {}).await.unwrap_err();
        assert!(matches!(error, Error::Scheme { .. }), "{error}");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        drop(listener);
        let error = download(&url, &mut Vec::new(), LIMITS, &|_, _| {}).await.unwrap_err().to_string();
        assert!(error.contains("refused"), "{error}");
    }
}
