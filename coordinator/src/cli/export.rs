//! `argosy export RUN --to FORMAT`: a run in the formats of others.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use argosy_coordinator::report::{
    export::{self, Facts, Missing, Place, atif, inspect, rows},
    load::{self, LoadedRun},
    metrics,
};
use argosy_shared::run_dir::{RunStatus, names};
use clap::ValueEnum;

use super::output::{Usage, say};

/// Arguments.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The run's directory: <results-dir>/[<run-name>/]<model>_<benchmark>_<harness>/<run-id>
    #[arg(value_name = "RUN")]
    run_dir: PathBuf,
    /// The format
    #[arg(long, value_name = "FORMAT", value_enum)]
    to: Format,
    /// The file to write, `-` for stdout; with `atif` a folder
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Harbor's trajectories: a folder with one document per attempt and `index.json`.
    Atif,
    /// An eval log of Inspect.
    Inspect,
    /// One JSON object per attempt and line.
    Jsonl,
    /// One row per attempt.
    Csv,
}

/// Carries the command out.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let run = load::run(&arguments.run_dir).map_err(super::summary::load_error)?;
    let output = arguments.output.as_deref().filter(|path| *path != Path::new("-"));
    match (arguments.to, output) {
        (Format::Atif, None) => {
            return Err(Usage::new("`atif` is one document per attempt and needs a folder")
                .hint("--output DIR")
                .into());
        }
        (Format::Atif, Some(folder)) => write_atif(&run, folder)?,
        (format, Some(path)) => {
            to_file(path, |out| write(&run, format, out))?;
            say(format!("written: {}", path.display()));
        }
        (format, None) => to_stdout(|out| write(&run, format, out))?,
    }
    let attempts = export::attempts(&run);
    tell(&run, &export::missing(&run, &attempts));
    Ok(ExitCode::SUCCESS)
}

fn write(run: &LoadedRun, format: Format, out: &mut dyn Write) -> anyhow::Result<()> {
    match format {
        Format::Jsonl => rows::jsonl(run, out)?,
        Format::Csv => rows::csv(run, out)?,
        Format::Inspect => {
            let report = metrics::aggregate(&run.tasks, &run.plan).map_err(|error| Usage::new(error.to_string()))?;
            inspect::write(run, &report, out)?;
        }
        // A folder, which the caller has asked for.
        Format::Atif => return Err(Usage::new("`atif` cannot be written as one file").into()),
    }
    Ok(())
}

/// The file is complete or not there.
fn to_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let place = || format!("cannot write {}", path.display());
    let mut file = tempfile::Builder::new().prefix(names::TEMPORARY).tempfile_in(folder).with_context(place)?;
    let mut out = BufWriter::with_capacity(1 << 18, file.as_file_mut());
    fill(&mut out)?;
    out.flush().with_context(place)?;
    drop(out);
    readable(file.as_file()).with_context(place)?;
    file.persist(path).map_err(|error| error.error).with_context(place)?;
    Ok(())
}

/// Temporary files are for their owner only; an export is as readable as any new file of a run directory.
fn readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

fn to_stdout(fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, std::io::stdout().lock());
    match fill(&mut out) {
        // A closed pipe (`argosy export … | head`) is the reader's choice, not an error.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
            || matches!(cause.downcast_ref::<export::Error>(),
                Some(export::Error::Write(error)) if error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

fn write_atif(run: &LoadedRun, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let facts = Facts::of(run);
    let attempts = export::attempts(run);
    let mut files = Vec::new();
    for planned in attempts.iter().filter(|planned| matches!(planned.place, Place::Published(_))) {
        let stored = run.attempt(&planned.task, planned.attempt)?;
        let name = format!("{}.{}.json", names::task_dir(&planned.task), names::attempt_dir(planned.attempt));
        let document = atif::trajectory(&facts, planned, &stored);
        to_file(&folder.join(&name), |out| Ok(serde_json::to_writer(out, &document)?))?;
        files.push((name, planned.clone()));
    }
    let index = atif::index(&facts, &files, &export::missing(run, &attempts));
    to_file(&folder.join("index.json"), |out| Ok(serde_json::to_writer_pretty(out, &index)?))?;
    say(format!("written: {} trajectories and index.json in {}", files.len(), folder.display()));
    Ok(())
}

/// Says what the data lacks.
fn tell(run: &LoadedRun, missing: &Missing) {
    const SHOWN: usize = 5;
    if run.info.status != Some(RunStatus::Completed) || !missing.is_nothing() {
        let status = run.info.status.map_or("running", RunStatus::as_str);
        say(format!("warning: the run is `{status}`; what it lacks is marked in the data"));
    }
    for (what, attempts) in
        [("have no result", &missing.without_result), ("are invalidated and have no score", &missing.invalidated)]
    {
        if attempts.is_empty() {
            continue;
        }
        let mut names: Vec<String> =
            attempts.iter().take(SHOWN).map(|(task, attempt)| format!("{task} ({attempt})")).collect();
        if attempts.len() > SHOWN {
            names.push(format!("and {} more", attempts.len() - SHOWN));
        }
        say(format!("  {} of {} attempts {what}: {}", attempts.len(), missing.planned, names.join(", ")));
    }
    if missing.unnamed > 0 {
        say(format!("  {} tasks have no result and are not known by name", missing.unnamed));
    }
}
