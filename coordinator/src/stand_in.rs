//! The stand-in model: an OpenAI-compatible server that plays the model under test and the judge, so that a whole
//! sweep can be rehearsed without spending anything, and so that tests know every score in advance.
//!
//! This module decides what to answer and when; it does no IO. [`crate::http::mock_model`] puts it on a port:
//! `StandIn::start(addr, script)`.
//!
//! - [`script`]: the script file, its format and its defaults.
//! - `request`, `recognise`: what came in, and whether an agent or which kind of judge call sent it. Recognition
//!   rests on interface words only (the tool's name, the JSON keys a judge prompt demands), so it works with any
//!   prompt pack.
//! - `agent`, `judge`: what is said without a script.
//! - `decide`: the order of refusals, faults and replies.
//!
//! Everything but the rate limit is a function of the seed, of what the request is about and how often the same came
//! before; never of the order of arrival. What a request is about is a judge's whole text, and an agent's question,
//! file names and turn: neither where the files lie nor what was observed. A run therefore gets the same scores at any
//! concurrency, and another time.

pub mod recognise;
pub mod script;
pub mod stats;

mod agent;
mod bucket;
mod decide;
mod draw;
mod judge;
mod latency;
mod request;
mod say;
mod tokens;

use std::{collections::HashMap, sync::Mutex};

use argosy_shared::model::secret::Secret;

pub use decide::{Body, Plan};
pub use latency::Latency;
pub use recognise::Kind;
pub use say::{Malformed, Say};
pub use script::{Error, Script};
pub use stats::Stats;

/// A script being played: what to say, and how often each request came.
#[derive(Debug)]
pub struct StandIn {
    script: Script,
    finder: script::Finder,
    api_key: Option<Secret>,
    memory: Mutex<Memory>,
}

impl StandIn {
    /// Plays `script`. With `api_key`, requests without it are answered 401.
    #[must_use]
    pub fn new(script: Script, api_key: Option<Secret>) -> Self {
        let bucket = script.rate_limit.map(bucket::Bucket::new);
        let memory = Memory { bucket, ..Memory::default() };
        let finder = script::Finder::new(&script.tasks);
        Self { script, finder, api_key: api_key.filter(|key| !key.is_empty()), memory: Mutex::new(memory) }
    }

    /// The model ids of `/v1/models`.
    #[must_use]
    pub fn models(&self) -> &[String] {
        &self.script.models
    }
}

/// What has to be remembered between requests.
#[derive(Debug, Default)]
struct Memory {
    /// By content of the request.
    requests: HashMap<draw::Digest, Counts>,
    /// By index into the script's tasks: calls that got past the rate limit, by kind.
    tasks: HashMap<usize, HashMap<Kind, u32>>,
    bucket: Option<bucket::Bucket>,
}

/// How often one and the same request came.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Times it got past the rate limit.
    seen: u32,
    /// Times it was answered with a reply rather than a fault.
    answered: u32,
}
