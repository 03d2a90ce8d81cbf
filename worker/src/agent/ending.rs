//! How an agent loop ends.

use std::time::Duration;

use argosy_shared::{
    issue::{Code, Issue, Phase},
    model::Failure,
    result::Termination,
};

use crate::python;

/// How an agent loop ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ending {
    pub(super) termination: Termination,
    /// The final answer, possibly empty.
    pub(super) answer: Option<String>,
    /// What went wrong, if anything.
    pub(super) issue: Option<Issue>,
}

impl Ending {
    pub(super) fn answered(answer: String) -> Self {
        Self { termination: Termination::FinalAnswer, answer: Some(answer), issue: None }
    }

    pub(super) fn max_iterations(limit: u32) -> Self {
        let message = format!("{limit} model turns passed without a final answer");
        Self::without_answer(Termination::MaxIterations, Issue::new(Phase::Run, Code::HarnessMaxIterations, message))
    }

    /// A reply upstream's parser rejects.
    pub(super) fn unparseable(reply: &str, reasoning: Option<&str>, finish_reason: Option<&str>) -> Self {
        let mut message = if reply.trim().is_empty() {
            "the reply is empty".to_owned()
        } else {
            "the reply has neither `Final Answer:` nor an `Action:`/`Action Input:` pair".to_owned()
        };
        if let (true, Some(reasoning)) = (reply.trim().is_empty(), reasoning) {
            message.push_str(&format!(
                "; the endpoint returned {} characters of reasoning beside it, which are not an answer",
                reasoning.chars().count()
            ));
        }
        match finish_reason {
            Some("length") => message.push_str("; it stops at the token limit (finish_reason length)"),
            Some(reason) if reason != "stop" => message.push_str(&format!("; finish_reason {reason}")),
            _ => {}
        }
        Self::without_answer(Termination::OutputInvalid, Issue::new(Phase::Run, Code::ModelOutputInvalid, message))
    }

    /// A model request that brought no answer.
    pub(super) fn model(failure: &Failure) -> Self {
        let termination = match failure.code {
            Code::ModelTimeout => Termination::ModelTimeout,
            Code::ModelContextExceeded => Termination::ContextExceeded,
            Code::ModelOutputInvalid => Termination::OutputInvalid,
            _ => Termination::ModelFailed,
        };
        let issue =
            Issue { severity: failure.severity, ..Issue::new(Phase::Run, failure.code.clone(), &failure.message) };
        Self::without_answer(termination, issue)
    }

    /// An execution of code that brought no observation.
    pub(super) fn python(error: &python::Error) -> Self {
        let (termination, code, message) = match error {
            python::Error::Timeout(bound) => (
                Termination::Timeout,
                Code::HarnessTimeout,
                format!("one Python execution exceeded command_timeout ({}s)", bound.as_secs_f64()),
            ),
            other => (Termination::EnvironmentFailed, Code::EnvironmentFailed, other.to_string()),
        };
        Self::without_answer(termination, Issue::new(Phase::Run, code, message))
    }

    pub(super) fn run_timeout(bound: Duration) -> Self {
        let message = format!("the agent loop exceeded execution.run_timeout_seconds ({}s)", bound.as_secs_f64());
        Self::without_answer(Termination::Timeout, Issue::new(Phase::Run, Code::HarnessTimeout, message))
    }

    /// The lease was taken away. Nobody asks for the result of such an execution; the FATAL issue makes sure that it is
    /// not taken for a task without an answer if somebody does.
    pub(super) fn cancelled() -> Self {
        Self::without_answer(Termination::Cancelled, cancelled_issue(Phase::Run))
    }

    fn without_answer(termination: Termination, issue: Issue) -> Self {
        Self { termination, answer: None, issue: Some(issue) }
    }
}

/// What a cancelled execution says for itself.
#[must_use]
pub(crate) fn cancelled_issue(phase: Phase) -> Issue {
    Issue::new(phase, Code::WorkerLost, "the execution was cancelled: its lease was taken away or the worker stops")
}
