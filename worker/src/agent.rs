//! The loop of coder and react: prompt, model, parse, Python, observation.
//!
//! The two agents differ in their template and in the limits that stand in it; the loop is the same. In reading order:
//! the module `turns` is the loop, [`parse`] and [`request`] are pure, [`tool`] is Python with upstream's limits.

pub mod parse;
pub mod request;
pub mod tool;

mod ending;
mod log;
mod replay;
mod turns;

use std::time::Duration;

use argosy_shared::{
    issue::Issue, lease::Assignment, model::Model, result::Termination, supervise::CancellationToken, time::Clock,
    trajectory::StepRecord,
};

pub(crate) use self::ending::cancelled_issue;
use self::{ending::Ending, log::Log, tool::Tool};

/// Where finished steps go, as soon as each is complete.
pub type StepSink<'a> = dyn Fn(StepRecord) + Send + Sync + 'a;

/// What an agent run is given.
pub struct Run<'a> {
    /// The execution.
    pub assignment: &'a Assignment,
    /// The whole task input: paths filled in, notice appended.
    pub input: &'a str,
    /// The model under test.
    pub model: &'a dyn Model,
    /// Where finished steps go.
    pub steps: &'a StepSink<'a>,
    /// Ends the loop promptly.
    pub cancel: &'a CancellationToken,
    /// For measurements and records.
    pub clock: &'a dyn Clock,
}

/// What an agent run brought, the steps up to its end included, however it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The text after `Final Answer:`. It may be empty.
    pub answer: Option<String>,
    /// Why the loop ended.
    pub termination: Termination,
    /// Model turns. The last is without an observation where the loop ended in it.
    pub steps: Vec<StepRecord>,
    /// What went wrong.
    pub issues: Vec<Issue>,
    /// Turns whose reply came from an earlier execution.
    pub replayed_turns: u32,
    /// Time spent in the model's answers, replayed turns not counted.
    pub model_time: Duration,
    /// How requests differed from what was asked for, each once.
    pub changed_params: Vec<String>,
    /// Bodies of model answers that could not be used, bounded.
    pub raw_replies: Vec<String>,
}

/// Runs the loop to its end, `run_timeout_seconds` or the cancellation, whichever comes first. Python is left to
/// the caller to stop; after a time-out or a cancellation it may still be busy.
pub async fn run(run: &Run<'_>, tool: &mut Tool<'_>) -> Outcome {
    let mut log = Log::new(run);
    let bound = run.assignment.run_timeout_seconds.map(seconds);
    let ending = tokio::select! {
        biased;
        () = run.cancel.cancelled() => Ending::cancelled(),
        () = passed(bound) => Ending::run_timeout(bound.unwrap_or_default()),
        ending = turns::run(run, tool, &mut log) => ending,
    };
    log.close();
    log.into_outcome(ending)
}

/// A number of seconds from the parameters. What no clock can count to is as good as for ever.
pub(crate) fn seconds(seconds: f64) -> Duration {
    const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    Duration::try_from_secs_f64(seconds).unwrap_or(FOR_EVER).min(FOR_EVER)
}

async fn passed(bound: Option<Duration>) {
    match bound {
        Some(bound) => tokio::time::sleep(bound).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_of_any_size_can_be_waited_for() {
        assert_eq!(seconds(1.5), Duration::from_millis(1500));
        assert_eq!(seconds(1e300), seconds(f64::INFINITY));
        assert!(seconds(1e300) > Duration::from_secs(1_000_000_000));
    }
}
