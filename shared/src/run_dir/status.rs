//! What an attempt's status and a task's directory are: derived from the issues, never chosen.

use serde::{Deserialize, Serialize};

use super::names::State;
use crate::issue::{Issue, Phase, Severity};

/// `status` of an attempt result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// Nothing but WARNINGs.
    Completed,
    /// Setup, run or collect failed, or only the cleanup.
    RunError,
    /// Judging failed.
    EvalError,
    /// Both.
    RunErrorOrEvalError,
    /// Not run (read only).
    Skipped,
    /// Stopped by the user (read only).
    Cancelled,
    /// Cut short (read only).
    Interrupted,
}

impl AttemptStatus {
    /// The status these issues mean. A scored attempt with an ERROR still has an error status.
    #[must_use]
    pub fn of(issues: &[Issue]) -> Self {
        let failed = |wanted: fn(Phase) -> bool| {
            issues.iter().any(|issue| issue.severity != Severity::Warning && wanted(issue.phase))
        };
        let evaluating = failed(|phase| phase == Phase::Evaluate);
        let running = failed(|phase| matches!(phase, Phase::Setup | Phase::Run | Phase::Collect));
        let cleaning = failed(|phase| phase == Phase::Cleanup);
        match (running, evaluating, cleaning) {
            (true, true, _) => Self::RunErrorOrEvalError,
            (false, true, _) => Self::EvalError,
            (true, false, _) | (false, false, true) => Self::RunError,
            (false, false, false) => Self::Completed,
        }
    }
}

/// The directory of a published task whose worst final issue over all attempts is `worst`.
#[must_use]
pub fn state_of(worst: Option<Severity>) -> State {
    match worst {
        Some(Severity::Fatal) => State::Fatal,
        Some(Severity::Error) => State::Error,
        Some(Severity::Warning) | None => State::Normal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::Code;

    fn issue(severity: Severity, phase: Phase) -> Issue {
        Issue { severity, phase, code: Code::Other("x".to_owned()), message: "x".to_owned() }
    }

    #[test]
    fn the_status_follows_the_phases() {
        use AttemptStatus::{Completed, EvalError, RunError, RunErrorOrEvalError};
        use Phase::{Cleanup, Collect, Evaluate, Run, Setup};
        let cases: [(&[Phase], AttemptStatus); 9] = [
            (&[], Completed),
            (&[Setup], RunError),
            (&[Run], RunError),
            (&[Collect], RunError),
            (&[Cleanup], RunError),
            (&[Evaluate], EvalError),
            (&[Evaluate, Cleanup], EvalError),
            (&[Run, Evaluate], RunErrorOrEvalError),
            (&[Run, Cleanup], RunError),
        ];
        for (phases, expected) in cases {
            let issues: Vec<Issue> = phases.iter().map(|phase| issue(Severity::Error, *phase)).collect();
            assert_eq!(AttemptStatus::of(&issues), expected, "{phases:?}");
            let warnings: Vec<Issue> = phases.iter().map(|phase| issue(Severity::Warning, *phase)).collect();
            assert_eq!(AttemptStatus::of(&warnings), Completed, "{phases:?}");
        }
        assert_eq!(serde_json::to_string(&RunErrorOrEvalError).unwrap(), "\"run_error_or_eval_error\"");
    }

    #[test]
    fn warnings_are_normal() {
        assert_eq!(state_of(None), State::Normal);
        assert_eq!(state_of(Some(Severity::Warning)), State::Normal);
        assert_eq!(state_of(Some(Severity::Error)), State::Error);
        assert_eq!(state_of(Some(Severity::Fatal)), State::Fatal);
    }
}
