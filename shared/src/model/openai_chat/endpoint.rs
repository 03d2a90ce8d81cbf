//! Where requests go.

use reqwest::header::HeaderValue;
use url::Url;

use super::Error;
use crate::{
    model::secret::Secret,
    spec::{ModelSpec, Protocol},
};

/// An endpoint: base URL, credential, protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// For example `https://host/v1`. A query (`?api-version=…`) is kept with every request; a URL that already ends
    /// in `/chat/completions` is taken as it is.
    pub base_url: String,
    /// Sent as `Authorization: Bearer`; nothing is sent when it is empty.
    pub api_key: Secret,
    /// Wire protocol.
    pub protocol: Protocol,
}

impl From<&ModelSpec> for Endpoint {
    fn from(spec: &ModelSpec) -> Self {
        Self { base_url: spec.base_url.clone(), api_key: spec.api_key.clone(), protocol: spec.protocol }
    }
}

/// An endpoint taken apart.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// `POST` for a chat reply.
    pub(super) chat: Url,
    /// `GET` for the list of models.
    pub(super) models: Url,
    /// Host and, where it is not the scheme's own, port.
    pub(super) host: String,
    /// Scheme, host and path of the base, without query: the name under which refusals are remembered.
    pub(super) name: String,
    /// Without white space around it.
    pub(super) key: Secret,
    /// The header made of it.
    pub(super) authorization: Option<HeaderValue>,
}

const CHAT: &str = "/chat/completions";

impl Target {
    pub(super) fn of(endpoint: &Endpoint) -> Result<Self, Error> {
        let base = parse(&endpoint.base_url)?;
        let path = base.path().trim_end_matches('/');
        let path = path.strip_suffix(CHAT).unwrap_or(path).trim_end_matches('/').to_owned();
        let at = |suffix: &str| {
            let mut url = base.clone();
            url.set_path(&format!("{path}{suffix}"));
            url
        };
        let host = match (base.host_str().unwrap_or_default(), base.port()) {
            (host, Some(port)) => format!("{host}:{port}"),
            (host, None) => host.to_owned(),
        };
        let key = Secret::new(endpoint.api_key.expose().trim());
        let authorization = match key.is_empty() {
            true => None,
            false => {
                let mut header = HeaderValue::try_from(format!("Bearer {}", key.expose())).map_err(|_| Error::Key)?;
                header.set_sensitive(true);
                Some(header)
            }
        };
        let name = format!("{}://{host}{path}", base.scheme());
        Ok(Self { chat: at(CHAT), models: at("/models"), host, name, key, authorization })
    }

    /// Whether the endpoint is on this machine, where no proxy may stand between.
    pub(super) fn is_loopback(&self) -> bool {
        match self.chat.host() {
            Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }
}

fn parse(text: &str) -> Result<Url, Error> {
    let text = text.trim();
    let refuse = |problem: &str| Error::BaseUrl { url: shown(text), problem: problem.to_owned() };
    if text.is_empty() {
        return Err(refuse("is empty; give for example `https://host/v1`"));
    }
    let lower = text.to_ascii_lowercase();
    if !lower.starts_with("http://") && !lower.starts_with("https://") {
        let near = shown(text);
        let near = near.split_once("://").map_or(near.as_str(), |(_, rest)| rest);
        return Err(refuse(&format!("must begin with `http://` or `https://`, for example `http://{near}`")));
    }
    let mut url = Url::parse(text).map_err(|error| refuse(&format!("is no URL: {error}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("holds credentials; give them as the API key"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// The URL without what may be secret in it.
fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match text.rsplit_once('@') {
        Some((before, after)) => match before.split_once("://") {
            Some((scheme, _)) => format!("{scheme}://{after}"),
            None => after.to_owned(),
        },
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(base_url: &str, key: &str) -> Result<Target, Error> {
        Target::of(&Endpoint {
            base_url: base_url.to_owned(),
            api_key: Secret::new(key),
            protocol: Protocol::OpenaiChat,
        })
    }

    #[test]
    fn the_paths_are_joined_whatever_the_slashes() {
        let cases = [
            ("http://h:8000/v1", "http://h:8000/v1/chat/completions"),
            ("http://h/v1///", "http://h/v1/chat/completions"),
            (" https://h ", "https://h/chat/completions"),
            (
                "https://h/openai/deployments/d?api-version=1",
                "https://h/openai/deployments/d/chat/completions?api-version=1",
            ),
            ("https://h/v1/chat/completions/", "https://h/v1/chat/completions"),
            ("HTTP://h/v1#x", "http://h/v1/chat/completions"),
        ];
        for (base, chat) in cases {
            assert_eq!(target(base, "").unwrap().chat.as_str(), chat);
        }
        let target = target("https://h:444/v1/?k=v", "").unwrap();
        assert_eq!((target.models.as_str(), target.host.as_str()), ("https://h:444/v1/models?k=v", "h:444"));
        assert_eq!(target.name, "https://h:444/v1");
        assert!(target.authorization.is_none());
    }

    #[test]
    fn what_is_no_endpoint_is_refused_without_showing_secrets() {
        for (base, words) in [
            ("", "is empty"),
            ("localhost:8000/v1", "`http://localhost:8000/v1`"),
            ("api.host.com/v1", "must begin with"),
            ("ftp://h/v1", "must begin with"),
            ("http://", "is no URL"),
            ("http://u:sekret@h/v1", "holds credentials"),
            ("u:sekret@h/v1?key=sekret", "must begin with"),
        ] {
            let error = target(base, "").unwrap_err().to_string();
            assert!(error.contains(words), "{base}: {error}");
            assert!(!error.contains("sekret"), "{base}: {error}");
        }
    }

    #[test]
    fn a_key_is_trimmed_and_must_fit_a_header() {
        let key = target("http://h", " sk-1\n").unwrap().authorization.unwrap();
        assert_eq!(key.to_str().unwrap(), "Bearer sk-1");
        assert!(key.is_sensitive());
        let error = target("http://h", "sk\n1").unwrap_err().to_string();
        assert!(error.contains("key") && !error.contains("sk"), "{error}");
    }

    #[test]
    fn loopback_is_recognised() {
        for (base, expected) in [
            ("http://127.0.0.1:1", true),
            ("http://localhost", true),
            ("http://[::1]:2", true),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(target(base, "").unwrap().is_loopback(), expected, "{base}");
        }
    }
}
