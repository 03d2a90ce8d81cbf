//! Writes a run's directory, one thing after another, on a task of its own.
//!
//! What it writes is a projection of the journal: every job can be done again and ends the same way. When the disk
//! refuses, the run pauses, the job is tried again until it succeeds, and the run goes on by itself.

pub(super) mod record;
pub(super) mod write;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use argosy_shared::{
    id::{AttemptKey, ExecutionKey, RunId, TaskId},
    issue::Severity,
    patience::Patience,
    run_dir::{
        ResolvedPlan, RunStatus,
        progress::{Event, Kind, Origin, TaskRef},
    },
    spec::{BENCHMARK, HARNESS},
    time,
};
use tokio::sync::mpsc;

use self::record::Loaded;
use super::{Ending, Message, Run, progress::State};
use crate::{
    journal::Journal,
    report::load,
    scheduler::{FinalAttempt, RetryNotice},
    store,
};

/// Something to write.
#[derive(Clone, Debug)]
pub(super) enum Job {
    /// The run begins, or goes on: these tasks are over already, with their worst severities.
    Begin(Vec<Option<Severity>>),
    /// A worker has the attempt.
    Started(AttemptKey),
    /// The judge has it.
    Judging(AttemptKey),
    /// An execution, or a judging, was discarded.
    Retry(Box<RetryNotice>),
    /// An attempt is over.
    Final(Box<FinalAttempt>),
    /// All attempts are over and written: the scores.
    Finish,
    /// The process ends before the run does.
    Interrupt(Ending),
}

impl From<RetryNotice> for Job {
    fn from(notice: RetryNotice) -> Self {
        Self::Retry(Box::new(notice))
    }
}

impl From<FinalAttempt> for Job {
    fn from(attempt: FinalAttempt) -> Self {
        Self::Final(Box::new(attempt))
    }
}

/// What the publisher tells the engine.
#[derive(Clone, Debug)]
pub(super) enum Published {
    /// The attempt is in the run directory.
    Attempt(ExecutionKey),
    /// The run is over and everything is written.
    Over(RunId, State),
    /// The disk refuses; `None`: it does no longer.
    Trouble(RunId, Option<String>),
}

/// Why something could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The run directory.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] crate::journal::Error),
    /// The run directory, read back for the scores.
    #[error(transparent)]
    Load(#[from] load::Error),
    /// The run's `category_hierarchy`.
    #[error(transparent)]
    Hierarchy(#[from] crate::report::hierarchy::Error),
    /// A result or judgement of the journal is not what it should be.
    #[error("the journal's record of {0} cannot be read: {1}")]
    Record(ExecutionKey, serde_json::Error),
    /// The writing task panicked.
    #[error("the writing task failed: {0}")]
    Task(String),
}

/// The publisher of one run.
pub(super) struct Publisher {
    pub(super) run: Arc<Run>,
    pub(super) journal: Arc<dyn Journal>,
    pub(super) mailbox: mpsc::Sender<Message>,
    /// Attempts that are over, of tasks with others that are not.
    pub(super) finals: HashMap<TaskId, Vec<FinalAttempt>>,
    /// Position of each task, for the progress records.
    pub(super) positions: HashMap<TaskId, u64>,
}

impl Publisher {
    /// Works until nobody can send jobs any more.
    pub(super) async fn work(mut self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        let mut backoff = Patience::new(Duration::from_millis(500), Duration::from_secs(10));
        while let Some(job) = jobs.recv().await {
            let mut trouble = false;
            loop {
                match self.carry_out(&job).await {
                    Ok(()) => break,
                    Err(error) => {
                        tracing::error!(%error, run = %self.run.id, "cannot write the run directory");
                        trouble = true;
                        let text = format!("{error}; the run goes on by itself once this is fixed");
                        self.tell(Published::Trouble(self.run.id.clone(), Some(text))).await;
                        tokio::time::sleep(backoff.next_delay()).await;
                    }
                }
            }
            backoff.reset();
            if trouble {
                self.tell(Published::Trouble(self.run.id.clone(), None)).await;
            }
        }
    }

    async fn carry_out(&mut self, job: &Job) -> Result<(), Error> {
        match job {
            Job::Begin(reused) => self.begin(reused.clone()).await,
            Job::Started(key) => self.started(key.clone()).await,
            Job::Judging(key) => self.phase(key, "evaluate").await,
            Job::Retry(notice) => self.retry(notice).await,
            Job::Final(attempt) => self.finished(attempt).await,
            Job::Finish => self.finish().await,
            Job::Interrupt(ending) => {
                let Ending { status, reason } = ending.clone();
                self.blocking(move |run| {
                    // The last attempt was published while everything was ending: the run is complete.
                    if run.store.info().status.is_some() {
                        return Ok(());
                    }
                    let kind = Kind::RunFinished { status, error: Some(reason.clone()) };
                    run.store.progress(&Event { at: time::wall(), kind })?;
                    run.store.finish(status, Some(&reason), time::wall())
                })
                .await
            }
        }
    }

    async fn begin(&self, reused: Vec<Option<Severity>>) -> Result<(), Error> {
        let total = self.positions.len() as u64;
        self.blocking(move |run| {
            let mut severities = BTreeMap::new();
            for severity in reused.iter().flatten() {
                *severities.entry(word(*severity).to_owned()).or_default() += 1;
            }
            let origin = Origin {
                benchmark: BENCHMARK.to_owned(),
                harness: HARNESS.to_owned(),
                environment: run.environment.id.as_str().to_owned(),
                model: run.model.id.clone(),
            };
            let reused_tasks = reused.len() as u64;
            for kind in [
                Kind::RunStarted(origin),
                Kind::TasksLoaded { total_tasks: total },
                Kind::ReuseLoaded { reused_tasks, tasks_to_run: total.saturating_sub(reused_tasks), severities },
            ] {
                run.store.progress(&Event { at: time::wall(), kind })?;
            }
            Ok(())
        })
        .await
    }

    async fn started(&self, key: AttemptKey) -> Result<(), Error> {
        let task = self.task_ref(&key.task);
        let (index, total) = (self.positions.get(&key.task).copied().unwrap_or_default(), self.positions.len() as u64);
        self.blocking(move |run| {
            run.store.task_started(&key.task, key.attempt)?;
            let plan = ResolvedPlan::new(&run.environment, run.network_policy(), run.execution.run_timeout_seconds);
            run.store.record_plan(&key.task, key.attempt, &plan)?;
            let phase =
                Kind::PhaseChanged { task: task.clone(), attempt: Some(key.attempt), phase: "run_harness".to_owned() };
            for kind in [
                Kind::TaskStarted { task: task.clone(), index, total },
                Kind::AttemptStarted { task: task.clone(), attempt: key.attempt },
                phase,
            ] {
                run.store.progress(&Event { at: time::wall(), kind })?;
            }
            Ok(())
        })
        .await
    }

    async fn phase(&self, key: &AttemptKey, phase: &str) -> Result<(), Error> {
        let kind =
            Kind::PhaseChanged { task: self.task_ref(&key.task), attempt: Some(key.attempt), phase: phase.to_owned() };
        self.blocking(move |run| run.store.progress(&Event { at: time::wall(), kind })).await
    }

    async fn retry(&self, notice: &RetryNotice) -> Result<(), Error> {
        let loaded = Loaded::of_retry(&self.run, &*self.journal, notice).await?;
        let task = self.task_ref(&notice.execution.attempt.task);
        let notice = notice.clone();
        self.blocking(move |run| {
            let path = write::retry(run, &notice, &loaded)?;
            let retry_detail = path.strip_prefix(run.store.dir()).unwrap_or(&path).display().to_string();
            let kind = Kind::AttemptRetry {
                task: task.clone(),
                attempt: notice.execution.attempt.attempt,
                retry: notice.retry,
                max_retries: notice.max_retries,
                delay_seconds: notice.delay.as_secs_f64(),
                scope: write::scope(notice.scope).as_str().to_owned(),
                matched_pattern: notice.matched.clone(),
                retry_detail,
            };
            run.store.progress(&Event { at: time::wall(), kind })
        })
        .await
    }

    async fn finished(&mut self, attempt: &FinalAttempt) -> Result<(), Error> {
        let id = attempt.attempt.task.clone();
        let finals = self.finals.entry(id.clone()).or_default();
        if !finals.iter().any(|known| known.attempt == attempt.attempt) {
            finals.push(attempt.clone());
            finals.sort_by_key(|attempt| attempt.attempt.attempt);
        }
        let complete = finals.len() == self.run.execution.k as usize;
        let wanted: Vec<FinalAttempt> = if complete { finals.clone() } else { vec![attempt.clone()] };
        let mut loaded = Vec::with_capacity(wanted.len());
        for attempt in wanted {
            let record = Loaded::of_final(&self.run, &*self.journal, &attempt).await?;
            loaded.push((attempt, record));
        }
        let task = self.task_ref(&id);
        let (index, total) = (self.positions.get(&id).copied().unwrap_or_default(), self.positions.len() as u64);
        self.blocking(move |run| {
            for (attempt, loaded) in &loaded {
                let failed = loaded.record(run).worst() == Some(Severity::Fatal);
                let kind = Kind::AttemptFinished { task: task.clone(), attempt: attempt.attempt.attempt, failed };
                run.store.progress(&Event { at: time::wall(), kind })?;
                if !complete {
                    return write::unfinished(run, &attempt.attempt, loaded);
                }
            }
            let severity = write::task(run, &task.id, &loaded)?;
            for kind in [
                Kind::PartialSaved { task: task.clone() },
                Kind::TaskFinished { task: task.clone(), index, total, severity },
            ] {
                run.store.progress(&Event { at: time::wall(), kind })?;
            }
            Ok(())
        })
        .await?;
        if complete {
            self.finals.remove(&id);
        }
        self.tell(Published::Attempt(attempt.execution())).await;
        Ok(())
    }

    async fn finish(&self) -> Result<(), Error> {
        let run = self.run.clone();
        tokio::task::spawn_blocking(move || {
            run.store.progress(&Event { at: time::wall(), kind: Kind::SummaryStarted })?;
            let report = write::scores(&run)?;
            let (status, error) = if report.evaluation_failed {
                let text = format!("Final FATAL issues; results: {}", run.store.dir().display());
                (RunStatus::Failed, Some(text))
            } else {
                (RunStatus::Completed, None)
            };
            let kind = Kind::RunFinished { status, error: error.clone() };
            run.store.progress(&Event { at: time::wall(), kind })?;
            run.store.finish(status, error.as_deref(), time::wall())?;
            Ok::<_, Error>(())
        })
        .await
        .map_err(|error| Error::Task(error.to_string()))??;
        self.tell(Published::Over(self.run.id.clone(), State::Finished)).await;
        Ok(())
    }

    fn task_ref(&self, id: &TaskId) -> TaskRef {
        TaskRef { id: id.clone(), category: self.run.task(id).map(argosy_shared::task::Task::category) }
    }

    async fn blocking(
        &self,
        work: impl FnOnce(&Run) -> Result<(), store::Error> + Send + 'static,
    ) -> Result<(), Error> {
        let run = self.run.clone();
        let done = tokio::task::spawn_blocking(move || work(&run)).await;
        Ok(done.map_err(|error| Error::Task(error.to_string()))??)
    }

    async fn tell(&self, published: Published) {
        // The engine drops its mailbox only when it ends, and then nothing is to be told.
        let _ = self.mailbox.send(Message::Published(published)).await;
    }
}

/// As it is counted in the progress files.
fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
        Severity::Fatal => "fatal",
    }
}
