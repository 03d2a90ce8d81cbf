//! A run directory as AgentCompass 1.0.1 lays it out: names and record shapes, without IO. Only this module knows a
//! file name or a key; `argosy_coordinator::store` writes the files, `argosy_coordinator::report` reads them back.
//!
//! ```text
//! <results_dir>/[<run name>/…]<namespace>/<run id>/
//!   run_info.json params.json progress.json progress.jsonl     the run
//!   metrics.json summary.md                                    its scores, once it is over
//!   argosy.json                                                ours: which tasks were planned
//!   details/<state>/<task directory>/task.json                 a task
//!     attempt-<n>/{result.json,checkpoint.json,retries/*.json} its attempts
//! ```
//!
//! AgentCompass's readers are strict about `result.json` (exactly nine keys) and about directory names; what Argosy adds
//! lies where they tolerate it: below `meta`, inside the trajectory, in `extra` of the metrics, and in `argosy.json`.
//!
//! Times differ from AgentCompass on purpose: trajectory times have its form (`2026-12-01 03:01:42.706778`, no zone) but
//! are always **UTC**, so that steps run on several hosts can be compared.

pub mod attempt;
pub mod checkpoint;
pub mod json;
pub mod meta;
pub mod moment;
pub mod names;
pub mod plan;
pub mod planned;
pub mod progress;
pub mod request;
pub mod retry;
pub mod run_info;
pub mod status;
pub mod task_index;
pub mod trajectory;

pub use attempt::{AttemptRecord, AttemptResult, Metrics};
pub use meta::{BenchmarkMeta, EvaluationProvenance, JudgeTelemetry};
pub use names::State;
pub use plan::ResolvedPlan;
pub use planned::{PlannedRun, PlannedTask};
pub use retry::RetryRecord;
pub use run_info::{ReusedFrom, RunInfo, RunStatus};
pub use task_index::{TaskHeader, TaskIndex};
pub use trajectory::Trajectory;
