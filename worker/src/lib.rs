//! The worker: it takes leases, creates a sandbox per execution, runs the agent loop beside one long-lived Python
//! process, and reports. It never sees the gold and never writes a run directory.
//!
//! In reading order:
//!
//! - [`session`]: registers, keeps slots filled, renews, drains.
//! - [`execution`]: the life of one lease.
//! - [`agent`]: the loop of coder and react; [`agent::parse`] is pure.
//! - [`python`]: the server script, its framing, and the session with it.
//! - [`sandbox`]: where Python runs.
//! - [`cache`]: data files by digest.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests join what they spawn"))]

pub mod agent;
pub mod cache;
pub mod execution;
pub mod python;
pub mod sandbox;
pub mod session;
