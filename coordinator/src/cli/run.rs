//! `argosy run`: the benchmark with one model, the whole fleet in this process.

pub(crate) mod arguments;

mod directory;
mod dry_run;
mod fingerprint;
mod local;
mod plan;
mod preflight;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use argosy_coordinator::{
    dataset::{self, Dataset, OpenOptions},
    engine::progress::{Progress, State},
    report::{load, metrics, table},
};
use argosy_shared::supervise::Shutdown;

pub(crate) use self::arguments::Arguments;
use self::plan::Plan;
use super::{
    output::{Usage, data, say},
    progress::{self, Display},
};

/// Carries the command out.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let plan = Plan::make(arguments)?;
    let dataset = Arc::new(open_dataset(arguments)?);
    let selection = dataset.data.select(&plan.benchmark).map_err(|error| {
        let usage = Usage::new(error.message);
        match error.hint {
            Some(hint) => usage.hint(hint),
            None => usage,
        }
    })?;
    if arguments.dry_run {
        data(dry_run::text(&plan, &dataset, &selection)?);
        return Ok(ExitCode::SUCCESS);
    }
    let display = match arguments.progress {
        arguments::Progress::Auto => Display::auto(),
        arguments::Progress::Plain => Display::Plain,
        arguments::Progress::None => Display::Off,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        let shutdown = Shutdown::on_signals()?;
        if !arguments.no_preflight {
            preflight::check(&plan, &dataset).await?;
        }
        let directory = directory::open(arguments, &plan, &dataset, &selection)?;
        say(format!(
            "{} {} tasks, {} at once; results: {}",
            if directory.resumed { "resuming" } else { "running" },
            selection.len(),
            plan.execution.task_concurrency,
            directory.store.dir().display()
        ));
        carry_out(plan, dataset, selection, directory, display, shutdown).await
    })?;
    // Whatever still runs on the pool is blocking work that nobody waits for.
    runtime.shutdown_background();
    Ok(code)
}

async fn carry_out(
    plan: Plan,
    dataset: Arc<Dataset>,
    selection: Vec<dataset::TaskIndex>,
    directory: directory::Directory,
    display: Display,
    shutdown: Shutdown,
) -> anyhow::Result<ExitCode> {
    let dir = directory.store.dir().to_owned();
    let fleet = local::Fleet::start(plan, dataset, selection, directory, &shutdown).await?;
    let shown = progress::show(display, fleet.progress());
    tokio::pin!(shown);
    let last = tokio::select! {
        last = &mut shown => Some(last),
        () = shutdown.drain.cancelled() => None,
    };
    let last = match last {
        Some(last) => last,
        None => {
            say("interrupted: finishing what is under way (once more stops at once)");
            tokio::select! {
                () = fleet.drain() => {}
                () = shutdown.stop.cancelled() => {}
            }
            fleet.now()
        }
    };
    fleet.stop().await;
    report(&dir, &last)
}

/// Shows the scores and says where everything lies.
fn report(dir: &Path, last: &Progress) -> anyhow::Result<ExitCode> {
    if last.state != State::Finished {
        say(format!("{} of {} tasks are done: {}", last.done, last.total, dir.display()));
        say("hint: the same command with --reuse goes on where this one ended; nothing is paid twice");
        return Ok(match &last.state {
            State::Failed(_) => ExitCode::from(1),
            _ => ExitCode::from(130),
        });
    }
    let loaded = load::run(dir)?;
    let report = metrics::aggregate(&loaded.tasks, &loaded.plan)?;
    data(table::scores(&report));
    say(format!("report: {}", dir.join("summary.md").display()));
    if report.evaluation_failed {
        say(format!("{} of {} tasks are invalidated by FATAL issues: no official score", last.fatal, last.total));
        say("hint: `details/fatal/` says why; --max-retries 2 repeats such tasks");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// The dataset that was asked for, or the one beside us.
fn open_dataset(arguments: &Arguments) -> anyhow::Result<Dataset> {
    let path = match &arguments.dataset {
        Some(path) => path.clone(),
        None => {
            let here = PathBuf::from("discoverybench");
            if !here.is_dir() {
                return Err(Usage::new("no dataset given")
                    .hint("`argosy dataset fetch --to discoverybench` gets it; then --dataset discoverybench")
                    .into());
            }
            here
        }
    };
    let options = OpenOptions { prompt_pack: arguments.prompt_pack.clone(), allow_unpinned: arguments.allow_unpinned };
    let dataset = dataset::open(&path, &options).map_err(super::dataset::usage)?;
    if !dataset.identity.pinned {
        say("warning: this is not upstream's pinned commit; scores are not comparable with published ones");
    }
    Ok(dataset)
}
