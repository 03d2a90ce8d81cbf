//! Scores: from task outcomes to `metrics.json`, `summary.md` and the terminal.
//!
//! - [`metrics`] reduces tasks and aggregates them as AgentCompass 1.0.1 does (contract section 3), and adds [`stats`]
//!   under `extra`, the only place its readers leave free.
//! - [`hierarchy`] is the tree of categories; [`fsum`] the exact sum all means are made of.
//! - [`summary`] writes `summary.md`, [`table`] the score table for people.
//! - [`load`] reads a run directory back, ours or AgentCompass's; [`export`] says it in the formats of others.
//!
//! A run that lacks results is never dressed up: its numbers become reference values, with the coverage and the bounds
//! the missing tasks leave open beside them.

pub mod export;
pub mod fsum;
pub mod hierarchy;
pub mod load;
pub mod metric_report;
pub mod metrics;
pub mod outcome;
pub mod stats;
pub mod summary;
pub mod table;
