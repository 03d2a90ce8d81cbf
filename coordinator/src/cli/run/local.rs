//! The whole fleet in this process: engine, fleet protocol over in-memory pipes, one worker.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context as _;
use argosy_coordinator::{
    dataset::{Dataset, TaskIndex},
    engine::{Ending, Handle, Progress, Run, Settings},
    grpc,
    journal::{
        Journal,
        sqlite::{Options, Sqlite},
    },
    judge::Judge,
};
use argosy_shared::{
    hms,
    model::openai_chat::{Client, Endpoint},
    supervise::{self, CancellationToken, Shutdown, Task},
    time::SystemClock,
};
use argosy_worker::session;
use tokio::sync::watch;

use super::{directory::Directory, plan::Plan};
use crate::cli::output::{Usage, say};

/// What a worker that was asked to end may take beyond its own deadline.
const SLACK: Duration = Duration::from_secs(5);
/// Bound of the data file cache.
const CACHE_BYTES: u64 = 2 << 30;

/// A fleet of one.
pub(super) struct Fleet {
    engine: Handle,
    journal: Arc<dyn Journal>,
    progress: watch::Receiver<Progress>,
    grace: Duration,
    worker: Task<()>,
    worker_shutdown: Shutdown,
    serving: CancellationToken,
    _tasks: (Task<()>, Task<()>),
}

impl Fleet {
    /// Starts everything and submits the run.
    pub(super) async fn start(
        plan: Plan,
        dataset: Arc<Dataset>,
        selection: Vec<TaskIndex>,
        directory: Directory,
        shutdown: &Shutdown,
    ) -> anyhow::Result<Self> {
        let journal: Arc<dyn Journal> = Arc::new(Sqlite::open(&Options::at(&directory.journal)).await?);
        let (engine, engine_task) =
            Handle::start(Settings::default(), journal.clone(), Arc::new(SystemClock::new())).await?;
        let worker_config = worker_config(&plan)?;
        let grace = plan.runtime.grace;
        let run = run(plan, dataset, selection, directory)?;
        let progress = engine.submit(run).await.context("the run cannot be started")?;
        let serving = CancellationToken::new();
        let (channel, server) =
            grpc::serve_in_process(grpc::Fleet::new(engine.clone()), serving.clone()).context("in-process server")?;
        // Draining is the engine's to ask for, so that a first signal lets what is under way be judged as well.
        let worker_shutdown = Shutdown { drain: CancellationToken::new(), stop: shutdown.stop.clone() };
        let asked = worker_shutdown.clone();
        let worker = supervise::spawn("worker", async move {
            if let Err(error) = session::run(worker_config, channel, asked).await {
                say(format!("error: the worker ended: {error}"));
            }
        });
        Ok(Self { engine, journal, progress, grace, worker, worker_shutdown, serving, _tasks: (engine_task, server) })
    }

    pub(super) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    pub(super) fn now(&self) -> Progress {
        self.progress.borrow().clone()
    }

    /// Finishes what is under way, within the worker's deadline.
    pub(super) async fn drain(&self) {
        self.worker_shutdown.drain.cancel();
        let mut progress = self.progress.clone();
        // An error means that the engine has gone, and with it all that could be waited for.
        let _ =
            progress.wait_for(|progress| progress.running == 0 && progress.judging == 0 || progress.is_over()).await;
    }

    /// Ends the worker, writes what is to be written (an unfinished run ends as `ending` says), closes the journal.
    pub(super) async fn stop(self, ending: Ending) {
        self.worker_shutdown.drain.cancel();
        if tokio::time::timeout(self.grace + SLACK, self.worker).await.is_err() {
            say("warning: the worker did not end in time");
        }
        if let Err(error) = self.engine.shut_down_with(ending).await {
            say(format!("warning: {error}"));
        }
        self.serving.cancel();
        if let Err(error) = self.journal.close().await {
            say(format!("warning: {error}"));
        }
    }
}

fn run(plan: Plan, dataset: Arc<Dataset>, selection: Vec<TaskIndex>, directory: Directory) -> anyhow::Result<Run> {
    let endpoint = Endpoint::from(&plan.judge);
    let client = Client::new(&endpoint, &plan.judge.params)
        .map_err(|error| Usage::new(format!("the judge's endpoint `{}`: {error}", plan.judge.base_url)))?;
    let settings = hms::Settings {
        model: plan.judge.id.clone(),
        policy: plan.benchmark.judge_policy,
        params: plan.judge.params.request.clone(),
    };
    let judge = Judge::new(Arc::new(client), Arc::new(dataset.pack.judge.clone()), settings);
    Ok(Run {
        id: directory.store.run_id().clone(),
        dataset,
        selection,
        benchmark: plan.benchmark,
        harness: plan.harness,
        environment: plan.environment,
        model: plan.model,
        execution: plan.execution,
        judge,
        store: directory.store,
    })
}

fn worker_config(plan: &Plan) -> anyhow::Result<session::Config> {
    let user = rustix::process::getuid().as_raw();
    let scratch = std::env::temp_dir().join(format!("argosy-{user}"));
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .map_or_else(|| scratch.join("files"), |cache| cache.join("argosy/files"));
    for folder in [&scratch, &cache] {
        std::fs::create_dir_all(folder).map_err(|error| {
            Usage::new(format!("{}: {error}", folder.display())).hint("set TMPDIR or XDG_CACHE_HOME")
        })?;
    }
    Ok(session::Config {
        name: format!("local-{}", std::process::id()),
        slots: plan.execution.task_concurrency,
        environments: vec![plan.environment.id],
        sandboxes: scratch.join("sandboxes"),
        cache,
        cache_bytes: CACHE_BYTES,
        drain_deadline: plan.runtime.grace,
    })
}
