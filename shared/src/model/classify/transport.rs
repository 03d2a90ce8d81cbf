//! Failures below HTTP.

use std::{error::Error as StdError, io, time::Duration};

/// Why no answer came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// No complete answer within the bound of a request.
    Timeout(Duration),
    /// No connection, with the system's words.
    Connect(Connect, String),
    /// The connection ended before any of an answer came.
    Unanswered {
        /// Whether it had carried an earlier request: then the server had probably just closed it for idleness.
        reused: bool,
        /// The system's words.
        cause: String,
    },
    /// The connection ended within the answer.
    Cut(String),
    /// What came is not HTTP.
    NotHttp(String),
    /// The body does not decompress.
    Encoding(String),
    /// The body is larger than this many bytes.
    Oversized(usize),
    /// Too many redirects.
    Redirects,
    /// The request could not be put together or sent.
    Request(String),
}

/// Why no connection came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connect {
    /// Nobody listens there.
    Refused,
    /// The name is not known.
    Dns,
    /// The handshake failed.
    Tls,
    /// The certificate was not accepted.
    Certificate,
    /// Nobody answered in time.
    TimedOut,
    /// Anything else, for example no route.
    Other,
}

impl Transport {
    /// The failure in words, without URL and credentials.
    pub(super) fn describe(&self, host: &str) -> String {
        match self {
            Self::Timeout(bound) => format!("no complete answer from {host} within {} s", bound.as_secs_f64()),
            Self::Connect(Connect::Refused, cause) => format!("no connection to {host}: refused ({cause})"),
            Self::Connect(Connect::Dns, cause) => format!("no connection to {host}: the name is not known ({cause})"),
            Self::Connect(Connect::Tls, cause) => {
                format!("no connection to {host}: the TLS handshake failed ({cause})")
            }
            Self::Connect(Connect::Certificate, cause) => {
                format!("no connection to {host}: its certificate was not accepted ({cause})")
            }
            Self::Connect(Connect::TimedOut, _) => format!("no connection to {host}: nobody answered in time"),
            Self::Connect(Connect::Other, cause) => format!("no connection to {host}: {cause}"),
            Self::Unanswered { cause, .. } => format!("the connection to {host} ended without an answer ({cause})"),
            Self::Cut(cause) => format!("the answer of {host} was cut short ({cause})"),
            Self::NotHttp(cause) => format!("{host} does not speak HTTP ({cause})"),
            Self::Encoding(cause) => format!("the answer of {host} does not decompress ({cause})"),
            Self::Oversized(limit) => format!("the answer of {host} is larger than {} MiB", limit >> 20),
            Self::Redirects => format!("{host} redirects in a circle"),
            Self::Request(cause) => format!("the request to {host} could not be sent ({cause})"),
        }
    }

    /// Reads the error of a request whose answer has not begun. `reused`: the connection is not a new one.
    pub(in crate::model) fn before_answer(error: &reqwest::Error, reused: bool) -> Self {
        let cause = innermost(error);
        if error.is_redirect() {
            return Self::Redirects;
        }
        if error.is_builder() {
            return Self::Request(cause);
        }
        if error.is_connect() {
            return Self::Connect(connect(error), cause);
        }
        let hyper = find::<hyper::Error>(error);
        if hyper.is_some_and(hyper::Error::is_parse) {
            return Self::NotHttp(cause);
        }
        Self::Unanswered { reused, cause }
    }

    /// Reads the error of a body.
    pub(in crate::model) fn within_answer(error: &reqwest::Error) -> Self {
        let cause = innermost(error);
        let is_corrupt = find::<io::Error>(error).is_some_and(|error| {
            matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other)
        });
        match find::<hyper::Error>(error) {
            None if is_corrupt => Self::Encoding(cause),
            _ => Self::Cut(cause),
        }
    }
}

fn connect(error: &reqwest::Error) -> Connect {
    if let Some(error) = find::<rustls::Error>(error) {
        let is_certificate =
            matches!(error, rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented);
        return if is_certificate { Connect::Certificate } else { Connect::Tls };
    }
    if error.is_dns() {
        return Connect::Dns;
    }
    if error.is_timeout() {
        return Connect::TimedOut;
    }
    match find::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => Connect::Refused,
        Some(io::ErrorKind::TimedOut) => Connect::TimedOut,
        // The peer hung up within the handshake; over plain TCP there is nothing to hang up on yet.
        Some(io::ErrorKind::UnexpectedEof) => Connect::Tls,
        _ => Connect::Other,
    }
}

/// The first error of type `T` among the causes, also inside an `io::Error`.
fn find<T: StdError + 'static>(error: &reqwest::Error) -> Option<&T> {
    causes(error).find_map(|cause| cause.downcast_ref::<T>())
}

fn innermost(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| "no reason given".to_owned(), ToString::to_string)
}

/// The causes of an error, outermost first. The error itself is left out: its text holds the URL.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(error.source(), |error| next(*error))
}

fn next<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    // An `io::Error` made from another error names that error's source, not the error itself.
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}
