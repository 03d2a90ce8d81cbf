//! An eval log as Inspect (`inspect_ai`) writes it, format version 2, JSON: header, then one sample per attempt, written
//! one after another.
//!
//! Attempts are Inspect's epochs. An attempt that is invalidated is a sample with an error and without scores; a task
//! without a result has no sample and is named under `eval.metadata.argosy.missing`. While a run is not complete its
//! means are called `reference_mean`, so that nobody takes them for scores.

use std::{cell::RefCell, io::Write};

use argosy_shared::{run_dir::State, trajectory::PYTHON_TOOL};
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap as _, SerializeSeq as _},
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Error, Facts, Missing, Place, PlannedAttempt, attempts, missing};
use crate::report::{
    load::{LoadedRun, StoredAttempt, StoredStep},
    metric_report::MetricReport,
};

/// Writes the log. `report` is what the run's scores add up to.
///
/// # Errors
/// The run cannot be read, or the output not be written.
pub fn write(run: &LoadedRun, report: &MetricReport, mut out: impl Write) -> Result<(), Error> {
    let facts = Facts::of(run);
    let attempts = attempts(run);
    let missing = missing(run, &attempts);
    let log = Log {
        run,
        report,
        facts: &facts,
        attempts: &attempts,
        missing: &missing,
        usage: usage(run, &attempts)?,
        failure: RefCell::default(),
    };
    let written = serde_json::to_writer(&mut out, &log);
    if let Some(failure) = log.failure.take() {
        return Err(failure);
    }
    written?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Tokens of all samples. They stand before the samples in the log, so the results are read twice; keeping them in
/// memory in between is what this avoids.
fn usage(run: &LoadedRun, attempts: &[PlannedAttempt]) -> Result<Usage, Error> {
    let mut usage = Usage::default();
    for planned in attempts.iter().filter(|planned| matches!(planned.place, Place::Published(_))) {
        usage.add(Usage::of(&run.attempt(&planned.task, planned.attempt)?));
    }
    Ok(usage)
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    input: u64,
    output: u64,
    cached: u64,
    reasoning: u64,
}

impl Usage {
    fn of(stored: &StoredAttempt) -> Self {
        let total = |name: &str| stored.total(name).unwrap_or_default();
        Self {
            input: total("prompt_tokens_len"),
            output: total("completion_tokens_len"),
            cached: total("cached_tokens_len"),
            reasoning: total("reasoning_tokens_len"),
        }
    }

    fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.reasoning += other.reasoning;
    }

    fn to_json(self) -> Value {
        json!({
            "input_tokens": self.input,
            "output_tokens": self.output,
            "total_tokens": self.input + self.output,
            "input_tokens_cache_read": self.cached,
            "reasoning_tokens": self.reasoning,
        })
    }
}

struct Log<'a> {
    run: &'a LoadedRun,
    report: &'a MetricReport,
    facts: &'a Facts,
    attempts: &'a [PlannedAttempt],
    missing: &'a Missing,
    usage: Usage,
    /// What stopped the writing, as it really was.
    failure: RefCell<Option<Error>>,
}

impl Serialize for Log<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &2)?;
        map.serialize_entry("status", self.status())?;
        map.serialize_entry("eval", &self.eval())?;
        map.serialize_entry("plan", &self.plan())?;
        map.serialize_entry("results", &self.results())?;
        if self.status() == "error" {
            let text = self.run.info.error.clone().unwrap_or_else(|| "the run has no official score".to_owned());
            map.serialize_entry("error", &eval_error(&text))?;
        }
        map.serialize_entry(
            "stats",
            &json!({
                "started_at": self.run.info.started_at,
                "completed_at": self.run.info.finished_at.clone().unwrap_or_default(),
                "model_usage": {self.facts.model.as_str(): self.usage.to_json()},
            }),
        )?;
        // Last: readers of the header stop here.
        map.serialize_entry("samples", &Samples(self))?;
        map.end()
    }
}

impl Log<'_> {
    fn status(&self) -> &'static str {
        match self.facts.run_status {
            "running" => "started",
            "cancelled" | "timed_out" => "cancelled",
            _ if self.missing.is_nothing() => "success",
            _ => "error",
        }
    }

    fn eval(&self) -> Value {
        let identity = format!("{}/{}", self.facts.model, self.facts.run_id);
        let id = hex::encode(&Sha256::digest(identity.as_bytes())[..11]);
        let mut ids: Vec<&str> = self.attempts.iter().map(|attempt| attempt.task.as_str()).collect();
        ids.dedup();
        let request = &self.run.info.request;
        json!({
            "eval_id": id,
            "run_id": self.facts.run_id,
            "created": self.run.info.started_at,
            "task": self.facts.benchmark,
            "task_id": id,
            "task_version": 0,
            "task_attribs": {},
            "task_args": request["benchmark"]["params"].as_object().cloned().unwrap_or_default(),
            "dataset": {"name": self.facts.benchmark, "samples": ids.len(), "sample_ids": ids, "shuffled": false},
            "model": self.facts.model,
            "model_generate_config": {},
            "model_base_url": request["model"]["base_url"],
            "model_args": request["model"]["params"].as_object().cloned().unwrap_or_default(),
            "config": {"epochs": self.run.plan.k, "epochs_reducer": ["mean"], "fail_on_error": false},
            "packages": {"argosy": self.facts.argosy_version.clone().unwrap_or_default()},
            "metadata": {"argosy": {
                "harness": self.facts.harness,
                "agent_type": self.facts.agent_type,
                "environment": self.facts.environment,
                "run_status": self.facts.run_status,
                "official": !self.report.evaluation_failed,
                "fingerprint": self.run.planned.as_ref().map(|planned| &planned.fingerprint),
                "missing": self.missing.to_json(),
            }},
        })
    }

    fn plan(&self) -> Value {
        let params = self.run.info.request["harness"]["params"].as_object().cloned().unwrap_or_default();
        json!({
            "name": "plan",
            "steps": [{"solver": self.facts.harness, "params": params}],
            "config": {},
        })
    }

    fn results(&self) -> Value {
        let scored =
            |attempt: &&PlannedAttempt| matches!(attempt.place, Place::Published(State::Normal | State::Error));
        let completed = self.attempts.iter().filter(scored).count();
        let scores: Vec<Value> = self
            .report
            .series
            .iter()
            .map(|series| {
                let (name, value) = match series.value {
                    Some(value) => ("mean", Some(value)),
                    None => ("reference_mean", series.reference_value),
                };
                let metrics: Map<String, Value> = value
                    .map(|value| (name.to_owned(), json!({"name": name, "value": value, "params": {}})))
                    .into_iter()
                    .collect();
                json!({
                    "name": series.metric_id,
                    "scorer": series.metric_id,
                    "params": {},
                    "metrics": metrics,
                    "scored_samples": series.counts.evaluated,
                    "unscored_samples": series.counts.total.saturating_sub(series.counts.evaluated),
                    "metadata": {"counts": series.counts},
                })
            })
            .collect();
        json!({"total_samples": self.attempts.len(), "completed_samples": completed, "scores": scores})
    }

    fn sample(&self, planned: &PlannedAttempt) -> Result<Value, Error> {
        let stored = self.run.attempt(&planned.task, planned.attempt)?;
        let gold = self.run.index(&planned.task)?.shared.map(|shared| shared.ground_truth);
        Ok(sample(self.facts, planned, &stored, gold))
    }
}

struct Samples<'a>(&'a Log<'a>);

impl Serialize for Samples<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        for planned in self.0.attempts.iter().filter(|planned| matches!(planned.place, Place::Published(_))) {
            match self.0.sample(planned) {
                Ok(sample) => sequence.serialize_element(&sample)?,
                Err(error) => {
                    let text = error.to_string();
                    self.0.failure.replace(Some(error));
                    return Err(S::Error::custom(text));
                }
            }
        }
        sequence.end()
    }
}

fn sample(facts: &Facts, planned: &PlannedAttempt, stored: &StoredAttempt, gold: Option<Value>) -> Value {
    let first = stored.trajectory.steps.first();
    let prompt = first.and_then(|step| step.prompt.clone()).unwrap_or_default();
    let invalid = planned.place == Place::Published(State::Fatal);
    let mut sample = json!({
        "id": planned.task,
        "epoch": planned.attempt,
        "input": prompt,
        "target": match gold {
            Some(Value::String(text)) => text,
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        },
        "messages": messages(&prompt, stored),
        "output": output(facts, stored),
        "metadata": {
            "category": planned.category,
            "state": planned.place.as_str(),
            "answer_source": stored.benchmark("answer_source"),
            "issues": stored.issues,
            "retry_count": stored.retry_count,
            "telemetry": stored.harness("telemetry"),
            "provenance": stored.harness("provenance"),
        },
        "store": {},
        "events": [],
        "model_usage": {facts.model.as_str(): Usage::of(stored).to_json()},
        "attachments": {},
    });
    if let Some(members) = sample.as_object_mut() {
        if !invalid && !stored.metrics.is_empty() {
            members.insert("scores".to_owned(), scores(stored));
        }
        // A FATAL sibling invalidates the task; then the error is the task's and not this attempt's.
        if invalid {
            let fatal: Vec<String> = stored
                .issues
                .iter()
                .filter(|issue| issue.is_fatal())
                .map(|issue| format!("{}: {}", issue.code, issue.message))
                .collect();
            let text =
                if fatal.is_empty() { "another attempt of the task is FATAL".to_owned() } else { fatal.join("; ") };
            members.insert("error".to_owned(), eval_error(&text));
        }
        if let Some(at) = &stored.trajectory.started_at {
            members.insert("started_at".to_owned(), json!(facts.time(at)));
        }
        if let Some(at) = &stored.trajectory.finished_at {
            members.insert("completed_at".to_owned(), json!(facts.time(at)));
        }
    }
    sample
}

fn scores(stored: &StoredAttempt) -> Value {
    let scores: Map<String, Value> = stored
        .metrics
        .iter()
        .map(|(name, value)| {
            let mut score = json!({"value": value, "answer": stored.answer()});
            if name == "score" {
                score["metadata"] = json!({
                    "eval_rec": stored.benchmark("eval_rec"),
                    "judge_model": stored.benchmark("judge_model"),
                    "judge_policy": stored.benchmark("judge_policy"),
                });
            }
            (name.clone(), score)
        })
        .collect();
    Value::Object(scores)
}

fn messages(prompt: &str, stored: &StoredAttempt) -> Vec<Value> {
    let mut messages = Vec::new();
    if !stored.trajectory.steps.is_empty() {
        messages.push(json!({"role": "user", "content": prompt}));
    }
    for step in &stored.trajectory.steps {
        messages.push(assistant(step));
        for observation in &step.observation {
            let called = step.reply.tool_calls.iter().any(|call| call.id == observation.tool_call_id);
            messages.push(if called {
                json!({
                    "role": "tool",
                    "content": observation.content,
                    "tool_call_id": observation.tool_call_id,
                    "function": tool(&observation.name),
                })
            } else {
                json!({"role": "user", "content": observation.content})
            });
        }
    }
    messages
}

fn assistant(step: &StoredStep) -> Value {
    let text = json!({"type": "text", "text": step.reply.content});
    let content = if step.reply.reasoning_content.is_empty() {
        json!(step.reply.content)
    } else {
        json!([{"type": "reasoning", "reasoning": step.reply.reasoning_content}, text])
    };
    let calls: Vec<Value> = step
        .reply
        .tool_calls
        .iter()
        .map(|call| {
            json!({
                "id": call.id,
                "function": tool(&call.function.name),
                "arguments": call.function.arguments(),
                "type": "function",
            })
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": content, "source": "generate"});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    message
}

fn tool(name: &str) -> &str {
    if name.is_empty() { PYTHON_TOOL } else { name }
}

/// The last reply, as the model's output of the sample.
fn output(facts: &Facts, stored: &StoredAttempt) -> Value {
    let Some(last) = stored.trajectory.steps.last() else {
        return json!({"model": facts.model, "choices": [], "completion": ""});
    };
    let stop = match last.metric.get("stop_reason").and_then(Value::as_str) {
        Some("stop") => "stop",
        Some("length") => "max_tokens",
        Some("tool_calls" | "function_call") => "tool_calls",
        Some("content_filter") => "content_filter",
        _ => "unknown",
    };
    json!({
        "model": facts.model,
        "choices": [{"message": assistant(last), "stop_reason": stop}],
        "completion": last.reply.content,
        "usage": Usage::of(stored).to_json(),
    })
}

fn eval_error(message: &str) -> Value {
    json!({"message": message, "traceback": "", "traceback_ansi": ""})
}
