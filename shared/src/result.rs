//! What an execution hands to the coordinator.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{issue::Issue, time::Timestamp, trajectory::StepRecord};

/// Where the judged answer was found, in the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerSource {
    /// `answer.txt` in the workspace.
    AnswerFile,
    /// The harness's collected copy of that file.
    CollectedFile,
    /// The harness's final reply.
    FinalAnswer,
    /// There is none: scored 0 without a judge call.
    Missing,
}

/// Why the agent loop ended; the `termination_reason` of the telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// The model gave a final answer.
    FinalAnswer,
    /// `max_iterations` turns without one.
    MaxIterations,
    /// A reply that cannot be parsed, or an empty one.
    OutputInvalid,
    /// `command_timeout` or `run_timeout_seconds`.
    Timeout,
    /// A model request timed out.
    ModelTimeout,
    /// The prompt outgrew the model's context.
    ContextExceeded,
    /// A model request failed otherwise.
    ModelFailed,
    /// The sandbox or Python failed.
    EnvironmentFailed,
    /// The lease was taken away or the worker stopped.
    Cancelled,
}

/// Counters of one execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Model calls whose reply arrived.
    pub iterations: u32,
    /// Python executions.
    pub python_executions: u32,
    /// Why the loop ended.
    pub termination_reason: Termination,
    /// Python processes started again after a crash (`on_python_crash: restart`).
    #[serde(default)]
    pub python_restarts: u32,
    /// Turns replayed from an earlier execution instead of being paid again.
    #[serde(default)]
    pub replayed_turns: u32,
    /// Milliseconds of the setup phase: files, sandbox, start of Python.
    #[serde(default)]
    pub setup_ms: f64,
    /// Milliseconds spent waiting for the model, retries included, replayed turns not.
    #[serde(default)]
    pub model_ms: f64,
    /// Milliseconds spent in Python executions that brought an observation.
    #[serde(default)]
    pub python_ms: f64,
}

/// Where and with what an execution ran; a part of every result's provenance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Worker name.
    pub worker: String,
    /// Environment id.
    pub environment: String,
    /// Argosy version of the worker.
    pub argosy_version: String,
    /// Version of the sandbox's Python, for example `3.12.1`.
    pub python_version: String,
    /// Versions of the benchmark's packages found in the sandbox, by name.
    #[serde(default)]
    pub packages: BTreeMap<String, String>,
    /// Parameters of the request that the endpoint refused and how they were changed.
    #[serde(default)]
    pub changed_params: Vec<String>,
}

/// The whole outcome of an execution. Travels as JSON, of any size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionResult {
    /// Upstream's agent system prompt.
    pub system_prompt: String,
    /// The task input with the paths of this sandbox.
    pub input: String,
    /// The answer to be judged.
    pub final_answer: Option<String>,
    /// Where it was found.
    pub answer_source: AnswerSource,
    /// All steps.
    pub steps: Vec<StepRecord>,
    /// What went wrong. A FATAL issue means there is nothing to judge.
    pub issues: Vec<Issue>,
    /// Counters.
    pub telemetry: Telemetry,
    /// Where it ran.
    pub provenance: Provenance,
    /// When the sandbox was asked for.
    pub started_at: Timestamp,
    /// When the answer had been read.
    pub finished_at: Timestamp,
    /// Bodies of model replies that could not be used, for the reader of the result (bounded).
    #[serde(default)]
    pub raw_replies: Vec<String>,
}
