//! What to answer to one chat request: refusals first, then faults, then the reply.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    Kind, Malformed, Say, StandIn, agent,
    draw::{Digest, Draw, digest},
    judge, recognise,
    request::{Refusal, Request},
    script::Turn,
    tokens,
};

mod reply;

use reply::{Reply, spoil};

/// What to send, and when.
#[derive(Debug)]
pub struct Plan {
    /// The kind of the call.
    pub kind: Kind,
    /// Its task's id, or a name made from the prompt.
    pub task: Option<String>,
    /// How long to wait first.
    pub delay: Duration,
    /// HTTP status.
    pub status: u16,
    /// Headers beside the content type.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// Whether the rate limit turned the request away.
    pub rate_limited: bool,
    /// Whether the answer is unusable on purpose.
    pub malformed: bool,
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the reply, all choices together.
    pub completion_tokens: u64,
}

/// A response body.
#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    /// A text with its content type.
    Whole(&'static str, String),
    /// Server-sent events, each to be sent by itself.
    Events(Vec<String>),
    /// The first part of a body, after which the connection ends.
    Cut(&'static str, String),
}

const JSON: &str = "application/json";

impl StandIn {
    /// What to answer to the request `body` that arrives at `now`. `authorization` is the header's value; `created`
    /// is the wall clock in seconds, only written into the reply.
    #[must_use]
    pub fn answer(&self, authorization: Option<&str>, body: &[u8], now: Duration, created: i64) -> Plan {
        if !self.admits(authorization) {
            return Plan::refused(401, "invalid_api_key", "the API key is missing or wrong", None);
        }
        let request = match Request::parse(body) {
            Ok(request) => request,
            Err(Refusal { message, param }) => return Plan::refused(400, "invalid_request", &message, param),
        };
        let kind = recognise::kind(&request);
        let task = self.finder.task_of(kind, &request.text);
        let content = content(&request, kind);
        let mut plan = self.decide(&request, kind, task, content, now, created);
        plan.task = match task {
            Some(index) => Some(self.script.tasks[index].task.clone()),
            None if kind == Kind::Agent => Some(unscripted(&recognise::agent_prompt(&request).input)),
            None => None,
        };
        plan
    }

    /// Whether a request with this `Authorization` may be answered at all.
    #[must_use]
    pub fn admits(&self, authorization: Option<&str>) -> bool {
        self.api_key
            .as_ref()
            .is_none_or(|key| authorization.and_then(|a| a.strip_prefix("Bearer ")) == Some(key.expose()))
    }

    fn decide(
        &self,
        request: &Request,
        kind: Kind,
        task: Option<usize>,
        content: Digest,
        now: Duration,
        created: i64,
    ) -> Plan {
        let script = &self.script;
        let mut memory = self.memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(bucket) = &mut memory.bucket
            && let Err(wait) = bucket.take(now)
        {
            let mut plan = Plan::refused(429, "rate_limit_exceeded", "rate limit reached for requests", None);
            plan.headers = vec![
                ("retry-after".to_owned(), wait.as_secs_f64().ceil().to_string()),
                ("x-ratelimit-remaining-requests".to_owned(), bucket.left().to_string()),
            ];
            return Plan { kind, rate_limited: true, ..plan };
        }
        let counts = memory.requests.entry(content).or_default();
        let occurrence = counts.seen;
        counts.seen += 1;
        let answered = counts.answered;
        let calls = task.map_or(0, |task| {
            let calls = memory.tasks.entry(task).or_default().entry(kind).or_default();
            *calls += 1;
            *calls
        });
        let of_occurrence = [&content[..], &occurrence.to_le_bytes()].concat();
        let delay = |say: &Say| match say.latency_ms {
            Some(millis) => Duration::try_from_secs_f64(millis / 1e3).unwrap_or(Duration::MAX),
            None => script.latency.draw(&mut Draw::new(script.seed, "latency", &of_occurrence)),
        };

        let fault = self.fault(kind, task, calls, occurrence, &of_occurrence);
        if let Some(fault) = &fault
            && fault.status.is_some()
        {
            return Plan { kind, delay: delay(fault), ..Plan::error(fault) };
        }
        if let Some(plan) = self.refusal(request) {
            return Plan { kind, ..plan };
        }
        let say = match fault {
            Some(fault) => fault,
            None => {
                if let Some(counts) = memory.requests.get_mut(&content) {
                    counts.answered += 1;
                }
                self.say(request, kind, task, answered)
            }
        };
        let id = format!("chatcmpl-{}-{occurrence}", hex::encode(content));
        let plan = if say.status.is_some() { Plan::error(&say) } else { self.reply(request, &say, &id, created) };
        Plan { kind, delay: delay(&say), ..plan }
    }

    /// The fault that strikes this occurrence, if any.
    fn fault(&self, kind: Kind, task: Option<usize>, calls: u32, occurrence: u32, of_occurrence: &[u8]) -> Option<Say> {
        let struck = |kinds: &[Kind]| kinds.is_empty() || kinds.contains(&kind);
        if let Some(fail) = task.and_then(|task| self.script.tasks[task].fail_first.as_ref())
            && struck(&fail.kinds)
            && calls <= fail.count
        {
            return Some(Say::error(fail.status));
        }
        self.script.faults.iter().enumerate().find_map(|(index, fault)| {
            let mut draw = Draw::new(self.script.seed, &format!("fault {index}"), of_occurrence);
            let strikes = struck(&fault.kinds)
                && fault.first.is_none_or(|first| occurrence < first)
                && draw.chance(fault.probability);
            strikes.then(|| fault.say.clone())
        })
    }

    /// A 400 as endpoints give it for parameters and prompts they do not take.
    fn refusal(&self, request: &Request) -> Option<Plan> {
        let refused = self.script.refuse.iter().find(|name| request.members.contains_key(*name));
        if let Some(name) = refused {
            let message = match name.as_str() {
                "max_tokens" => "Unsupported parameter: 'max_tokens' is not supported with this model. \
                                 Use 'max_completion_tokens' instead."
                    .to_owned(),
                "temperature" => {
                    let value = request.members.get(name).map(Value::to_string).unwrap_or_default();
                    format!(
                        "Unsupported value: 'temperature' does not support {value} with this model. \
                         Only the default (1) value is supported."
                    )
                }
                _ => format!("Unsupported parameter: '{name}' is not supported with this model."),
            };
            let code = if name == "temperature" { "unsupported_value" } else { "unsupported_parameter" };
            return Some(Plan::refused(400, code, &message, Some(name)));
        }
        let limit = self.script.context_tokens?;
        let length = tokens::count(&request.text);
        (length > limit).then(|| {
            let message = format!(
                "This model's maximum context length is {limit} tokens. However, your messages resulted in {length} \
                 tokens. Please reduce the length of the messages."
            );
            Plan::refused(400, "context_length_exceeded", &message, Some("messages"))
        })
    }

    /// The scripted reply, or the built-in one.
    fn say(&self, request: &Request, kind: Kind, task: Option<usize>, answered: u32) -> Say {
        let task = task.map(|task| &self.script.tasks[task]);
        let nth = |says: &[&Say]| says.get(answered as usize).or_else(|| says.last()).map(|say| Say::clone(say));
        let scripted = match kind {
            Kind::Agent => task.and_then(|task| {
                let turn = recognise::agent_prompt(request).turn;
                let Turn(says) = task.agent.get(turn).or_else(|| task.agent.last())?;
                nth(&says.iter().collect::<Vec<_>>())
            }),
            _ => task.map_or(&self.script.judge, |task| &task.judge).get(&kind).and_then(|says| {
                let given = |say: &&Say| say.only_for.as_ref().is_some_and(|text| request.text.contains(text));
                let special: Vec<&Say> = says.iter().filter(given).collect();
                let general: Vec<&Say> = says.iter().filter(|say| say.only_for.is_none()).collect();
                nth(if special.is_empty() { &general } else { &special })
            }),
        };
        scripted.unwrap_or_else(|| {
            let seed = self.script.seed;
            Say::text(match kind {
                Kind::Agent => agent::reply(&recognise::agent_prompt(request), seed),
                Kind::Other if request.json_mode => json!({ "ok": true }).to_string(),
                Kind::Other => "ok".to_owned(),
                kind => judge::reply(kind, &request.text, seed, self.script.match_probability),
            })
        })
    }

    /// A reply as an endpoint wraps it: cut at the stop sequence and at the token limit.
    fn reply(&self, request: &Request, say: &Say, id: &str, created: i64) -> Plan {
        let text = match &say.content {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let mut finish_reason = "stop";
        let text = text.map(|mut text| {
            if !self.script.ignore_stop
                && let Some(at) = request.stop.iter().filter_map(|stop| text.find(stop.as_str())).min()
            {
                text.truncate(at);
            }
            let (kept, was_cut) = tokens::cut(&text, request.max_tokens.unwrap_or(u64::MAX));
            if was_cut {
                finish_reason = "length";
            }
            kept.to_owned()
        });
        let mut reply = Reply {
            id,
            created,
            model: &request.model,
            text,
            reasoning: say.reasoning.clone(),
            finish_reason: say.finish_reason.as_deref().unwrap_or(finish_reason),
            n: request.n,
            prompt_tokens: tokens::count(&request.text),
        };
        match say.malformed {
            Some(Malformed::NullContent) => reply.text = None,
            Some(Malformed::EmptyContent) => reply.text = Some(String::new()),
            Some(Malformed::ReasoningOnly) => {
                reply.reasoning = reply.text.take().or(reply.reasoning);
                reply.finish_reason = "length";
            }
            _ => {}
        }
        let completion_tokens = reply.completion_tokens();
        let body = match say.malformed {
            None if request.stream => Body::Events(reply.events(request.stream_usage)),
            Some(how) => spoil(how, &reply.json()),
            None => Body::Whole(JSON, reply.json().to_string()),
        };
        let malformed = say.malformed.is_some();
        Plan { body, malformed, prompt_tokens: reply.prompt_tokens, completion_tokens, ..Plan::empty(200) }
    }
}

/// What identifies a request. A judge's is its text. An agent's is its task and turn: its text also holds paths,
/// observations and error messages, which differ from one execution to the next.
fn content(request: &Request, kind: Kind) -> Digest {
    if kind != Kind::Agent {
        return digest([request.model.as_bytes(), request.text.as_bytes()]);
    }
    let prompt = recognise::agent_prompt(request);
    digest([
        request.model.as_bytes(),
        if prompt.thinks { b"agent, thinking" } else { b"agent" },
        prompt.input.as_bytes(),
        &prompt.turn.to_le_bytes(),
    ])
}

/// A name for the task of an agent's prompt that no script knows.
fn unscripted(input: &str) -> String {
    format!("unscripted-{}", hex::encode(&digest([input.as_bytes()])[..6]))
}

impl Plan {
    fn empty(status: u16) -> Self {
        Self {
            kind: Kind::Other,
            task: None,
            delay: Duration::ZERO,
            status,
            headers: Vec::new(),
            body: Body::Whole(JSON, String::new()),
            rate_limited: false,
            malformed: false,
            prompt_tokens: 0,
            completion_tokens: 0,
        }
    }

    fn refused(status: u16, code: &str, message: &str, param: Option<&str>) -> Self {
        let kind = if status == 429 { "rate_limit_error" } else { "invalid_request_error" };
        let body = json!({ "error": { "message": message, "type": kind, "param": param, "code": code } });
        Self { body: Body::Whole(JSON, body.to_string()), ..Self::empty(status) }
    }

    fn error(say: &Say) -> Self {
        let status = say.status.unwrap_or(500);
        let body = match &say.body {
            Some(Value::String(text)) => Body::Whole("text/plain; charset=utf-8", text.clone()),
            Some(json) => Body::Whole(JSON, json.to_string()),
            None => {
                let message = format!("the stand-in was told to answer {status}");
                let error = json!({ "error": { "message": message, "type": "stand_in", "param": null, "code": null } });
                Body::Whole(JSON, error.to_string())
            }
        };
        let mut headers: Vec<(String, String)> = say.headers.clone().into_iter().collect();
        headers.extend(say.retry_after.iter().map(|value| ("retry-after".to_owned(), value.clone())));
        Self { body, headers, ..Self::empty(status) }
    }
}

#[cfg(test)]
mod tests;
