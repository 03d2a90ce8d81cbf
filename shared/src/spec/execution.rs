//! `execution.*`: attempts, retries, timeouts, concurrency.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{Error, Fields};

/// How the attempts of a task become one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStrategy {
    /// Mean over all k attempts.
    #[default]
    Avg,
}

/// What a judge failure repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeRetry {
    /// Only the judging. The default.
    #[default]
    Evaluate,
    /// The whole attempt, agent included, as AgentCompass does.
    Attempt,
}

/// All parameters of the execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionParams {
    /// Executions of one run at once.
    pub task_concurrency: u32,
    /// Logical repeats of each task.
    pub k: u32,
    /// How they are combined.
    pub strategy: AttemptStrategy,
    /// Retries of one attempt after FATAL (and ERROR matched by the patterns).
    pub max_retries: u32,
    /// Regular expressions searched in message and code of ERROR issues.
    pub retry_pattern_list: Vec<String>,
    /// First delay before a retry, seconds; doubles.
    pub retry_min_delay_seconds: f64,
    /// Largest delay, seconds.
    pub retry_max_delay_seconds: f64,
    /// Bound of the agent loop, seconds; `None` = unbounded.
    pub run_timeout_seconds: Option<f64>,
    /// What a judge failure repeats.
    pub judge_retry: JudgeRetry,
    /// Losses of the worker an attempt survives before FATAL `worker_lost`.
    pub max_lease_losses: u32,
    /// Replay paid turns when an execution lost its worker.
    pub replay: bool,
}

impl Default for ExecutionParams {
    fn default() -> Self {
        Self {
            task_concurrency: 32,
            k: 1,
            strategy: AttemptStrategy::Avg,
            max_retries: 0,
            retry_pattern_list: Vec::new(),
            retry_min_delay_seconds: 5.0,
            retry_max_delay_seconds: 60.0,
            run_timeout_seconds: None,
            judge_retry: JudgeRetry::Evaluate,
            max_lease_losses: 3,
            replay: true,
        }
    }
}

impl ExecutionParams {
    /// Validates `--execution-params`.
    ///
    /// # Errors
    /// The first parameter that is unknown or has a wrong value.
    pub fn parse(members: Map<String, Value>) -> Result<Self, Error> {
        let mut fields = Fields::new("execution", members);
        let default = Self::default();
        let attempts: Map<String, Value> = fields.get("attempts", "an object with `k` and `strategy`", Map::new())?;
        let mut attempts = Fields::new("execution.attempts", attempts);
        let k = attempts.get("k", "a positive integer", default.k)?;
        let strategy = match attempts.take("strategy") {
            None => default.strategy,
            Some(Value::String(name)) if name == "avg" => AttemptStrategy::Avg,
            Some(Value::String(name)) if name == "pass" => {
                return Err(Error::new(attempts.place("strategy"), "`pass` needs a metric that is right or wrong")
                    .hint("DiscoveryBench's score is a number between 0 and 1: use `avg`"));
            }
            Some(other) => {
                return Err(super::fields::unknown(attempts.place("strategy"), "value", &other.to_string(), &["avg"]));
            }
        };
        attempts.finish()?;
        let params = Self {
            task_concurrency: fields.get("task_concurrency", "a positive integer", default.task_concurrency)?,
            k,
            strategy,
            max_retries: fields.get("max_retries", "a non-negative integer", default.max_retries)?,
            retry_pattern_list: fields.get("retry_pattern_list", "a list of regular expressions", Vec::new())?,
            retry_min_delay_seconds: fields.get(
                "retry_min_delay_seconds",
                "a number of seconds",
                default.retry_min_delay_seconds,
            )?,
            retry_max_delay_seconds: fields.get(
                "retry_max_delay_seconds",
                "a number of seconds",
                default.retry_max_delay_seconds,
            )?,
            run_timeout_seconds: fields.optional("run_timeout_seconds", "a number of seconds")?,
            judge_retry: fields.choice(
                "judge_retry",
                &[("evaluate", JudgeRetry::Evaluate), ("attempt", JudgeRetry::Attempt)],
                default.judge_retry,
            )?,
            max_lease_losses: fields.get("max_lease_losses", "a non-negative integer", default.max_lease_losses)?,
            replay: fields.get("replay", "true or false", default.replay)?,
        };
        let positive = |name: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                Ok(())
            } else {
                Err(Error::new(format!("execution.{name}"), "must be a positive number of seconds")
                    .hint("for example 60"))
            }
        };
        positive("retry_min_delay_seconds", params.retry_min_delay_seconds)?;
        positive("retry_max_delay_seconds", params.retry_max_delay_seconds)?;
        if let Some(seconds) = params.run_timeout_seconds {
            positive("run_timeout_seconds", seconds)?;
        }
        if params.k == 0 {
            return Err(Error::new("execution.attempts.k", "0 attempts leave nothing to run").hint("1 is the default"));
        }
        if params.task_concurrency == 0 {
            return Err(Error::new("execution.task_concurrency", "0 would never run a task").hint("32 is the default"));
        }
        for pattern in &params.retry_pattern_list {
            fancy_regex::Regex::new(pattern).map_err(|error| {
                Error::new("execution.retry_pattern_list", format!("`{pattern}` is not a regular expression: {error}"))
                    .hint("write it as for Python's `re.search`, for example \"^model_timeout$\"")
            })?;
        }
        fields.finish()?;
        Ok(params)
    }
}
