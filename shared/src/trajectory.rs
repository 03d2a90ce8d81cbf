//! What the agent did, step by step. One step is one model call and what followed from it.
//!
//! [`StepRecord`] is what travels and is journalled: it holds the reply and the observation but not the prompt,
//! which is a pure function of the task input and the earlier steps. The published trajectory (ACTF_v1.0, with
//! the whole prompt in each step) is made from it by [`crate::run_dir`].

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Name of the one tool, an interface constant of LangChain's Python tool.
pub const PYTHON_TOOL: &str = "python_repl_ast";

/// One model call and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// 1-based.
    pub step_id: u32,
    /// The reply exactly as it entered the next prompt (cut at the stop sequence, nothing else changed).
    pub reply: String,
    /// Reasoning text the endpoint returned beside the reply; never part of a prompt or an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The parsed action, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// What the next prompt shows as observation, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<String>,
    /// Measurements of this step.
    pub metric: StepMetric,
    /// When the model request was sent.
    pub started_at: Timestamp,
    /// When the observation (or, without one, the reply) was complete.
    pub finished_at: Timestamp,
}

/// A parsed `Action:`/`Action Input:` pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The tool's name as the model wrote it; other than [`PYTHON_TOOL`] it is answered with a hint.
    pub tool: String,
    /// The code.
    pub input: String,
    /// Whether Python really ran (false for a wrong tool name and for coder's refused second execution).
    pub executed: bool,
}

/// Measurements of one step. `None` where the endpoint did not say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepMetric {
    /// Prompt tokens.
    pub prompt_tokens: Option<u64>,
    /// Completion tokens.
    pub completion_tokens: Option<u64>,
    /// Prompt tokens served from the endpoint's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Reasoning tokens, a part of the completion tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Milliseconds from sending the request to the complete reply, retries included.
    pub llm_infer_ms: f64,
    /// Milliseconds of the Python execution.
    pub env_action_ms: Option<f64>,
    /// The endpoint's `finish_reason`.
    pub stop_reason: Option<String>,
    /// Requests sent again within this call by `model.params.max_retries`.
    #[serde(default)]
    pub request_retries: u32,
    /// Bytes cut out of the observation by `max_observation_bytes`.
    #[serde(default)]
    pub observation_bytes_cut: u64,
    /// How the request differed from what was asked for, in words; see [`crate::model::ChatReply::changed_params`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_params: Vec<String>,
}
