//! `argosy run`: the benchmark with one model, the whole fleet in this process.

pub(crate) mod arguments;

mod directory;
mod dry_run;
mod fingerprint;
mod local;
mod outcome;
mod plan;
mod preflight;
mod runtime;
mod sources;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use argosy_coordinator::{
    dataset::{self, Dataset, OpenOptions, TaskIndex},
    engine::{Ending, progress::State},
};
use argosy_shared::{
    run_dir::RunStatus,
    supervise::{self, CancellationToken, Shutdown, Task},
};

use self::plan::Plan;
pub(crate) use self::{arguments::Arguments, outcome::Outcome};
use super::{
    log,
    output::{Usage, data, say},
    progress::{self, Display},
};

/// What a run that took longer than it may is marked with.
const LATE: &str = "orchestration deadline exceeded";

/// Carries the command out.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let prepared = Prepared::new(arguments, &mut Datasets::default())?;
    if arguments.dry_run {
        data(prepared.dry_run()?);
        return Ok(ExitCode::SUCCESS);
    }
    log::console(prepared.plan.runtime.log_level);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let shutdown = Shutdown::on_signals()?;
        prepared.preflight().await?;
        let deadline = Deadline::after(prepared.plan.runtime.timeout);
        prepared.carry_out(&shutdown, &deadline).await
    })?;
    // Whatever still runs on the pool is blocking work that nobody waits for.
    runtime.shutdown_background();
    outcome.show();
    Ok(outcome.exit_code())
}

/// A run that is complete but for its directory.
pub(crate) struct Prepared {
    arguments: Arguments,
    plan: Plan,
    dataset: Arc<Dataset>,
    selection: Vec<TaskIndex>,
}

impl Prepared {
    /// Validates flags and configuration, opens the dataset, chooses the tasks. Nothing is written.
    ///
    /// # Errors
    /// Bad input.
    pub(crate) fn new(arguments: &Arguments, datasets: &mut Datasets) -> anyhow::Result<Self> {
        let plan = Plan::make(arguments)?;
        let dataset = datasets.open(arguments, &plan.runtime.data_dir)?;
        let selection = dataset.data.select(&plan.benchmark).map_err(|error| {
            let usage = Usage::new(error.message);
            match error.hint {
                Some(hint) => usage.hint(hint),
                None => usage,
            }
        })?;
        Ok(Self { arguments: arguments.clone(), plan, dataset, selection })
    }

    /// What would be run.
    ///
    /// # Errors
    /// A prompt that cannot be rendered.
    pub(crate) fn dry_run(&self) -> anyhow::Result<String> {
        dry_run::text(&self.plan, &self.dataset, &self.selection)
    }

    /// The bound of the whole run that the configuration gives.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.plan.runtime.timeout
    }

    /// Asks model and judge one small question each.
    ///
    /// # Errors
    /// One of them refuses.
    pub(crate) async fn preflight(&self) -> anyhow::Result<()> {
        if self.arguments.no_preflight {
            return Ok(());
        }
        preflight::check(&self.plan, &self.dataset).await
    }

    /// Makes or opens the run directory and works until the run is over, interrupted or late.
    ///
    /// # Errors
    /// The directory cannot be had, or the run cannot be started.
    pub(crate) async fn carry_out(self, shutdown: &Shutdown, deadline: &Deadline) -> anyhow::Result<Outcome> {
        let Self { arguments, plan, dataset, selection } = self;
        let directory = directory::open(&arguments, &plan, &dataset, &selection)?;
        let dir = directory.store.dir().to_owned();
        log::attach(&dir, directory::redactor(&plan), plan.runtime.log_level, plan.runtime.file_log_level);
        let what = if directory.resumed { "resuming" } else { "running" };
        say(format!(
            "{what} {} tasks, {} at once; results: {}",
            selection.len(),
            plan.execution.task_concurrency,
            dir.display()
        ));
        tracing::info!(tasks = selection.len(), model = plan.model.id, judge = plan.judge.id, "{what}");
        let display = match plan.runtime.progress {
            arguments::Progress::Auto => Display::auto(),
            arguments::Progress::Plain => Display::Plain,
            arguments::Progress::None => Display::Off,
        };
        // What ends this run must not end the next one of a launch file.
        let own = Shutdown { drain: shutdown.drain.clone(), stop: shutdown.stop.child_token() };
        let fleet = local::Fleet::start(plan, dataset, selection, directory, &own).await?;
        let shown = progress::show(display, fleet.progress());
        tokio::pin!(shown);
        let mut ending = Ending::default();
        let last = tokio::select! {
            last = &mut shown => Some(last),
            () = deadline.passed() => {
                say("out of time: stopping");
                ending = Ending { status: RunStatus::TimedOut, reason: LATE.to_owned() };
                own.stop.cancel();
                None
            }
            () = own.drain.cancelled() => {
                say("interrupted: finishing what is under way (once more stops at once)");
                tokio::select! {
                    () = fleet.drain() => {}
                    () = own.stop.cancelled() => {}
                    () = deadline.passed() => own.stop.cancel(),
                }
                None
            }
        };
        let last = last.unwrap_or_else(|| fleet.now());
        let finished = last.state == State::Finished;
        fleet.stop(ending.clone()).await;
        tracing::info!(done = last.done, total = last.total, finished, "ended");
        Outcome::of(dir, last, &ending)
    }
}

/// The moment at which everything must end.
pub(crate) struct Deadline {
    token: CancellationToken,
    _timer: Option<Task<()>>,
}

impl Deadline {
    /// A deadline that begins now; `None` never comes.
    pub(crate) fn after(timeout: Option<Duration>) -> Self {
        let token = CancellationToken::new();
        let timer = timeout.map(|timeout| {
            let token = token.clone();
            supervise::spawn("deadline", async move {
                tokio::time::sleep(timeout).await;
                token.cancel();
            })
        });
        Self { token, _timer: timer }
    }

    async fn passed(&self) {
        self.token.cancelled().await;
    }

    /// Whether it has come.
    pub(crate) fn has_passed(&self) -> bool {
        self.token.is_cancelled()
    }
}

/// Datasets that are open already: the requests of a launch file share them.
#[derive(Default)]
pub(crate) struct Datasets {
    open: Vec<(PathBuf, Arc<Dataset>)>,
}

impl Datasets {
    /// The dataset that was asked for, or the one in the data directory, or the one beside us.
    fn open(&mut self, arguments: &Arguments, data_dir: &Path) -> anyhow::Result<Arc<Dataset>> {
        let beside = [data_dir.join("discoverybench"), PathBuf::from("discoverybench")];
        let path = match &arguments.dataset {
            Some(path) => path.clone(),
            None => beside.iter().find(|path| path.is_dir()).cloned().ok_or_else(|| {
                Usage::new(format!("no dataset given, and none in {}", data_dir.display()))
                    .hint("`argosy dataset fetch --to discoverybench` gets it; then --dataset discoverybench")
            })?,
        };
        if let Some((_, dataset)) = self.open.iter().find(|(known, _)| *known == path) {
            return Ok(dataset.clone());
        }
        let options =
            OpenOptions { prompt_pack: arguments.prompt_pack.clone(), allow_unpinned: arguments.allow_unpinned };
        let dataset = Arc::new(dataset::open(&path, &options).map_err(super::dataset::usage)?);
        if !dataset.identity.pinned {
            say("warning: this is not upstream's pinned commit; scores are not comparable with published ones");
        }
        self.open.push((path, dataset.clone()));
        Ok(dataset)
    }
}
