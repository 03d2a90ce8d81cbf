//! What went wrong, in AgentCompass's terms, and the one table that says what follows from it.
//!
//! Sources: the error tables of the DiscoveryBench and Discovery Agent pages, contract section 2 of
//! AgentCompass 1.0.1, and the project's decisions where both are silent (see `ARCHITECTURE.md`).

use serde::{Deserialize, Serialize};

/// How bad an issue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Noted; changes nothing.
    Warning,
    /// The agent did not finish normally; the task is still scored.
    Error,
    /// Infrastructure or a service failed; the task is invalidated, never scored.
    Fatal,
}

/// Where in the life of an attempt an issue arose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the agent started: files, sandbox, Python.
    Setup,
    /// The agent loop.
    Run,
    /// Reading the answer.
    Collect,
    /// Judging.
    Evaluate,
    /// Destroying the sandbox.
    Cleanup,
}

/// The kind of an issue. [`Code::rule`] says what follows from each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Planning or preparing the task failed.
    SetupFailed,
    /// The sandbox or its Python could not start, died, or answered garbage.
    EnvironmentFailed,
    /// The harness itself failed.
    HarnessFailed,
    /// The turn limit was reached without a final answer.
    HarnessMaxIterations,
    /// One Python execution or the whole loop ran out of time.
    HarnessTimeout,
    /// A model request failed in a way that is not the agent's fault.
    ModelFailed,
    /// A model request timed out.
    ModelTimeout,
    /// The prompt no longer fits the model's context.
    ModelContextExceeded,
    /// The reply had neither a final answer nor an action, or was empty.
    ModelOutputInvalid,
    /// A judge request failed.
    JudgeFailed,
    /// A judge reply stayed unusable.
    JudgeInvalidOutput,
    /// A judge's count was out of range or not a number and was read as the nearest sensible one.
    JudgeCountAdjusted,
    /// The attempt lost its worker more often than its budget allows.
    WorkerLost,
    /// Something Argosy only read (a directory written by another program).
    #[serde(untagged)]
    Other(String),
}

/// What follows from an issue's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The code's usual severity.
    pub severity: Severity,
    /// Whether `execution.max_retries` applies without a `retry_pattern_list`.
    pub retried: bool,
    /// Whether the task still has a score.
    pub scored: bool,
    /// What the user can do about it.
    pub hint: &'static str,
}

impl Code {
    /// All codes Argosy itself writes, in the order of the documentation.
    pub const ALL: [Self; 13] = [
        Self::SetupFailed,
        Self::EnvironmentFailed,
        Self::HarnessFailed,
        Self::HarnessMaxIterations,
        Self::HarnessTimeout,
        Self::ModelFailed,
        Self::ModelTimeout,
        Self::ModelContextExceeded,
        Self::ModelOutputInvalid,
        Self::JudgeFailed,
        Self::JudgeInvalidOutput,
        Self::JudgeCountAdjusted,
        Self::WorkerLost,
    ];

    /// The code as it is written in results.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::SetupFailed => "setup_failed",
            Self::EnvironmentFailed => "environment_failed",
            Self::HarnessFailed => "harness_failed",
            Self::HarnessMaxIterations => "harness_max_iterations",
            Self::HarnessTimeout => "harness_timeout",
            Self::ModelFailed => "model_failed",
            Self::ModelTimeout => "model_timeout",
            Self::ModelContextExceeded => "model_context_exceeded",
            Self::ModelOutputInvalid => "model_output_invalid",
            Self::JudgeFailed => "judge_failed",
            Self::JudgeInvalidOutput => "judge_invalid_output",
            Self::JudgeCountAdjusted => "judge_count_adjusted",
            Self::WorkerLost => "worker_lost",
            Self::Other(code) => code,
        }
    }

    /// The table: severity, retried, scored, hint.
    #[must_use]
    pub fn rule(&self) -> Rule {
        let fatal = |hint| Rule { severity: Severity::Fatal, retried: true, scored: false, hint };
        let error = |hint| Rule { severity: Severity::Error, retried: false, scored: true, hint };
        let warning = |hint| Rule { severity: Severity::Warning, retried: false, scored: true, hint };
        match self {
            Self::SetupFailed => fatal("look at the message; `--max-retries` repeats the task"),
            Self::EnvironmentFailed => {
                fatal("look at the cause named in the message (signal, exit code, memory); raise the limits or retry")
            }
            Self::HarnessFailed => fatal("this is a defect of Argosy: please report it with the message"),
            Self::HarnessMaxIterations => error("raise `max_iterations` in `--harness-params`, or accept the zero"),
            Self::HarnessTimeout => {
                error("raise `command_timeout` (one execution) or `execution.run_timeout_seconds` (the whole loop)")
            }
            Self::ModelFailed => {
                fatal("check `--model-base-url`, the key and the endpoint's quota; `--max-retries 2` repeats the task")
            }
            Self::ModelTimeout => error("raise `timeout` in `--model-params`"),
            Self::ModelContextExceeded => error("the conversation outgrew the model's context; scored as no answer"),
            Self::ModelOutputInvalid => {
                error("the model did not keep to the format; scored as no answer, as upstream does")
            }
            Self::JudgeFailed => fatal("check the judge's endpoint and key; only the judging is repeated"),
            Self::JudgeInvalidOutput => {
                fatal("use a judge with JSON mode; for a reasoning judge raise `max_tokens` in `judge_model.params`")
            }
            Self::JudgeCountAdjusted => {
                warning("the judge's counts contradicted each other; the score stays within 0..1")
            }
            Self::WorkerLost => fatal("the task takes its worker down every time: look at memory and disk of the host"),
            Self::Other(_) => error("written by another program"),
        }
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that went wrong with an attempt; the shape of `result.json`'s `issues`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// How bad it is.
    pub severity: Severity,
    /// When it happened.
    pub phase: Phase,
    /// What it is.
    pub code: Code,
    /// One non-empty line without secrets.
    pub message: String,
}

impl Issue {
    /// An issue with the severity of its code's rule. The message is folded into one line.
    #[must_use]
    pub fn new(phase: Phase, code: Code, message: impl AsRef<str>) -> Self {
        let severity = code.rule().severity;
        Self { severity, phase, code, message: one_line(message.as_ref()) }
    }

    /// Whether the attempt has no valid score because of this.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        self.severity == Severity::Fatal
    }
}

/// The worst severity among `issues`, `None` where there is none.
#[must_use]
pub fn worst(issues: &[Issue]) -> Option<Severity> {
    issues.iter().map(|issue| issue.severity).max()
}

fn one_line(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "no message".to_owned() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_as_in_the_documents_and_read_back() {
        for code in Code::ALL {
            let text = serde_json::to_string(&code).unwrap();
            assert_eq!(text, format!("\"{}\"", code.as_str()));
            assert_eq!(serde_json::from_str::<Code>(&text).unwrap(), code);
        }
        let foreign: Code = serde_json::from_str("\"verifier_failed\"").unwrap();
        assert_eq!(foreign, Code::Other("verifier_failed".to_owned()));
    }

    #[test]
    fn fatal_is_never_scored_and_always_retried() {
        for code in Code::ALL {
            let rule = code.rule();
            assert_eq!(rule.severity == Severity::Fatal, !rule.scored, "{code}");
            assert_eq!(rule.severity == Severity::Fatal, rule.retried, "{code}");
            assert!(!rule.hint.is_empty());
        }
    }

    #[test]
    fn messages_are_one_line() {
        assert_eq!(Issue::new(Phase::Run, Code::ModelFailed, "a\n b").message, "a b");
        assert_eq!(Issue::new(Phase::Run, Code::ModelFailed, "\n").message, "no message");
    }
}
