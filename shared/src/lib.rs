//! The vocabulary of Argosy and its pure functions, and the one client that talks to models.
//!
//! Nothing here knows the coordinator or the worker. In reading order:
//!
//! - [`id`], [`time`], [`issue`]: names of runs, tasks, attempts and executions; the clock; what went wrong.
//! - [`task`], [`prompts`]: a task's public side and the prompts read from upstream's source.
//! - [`spec`]: the parameters of a run, validated.
//! - [`trajectory`], [`result`]: what an execution produces.
//! - [`lease`]: what a worker is told.
//! - [`hms`]: the Hypothesis Matching Score, without IO.
//! - [`model`]: the chat client.
//! - [`run_dir`]: names and record shapes of a run directory.
//! - [`pyrepr`], [`pystr`], [`pyjson`]: the corners of Python that decide bytes of prompts and scores.
//! - [`wire`], [`backoff`], [`supervise`], [`redact`]: edges and tools.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests join what they spawn"))]

pub mod backoff;
pub mod hms;
pub mod id;
pub mod issue;
pub mod lease;
pub mod model;
pub mod patience;
pub mod prompts;
pub mod pyjson;
pub mod pyrepr;
pub mod pystr;
pub mod redact;
pub mod result;
pub mod run_dir;
pub mod spec;
pub mod supervise;
pub mod task;
pub mod time;
pub mod trajectory;
pub mod wire;

/// The version of Argosy, compared at registration and recorded in every result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
