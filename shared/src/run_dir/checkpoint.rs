//! `attempt-<n>/checkpoint.json`. Argosy resumes from its journal; the file is kept so that AgentCompass's readers find
//! what they expect.

use serde_json::{Value, json};

use crate::{
    id::TaskId,
    issue::{Issue, Severity},
};

/// `schema_version` of the file.
pub const SCHEMA: &str = "agentcompass.attempt_checkpoint.v1";

/// The file of an attempt whose task is published.
#[must_use]
pub fn published() -> Value {
    json!({"schema_version": SCHEMA})
}

/// The file of an attempt that is over while others of its task are not: its result lies beside it.
#[must_use]
pub fn waiting_for_siblings(task: &TaskId, attempt: u32, retries: u32, issues: &[Issue]) -> Value {
    let failed = issues.iter().any(|issue| issue.severity == Severity::Fatal);
    json!({
        "schema_version": SCHEMA,
        "scheduler": {
            "schema_version": "agentcompass.logical_attempt.v2",
            "task_id": task,
            "attempt_index": attempt,
            "status": if failed { "failed" } else { "completed" },
            "stop_requested": false,
            "retries": retries,
            "error": null,
            "result_path": "result.json",
        },
    })
}
