//! What of a run directory follows from the journal alone. The publisher writes it as things happen, [`rebuild`] all at
//! once; the bytes are the same.
//!
//! [`rebuild`]: crate::engine::rebuild

use std::path::PathBuf;

use argosy_shared::{
    id::{AttemptKey, TaskId},
    issue::Severity,
    run_dir::{RetryRecord, TaskHeader, retry::Scope},
    task::Task,
    time,
};

use super::{Error, record::Loaded};
use crate::{
    engine::Run,
    report::{load, metric_report::MetricReport, metrics},
    scheduler::{FinalAttempt, RetryNotice, RetryScope},
    store,
};

/// Under the name it has in the files.
pub(in crate::engine) fn scope(scope: RetryScope) -> Scope {
    match scope {
        RetryScope::Attempt => Scope::Attempt,
        RetryScope::Evaluate => Scope::Evaluate,
    }
}

/// A discarded execution or judging, below `retries/`. Gives the path.
pub(in crate::engine) fn retry(run: &Run, notice: &RetryNotice, loaded: &Loaded) -> Result<PathBuf, store::Error> {
    let AttemptKey { task, attempt, .. } = &notice.execution.attempt;
    let category = run.task(task).map(Task::category);
    run.store.retry_diagnostic(&RetryRecord {
        task,
        category: category.as_deref(),
        attempt: *attempt,
        retry: notice.retry,
        max_retries: notice.max_retries,
        delay_seconds: notice.delay.as_secs_f64(),
        scope: scope(notice.scope),
        matched_pattern: &notice.matched,
        discarded: &loaded.record(run),
    })
}

/// An attempt whose task has others that are not over.
pub(in crate::engine) fn unfinished(run: &Run, key: &AttemptKey, loaded: &Loaded) -> Result<(), store::Error> {
    run.store.attempt_finished(&key.task, key.attempt, &loaded.record(run))
}

/// A task with all its attempts. Gives the worst severity among them.
pub(in crate::engine) fn task(
    run: &Run,
    id: &TaskId,
    attempts: &[(FinalAttempt, Loaded)],
) -> Result<Option<Severity>, store::Error> {
    let records: Vec<_> =
        attempts.iter().map(|(attempt, loaded)| (attempt.attempt.attempt, loaded.record(run))).collect();
    let category = run.task(id).map(Task::category);
    let header = TaskHeader {
        task: id,
        category: category.as_deref(),
        ground_truth: &run.gold(id).into(),
        k: run.execution.k,
        strategy: run.execution.strategy,
    };
    run.store.publish(&header, &records)?;
    Ok(records.iter().filter_map(|(_, record)| record.worst()).max())
}

/// `metrics.json` and `summary.md`. The scores are computed from the directory itself, so they say what a reader of it
/// would find.
pub(in crate::engine) fn scores(run: &Run) -> Result<MetricReport, Error> {
    let loaded = load::run(run.store.dir())?;
    let report = metrics::aggregate(&loaded.tasks, &loaded.plan)?;
    run.store.write_report(&report, None, time::wall())?;
    Ok(report)
}
