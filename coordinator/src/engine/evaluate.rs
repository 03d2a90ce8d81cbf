//! One judging: from the stored result to a stored judgement.

use std::sync::Arc;

use argosy_shared::{
    id::ExecutionKey,
    issue::{Code, Issue, Phase},
    redact::Redactor,
    result::ExecutionResult,
    task::Blob,
};
use bytes::Bytes;

use super::Run;
use crate::{
    journal::{Journal, Kind},
    judge::Judgement,
    scheduler::JudgeJob,
};

/// How a judging ended.
pub(super) struct Evaluated {
    pub(super) execution: ExecutionKey,
    pub(super) outcome: Outcome,
}

/// What the scheduler is told of it.
pub(super) enum Outcome {
    /// Judged; the judgement is durable.
    Judged {
        /// The stored judgement.
        record: Blob,
        /// The score.
        score: f64,
        /// Warnings.
        issues: Vec<Issue>,
    },
    /// No score, with the FATAL issue.
    Failed(Vec<Issue>),
    /// Something of our own was in the way; nothing is charged for it.
    Released(String),
}

/// Judges a stored answer.
pub(super) async fn evaluate(run: Arc<Run>, journal: Arc<dyn Journal>, job: JudgeJob) -> Evaluated {
    let outcome = match judge(&run, &*journal, &job).await {
        Ok(outcome) => outcome,
        Err(reason) => Outcome::Released(reason),
    };
    Evaluated { execution: job.execution, outcome }
}

async fn judge(run: &Run, journal: &dyn Journal, job: &JudgeJob) -> Result<Outcome, String> {
    // The judge's own key is its client's to hide; this one may come by way of a server that both share.
    let redactor = Redactor::new([&run.model.api_key]);
    let judgement = if job.has_answer {
        let bytes = journal.get(&job.result).await.map_err(|error| error.to_string())?;
        let result: ExecutionResult = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        let task = run.task(&job.execution.attempt.task).ok_or("the task is not part of the run")?;
        let gold = run.gold(&task.id);
        let answer = result.final_answer.unwrap_or_default();
        match run.judge.judge(task, gold, &answer).await {
            Ok(judgement) => judgement,
            Err(failure) => {
                let message = redactor.text(&failure.issue.message).into_owned();
                return Ok(Outcome::Failed(vec![Issue { message, ..failure.issue }]));
            }
        }
    } else {
        Judgement::no_answer()
    };
    // A score outside 0..1 exists only under the upstream policy; what is no number is no score under any.
    if ![judgement.score, judgement.recall_context, judgement.mean_accuracy_score].iter().all(|x| x.is_finite()) {
        let text = format!("the evaluation ended with {}, which is no score", judgement.score);
        return Ok(Outcome::Failed(vec![Issue::new(Phase::Evaluate, Code::JudgeInvalidOutput, text)]));
    }
    let mut body = serde_json::to_value(&judgement).map_err(|error| error.to_string())?;
    redactor.value(&mut body);
    let body = serde_json::to_vec(&body).map_err(|error| error.to_string())?;
    let record =
        journal.put(&job.execution, Kind::Judgement, Bytes::from(body)).await.map_err(|error| error.to_string())?;
    Ok(Outcome::Judged { record, score: judgement.score, issues: judgement.issues })
}
