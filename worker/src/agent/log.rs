//! The record of a run while it grows. It outlives the loop's future, so that an interrupted loop loses nothing.

use std::time::Duration;

use argosy_shared::{
    issue::{Code, Issue, Phase, Severity},
    time::{Clock, Timestamp},
    trajectory::{Action, StepMetric, StepRecord},
};

use super::{Outcome, Run, StepSink, ending::Ending, tool::Observed};

/// The most that is kept of one unusable model answer, in bytes.
const RAW_BYTES: usize = 64 << 10;

pub(super) struct Log<'a> {
    sink: &'a StepSink<'a>,
    clock: &'a dyn Clock,
    steps: Vec<StepRecord>,
    /// A step whose observation is still to come.
    open: Option<StepRecord>,
    warnings: Vec<Issue>,
    replayed_turns: u32,
    model_time: Duration,
    changed_params: Vec<String>,
    raw_replies: Vec<String>,
}

/// A reply, from the model or from an earlier execution.
pub(super) struct Reply {
    /// As the next prompt shows it.
    pub(super) text: String,
    pub(super) reasoning: Option<String>,
    pub(super) metric: StepMetric,
    pub(super) started_at: Timestamp,
}

impl<'a> Log<'a> {
    pub(super) fn new(run: &Run<'a>) -> Self {
        Self {
            sink: run.steps,
            clock: run.clock,
            steps: Vec::new(),
            open: None,
            warnings: Vec::new(),
            replayed_turns: 0,
            model_time: Duration::ZERO,
            changed_params: Vec::new(),
            raw_replies: Vec::new(),
        }
    }

    /// Past replies with their observations, as the prompt shows them.
    pub(super) fn scratchpad(&self) -> Vec<(&str, &str)> {
        self.steps.iter().map(|step| (step.reply.as_str(), step.observation.as_deref().unwrap_or_default())).collect()
    }

    /// Counts a turn whose model call was not sent.
    pub(super) fn replayed(&mut self) {
        self.replayed_turns += 1;
    }

    /// Counts a model call.
    pub(super) fn asked(&mut self, elapsed: Duration) {
        self.model_time += elapsed;
    }

    /// Notes how a request differed from what was asked for.
    pub(super) fn changed(&mut self, changes: &[String]) {
        for change in changes {
            if !self.changed_params.contains(change) {
                self.changed_params.push(change.clone());
            }
        }
    }

    /// Keeps the body of an unusable model answer.
    pub(super) fn unusable(&mut self, raw: &str) {
        if !raw.is_empty() {
            self.raw_replies.push(raw[..raw.floor_char_boundary(RAW_BYTES)].to_owned());
        }
    }

    /// Says once that the endpoint does not honour `stop`.
    pub(super) fn stop_ignored(&mut self) {
        if self.warnings.is_empty() {
            let message = format!(
                "the reply of step {} goes on after the stop sequence: the endpoint does not honour `stop`; \
                 the reply is kept whole, as upstream does",
                self.steps.len() + 1
            );
            let issue = Issue::new(Phase::Run, Code::ModelOutputInvalid, message);
            self.warnings.push(Issue { severity: Severity::Warning, ..issue });
        }
    }

    /// Begins the record of a turn whose reply has come.
    pub(super) fn open(&mut self, reply: Reply, action: Option<Action>) {
        let step_id = u32::try_from(self.steps.len() + 1).unwrap_or(u32::MAX);
        self.open = Some(StepRecord {
            step_id,
            reply: reply.text,
            reasoning: reply.reasoning,
            action,
            observation: None,
            metric: reply.metric,
            started_at: reply.started_at,
            finished_at: reply.started_at,
        });
    }

    /// Completes the open turn with its observation.
    pub(super) fn observe(&mut self, observed: Observed) {
        if let Some(step) = &mut self.open {
            step.metric.env_action_ms = observed.elapsed.map(milliseconds);
            step.metric.observation_bytes_cut = observed.bytes_cut;
            step.observation = Some(observed.text);
        }
        self.close();
    }

    /// Completes the open turn, if there is one, as it stands.
    pub(super) fn close(&mut self) {
        if let Some(mut step) = self.open.take() {
            step.finished_at = self.clock.wall();
            (self.sink)(step.clone());
            self.steps.push(step);
        }
    }

    pub(super) fn into_outcome(self, ending: Ending) -> Outcome {
        Outcome {
            answer: ending.answer,
            termination: ending.termination,
            steps: self.steps,
            issues: self.warnings.into_iter().chain(ending.issue).collect(),
            replayed_turns: self.replayed_turns,
            model_time: self.model_time,
            changed_params: self.changed_params,
            raw_replies: self.raw_replies,
        }
    }
}

pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
