//! One HTTP request and its answer, bounded in time and size.

use std::{sync::Once, time::Duration};

use bytes::Bytes;
use reqwest::{
    Method, Response,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect,
};
use url::Url;

use super::{Error, dial, endpoint::Target};
use crate::model::classify::Transport;

/// Largest body of an answer, decompressed.
const LARGEST: usize = 64 << 20;
/// An answer that is slow to come is usual; a connection that is slow to come about is not.
const CONNECT: Duration = Duration::from_secs(30);
/// Shorter than the idle timeout of most servers and load balancers (60 s and more); shorter ones are met by the free
/// retry.
const IDLE: Duration = Duration::from_secs(30);
/// Redirects followed, on the same host.
const REDIRECTS: usize = 5;

/// The HTTP clients of one endpoint.
#[derive(Clone, Debug)]
pub(super) struct Http {
    /// Keeps connections.
    pooled: reqwest::Client,
    /// Always dials: for the free retry, which must not meet a second dead connection.
    fresh: reqwest::Client,
}

/// An answer as it came.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Http {
    pub(super) fn new(target: &Target) -> Result<Self, Error> {
        install_crypto();
        let build = |idle: usize| {
            let mut builder = reqwest::Client::builder()
                .user_agent(concat!("argosy/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(CONNECT)
                .pool_idle_timeout(IDLE)
                .pool_max_idle_per_host(idle)
                .tcp_keepalive(Duration::from_secs(30))
                // The prompt is not shown to the host that one is sent to by another.
                .referer(false)
                .redirect(redirect::Policy::custom(follow))
                .connector_layer(dial::Mark);
            if target.is_loopback() {
                builder = builder.no_proxy();
            }
            if target.chat.scheme() == "http" {
                // Plain HTTP needs no certificates, and works on machines that have none installed.
                builder = builder.tls_certs_only([]);
            }
            builder.build().map_err(|error| Error::Client(words(&error)))
        };
        Ok(Self { pooled: build(usize::MAX)?, fresh: build(0)? })
    }

    /// Sends `body` (or asks, without one) and reads the whole answer within `bound`. A kept connection that dies
    /// before any of the answer is replaced by a new one, once.
    pub(super) async fn exchange(
        &self,
        target: &Target,
        url: &Url,
        body: Option<Bytes>,
        bound: Duration,
    ) -> Result<Received, Transport> {
        let both = async {
            match once(&self.pooled, target, url, body.clone()).await {
                Err(Transport::Unanswered { reused: true, cause }) => {
                    tracing::debug!(host = target.host, cause, "a kept connection was closed, dialling anew");
                    once(&self.fresh, target, url, body).await
                }
                answer => answer,
            }
        };
        tokio::time::timeout(bound, both).await.unwrap_or(Err(Transport::Timeout(bound)))
    }
}

async fn once(
    client: &reqwest::Client,
    target: &Target,
    url: &Url,
    body: Option<Bytes>,
) -> Result<Received, Transport> {
    let method = if body.is_some() { Method::POST } else { Method::GET };
    let mut request = client.request(method, url.clone()).header(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(authorization) = &target.authorization {
        request = request.header(AUTHORIZATION, authorization.clone());
    }
    if let Some(body) = body {
        request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json")).body(body);
    }
    let (sent, dialled) = dial::watch(request.send()).await;
    let response = sent.map_err(|error| Transport::before_answer(&error, !dialled))?;
    read(response).await
}

async fn read(mut response: Response) -> Result<Received, Transport> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let mut body = Vec::new();
    let failure = loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > LARGEST => break Some(Transport::Oversized(LARGEST)),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break None,
            Err(error) => break Some(Transport::within_answer(&error)),
        }
    };
    match failure {
        // Of an error the status says enough.
        Some(failure) if (200..300).contains(&status) => Err(failure),
        _ => Ok(Received { status, headers, body }),
    }
}

/// Follows a redirect only where the request stays what it is: same method (307, 308), same scheme, host and port. So
/// neither the key nor the prompt goes to another host; the user is told where the server points instead.
fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    if attempt.previous().len() > REDIRECTS {
        return attempt.error("too many redirects");
    }
    let place = |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default());
    let stays = attempt.previous().last().is_some_and(|previous| place(previous) == place(attempt.url()));
    if stays && matches!(attempt.status().as_u16(), 307 | 308) { attempt.follow() } else { attempt.stop() }
}

/// TLS needs one provider of cryptography in the process; whoever comes first installs it.
fn install_crypto() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // An error only says that one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

fn words(error: &reqwest::Error) -> String {
    std::iter::successors(std::error::Error::source(error), |error| error.source())
        .last()
        .map_or_else(|| "no reason given".to_owned(), ToString::to_string)
}
