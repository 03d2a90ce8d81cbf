//! Retries: what is retried, how often, after how long.
//!
//! One budget `max_retries` per attempt covers FATAL results, ERROR results that a pattern matches, and failures of
//! the judge. Lost workers have a budget of their own, and what a worker gives back is charged to nothing.

use std::{collections::HashSet, time::Duration};

use argosy_shared::{
    backoff::{Backoff, seed},
    id::AttemptKey,
    issue::{Code, Issue, Severity},
};
use fancy_regex::Regex;

use super::{
    plan::{PlanError, Policy, RunPlan},
    state::Attempt,
};

/// What `matched` says for a FATAL issue, as AgentCompass writes it.
pub(super) const FATAL: &str = "fatal";

/// Releases in a row after which giving an attempt back costs time: a drain or two is normal, a loop is not.
const FREE_RELEASES: u32 = 3;

/// Most issues and most characters of a message that are journalled; the stored result has all of them.
const MAX_ISSUES: usize = 32;
const MAX_MESSAGE: usize = 2000;

/// Most characters of a message that a pattern is searched in.
const MAX_SEARCHED: usize = 16 * 1024;

/// Compiled `retry_pattern_list`.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns(Vec<Regex>);

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(Regex::as_str).eq(other.0.iter().map(Regex::as_str))
    }
}

impl Patterns {
    /// Compiles the policy's patterns; what does not compile was refused at submission and is left out here.
    pub(super) fn of(policy: &Policy) -> Self {
        Self(policy.retry_pattern_list.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect())
    }

    /// Why an execution with these issues is to be retried: [`FATAL`], or the first pattern found in message or code
    /// of an ERROR issue. `None`: it stands.
    pub(super) fn matched(&self, issues: &[Issue]) -> Option<String> {
        if issues.iter().any(Issue::is_fatal) {
            return Some(FATAL.to_owned());
        }
        let hits = |pattern: &Regex, issue: &Issue| {
            // A search that gives up (backtracking limit) is no match.
            let found = |text: &str| pattern.is_match(cut(text, MAX_SEARCHED)).unwrap_or(false);
            issue.severity == Severity::Error && (found(&issue.message) || found(issue.code.as_str()))
        };
        let pattern = self.0.iter().find(|pattern| issues.iter().any(|issue| hits(pattern, issue)))?;
        Some(pattern.as_str().to_owned())
    }
}

impl Policy {
    /// The delay before retry `retry` (from 1) of an attempt whose execution `execution` failed: a whole number of
    /// milliseconds.
    pub(super) fn retry_delay(&self, attempt: &AttemptKey, execution: u64, retry: u32) -> Duration {
        let (number, execution) = (attempt.attempt.to_string(), execution.to_string());
        let seed = seed([&attempt.run.0, &attempt.task.0, &number, &execution, &retry.to_string()].map(String::as_str));
        whole_millis(self.backoff().delay(retry, seed))
    }

    /// The delay before an attempt that was given back may be leased again: none at first.
    pub(super) fn release_delay(&self, attempt: &Attempt) -> Duration {
        let retry = (attempt.releases + 1).saturating_sub(FREE_RELEASES);
        if retry == 0 { Duration::ZERO } else { whole_millis(self.backoff().bound(retry)) }
    }

    fn backoff(&self) -> Backoff {
        // Submission refuses what this would refuse.
        Backoff::from_seconds(self.retry_min_delay_seconds, self.retry_max_delay_seconds)
            .unwrap_or(const { Backoff::new(Duration::from_secs(5), Duration::from_secs(60)) })
    }

    fn problem(&self) -> Option<String> {
        if let Some((pattern, error)) =
            self.retry_pattern_list.iter().find_map(|pattern| Regex::new(pattern).err().map(|error| (pattern, error)))
        {
            return Some(format!("retry_pattern_list: `{pattern}` is not a regular expression: {error}"));
        }
        Backoff::from_seconds(self.retry_min_delay_seconds, self.retry_max_delay_seconds)
            .err()
            .map(|error| error.to_string())
    }
}

/// Whether the plan can be scheduled at all.
pub(super) fn validate(plan: &RunPlan) -> Result<(), PlanError> {
    let run = || plan.id.clone();
    let zeros = [("k", plan.k), ("weight", plan.policy.weight), ("task_concurrency", plan.policy.task_concurrency)];
    if let Some((field, _)) = zeros.into_iter().find(|(_, value)| *value == 0) {
        return Err(PlanError::Zero { run: run(), field });
    }
    if plan.tasks.is_empty() {
        return Err(PlanError::NoTasks(run()));
    }
    let attempts = u32::try_from(plan.tasks.len()).ok().and_then(|tasks| tasks.checked_mul(plan.k));
    if attempts.is_none() {
        return Err(PlanError::Policy { run: run(), reason: "more than 2^32 attempts".to_owned() });
    }
    let mut seen = HashSet::new();
    if let Some(task) = plan.tasks.iter().find(|task| !seen.insert(*task)) {
        return Err(PlanError::Repeated { run: run(), task: task.clone() });
    }
    let unknown = |adopted: &&super::plan::Adopted| {
        !seen.contains(&adopted.task) || adopted.attempt == 0 || adopted.attempt > plan.k
    };
    if let Some(adopted) = plan.adopted.iter().find(unknown) {
        return Err(PlanError::Adopted { run: run(), task: adopted.task.clone(), attempt: adopted.attempt });
    }
    let (found, tasks) = (plan.expected_seconds.len(), plan.tasks.len());
    if found != 0 && found != tasks {
        return Err(PlanError::Expectations { run: run(), found, tasks });
    }
    plan.policy.problem().map_or(Ok(()), |reason| Err(PlanError::Policy { run: run(), reason }))
}

/// Issues as they are journalled: few and short.
pub(super) fn bounded(issues: &[Issue]) -> Vec<Issue> {
    // The worst ones survive, in their order.
    let mut kept: Vec<(usize, &Issue)> = issues.iter().enumerate().collect();
    kept.sort_by_key(|(index, issue)| (std::cmp::Reverse(issue.severity), *index));
    kept.truncate(MAX_ISSUES);
    kept.sort_by_key(|(index, _)| *index);
    let short = |issue: &Issue| {
        let code = match &issue.code {
            Code::Other(code) => Code::Other(bounded_text(code)),
            known => known.clone(),
        };
        Issue { message: bounded_text(&issue.message), code, ..issue.clone() }
    };
    kept.into_iter().map(|(_, issue)| short(issue)).collect()
}

/// Foreign words as they are journalled.
pub(super) fn bounded_text(text: &str) -> String {
    let short = cut(text, MAX_MESSAGE);
    if short.len() == text.len() { text.to_owned() } else { format!("{short} [cut]") }
}

fn cut(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

fn whole_millis(length: Duration) -> Duration {
    Duration::from_millis(u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
