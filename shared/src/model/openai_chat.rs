//! The protocol `openai-chat`: OpenAI Chat Completions, as dozens of servers speak it.

mod dial;
mod endpoint;
mod exchange;
mod ping;
mod reply;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{
    ChatReply, ChatRequest, Failure, Model,
    classify::{self, Answer, ErrorBody, Verdict},
    portability::{self, Change, Learned},
    retry, scrub,
    secret::Secret,
};
use crate::{
    spec::ModelParams,
    time::{self, Clock, SystemClock, Timestamp},
};
pub use endpoint::Endpoint;
use exchange::{Http, Received};
use reply::Reply;

/// How much of a body is kept for the record.
const RAW: usize = 64 << 10;

/// A client of one endpoint. Clones share connections and what was learned; make one per endpoint and clone it.
///
/// A request carries `model`, `messages` and the parameters of the [`ChatRequest`], in order, and nothing else: the
/// caller merges `model.params` into them. The client's own settings are its timeout (one request and its whole
/// answer) and its retries.
#[derive(Clone, Debug)]
pub struct Client {
    target: Arc<endpoint::Target>,
    http: Http,
    timeout: Duration,
    policy: retry::Policy,
    learned: Learned,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The base URL is no endpoint.
    #[error("base URL `{url}` {problem}")]
    BaseUrl {
        /// The URL, without credentials.
        url: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The key cannot be sent.
    #[error("the API key holds a character that no HTTP header can carry")]
    Key,
    /// The HTTP client could not be built.
    #[error("cannot make an HTTP client: {0}")]
    Client(String),
}

impl Client {
    /// A client of `endpoint` with the timeout and the retries of `params`.
    ///
    /// # Errors
    /// The endpoint's URL or key is unusable, or (for `https`) the machine has no certificates.
    pub fn new(endpoint: &Endpoint, params: &ModelParams) -> Result<Self, Error> {
        let target = endpoint::Target::of(endpoint)?;
        Ok(Self {
            http: Http::new(&target)?,
            target: Arc::new(target),
            timeout: Duration::try_from_secs_f64(params.timeout).unwrap_or(Duration::MAX),
            policy: retry::Policy { max_retries: params.max_retries, ..retry::Policy::default() },
            learned: Learned::new(),
        })
    }

    /// The same client, sharing what it learns with others.
    #[must_use]
    pub fn with_learned(self, learned: Learned) -> Self {
        Self { learned, ..self }
    }

    /// The same client with other delays.
    #[must_use]
    pub fn with_retry(self, policy: retry::Policy) -> Self {
        Self { policy, ..self }
    }

    /// What was learned about this endpoint's models so far.
    #[must_use]
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// The endpoint as it is named in messages: host and port.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.target.host
    }

    /// Sends one request once.
    async fn attempt(&self, request: &ChatRequest, params: &Map<String, Value>) -> Result<Got, Refused> {
        let host = &self.target.host;
        let sent = body(request, params);
        let received = match self.http.exchange(&self.target, &self.target.chat, Some(sent), self.timeout).await {
            Ok(received) => received,
            Err(failure) => {
                let verdict = classify::transport(host, &failure);
                return Err(Refused { verdict, body: Vec::new(), demanded: Vec::new() });
            }
        };
        match judge(host, &received, &self.target.key, time::wall()) {
            Ok(reply) => Ok(Got { reply, body: received.body }),
            Err(verdict) => {
                let error = ErrorBody::read(&received.body).unwrap_or_default();
                let demanded = portability::refused(received.status, &error, params);
                Err(Refused { verdict, body: received.body, demanded })
            }
        }
    }

    fn failure(&self, verdict: Verdict, body: &[u8], retries: u32) -> Failure {
        let key = &self.target.key;
        let mut message = scrub::secret(&verdict.message, key);
        if retries > 0 {
            message = format!("{message} (after {retries} {})", if retries == 1 { "retry" } else { "retries" });
        }
        Failure {
            severity: verdict.severity(),
            code: verdict.code,
            status: verdict.status,
            message,
            transient: verdict.transient,
            retries,
            raw: verdict.status.map(|_| raw(body, key)),
        }
    }
}

/// A usable answer.
struct Got {
    reply: Reply,
    body: Vec<u8>,
}

/// No usable answer.
struct Refused {
    verdict: Verdict,
    body: Vec<u8>,
    /// Without these parameters the request may be taken.
    demanded: Vec<Change>,
}

#[async_trait]
impl Model for Client {
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, Failure> {
        let clock = SystemClock::new();
        let mut changes = self.learned.changes(&self.target.name, &request.model);
        let mut retries = 0;
        loop {
            let (params, applied) = portability::apply(&request.params, &changes);
            match self.attempt(request, &params).await {
                Ok(got) => {
                    // Only now is it sure that the changes were what the model wanted.
                    self.learned.add(&self.target.name, &request.model, changes);
                    return Ok(finish(got, request, &applied, retries, &self.target.key, clock.monotonic()));
                }
                Err(Refused { demanded, .. }) if demanded.iter().any(|change| !changes.contains(change)) => {
                    // Sent again at once and not counted: each round takes a parameter away, so this ends.
                    tracing::info!(host = self.target.host, model = request.model, ?demanded, "parameters are refused");
                    changes.extend(demanded);
                }
                Err(Refused { verdict, body, .. }) => {
                    if !verdict.is_retried() || retries >= self.policy.max_retries {
                        return Err(self.failure(verdict, &body, retries));
                    }
                    let delay = self.policy.delay(retries, verdict.retry_after, retry::chance());
                    retries += 1;
                    tracing::info!(
                        host = self.target.host,
                        retry = retries,
                        of = self.policy.max_retries,
                        delay_ms = delay.as_millis() as u64,
                        reason = scrub::secret(&verdict.message, &self.target.key),
                        "model request is sent again"
                    );
                    tokio::time::sleep(delay).await;
                }
            }
        }
    }
}

/// The meaning of an answer: a reply, or a verdict. Pure. A reply is taken as it stands; what a verdict says is taken
/// from the answer without the key in it.
fn judge(host: &str, received: &Received, key: &Secret, now: Timestamp) -> Result<Reply, Verdict> {
    let success = (200..300).contains(&received.status);
    let unusable = match reply::read(&received.body) {
        Ok(reply) if success => return Ok(reply),
        Ok(_) => None,
        Err(why) => Some(why),
    };
    let body = scrub::body(&received.body, key);
    let answer = Answer { status: received.status, headers: &received.headers, body: &body };
    match unusable.filter(|_| success) {
        Some(why) => Err(classify::unusable(host, &answer, &reply::read(&body).err().unwrap_or(why), now)),
        None => Err(classify::status(host, &answer, now)),
    }
}

fn body(request: &ChatRequest, params: &Map<String, Value>) -> Bytes {
    let mut members = Map::new();
    members.insert("model".to_owned(), json!(request.model));
    members.insert("messages".to_owned(), json!(request.messages));
    for (name, value) in params {
        members.insert(name.clone(), value.clone());
    }
    Bytes::from(Value::Object(members).to_string())
}

fn finish(
    got: Got,
    request: &ChatRequest,
    applied: &[Change],
    retries: u32,
    key: &Secret,
    elapsed: Duration,
) -> ChatReply {
    let Got { reply, body } = got;
    let mut changed_params: Vec<String> = applied.iter().map(ToString::to_string).collect();
    let mut content = reply.content;
    // Also where the endpoint took `stop` and did not honour it, as gateways do that drop what a model refuses.
    let was_cut =
        content.as_mut().is_some_and(|text| portability::cut_at_stop(text, &portability::stops(&request.params)));
    if was_cut {
        changed_params.push("cut the reply at a stop sequence".to_owned());
    }
    ChatReply {
        content,
        reasoning: reply.reasoning,
        finish_reason: reply.finish_reason,
        usage: reply.usage,
        raw: raw(&body, key),
        retries,
        elapsed,
        changed_params,
    }
}

/// A body, without the credential, for the record.
fn raw(body: &[u8], key: &Secret) -> String {
    let body = scrub::body(body, key);
    let text = String::from_utf8_lossy(&body[..body.len().min(RAW)]);
    scrub::cut(&text, RAW).to_owned()
}

#[cfg(test)]
mod tests;
