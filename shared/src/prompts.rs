//! The **prompt pack**: every text that upstream's source contributes to a prompt, as data. It is read from the
//! user's checkout by `argosy_coordinator::dataset` and never typed into this source.

pub mod agent;

mod load;
#[cfg(test)]
pub(crate) mod sample;
mod template;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use load::Error;
pub use template::{Part, Template};

/// The schema of the packs this version reads and writes.
pub const SCHEMA: &str = "argosy.prompt_pack.v1";

/// Everything read from one upstream commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptPack {
    /// [`SCHEMA`].
    pub schema: String,
    /// Where it was read.
    pub source: PackSource,
    /// Agent prompts.
    pub agent: AgentPrompts,
    /// Task input.
    pub task_input: TaskInputPrompts,
    /// Judge prompts.
    pub judge: JudgePrompts,
}

/// Provenance of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackSource {
    /// The commit, where it could be established.
    pub commit: Option<String>,
    /// SHA-256 of each Python file read, by path.
    pub files: BTreeMap<String, String>,
}

/// The two agents' prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPrompts {
    /// The system prompt both agents send.
    pub system_prompt: String,
    /// CodeGen: writes the complete solution in one go.
    pub coder: AgentTemplate,
    /// ReAct: alternates reasoning and code.
    pub react: AgentTemplate,
}

/// One agent's prompt and limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentTemplate {
    /// Fields `system_prompt`, `tools`, `tool_names`, `input`, `agent_scratchpad`.
    pub template: Template,
    /// What a past step adds after its reply; field `observation`.
    pub observation: Template,
    /// Stop sequences of the request.
    pub stop: Vec<String>,
    /// Turn limit when `max_iterations` is null.
    pub max_iterations: u32,
    /// Python executions allowed, `None` = unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_executions: Option<u32>,
    /// The observation of a further execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// The pieces of a task input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskInputPrompts {
    /// Fields `dataset_paths`, `query`.
    pub input: Template,
    /// For real splits.
    pub real: QueryPrompts,
    /// For synthetic splits.
    pub synth: QueryPrompts,
}

/// The pieces of a `query` in a task input, in the order in which they are joined (nothing between them).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryPrompts {
    /// Once per dataset; fields `name`, `description`.
    pub dataset: Template,
    /// Once per column of it; fields `name`, `description`.
    pub column: Template,
    /// Once per intermediate hypothesis; field `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intermediate: Option<Template>,
    /// Field `nl_query`.
    pub query: Template,
    /// Field `domain_knowledge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_knowledge: Option<Template>,
    /// Field `workflow_tags`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_tags: Option<Template>,
    /// The closing sentence.
    pub closing: String,
}

/// The judge's prompts and sampling parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgePrompts {
    /// Segments a hypothesis; fields `datasets`, `hypothesis`, `workflow`.
    pub sub_hypotheses: JudgeCall,
    /// Compares two contexts; fields `gold_hyp`, `gold_context`, `pred_hyp`, `pred_context`.
    pub context: JudgeCall,
    /// Counts variables; fields `datasets_json`, `query`, `gold_hypo`, `gold_workflow`, `gen_hypo`, `gen_workflow`,
    /// `dimension_question`.
    pub variables: JudgeCall,
    /// Compares relations; fields as in `variables`.
    pub relation: JudgeCall,
    /// The text recorded as a pair's context question; fields `gold_text`, `gold_context`, `gen_text`, `gen_context`.
    pub pair_question: Template,
    /// What stands in for a hypothesis that could not be segmented, keys in upstream's order. Its `text` is null here;
    /// the scorer puts the whole hypothesis there.
    pub fallback: serde_json::Map<String, serde_json::Value>,
}

/// One kind of judge call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeCall {
    /// System message.
    pub system: String,
    /// User message.
    pub user: Template,
    /// The value of the field `dimension_question`, recorded as `question` in the evaluation record; variables and
    /// relation only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Request parameters exactly as sent (`temperature`, `max_tokens`, …, `response_format`).
    pub params: serde_json::Map<String, serde_json::Value>,
    /// Tries upstream allows for a reply it cannot parse.
    pub attempts: u32,
}

/// How LangChain's Python tool presents itself to the model. An interface constant: the only foreign text in this
/// source.
pub const TOOL_DESCRIPTION: &str = "A Python shell. Use this to execute python commands. Input should be a valid python command. When using this tool, sometimes output is abbreviated - make sure it does not look abbreviated before using it in your answer.";
