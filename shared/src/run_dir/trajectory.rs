//! The published trajectory (ACTF_v1.0): each step with the complete prompt of its turn.
//!
//! Prompts grow with every turn, so a trajectory is quadratic in the number of turns. It is therefore never built: its
//! `Serialize` renders one step's prompt, writes it, and drops it.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap as _, SerializeSeq as _},
};
use serde_json::{Map, Value, json};

use super::moment;
use crate::{
    prompts::{AgentTemplate, agent::render_prompt},
    redact::Redactor,
    result::ExecutionResult,
    trajectory::{Action, StepMetric, StepRecord},
};

/// `schema_version` of a trajectory.
pub const SCHEMA: &str = "ACTF_v1.0";

/// A trajectory ready to be written.
#[derive(Clone, Copy, Debug)]
pub struct Trajectory<'a> {
    /// The execution whose steps these are.
    pub execution: &'a ExecutionResult,
    /// The template its prompts were rendered from.
    pub template: &'a AgentTemplate,
    /// Hides credentials in prompts, replies and observations.
    pub redactor: &'a Redactor,
}

impl Serialize for Trajectory<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("schema_version", SCHEMA)?;
        map.serialize_entry("steps", &Steps(*self))?;
        map.serialize_entry("started_at", &moment::naive(self.execution.started_at))?;
        map.serialize_entry("finished_at", &moment::naive(self.execution.finished_at))?;
        map.end()
    }
}

struct Steps<'a>(Trajectory<'a>);

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Trajectory { execution, template, redactor } = self.0;
        let mut sequence = serializer.serialize_seq(Some(execution.steps.len()))?;
        let mut past: Vec<(&str, &str)> = Vec::with_capacity(execution.steps.len());
        for step in &execution.steps {
            let prompt = render_prompt(template, &execution.system_prompt, &execution.input, &past);
            sequence.serialize_element(&Step { step, prompt: &prompt, redactor })?;
            past.push((&step.reply, step.observation.as_deref().unwrap_or_default()));
        }
        sequence.end()
    }
}

struct Step<'a> {
    step: &'a StepRecord,
    prompt: &'a str,
    redactor: &'a Redactor,
}

impl Serialize for Step<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { step, prompt, redactor } = *self;
        let call_id = format!("call_{}", step.step_id);
        let mut map = serializer.serialize_map(Some(9))?;
        map.serialize_entry("step_id", &step.step_id)?;
        // The one message of a turn holds everything; nothing is sent as a system message.
        map.serialize_entry("system_prompt", "")?;
        map.serialize_entry("user_content", &redactor.text(prompt))?;
        map.serialize_entry::<_, [Value]>("tools", &[])?;
        map.serialize_entry(
            "assistant_content",
            &json!({
                "content": redactor.text(&step.reply),
                "reasoning_content": redactor.text(step.reasoning.as_deref().unwrap_or_default()),
                "tool_calls": tool_calls(step.action.as_ref(), &call_id, redactor),
            }),
        )?;
        map.serialize_entry("observation", &observation(step, &call_id, redactor))?;
        map.serialize_entry("metric", &metric(&step.metric))?;
        map.serialize_entry("started_at", &moment::naive(step.started_at))?;
        map.serialize_entry("finished_at", &moment::naive(step.finished_at))?;
        map.end()
    }
}

/// In OpenAI's shape, with the code in `arguments.query`.
fn tool_calls(action: Option<&Action>, call_id: &str, redactor: &Redactor) -> Vec<Value> {
    action
        .map(|action| {
            json!({
                "id": call_id,
                "type": "function",
                "function": {
                    "name": redactor.text(&action.tool),
                    "arguments": {"query": redactor.text(&action.input)},
                },
            })
        })
        .into_iter()
        .collect()
}

fn observation(step: &StepRecord, call_id: &str, redactor: &Redactor) -> Vec<Value> {
    let Some(observation) = &step.observation else { return Vec::new() };
    let name = step.action.as_ref().map_or(crate::trajectory::PYTHON_TOOL, |action| &action.tool);
    vec![json!({"tool_call_id": call_id, "name": redactor.text(name), "content": redactor.text(observation)})]
}

/// AgentCompass's five members, then ours where there is something to say.
fn metric(metric: &StepMetric) -> Map<String, Value> {
    let mut members = Map::new();
    let mut add = |key: &str, value: Value| members.insert(key.to_owned(), value);
    add("prompt_tokens_len", json!(metric.prompt_tokens));
    add("completion_tokens_len", json!(metric.completion_tokens));
    add("llm_infer_ms", json!(moment::milliseconds(metric.llm_infer_ms)));
    add("env_action_ms", json!(metric.env_action_ms.map(moment::milliseconds)));
    add("stop_reason", json!(metric.stop_reason));
    if let Some(tokens) = metric.cached_tokens {
        add("cached_tokens_len", json!(tokens));
    }
    if let Some(tokens) = metric.reasoning_tokens {
        add("reasoning_tokens_len", json!(tokens));
    }
    if metric.request_retries > 0 {
        add("request_retries", json!(metric.request_retries));
    }
    if metric.observation_bytes_cut > 0 {
        add("observation_bytes_cut", json!(metric.observation_bytes_cut));
    }
    members
}
