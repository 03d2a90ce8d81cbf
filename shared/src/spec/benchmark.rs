//! `--benchmark-params` of `discoverybench`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    fields::{Error, Fields, unknown},
    model::Protocol,
};
use crate::task::{Hints, Split};

/// How HMS treats replies that upstream's arithmetic cannot digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgePolicy {
    /// Retry, then FATAL `judge_invalid_output`; a score is always within 0..1. The default.
    #[default]
    Strict,
    /// Bit for bit what upstream's `new_eval.py` computes, sentinels included.
    Upstream,
}

/// How the headline value is made of the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AggregationMode {
    /// Mean over evaluated tasks.
    MicroWeighted,
    /// Mean of the categories' means.
    CategoryMean,
}

/// The judge. Fields that are `None` are inherited from the model under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeSpec {
    /// Model id; required.
    pub id: String,
    /// Endpoint.
    pub base_url: Option<String>,
    /// Key, possibly a whole-value `${VAR}` reference.
    #[serde(skip_serializing)]
    pub api_key: Option<String>,
    /// Wire protocol.
    pub api_protocol: Option<Protocol>,
    /// Overrides of the judge's request parameters, plus `max_retries` and `timeout`.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// All parameters of the benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchmarkParams {
    /// The judge; a run needs one.
    pub judge_model: Option<JudgeSpec>,
    /// Splits to load, in the order of the dataset.
    pub split: Vec<Split>,
    /// Domains (lower case); empty means all.
    pub category: Vec<String>,
    /// Append the domain-knowledge hint (real splits).
    pub add_domain_knowledge: bool,
    /// Append the workflow tags (real splits).
    pub add_workflow_tags: bool,
    /// The agent reaches nothing but the model while it runs.
    pub isolate_network: bool,
    /// Exact task ids; `None` means all.
    pub sample_ids: Option<Vec<String>>,
    /// At most this many tasks, after all filters.
    pub limit: Option<usize>,
    /// Shuffle with this seed before `limit` is applied; the run keeps the dataset's order.
    pub shuffle_seed: Option<u64>,
    /// `None`: the three levels overall / split / domain.
    pub aggregation_mode: Option<AggregationMode>,
    /// A hierarchy of the user's own, as in AgentCompass; wins over `aggregation_mode`.
    pub category_hierarchy: Option<Value>,
    /// How the judge's replies are read.
    pub judge_policy: JudgePolicy,
}

impl BenchmarkParams {
    /// Validates `--benchmark-params`.
    ///
    /// # Errors
    /// The first parameter that is unknown or has a wrong value.
    pub fn parse(members: Map<String, Value>) -> Result<Self, Error> {
        let mut fields = Fields::new("benchmark_params", members);
        let judge_model = match fields.take("judge_model") {
            None => None,
            Some(Value::Object(judge)) => Some(judge_spec(judge)?),
            Some(other) => {
                return Err(Error::new(fields.place("judge_model"), format!("expected an object, found `{other}`"))
                    .hint("for example {\"judge_model\": {\"id\": \"gpt-4o\"}}"));
            }
        };
        let split = match fields.take("split") {
            None => Split::DEFAULT.to_vec(),
            Some(value) => splits(&fields.place("split"), &value)?,
        };
        let category = match fields.take("category") {
            None => Vec::new(),
            Some(value) => {
                let names: Vec<String> = strings(&fields.place("category"), &value)?;
                if names.iter().any(|name| name == "all") {
                    Vec::new()
                } else {
                    names.iter().map(|name| name.trim().to_lowercase()).collect()
                }
            }
        };
        let sample_ids = match fields.take("sample_ids") {
            None => None,
            Some(value) => Some(strings(&fields.place("sample_ids"), &value)?),
        };
        let params = Self {
            judge_model,
            split,
            category,
            add_domain_knowledge: fields.get("add_domain_knowledge", "true or false", false)?,
            add_workflow_tags: fields.get("add_workflow_tags", "true or false", false)?,
            isolate_network: fields.get("isolate_network", "true or false", true)?,
            sample_ids,
            limit: fields.optional("limit", "a number of tasks")?,
            shuffle_seed: fields.optional("shuffle_seed", "a non-negative integer")?,
            aggregation_mode: match fields.take("aggregation_mode") {
                None => None,
                Some(value) => Some(aggregation_mode(&fields.place("aggregation_mode"), &value)?),
            },
            category_hierarchy: fields.take("category_hierarchy"),
            judge_policy: fields.choice(
                "judge_policy",
                &[("strict", JudgePolicy::Strict), ("upstream", JudgePolicy::Upstream)],
                JudgePolicy::Strict,
            )?,
        };
        if params.limit == Some(0) {
            return Err(
                Error::new(fields.place("limit"), "0 tasks leave nothing to run").hint("omit `limit` to run all")
            );
        }
        fields.finish()?;
        Ok(params)
    }

    /// The two hint switches.
    #[must_use]
    pub fn hints(&self) -> Hints {
        Hints { domain_knowledge: self.add_domain_knowledge, workflow_tags: self.add_workflow_tags }
    }
}

fn judge_spec(members: Map<String, Value>) -> Result<JudgeSpec, Error> {
    let mut fields = Fields::new("benchmark_params.judge_model", members);
    let id: Option<String> = fields.optional("id", "a model id")?;
    let id = id.filter(|id| !id.trim().is_empty()).ok_or_else(|| {
        Error::new(fields.place("id"), "the judge's model id is missing")
            .hint("{\"judge_model\": {\"id\": \"gpt-4o\"}} inherits endpoint and key from the model under test")
    })?;
    let judge = JudgeSpec {
        id,
        base_url: fields.optional("base_url", "a URL")?,
        api_key: fields.optional("api_key", "a string")?,
        api_protocol: match fields.take("api_protocol") {
            None => None,
            Some(value) => Some(Protocol::parse(&fields.place("api_protocol"), &value)?),
        },
        params: fields.get("params", "an object", Map::new())?,
    };
    fields.finish()?;
    Ok(judge)
}

fn splits(place: &str, value: &Value) -> Result<Vec<Split>, Error> {
    let mut chosen = Vec::new();
    for name in strings(place, value)? {
        if name == "all" {
            chosen.extend(Split::ALL);
            continue;
        }
        let split = Split::parse(&name).ok_or_else(|| {
            let mut valid: Vec<&str> = Split::ALL.iter().map(|split| split.as_str()).collect();
            valid.push("all");
            unknown(place, "split", &name, &valid)
        })?;
        chosen.push(split);
    }
    if chosen.is_empty() {
        return Err(Error::new(place, "an empty list of splits leaves nothing to run"));
    }
    Ok(Split::ALL.into_iter().filter(|split| chosen.contains(split)).collect())
}

/// A string, an integer, or a list of them: AgentCompass takes all three.
fn strings(place: &str, value: &Value) -> Result<Vec<String>, Error> {
    let one = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(Error::new(place, format!("expected a string or a list of strings, found `{other}`"))),
    };
    match value {
        Value::Array(items) => items.iter().map(one).collect(),
        other => Ok(vec![one(other)?]),
    }
}

fn aggregation_mode(place: &str, value: &Value) -> Result<AggregationMode, Error> {
    match value.as_str() {
        Some("micro_weighted") => Ok(AggregationMode::MicroWeighted),
        Some("category_mean") => Ok(AggregationMode::CategoryMean),
        _ => Err(unknown(place, "value", &value.to_string(), &["micro_weighted", "category_mean"])),
    }
}
