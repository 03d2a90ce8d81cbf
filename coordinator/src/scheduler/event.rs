//! What is journalled. Replaying the events in order gives the live state without its soft part.
//!
//! Events know no clock: delays are lengths, deadlines are not in them. They hold no gold, no answers and no
//! credentials: results are named by digest. A change of a field's meaning needs a new [`VERSION`]; new fields with a
//! serde default do not.

use argosy_shared::{
    id::{ExecutionKey, RunId},
    issue::{Issue, Severity},
    task::Blob,
};
use serde::{Deserialize, Serialize};

use super::plan::{Policy, RunPlan};

/// Version of the encoding of [`Event`], written beside each batch.
pub const VERSION: u32 = 1;

/// Something that has happened and will still have happened after a crash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A run was accepted. Its adopted attempts are done from the start.
    RunAdded {
        /// The run.
        plan: Box<RunPlan>,
    },
    /// Concurrency, weight, retries or the like changed; nothing that an execution already made depends on.
    RunPolicyChanged {
        /// The run.
        run: RunId,
        /// The policy from now on.
        policy: Policy,
    },
    /// The run reaches its models elsewhere, or is described otherwise to the engine; its tasks are the same.
    RunRespecified {
        /// The run.
        run: RunId,
        /// As in [`RunPlan::endpoint`].
        endpoint: String,
        /// As in [`RunPlan::judge_endpoint`].
        judge_endpoint: Option<String>,
        /// As in [`RunPlan::spec`].
        spec: serde_json::Value,
    },
    /// Nothing of the run starts any more until it is resumed; what runs may end.
    RunPaused {
        /// The run.
        run: RunId,
        /// For the operator.
        reason: String,
    },
    /// A paused or cancelled run goes on, or a finished one has attempts to try again.
    RunResumed {
        /// The run.
        run: RunId,
    },
    /// The run ends without its open attempts; live leases are void at once and charged to nothing.
    RunCancelled {
        /// The run.
        run: RunId,
        /// For the operator.
        reason: String,
    },
    /// Every attempt is done and published.
    RunFinished {
        /// The run.
        run: RunId,
    },
    /// A worker got the right to carry out an execution.
    LeaseGranted {
        /// The execution; its number is one above the attempt's last.
        execution: ExecutionKey,
        /// The worker's name, which outlives its session.
        worker: String,
    },
    /// The worker's right ended without a result; charged to `max_lease_losses`.
    LeaseLost {
        /// The execution.
        execution: ExecutionKey,
        /// Why.
        reason: LossReason,
    },
    /// The worker gave the lease back; charged to nothing.
    LeaseReleased {
        /// The execution.
        execution: ExecutionKey,
        /// The worker's words, bounded.
        reason: String,
        /// Milliseconds before the attempt may be leased again: 0 unless it is given back again and again.
        delay_ms: u64,
    },
    /// The result of the live execution is durable. The attempt waits for the judge, unless the next event of the
    /// batch retries or fails it.
    ResultStored {
        /// The execution.
        execution: ExecutionKey,
        /// Whether there is an answer to be judged; without one the score is 0 and no judge is called.
        has_answer: bool,
        /// The execution's issues, each message bounded.
        issues: Vec<Issue>,
        /// The stored result.
        result: Blob,
    },
    /// Judging failed and will be repeated alone (`judge_retry: evaluate`); charged to `max_retries`.
    JudgeAttemptFailed {
        /// The execution whose answer is judged.
        execution: ExecutionKey,
        /// What the judge said.
        issues: Vec<Issue>,
        /// Which retry of the attempt this is, from 1.
        retry: u32,
        /// Milliseconds before the next try.
        delay_ms: u64,
    },
    /// The execution was discarded and the whole attempt will run again; charged to `max_retries`.
    AttemptRetried {
        /// The discarded execution.
        execution: ExecutionKey,
        /// `fatal`, or the pattern of `retry_pattern_list` that matched.
        matched: String,
        /// Which retry of the attempt this is, from 1.
        retry: u32,
        /// Milliseconds before the attempt may be leased again.
        delay_ms: u64,
        /// What the judge said, where it was the judging that failed (`judge_retry: attempt`); otherwise empty, the
        /// issues are those of the stored result.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judge_issues: Vec<Issue>,
    },
    /// The answer was judged: the attempt's outcome is settled and waits to be published.
    Judged {
        /// The execution.
        execution: ExecutionKey,
        /// The stored judgement (metrics, eval_rec).
        judgement: Blob,
        /// Issues of the judging (warnings).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        issues: Vec<Issue>,
        /// Worst severity of execution and judging together.
        severity: Option<Severity>,
    },
    /// The attempt's outcome is settled as FATAL: no budget is left.
    AttemptFailed {
        /// The last execution.
        execution: ExecutionKey,
        /// What the outcome's issues are beyond those in the execution's result (judge, `worker_lost`).
        issues: Vec<Issue>,
    },
    /// The settled outcome is in the run directory.
    AttemptDone {
        /// The execution it came from.
        execution: ExecutionKey,
        /// Worst severity.
        severity: Option<Severity>,
    },
    /// An operator wants a FATAL attempt tried again, with fresh budgets.
    AttemptRequeued {
        /// The execution it had ended with.
        execution: ExecutionKey,
    },
}

/// How a lease was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossReason {
    /// It was not renewed in time.
    Expired,
    /// The worker is known to be gone.
    WorkerGone,
    /// The worker came back under a new session and no longer holds it.
    Forgotten,
}

impl LossReason {
    /// As it is shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "not renewed in time",
            Self::WorkerGone => "the worker is gone",
            Self::Forgotten => "the worker came back without it",
        }
    }
}

/// An event that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Written by a newer Argosy.
    #[error("events of version {found}; this argosy reads up to version {VERSION}, use the newer one")]
    Newer {
        /// The version found.
        found: u32,
    },
    /// Not what an encoder wrote.
    #[error("not a batch of events: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// A batch of events as it is stored beside [`VERSION`].
///
/// # Panics
/// Never: events are plain data.
#[must_use]
pub fn encode(events: &[Event]) -> String {
    serde_json::to_string(events).expect("events are plain data")
}

/// Reads what [`encode`] wrote under `version`.
///
/// # Errors
/// A newer version, or text that is no batch.
pub fn decode(version: u32, text: &str) -> Result<Vec<Event>, DecodeError> {
    if version > VERSION {
        return Err(DecodeError::Newer { found: version });
    }
    Ok(serde_json::from_str(text)?)
}
