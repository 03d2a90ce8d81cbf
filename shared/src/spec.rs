//! The parameters of a run, under AgentCompass's names, validated. Every refusal names the parameter, says what is
//! wrong and what would be right.

pub mod fields;

mod benchmark;
mod environment;
mod execution;
mod harness;
mod model;

pub use benchmark::{AggregationMode, BenchmarkParams, JudgePolicy, JudgeSpec};
pub use environment::{EnvironmentId, EnvironmentSpec};
pub use execution::{AttemptStrategy, ExecutionParams, JudgeRetry};
pub use fields::{Error, nearest};
pub use harness::{AgentType, HarnessParams, OnPythonCrash};
pub use model::{ModelParams, ModelSpec, Protocol};

/// The benchmark Argosy runs.
pub const BENCHMARK: &str = "discoverybench";
/// The harness Argosy has.
pub const HARNESS: &str = "discovery_agent";
