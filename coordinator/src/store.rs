//! Writes run directories. The names and shapes are `argosy_shared::run_dir`'s; here is only the order in which things
//! become durable:
//!
//! - Every file is written beside its place, flushed to the disk, and renamed over it; then its directory is flushed. A
//!   reader sees the old file or the new one, after a crash too.
//! - A task is published by writing all its attempt results, then `task.json` with the members that say so, then moving
//!   its directory from `running` to the state its worst issue means. A crash in between leaves it unpublished;
//!   publishing again brings it to the same end.
//! - One process at a time writes: a lock on a file of its own is held as long as the [`RunStore`] lives.
//! - Bookkeeping does not grow with the square of the run: progress snapshots are written at most once a second, plans
//!   whenever their number has doubled.
//!
//! What the file system refuses is an [`Error`] that says whether the run should pause ([`Error::trouble`]). Nothing
//! half-written stays behind.

mod aside;
mod atomic;
mod create;
mod error;
mod leftovers;
mod lock;
mod progress;
mod publish;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use argosy_shared::{
    id::{RunId, TaskId},
    redact::{self, Redactor},
    run_dir::{
        ResolvedPlan, RunInfo, RunStatus, json, moment,
        names::{METRICS, PARAMS, RUN_INFO, SUMMARY},
        request,
        run_info::{MetricArtifacts, MetricSource, ReportKind},
    },
    time::Timestamp,
};
use serde_json::{Map, Value};

pub use create::NewRun;
pub use error::{Error, Trouble};

use crate::report::{metric_report::MetricReport, summary};

/// A run directory that this process may write. Cheap to clone; methods block on the disk and may be called from several
/// threads at once, as long as no two concern the same task.
#[derive(Clone, Debug)]
pub struct RunStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    run_id: RunId,
    redactor: Redactor,
    _lock: lock::Lock,
    info: Mutex<Info>,
    params_written: AtomicBool,
    progress: Mutex<progress::Progress>,
}

/// `run_info.json` in memory.
#[derive(Debug)]
struct Info {
    record: RunInfo,
    /// Plans in the record.
    plans: usize,
    /// Of those, on disk.
    plans_written: usize,
}

impl RunStore {
    /// The run directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// The run's id, the directory's name.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        &self.inner.run_id
    }

    /// `run_info.json` as it is now.
    #[must_use]
    pub fn info(&self) -> RunInfo {
        self.lock_info().record.clone()
    }

    /// Takes up a run that had ended: removes its terminal status and its metric files, which are no longer true.
    ///
    /// # Errors
    /// The disk.
    pub fn resumed(&self) -> Result<(), Error> {
        let mut info = self.lock_info();
        info.record.status = None;
        info.record.finished_at = None;
        info.record.error = None;
        info.record.metric_artifacts = None;
        for name in [METRICS, SUMMARY] {
            atomic::remove(&self.inner.dir.join(name))?;
        }
        self.write_info(&mut info)
    }

    /// Remembers the plan of one attempt. It reaches the disk with the next change of `run_info.json`; of itself only
    /// when the number of plans has doubled.
    ///
    /// # Errors
    /// The disk.
    pub fn record_plan(&self, task: &TaskId, attempt: u32, plan: &ResolvedPlan) -> Result<(), Error> {
        let mut plan = serde_json::to_value(plan).map_err(|error| Error::record(RUN_INFO, &error))?;
        redact::mask(&mut plan);
        let mut info = self.lock_info();
        info.record.record_plan(task.as_str(), attempt, plan);
        info.plans += 1;
        if info.plans >= (info.plans_written * 2).max(16) { self.write_info(&mut info) } else { Ok(()) }
    }

    /// Writes `metrics.json` and `summary.md` and records where they come from: the run itself (`None`), or
    /// `argosy summary` with the benchmark parameters it was given. Both are rendered before either is written.
    ///
    /// # Errors
    /// The disk.
    pub fn write_report(
        &self,
        report: &MetricReport,
        summary_params: Option<Map<String, Value>>,
        at: Timestamp,
    ) -> Result<(), Error> {
        let mut info = self.lock_info();
        let id = |path: &[&str], default: &str| {
            info.record.requested(path).and_then(Value::as_str).unwrap_or(default).to_owned()
        };
        let model = id(&["model", "id"], "model");
        let benchmark = id(&["benchmark", "id"], argosy_shared::spec::BENCHMARK);
        let metrics = report.to_json().map_err(|error| Error::record(METRICS, &error))?;
        let text = summary::markdown(&model, &benchmark, report);
        atomic::write_text(&self.inner.dir.join(METRICS), &metrics)?;
        atomic::write_text(&self.inner.dir.join(SUMMARY), &text)?;
        info.record.metric_artifacts = Some(MetricArtifacts {
            generated_at: moment::iso(at),
            source: if summary_params.is_some() { MetricSource::Summary } else { MetricSource::Evaluation },
            report: ReportKind {
                k: report.k,
                strategy: report.strategy.clone(),
                aggregation: report.aggregation.clone(),
            },
            benchmark_params_override: summary_params.map(|params| {
                let mut params = Value::Object(params);
                redact::mask(&mut params);
                params.as_object().cloned().unwrap_or_default()
            }),
        });
        self.write_info(&mut info)
    }

    /// Records how the run ended. May be called again when a resumed run ends.
    ///
    /// # Errors
    /// The disk.
    pub fn finish(&self, status: RunStatus, error: Option<&str>, at: Timestamp) -> Result<(), Error> {
        self.flush_progress()?;
        if self.inner.params_written.load(Ordering::Acquire) {
            self.write_params()?;
        }
        let mut info = self.lock_info();
        info.record.status = Some(status);
        info.record.error = error.map(|error| self.inner.redactor.text(error).into_owned());
        info.record.finished_at = Some(moment::iso(at));
        self.write_info(&mut info)
    }

    /// `params.json`, once a task is published.
    fn write_params(&self) -> Result<(), Error> {
        let params = request::params(&self.lock_info().record.request);
        let text = json::pretty_sorted(&params).map_err(|error| Error::record(PARAMS, &error))?;
        atomic::write_text(&self.inner.dir.join(PARAMS), &text)?;
        self.inner.params_written.store(true, Ordering::Release);
        Ok(())
    }

    fn write_info(&self, info: &mut Info) -> Result<(), Error> {
        write_info(&self.inner.dir, &info.record)?;
        info.plans_written = info.plans;
        Ok(())
    }

    fn lock_info(&self) -> MutexGuard<'_, Info> {
        // The record is replaced member by member; a panic between two of them leaves it usable.
        self.inner.info.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_info(dir: &Path, record: &RunInfo) -> Result<(), Error> {
    let text = json::pretty_sorted(record).map_err(|error| Error::record(RUN_INFO, &error))?;
    atomic::write_text(&dir.join(RUN_INFO), &text)
}
