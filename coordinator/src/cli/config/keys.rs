//! Every key there is, with its type, its default and its meaning: `argosy config docs`, the check for unknown keys, and
//! the lowest layer of `argosy config show` are made of this table. A test compares it with what the parsers take.

use serde_json::{Map, Value};

use super::Layer;

/// One key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// `execution`, `benchmarks.discoverybench`, ..
    pub(crate) section: &'static str,
    /// Below it; levels are joined by dots.
    pub(crate) name: &'static str,
    /// In words.
    pub(crate) kind: &'static str,
    /// As JSON.
    pub(crate) default: &'static str,
    /// In words.
    pub(crate) meaning: &'static str,
}

const BENCHMARK: &str = "benchmarks.discoverybench";
const HARNESS: &str = "harnesses.discovery_agent";
const HOST_PROCESS: &str = "environments.host_process";
const EXECUTION: &str = "execution";
const RUNTIME: &str = "runtime";

const fn key(
    section: &'static str,
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key { section, name, kind, default, meaning }
}

/// All keys.
pub(crate) const KEYS: &[Key] = &[
    key(
        BENCHMARK,
        "judge_model",
        "mapping",
        "null",
        "The judge; required. Absent connection fields are inherited from the model under test, an empty string is not",
    ),
    key(BENCHMARK, "judge_model.id", "string", "null", "Model id of the judge; required"),
    key(BENCHMARK, "judge_model.base_url", "string", "null", "Endpoint of the judge"),
    key(BENCHMARK, "judge_model.api_key", "string", "null", "Key of that endpoint"),
    key(BENCHMARK, "judge_model.api_protocol", "string or list", "null", "Wire protocol of the judge"),
    key(
        BENCHMARK,
        "judge_model.params",
        "mapping",
        "{}",
        "Override the judge's request parameters; also `max_retries` and `timeout`",
    ),
    key(
        BENCHMARK,
        "split",
        "string or list",
        r#"["real_test","synth_test"]"#,
        "Splits to run: real_test, real_train, synth_test, synth_dev, synth_train, all",
    ),
    key(BENCHMARK, "category", "string or list", r#""all""#, "Domains to run, whatever their case"),
    key(BENCHMARK, "add_domain_knowledge", "boolean", "false", "Append the domain-knowledge hint; real splits only"),
    key(BENCHMARK, "add_workflow_tags", "boolean", "false", "Append the workflow tags; real splits only"),
    key(BENCHMARK, "isolate_network", "boolean", "true", "Keep the agent from the network while it runs"),
    key(BENCHMARK, "sample_ids", "string, integer or list", "null", "Exact task ids; the order stays the dataset's"),
    key(BENCHMARK, "limit", "integer", "null", "At most this many tasks, after all filters"),
    key(
        BENCHMARK,
        "shuffle_seed",
        "integer",
        "null",
        "Which tasks `limit` keeps: a hash of seed and id decides. The order stays the dataset's",
    ),
    key(
        BENCHMARK,
        "aggregation_mode",
        "string",
        "null",
        "micro_weighted or category_mean; null: overall / split / domain",
    ),
    key(BENCHMARK, "category_hierarchy", "mapping", "null", "A tree over the categories; wins over aggregation_mode"),
    key(
        BENCHMARK,
        "judge_policy",
        "string",
        r#""strict""#,
        "strict, or upstream: unusable judge replies count as upstream counts them",
    ),
    key(HARNESS, "agent_type", "string", r#""coder""#, "coder or react"),
    key(HARNESS, "max_iterations", "integer", "null", "Turn limit; null: 5 for coder, 25 for react"),
    key(HARNESS, "command_timeout", "number", "2400", "Bound of one Python execution, seconds"),
    key(
        HARNESS,
        "inject_network_restriction_notice",
        "boolean",
        "false",
        "Append a notice of the network restriction to the task input",
    ),
    key(
        HARNESS,
        "on_python_crash",
        "string",
        r#""fatal""#,
        "fatal, or restart: tell the model and go on with a fresh process",
    ),
    key(
        HARNESS,
        "max_observation_bytes",
        "integer",
        "1048576",
        "Cap of one observation, head and tail are kept; 0: none, as upstream",
    ),
    key(
        HOST_PROCESS,
        "python",
        "string",
        r#""python3""#,
        "The Python interpreter, a path or a name to look up; 3.9 or newer",
    ),
    key(EXECUTION, "task_concurrency", "integer", "32", "Executions of one run at once"),
    key(EXECUTION, "attempts", "mapping", "{}", "Repeats of each task"),
    key(EXECUTION, "attempts.k", "integer", "1", "Attempts per task"),
    key(
        EXECUTION,
        "attempts.strategy",
        "string",
        r#""avg""#,
        "How attempts are combined; pass is refused for a score that is a number",
    ),
    key(
        EXECUTION,
        "max_retries",
        "integer",
        "0",
        "Retries of one attempt after FATAL (and ERROR matched by the patterns)",
    ),
    key(
        EXECUTION,
        "retry_pattern_list",
        "list of strings",
        "[]",
        "Regular expressions searched in message and code of ERROR issues",
    ),
    key(EXECUTION, "retry_min_delay_seconds", "number", "5", "First delay before a retry; doubles"),
    key(EXECUTION, "retry_max_delay_seconds", "number", "60", "Largest delay before a retry"),
    key(EXECUTION, "run_timeout_seconds", "number", "null", "Bound of the agent loop of one execution; null: none"),
    key(EXECUTION, "timeout_multiplier", "number", "1", "Multiplies run_timeout_seconds"),
    key(EXECUTION, "run_timeout_multiplier", "number", "null", "The same, instead of timeout_multiplier"),
    key(
        EXECUTION,
        "judge_retry",
        "string",
        r#""evaluate""#,
        "What a judge failure repeats: evaluate, or attempt (agent included, as AgentCompass)",
    ),
    key(EXECUTION, "max_lease_losses", "integer", "3", "Losses of its worker an attempt survives"),
    key(EXECUTION, "replay", "boolean", "true", "Replay turns that are paid when an execution lost its worker"),
    key(RUNTIME, "results_dir", "string", r#""results""#, "Where runs are written"),
    key(
        RUNTIME,
        "data_dir",
        "string",
        r#""data""#,
        "Where `discoverybench/` is looked for when --dataset is not given",
    ),
    key(RUNTIME, "timeout_seconds", "number", "360000", "Bound of the whole run after preflight; 0: none"),
    key(RUNTIME, "cleanup_grace_seconds", "number", "30", "How long an interrupted run may finish what is under way"),
    key(RUNTIME, "progress", "string", r#""auto""#, "auto, plain or none"),
    key(RUNTIME, "reuse", "boolean", "false", "Go on with the newest run, or begin one"),
    key(RUNTIME, "log_level", "string", r#""WARNING""#, "Log on stderr: DEBUG, INFO, WARNING, ERROR or CRITICAL"),
    key(RUNTIME, "file_log_level", "string", r#""DEBUG""#, "Log in the run's run.log"),
];

/// The names directly below a place such as `execution` or `execution.attempts`; empty where they are free.
pub(super) fn names(place: &str) -> Vec<&'static str> {
    KEYS.iter()
        .filter_map(|key| {
            let rest = match place.strip_prefix(key.section)? {
                "" => key.name,
                below => key.name.strip_prefix(below.strip_prefix('.')?)?.strip_prefix('.')?,
            };
            (!rest.contains('.')).then_some(rest)
        })
        .collect()
}

/// Whether the value at a place is text in any case, so that what an environment variable holds is not read as a number.
pub(super) fn is_text(place: &str) -> bool {
    KEYS.iter()
        .find(|key| place.strip_prefix(key.section).and_then(|rest| rest.strip_prefix('.')) == Some(key.name))
        .is_none_or(|key| key.kind.starts_with("string"))
}

/// The lowest layer.
pub(super) fn defaults() -> Layer {
    let mut values = Value::Object(Map::new());
    for key in KEYS {
        let mut at = &mut values;
        for level in key.section.split('.').chain(key.name.split('.')) {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[level];
        }
        *at = serde_json::from_str(key.default).unwrap_or_default();
    }
    let values = match values {
        Value::Object(values) => values,
        _ => Map::new(),
    };
    Layer { origin: "default".to_owned(), values }
}

#[cfg(test)]
mod tests {
    use argosy_shared::spec::{BenchmarkParams, EnvironmentId, EnvironmentSpec, Error, ExecutionParams, HarnessParams};
    use serde_json::json;

    use super::*;

    fn members(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn sorted(names: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.sort();
        names
    }

    /// The names a parser says it takes.
    fn taken<T: std::fmt::Debug>(parse: impl Fn(Map<String, Value>) -> Result<T, Error>, path: &str) -> Vec<String> {
        let unknown = match path {
            "" => json!({"zzqq": 1}),
            path => json!({ path: {"id": "x", "zzqq": 1} }),
        };
        let hint = parse(members(unknown)).unwrap_err().hint.unwrap();
        let list = hint.split_once("valid: ").unwrap().1;
        sorted(list.split(", ").map(|name| name.trim_matches('`').to_owned()))
    }

    #[test]
    fn every_key_a_parser_takes_is_in_the_table_and_no_other() {
        assert_eq!(sorted(names(BENCHMARK)), taken(BenchmarkParams::parse, ""));
        assert_eq!(
            sorted(names("benchmarks.discoverybench.judge_model")),
            taken(BenchmarkParams::parse, "judge_model")
        );
        assert_eq!(sorted(names(HARNESS)), taken(HarnessParams::parse, ""));
        let host = |members| EnvironmentSpec::parse(EnvironmentId::HostProcess, members);
        assert_eq!(sorted(names(HOST_PROCESS)), taken(host, ""));
        let of_the_plan = ["timeout_multiplier", "run_timeout_multiplier"];
        let execution = names(EXECUTION).into_iter().filter(|name| !of_the_plan.contains(name));
        assert_eq!(sorted(execution), taken(ExecutionParams::parse, ""));
        assert_eq!(names("execution.attempts"), ["k", "strategy"]);
        assert_eq!(names("benchmarks.discoverybench.judge_model.params"), [""; 0]);
    }

    #[test]
    fn the_defaults_of_the_table_are_those_of_the_parsers() {
        let defaults = Value::Object(defaults().values);
        let at = |section: &str| members(section.split('.').fold(&defaults, |value, level| &value[level]).clone());
        let mut benchmark = at(BENCHMARK);
        benchmark.insert("judge_model".to_owned(), Value::Null);
        assert_eq!(BenchmarkParams::parse(benchmark).unwrap(), BenchmarkParams::parse(Map::new()).unwrap());
        assert_eq!(HarnessParams::parse(at(HARNESS)).unwrap(), HarnessParams::default());
        let mut execution = at(EXECUTION);
        execution.shift_remove("timeout_multiplier");
        execution.shift_remove("run_timeout_multiplier");
        assert_eq!(ExecutionParams::parse(execution).unwrap(), ExecutionParams::default());
        for key in KEYS {
            assert!(serde_json::from_str::<Value>(key.default).is_ok(), "{key:?}");
        }
    }
}
