//! `meta` of an attempt result: what the benchmark and the harness say beside the score.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::json::without_empty;
use crate::{
    redact::{self, Redactor},
    result::{AnswerSource, ExecutionResult},
    spec::JudgePolicy,
};

/// `meta.benchmark.discoverybench`: the three documented members and what the score depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkMeta {
    /// Where the judged answer was found.
    pub answer_source: AnswerSource,
    /// The judge's model id.
    pub judge_model: String,
    /// Upstream's evaluation record; `None` where the judge was not asked or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval_rec: Option<Value>,
    /// What the score depends on.
    #[serde(flatten)]
    pub provenance: EvaluationProvenance,
}

/// What a score depends on, apart from the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvaluationProvenance {
    /// Commit of the dataset, where it could be established.
    #[serde(default)]
    pub dataset_commit: Option<String>,
    /// Hash of the prompt pack.
    #[serde(default)]
    pub prompt_pack: String,
    /// How the judge's replies were read.
    #[serde(default)]
    pub judge_policy: JudgePolicy,
    /// The judge's request parameters in force, by kind of call.
    #[serde(default)]
    pub judge_params: Map<String, Value>,
    /// Parameters the judge's endpoint refused and how they were changed.
    #[serde(default)]
    pub judge_changed_params: Vec<String>,
    /// What was odd about the judge's replies, in words.
    #[serde(default)]
    pub judge_warnings: Vec<String>,
    /// What judging took.
    #[serde(default)]
    pub judge_telemetry: JudgeTelemetry,
}

/// What judging one answer took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgeTelemetry {
    /// Judge calls answered.
    pub calls: u32,
    /// Calls asked again because the reply could not be used.
    pub repeated_calls: u32,
    /// Requests sent again by the client.
    pub request_retries: u32,
    /// Prompt tokens, as far as reported.
    pub prompt_tokens_total: u64,
    /// Completion tokens, as far as reported.
    pub completion_tokens_total: u64,
    /// Milliseconds from the first request to the last reply.
    pub elapsed_ms: f64,
}

/// The whole `meta`: exactly `benchmark` and `harness`, without empty members, masked.
#[must_use]
pub fn meta(benchmark: Option<&BenchmarkMeta>, execution: Option<&ExecutionResult>, redactor: &Redactor) -> Value {
    let benchmark = benchmark.map_or(Value::Null, |benchmark| json!({"discoverybench": benchmark}));
    let harness = execution.map_or(Value::Null, harness);
    let mut meta = json!({"benchmark": benchmark, "harness": harness});
    redact::mask(&mut meta);
    redactor.value(&mut meta);
    let namespace = |name: &str| match without_empty(meta[name].clone()) {
        object @ Value::Object(_) => object,
        _ => json!({}),
    };
    json!({"benchmark": namespace("benchmark"), "harness": namespace("harness")})
}

fn harness(execution: &ExecutionResult) -> Value {
    json!({
        "telemetry": execution.telemetry,
        "provenance": execution.provenance,
        "raw_replies": execution.raw_replies,
    })
}
