//! From the journal's blobs to the record of an attempt.

use argosy_shared::{
    id::ExecutionKey,
    issue::Issue,
    result::{AnswerSource, ExecutionResult},
    run_dir::{AttemptRecord, BenchmarkMeta, EvaluationProvenance, JudgeTelemetry, Metrics},
    task::Blob,
};

use super::Error;
use crate::{
    engine::Run,
    journal::Journal,
    judge::Judgement,
    scheduler::{FinalAttempt, RetryNotice},
};

/// What an attempt's record is made of.
pub(in crate::engine) struct Loaded {
    execution: Option<ExecutionResult>,
    judgement: Option<Judgement>,
    issues: Vec<Issue>,
    meta: BenchmarkMeta,
    retry_count: u32,
}

impl Loaded {
    /// Of an attempt that is over.
    pub(in crate::engine) async fn of_final(
        run: &Run,
        journal: &dyn Journal,
        attempt: &FinalAttempt,
    ) -> Result<Self, Error> {
        let key = attempt.execution();
        let execution = read(journal, &key, attempt.outcome.result.as_ref()).await?;
        let judgement = read(journal, &key, attempt.outcome.judgement.as_ref()).await?;
        Ok(Self::new(run, execution, judgement, &attempt.outcome.issues, attempt.retries))
    }

    /// Of a discarded execution or judging.
    pub(in crate::engine) async fn of_retry(
        run: &Run,
        journal: &dyn Journal,
        notice: &RetryNotice,
    ) -> Result<Self, Error> {
        let execution = read(journal, &notice.execution, Some(&notice.result)).await?;
        Ok(Self::new(run, execution, None, &notice.issues, notice.retry.saturating_sub(1)))
    }

    fn new(
        run: &Run,
        execution: Option<ExecutionResult>,
        judgement: Option<Judgement>,
        further: &[Issue],
        retry_count: u32,
    ) -> Self {
        let mut issues = execution.as_ref().map(|execution| execution.issues.clone()).unwrap_or_default();
        for issue in further {
            if !issues.contains(issue) {
                issues.push(issue.clone());
            }
        }
        let source = execution.as_ref().map_or(AnswerSource::Missing, |execution| execution.answer_source);
        let meta = meta(run, source, judgement.as_ref());
        Self { execution, judgement, issues, meta, retry_count }
    }

    /// The record.
    pub(in crate::engine) fn record<'a>(&'a self, run: &'a Run) -> AttemptRecord<'a> {
        AttemptRecord {
            metrics: self.judgement.as_ref().map(metrics),
            execution: self.execution.as_ref(),
            template: run.template(),
            issues: &self.issues,
            benchmark: Some(&self.meta),
            diagnostics: None,
            reused: None,
            retry_count: self.retry_count,
        }
    }
}

fn meta(run: &Run, answer_source: AnswerSource, judgement: Option<&Judgement>) -> BenchmarkMeta {
    BenchmarkMeta {
        answer_source,
        judge_model: run.judge.settings().model.clone(),
        eval_rec: judgement.and_then(|judgement| judgement.eval_rec.clone()),
        provenance: EvaluationProvenance {
            dataset_commit: run.dataset.identity.commit.clone(),
            prompt_pack: run.dataset.identity.pack_hash.clone(),
            judge_policy: run.benchmark.judge_policy,
            judge_params: run.judge.params_in_force(),
            judge_changed_params: judgement.map(changed_params).unwrap_or_default(),
            judge_warnings: judgement
                .map(|judgement| judgement.issues.iter().map(|issue| issue.message.clone()).collect())
                .unwrap_or_default(),
            judge_telemetry: judgement.map(telemetry).unwrap_or_default(),
        },
    }
}

fn metrics(judgement: &Judgement) -> Metrics {
    Metrics {
        score: judgement.score,
        recall_context: judgement.recall_context,
        mean_accuracy_score: judgement.mean_accuracy_score,
    }
}

/// Every change once, in the order in which it was first made.
fn changed_params(judgement: &Judgement) -> Vec<String> {
    let mut changed: Vec<String> = Vec::new();
    for change in judgement.calls.iter().flat_map(|call| &call.changed_params) {
        if !changed.contains(change) {
            changed.push(change.clone());
        }
    }
    changed
}

fn telemetry(judgement: &Judgement) -> JudgeTelemetry {
    let calls = &judgement.calls;
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    JudgeTelemetry {
        calls: count(calls.len()),
        repeated_calls: count(calls.iter().filter(|call| call.attempt > 1).count()),
        request_retries: calls.iter().map(|call| call.request_retries).sum(),
        prompt_tokens_total: calls.iter().filter_map(|call| call.usage.prompt).sum(),
        completion_tokens_total: calls.iter().filter_map(|call| call.usage.completion).sum(),
        elapsed_ms: calls.iter().fold(0.0, |sum, call| sum + call.elapsed_ms),
    }
}

async fn read<T: serde::de::DeserializeOwned>(
    journal: &dyn Journal,
    key: &ExecutionKey,
    blob: Option<&Blob>,
) -> Result<Option<T>, Error> {
    let Some(blob) = blob else { return Ok(None) };
    let bytes = journal.get(blob).await?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::Record(key.clone(), error))
}
