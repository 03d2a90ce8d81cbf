//! The coordinator: it alone holds the gold, schedules, journals, judges, writes run directories and reports.
//!
//! In reading order:
//!
//! - [`scheduler`]: who may run what, and what follows from an event. Pure: no IO, no clock.
//! - [`engine`]: owns the scheduler; mailbox, timers, journal, judge pool.
//! - [`journal`]: durable events; resume is replay.
//! - [`grpc`]: the fleet protocol at the edge of the engine.
//! - [`dataset`]: imports a DiscoveryBench checkout: tasks, gold, files by digest, prompt pack.
//! - [`judge`]: asks the judge model and drives `argosy_shared::hms`.
//! - [`store`]: run directories, written atomically.
//! - [`report`]: metrics, summary, tables.
//! - [`stand_in`], [`http`]: the OpenAI-compatible stand-in server.
//! - [`demo`]: a small benchmark of our own, embedded.
//!
//! It does not know the worker library; the binary brings the two together.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests join what they spawn"))]

pub mod dataset;
pub mod demo;
pub mod engine;
pub mod grpc;
pub mod http;
pub mod journal;
pub mod judge;
pub mod report;
pub mod scheduler;
pub mod stand_in;
pub mod store;
