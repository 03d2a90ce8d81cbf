//! Flat rows, one per attempt: for data frames and spreadsheets.

use std::io::Write;

use argosy_shared::{issue::Issue, run_dir::State};
use jiff::civil::DateTime;
use serde::Serialize;
use serde_json::Value;

use super::{Error, Facts, Place, PlannedAttempt, attempts};
use crate::report::load::{LoadedRun, StoredAttempt};

/// The columns.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    run_id: String,
    run_status: &'static str,
    model: String,
    benchmark: String,
    harness: String,
    agent_type: Option<String>,
    environment: Option<String>,
    task_id: String,
    split: Option<String>,
    domain: Option<String>,
    category: Option<String>,
    question_group: Option<String>,
    attempt: u32,
    /// `normal`, `error`, `fatal`; `running` and `missing` where there is no result.
    state: &'static str,
    status: Option<Value>,
    /// Null where the attempt has no score: never 0 in its place.
    score: Option<f64>,
    recall_context: Option<f64>,
    mean_accuracy_score: Option<f64>,
    gold_sub_hypotheses: Option<usize>,
    answer_sub_hypotheses: Option<usize>,
    matched_pairs: Option<usize>,
    /// Mean over the matched pairs, as far as they have a number.
    mean_variables_f1: Option<f64>,
    mean_relation_score: Option<f64>,
    mean_pair_accuracy: Option<f64>,
    answer_source: Option<String>,
    answer: Option<String>,
    issue_codes: Vec<String>,
    issues: Vec<Issue>,
    retry_count: Option<u64>,
    steps: Option<usize>,
    python_executions: Option<u64>,
    termination_reason: Option<String>,
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
    judge_calls: Option<u64>,
    judge_prompt_tokens: Option<u64>,
    judge_completion_tokens: Option<u64>,
    judge_seconds: Option<f64>,
    started_at: Option<String>,
    finished_at: Option<String>,
    duration_seconds: Option<f64>,
    model_seconds: Option<f64>,
    python_seconds: Option<f64>,
    judge_model: Option<String>,
    judge_policy: Option<String>,
    dataset_commit: Option<String>,
    prompt_pack: Option<String>,
    worker: Option<String>,
    python_version: Option<String>,
    changed_params: Vec<String>,
    judge_changed_params: Vec<String>,
    argosy_version: Option<String>,
}

/// All rows as JSON, one a line.
///
/// # Errors
/// The run cannot be read, or the output not be written.
pub fn jsonl(run: &LoadedRun, mut out: impl Write) -> Result<(), Error> {
    each(run, |row| {
        serde_json::to_writer(&mut out, &row)?;
        Ok(out.write_all(b"\n")?)
    })?;
    Ok(out.flush()?)
}

/// All rows as CSV (RFC 4180), lists as JSON. A text that a spreadsheet would take for a formula gets an apostrophe in
/// front of it; numbers stay numbers.
///
/// # Errors
/// As [`jsonl`].
pub fn csv(run: &LoadedRun, out: impl Write) -> Result<(), Error> {
    let mut writer = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(out);
    let header = columns();
    writer.write_record(&header).map_err(|error| fail(&error))?;
    each(run, |row| {
        let Value::Object(members) = serde_json::to_value(&row)? else { return Ok(()) };
        let cells = header.iter().map(|name| cell(members.get(name).unwrap_or(&Value::Null)));
        writer.write_record(cells).map_err(|error| fail(&error))
    })?;
    Ok(writer.flush()?)
}

fn fail(error: &::csv::Error) -> Error {
    match error.kind() {
        ::csv::ErrorKind::Io(source) => Error::Write(std::io::Error::new(source.kind(), source.to_string())),
        _ => Error::Record(error.to_string()),
    }
}

/// The names of the columns, in order.
fn columns() -> Vec<String> {
    let facts = Facts {
        run_id: String::new(),
        run_status: "",
        model: String::new(),
        benchmark: String::new(),
        harness: String::new(),
        agent_type: None,
        environment: None,
        argosy_version: None,
    };
    let nothing = PlannedAttempt {
        task: argosy_shared::id::TaskId(String::new()),
        category: None,
        question_group: None,
        attempt: 1,
        place: Place::Missing,
    };
    match serde_json::to_value(row(&facts, &nothing, None)) {
        Ok(Value::Object(members)) => members.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}

/// One cell of a CSV row.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => harmless(text),
        Value::Array(items) if items.is_empty() => String::new(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        // Starts with a bracket.
        Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Spreadsheets take a cell that starts with one of these for a formula; the full-width forms count for some of them.
fn harmless(text: &str) -> String {
    let begins = ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    if text.trim_start_matches(' ').starts_with(begins) { format!("'{text}") } else { text.to_owned() }
}

/// Makes the rows one after another: one result is in memory at a time.
fn each(run: &LoadedRun, mut take: impl FnMut(Row) -> Result<(), Error>) -> Result<(), Error> {
    let facts = Facts::of(run);
    for planned in attempts(run) {
        let stored = match planned.place {
            Place::Published(_) => Some(run.attempt(&planned.task, planned.attempt)?),
            Place::Running | Place::Missing => None,
        };
        take(row(&facts, &planned, stored.as_ref()))?;
    }
    Ok(())
}

fn row(facts: &Facts, planned: &PlannedAttempt, stored: Option<&StoredAttempt>) -> Row {
    let (split, domain) = match planned.category.as_deref().map(|category| category.split_once(':')) {
        Some(Some((split, domain))) => (Some(split.to_owned()), Some(domain.to_owned())),
        Some(None) => (planned.category.clone(), None),
        None => (None, None),
    };
    // A FATAL sibling invalidates the task: none of its attempts counts.
    let valid = stored.filter(|_| planned.place != Place::Published(State::Fatal));
    let metric = |name: &str| valid.and_then(|stored| stored.metrics.get(name).copied());
    let facets = valid.and_then(|stored| stored.benchmark("eval_rec")).map(Facets::of).unwrap_or_default();
    let benchmark = |name: &str| stored.and_then(|stored| stored.benchmark(name));
    let judge = |name: &str| benchmark("judge_telemetry").and_then(|telemetry| telemetry.get(name));
    let telemetry = |name: &str| stored.and_then(|stored| stored.harness("telemetry")?.get(name));
    let provenance = |name: &str| stored.and_then(|stored| stored.harness("provenance")?.get(name));
    let total = |name: &str| stored.and_then(|stored| stored.total(name));
    let started = stored.and_then(|stored| stored.trajectory.started_at.clone());
    let finished = stored.and_then(|stored| stored.trajectory.finished_at.clone());
    let issues = stored.map(|stored| stored.issues.clone()).unwrap_or_default();
    Row {
        run_id: facts.run_id.clone(),
        run_status: facts.run_status,
        model: facts.model.clone(),
        benchmark: facts.benchmark.clone(),
        harness: facts.harness.clone(),
        agent_type: facts.agent_type.clone(),
        environment: facts.environment.clone(),
        task_id: planned.task.0.clone(),
        split,
        domain,
        category: planned.category.clone(),
        question_group: planned.question_group.clone(),
        attempt: planned.attempt,
        state: planned.place.as_str(),
        status: stored.and_then(|stored| serde_json::to_value(stored.status).ok()),
        score: metric("score"),
        recall_context: metric("recall_context"),
        mean_accuracy_score: metric("mean_accuracy_score"),
        gold_sub_hypotheses: facets.gold,
        answer_sub_hypotheses: facets.answer,
        matched_pairs: facets.pairs,
        mean_variables_f1: facets.variables_f1,
        mean_relation_score: facets.relation,
        mean_pair_accuracy: facets.accuracy,
        answer_source: benchmark("answer_source").and_then(text),
        answer: stored.and_then(StoredAttempt::answer),
        issue_codes: issues.iter().map(|issue| issue.code.as_str().to_owned()).collect(),
        issues,
        retry_count: stored.map(|stored| stored.retry_count),
        steps: stored.map(|stored| stored.trajectory.steps.len()),
        python_executions: telemetry("python_executions").and_then(Value::as_u64),
        termination_reason: telemetry("termination_reason").and_then(text),
        prompt_tokens: total("prompt_tokens_len"),
        completion_tokens: total("completion_tokens_len"),
        cached_tokens: total("cached_tokens_len"),
        reasoning_tokens: total("reasoning_tokens_len"),
        judge_calls: judge("calls").and_then(Value::as_u64),
        judge_prompt_tokens: judge("prompt_tokens_total").and_then(Value::as_u64),
        judge_completion_tokens: judge("completion_tokens_total").and_then(Value::as_u64),
        judge_seconds: judge("elapsed_ms").and_then(seconds),
        duration_seconds: started.as_deref().zip(finished.as_deref()).and_then(|(from, to)| between(from, to)),
        started_at: started.map(|at| facts.time(&at)),
        finished_at: finished.map(|at| facts.time(&at)),
        model_seconds: telemetry("model_ms").and_then(seconds),
        python_seconds: telemetry("python_ms").and_then(seconds),
        judge_model: benchmark("judge_model").and_then(text),
        judge_policy: benchmark("judge_policy").and_then(text),
        dataset_commit: benchmark("dataset_commit").and_then(text),
        prompt_pack: benchmark("prompt_pack").and_then(text),
        worker: provenance("worker").and_then(text),
        python_version: provenance("python_version").and_then(text),
        changed_params: provenance("changed_params").map(texts).unwrap_or_default(),
        judge_changed_params: benchmark("judge_changed_params").map(texts).unwrap_or_default(),
        argosy_version: facts.argosy_version.clone(),
    }
}

/// What the judge's record says beyond the three metrics.
#[derive(Default)]
struct Facets {
    gold: Option<usize>,
    answer: Option<usize>,
    pairs: Option<usize>,
    variables_f1: Option<f64>,
    relation: Option<f64>,
    accuracy: Option<f64>,
}

impl Facets {
    /// Empty members of a record disappear when it is written, so what is absent from a record that is there is 0.
    fn of(record: &Value) -> Self {
        let sub_hypotheses = |name: &str| {
            let found = record.get(name).and_then(|found| found.get("sub_hypo"));
            found.and_then(Value::as_array).map_or(0, Vec::len)
        };
        let pairs: Vec<&Value> = record
            .get("matched_gold_gen_subh_evals")
            .and_then(Value::as_object)
            .map(|pairs| pairs.values().collect())
            .unwrap_or_default();
        let mean = |path: &[&str]| {
            let numbers: Vec<f64> = pairs
                .iter()
                .filter_map(|pair| path.iter().try_fold(*pair, |value, name| value.get(name))?.as_f64())
                .collect();
            crate::report::fsum::mean(&numbers)
        };
        Self {
            gold: Some(sub_hypotheses("gold_sub_hypo")),
            answer: Some(sub_hypotheses("gen_sub_hypo")),
            pairs: Some(pairs.len()),
            variables_f1: mean(&["var", "score", "f1"]),
            relation: mean(&["rel", "score"]),
            accuracy: mean(&["accuracy_score"]),
        }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(ToOwned::to_owned)
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().map(|items| items.iter().filter_map(text).collect()).unwrap_or_default()
}

fn seconds(milliseconds: &Value) -> Option<f64> {
    milliseconds.as_f64().map(|milliseconds| milliseconds / 1000.0)
}

fn between(from: &str, to: &str) -> Option<f64> {
    let (from, to): (DateTime, DateTime) = (from.parse().ok()?, to.parse().ok()?);
    Some(to.duration_since(from).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn formulas_are_neutralised_and_numbers_are_not() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("+a", "'+a"),
            ("-2", "'-2"),
            ("@x", "'@x"),
            ("  =cmd", "'  =cmd"),
            ("\t=x", "'\t=x"),
            ("\u{ff1d}x", "'\u{ff1d}x"),
            ("y = 2x", "y = 2x"),
            ("", ""),
        ] {
            assert_eq!(cell(&json!(text)), expected);
        }
        assert_eq!(cell(&json!(-0.5)), "-0.5");
        assert_eq!(cell(&json!([])), "");
        assert_eq!(cell(&json!(["=x"])), "[\"=x\"]");
        assert_eq!(cell(&Value::Null), "");
    }

    #[test]
    fn facets_are_means_over_pairs_that_have_a_number() {
        let pair = |f1: Value, relation: f64| json!({"var": {"score": {"f1": f1}}, "rel": {"score": relation}, "accuracy_score": relation});
        let facets = Facets::of(&json!({
            "gold_sub_hypo": {"sub_hypo": [{}, {}]},
            "matched_gold_gen_subh_evals": {"a": pair(json!(0.5), 1.0), "b": pair(Value::Null, 0.5)},
        }));
        assert_eq!((facets.gold, facets.answer, facets.pairs), (Some(2), Some(0), Some(2)));
        assert_eq!((facets.variables_f1, facets.relation, facets.accuracy), (Some(0.5), Some(0.75), Some(0.75)));
    }

    #[test]
    fn times_are_subtracted() {
        assert_eq!(between("2026-12-01 23:59:59.5", "2026-12-02 00:00:01"), Some(1.5));
        assert_eq!(between("yesterday", "2026-12-02 00:00:01"), None);
    }
}
