//! Asks the judge model and drives [`argosy_shared::hms`], which decides what to ask and what the replies are worth.

pub mod metadata;

use std::sync::Arc;

use argosy_shared::{
    hms::{CallRecord, Failed, Inputs, Judged, Judging, Settings, Step, prompt},
    issue::Issue,
    model::Model,
    prompts::JudgePrompts,
    task::Task,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A judge: a model, upstream's questions, and a policy. Any number of answers can be judged at once.
#[derive(Clone)]
pub struct Judge {
    model: Arc<dyn Model>,
    prompts: Arc<JudgePrompts>,
    settings: Settings,
}

/// A score with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The Hypothesis Matching Score: the product of the other two. Within 0..1 under the strict policy; under
    /// upstream's it may be anything, NaN included.
    pub score: f64,
    /// Share of gold sub-hypotheses that were matched.
    pub recall_context: f64,
    /// Summed accuracy of the matched pairs by the number of predicted sub-hypotheses.
    pub mean_accuracy_score: f64,
    /// Upstream's evaluation record; `None` where the judge was not asked.
    pub eval_rec: Option<Value>,
    /// Warnings.
    pub issues: Vec<Issue>,
    /// Every request to the judge.
    pub calls: Vec<CallRecord>,
}

impl Judgement {
    /// The judgement of a task without an answer: zero, and the judge is not asked.
    #[must_use]
    pub fn no_answer() -> Self {
        Self {
            score: 0.0,
            recall_context: 0.0,
            mean_accuracy_score: 0.0,
            eval_rec: None,
            issues: Vec::new(),
            calls: Vec::new(),
        }
    }
}

impl From<Judged> for Judgement {
    fn from(judged: Judged) -> Self {
        Self {
            score: judged.final_score,
            recall_context: judged.recall_context,
            mean_accuracy_score: judged.mean_accuracy_score,
            eval_rec: Some(judged.eval_rec_json()),
            issues: judged.issues(),
            calls: judged.calls,
        }
    }
}

/// Why there is no score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{}", issue.message)]
pub struct JudgeFailure {
    /// FATAL `judge_failed` or `judge_invalid_output`.
    pub issue: Issue,
    /// Every request to the judge, with the bodies of the last unusable replies.
    pub calls: Vec<CallRecord>,
}

impl From<Failed> for JudgeFailure {
    fn from(failed: Failed) -> Self {
        Self { issue: failed.failure.issue(), calls: failed.calls }
    }
}

impl Judge {
    /// A judge behind `model`.
    #[must_use]
    pub fn new(model: Arc<dyn Model>, prompts: Arc<JudgePrompts>, settings: Settings) -> Self {
        Self { model, prompts, settings }
    }

    /// How it judges.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The request parameters in force, by kind of call.
    #[must_use]
    pub fn params_in_force(&self) -> serde_json::Map<String, Value> {
        prompt::params_in_force(&self.prompts, &self.settings)
    }

    /// Scores the complete answer to a task. Both workflows are empty, as the test splits publish none.
    ///
    /// An answer that is missing is not to be judged: [`Judgement::no_answer`].
    ///
    /// # Errors
    /// There is no score.
    pub async fn judge(&self, task: &Task, gold: &str, answer: &str) -> Result<Judgement, JudgeFailure> {
        let inputs = Inputs {
            query: task.question.clone(),
            gold: gold.to_owned(),
            answer: answer.to_owned(),
            datasets: prompt::datasets_text(&task.datasets),
            ..Inputs::default()
        };
        let judged = self.score(inputs).await.map_err(|failed| JudgeFailure::from(*failed))?;
        Ok(judged.into())
    }

    /// Scores anything, with the record as Python would have it.
    ///
    /// # Errors
    /// There is no score.
    pub async fn score(&self, inputs: Inputs) -> Result<Judged, Box<Failed>> {
        let mut judging = Judging::new(self.prompts.clone(), inputs, self.settings.clone());
        loop {
            match judging.step() {
                Step::Ask(request) => {
                    tracing::debug!(kind = %request.kind, subject = request.subject, attempt = request.attempt, "judge");
                    judging.answer(self.model.complete(&request.chat).await);
                }
                Step::Pause(time) => tokio::time::sleep(time).await,
                Step::Done(judged) => return Ok(*judged),
                Step::Failed(failed) => return Err(failed),
            }
        }
    }
}

#[cfg(test)]
mod tests;
