//! What the stand-in was asked and how it answered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Kind, Plan};

/// Tasks counted by name; the calls of further ones are counted together, so that memory stays bounded.
const TASKS: usize = 20_000;

/// Counters since the start; `GET /stats` shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Chat requests received, of any outcome.
    pub calls: u64,
    /// Those by kind.
    pub by_kind: BTreeMap<Kind, u64>,
    /// Those by task id and kind. A task without a script has a name made from its prompt.
    pub by_task: BTreeMap<String, BTreeMap<Kind, u64>>,
    /// Requests answered with a usable reply.
    pub replies: u64,
    /// Errors given, by HTTP status.
    pub errors: BTreeMap<u16, u64>,
    /// Malformed answers given, status 200.
    pub malformed: u64,
    /// Requests turned away by the rate limit (also counted under 429).
    pub rate_limited: u64,
    /// Tokens of the prompts of usable replies.
    pub prompt_tokens: u64,
    /// Tokens of the usable replies.
    pub completion_tokens: u64,
    /// Requests being answered now.
    pub in_flight: u64,
    /// The most there were at once.
    pub peak_in_flight: u64,
}

impl Stats {
    /// Counts the answer to one chat request.
    pub(crate) fn count(&mut self, plan: &Plan) {
        self.calls += 1;
        *self.by_kind.entry(plan.kind).or_default() += 1;
        if let Some(task) = &plan.task {
            let known = self.by_task.len() < TASKS || self.by_task.contains_key(task);
            let name = if known { task.as_str() } else { "(others)" };
            *self.by_task.entry(name.to_owned()).or_default().entry(plan.kind).or_default() += 1;
        }
        if plan.status != 200 {
            *self.errors.entry(plan.status).or_default() += 1;
            self.rate_limited += u64::from(plan.rate_limited);
        } else if plan.malformed {
            self.malformed += 1;
        } else {
            self.replies += 1;
            self.prompt_tokens += plan.prompt_tokens;
            self.completion_tokens += plan.completion_tokens;
        }
    }

    /// A request begins to be answered.
    pub(crate) fn begin(&mut self) {
        self.in_flight += 1;
        self.peak_in_flight = self.peak_in_flight.max(self.in_flight);
    }

    /// It is answered, or its client went away.
    pub(crate) fn end(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }
}
