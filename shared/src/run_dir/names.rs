//! Names of files and directories (contract of AgentCompass 1.0.1, sections 1.1 and 1.2).

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::id::TaskId;

/// `run_info.json`
pub const RUN_INFO: &str = "run_info.json";
/// `params.json`
pub const PARAMS: &str = "params.json";
/// `progress.json`
pub const PROGRESS: &str = "progress.json";
/// `progress.jsonl`
pub const PROGRESS_LOG: &str = "progress.jsonl";
/// `run.log`
pub const RUN_LOG: &str = "run.log";
/// `metrics.json`
pub const METRICS: &str = "metrics.json";
/// `summary.md`
pub const SUMMARY: &str = "summary.md";
/// `details`
pub const DETAILS: &str = "details";
/// `task.json`
pub const TASK: &str = "task.json";
/// `result.json`
pub const RESULT: &str = "result.json";
/// `checkpoint.json`
pub const CHECKPOINT: &str = "checkpoint.json";
/// `retries`
pub const RETRIES: &str = "retries";
/// `argosy.json`: Argosy's own record of what was planned; AgentCompass ignores files it does not know.
pub const PLANNED: &str = "argosy.json";
/// `journal/argosy.db`: the events, results and judgements all other files follow from.
pub const JOURNAL: &str = "journal/argosy.db";
/// The file whose lock keeps a second writer out.
pub const LOCK: &str = ".argosy.lock";
/// Every file that is being written starts with this.
pub const TEMPORARY: &str = ".tmp.";

/// Directory names are bounded by most file systems at 255 bytes; a model id gets this much of them.
const LONGEST_MODEL: usize = 120;

/// Where a task's directory lies below `details/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Not published yet.
    Running,
    /// Published, at worst with a WARNING.
    Normal,
    /// Published, with an ERROR and no FATAL: scored.
    Error,
    /// Published, with a FATAL: invalidated.
    Fatal,
}

impl State {
    /// All states, in the order in which AgentCompass looks for a task.
    pub const ALL: [Self; 4] = [Self::Running, Self::Normal, Self::Error, Self::Fatal];
    /// The states of a published task.
    pub const FINAL: [Self; 3] = [Self::Normal, Self::Error, Self::Fatal];

    /// The directory's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Normal => "normal",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// AgentCompass's sanitiser: every maximal run of characters outside `[A-Za-z0-9._=-]` becomes one `_`.
#[must_use]
pub fn sanitise(name: &str) -> String {
    let mut clean = String::with_capacity(name.len());
    let mut in_run = false;
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '=' | '-') {
            clean.push(character);
            in_run = false;
        } else if !in_run {
            clean.push('_');
            in_run = true;
        }
    }
    clean
}

/// The directory levels of a run name: split at `/` and `\`; empty, `.` and `..` dropped; each level sanitised.
#[must_use]
pub fn run_name_levels(run_name: &str) -> Vec<String> {
    run_name
        .split(['/', '\\'])
        .map(str::trim)
        .filter(|level| !matches!(*level, "" | "." | ".."))
        .map(sanitise)
        .filter(|level| !matches!(level.as_str(), "" | "." | ".."))
        .collect()
}

/// `<model>_<benchmark>_<harness>`.
///
/// In AgentCompass two models whose ids differ only in characters the sanitiser replaces (`a/b` and `a_b`) share a
/// directory, and reuse then credits one with the other's results. Here an id that the sanitiser changes (or that is too
/// long for a directory name) gets the first eight hexadecimal digits of its SHA-256 appended after `=`; an id that needs
/// no change keeps AgentCompass's name.
#[must_use]
pub fn namespace(model: &str, benchmark: &str, harness: &str) -> String {
    format!("{}_{}_{}", model_part(model), sanitise(benchmark), sanitise(harness))
}

/// The folder of one request of a launch file; as with [`namespace`], no two names share one.
#[must_use]
pub fn request_namespace(name: &str) -> String {
    model_part(name)
}

fn model_part(model: &str) -> String {
    if model.is_empty() {
        return "model".to_owned();
    }
    let mut clean = sanitise(model);
    if clean == model && clean.len() <= LONGEST_MODEL {
        return clean;
    }
    clean.truncate(LONGEST_MODEL);
    format!("{clean}={}", &digest(model)[..8])
}

/// Whether a text can be a run's directory name as it stands.
#[must_use]
pub fn is_run_id(name: &str) -> bool {
    !name.is_empty() && name.len() <= 200 && !matches!(name, "." | "..") && sanitise(name) == name
}

/// `<readable>--<SHA-256 of the task id>`; readers compute and compare it.
#[must_use]
pub fn task_dir(task: &TaskId) -> String {
    let clean = sanitise(task.as_str());
    let trimmed = clean.trim_matches(|character| matches!(character, '.' | '_' | '-'));
    // The sanitised name is ASCII, so bytes are characters.
    let readable = &trimmed[..trimmed.len().min(80)];
    format!("{}--{}", if readable.is_empty() { "task" } else { readable }, digest(task.as_str()))
}

/// `details/<state>/<task directory>`, relative to the run directory.
#[must_use]
pub fn task_path(state: State, task: &TaskId) -> String {
    format!("{DETAILS}/{state}/{}", task_dir(task))
}

/// `attempt-<n>`.
#[must_use]
pub fn attempt_dir(attempt: u32) -> String {
    format!("attempt-{attempt}")
}

/// `<task directory>.attempt<n>.retry<r>.<stage>.json`, below `attempt-<n>/retries/`.
#[must_use]
pub fn retry_file(task: &TaskId, attempt: u32, retry: u32, stage: &str) -> String {
    let stage = stage.replace(['/', ':'], "_");
    format!("{}.attempt{attempt}.retry{retry}.{stage}.json", task_dir(task))
}

fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_of_other_characters_becomes_one_underscore() {
        assert_eq!(sanitise("a/b  c\u{e9}!d_e.f=g-h"), "a_b_c_d_e.f=g-h");
        assert_eq!(sanitise(""), "");
        assert_eq!(sanitise("//"), "_");
    }

    #[test]
    fn run_names_keep_their_levels() {
        assert_eq!(run_name_levels("sweep 1/../a\\b//./"), ["sweep_1", "a", "b"]);
        assert!(run_name_levels(" .. / . ").is_empty());
    }

    #[test]
    fn model_ids_that_sanitise_to_one_name_get_directories_of_their_own() {
        let name = |model| namespace(model, "discoverybench", "discovery_agent");
        assert_eq!(name("gpt-4o"), "gpt-4o_discoverybench_discovery_agent");
        assert_eq!(name("a_b"), "a_b_discoverybench_discovery_agent");
        // sha256("a/b") = c14cddc033f64b9dea80ea675cf280a015e672516090a5626781153dc68fea11 (coreutils)
        assert_eq!(name("a/b"), "a_b=c14cddc0_discoverybench_discovery_agent");
        let (long, longer) = ("x".repeat(300), "x".repeat(301));
        assert!(name(&long).len() < 200);
        assert_ne!(name(&long), name(&longer));
        let names: std::collections::BTreeSet<String> =
            ["a/b", "a_b", "a b", "a:b", "a//b", "", "model/", "a_b/"].into_iter().map(name).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(request_namespace("model-a"), "model-a");
        assert_ne!(request_namespace("a/b"), request_namespace("a_b"));
    }

    #[test]
    fn task_directories_are_readable_and_exact() {
        // From a real run of AgentCompass 1.0.1.
        assert_eq!(
            task_dir(&TaskId::from("real_test__alpha__0__0")),
            "real_test__alpha__0__0--457d0bc6c49da2f3ced22c298b5c7b8c42903ff6c7ce1c6829b61b0f6c2911a8"
        );
        assert!(task_dir(&TaskId::from("__\u{fc}--")).starts_with("task--"));
        assert_eq!(task_dir(&TaskId(format!("_{}", "y".repeat(90)))).find("--"), Some(80));
        assert_eq!(
            retry_file(&TaskId::from("t"), 2, 3, "open/env:x"),
            format!("{}.attempt2.retry3.open_env_x.json", task_dir(&TaskId::from("t")))
        );
    }

    #[test]
    fn run_ids_are_taken_as_they_are_or_refused() {
        assert!(is_run_id("20260101_000000") && is_run_id("r=1.2-x"));
        for bad in ["", ".", "..", "a/b", "a b", "\u{fc}"] {
            assert!(!is_run_id(bad), "{bad}");
        }
    }
}
