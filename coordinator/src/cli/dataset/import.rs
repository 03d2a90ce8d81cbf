//! `argosy dataset import`

use std::{path::PathBuf, process::ExitCode};

use argosy_coordinator::dataset::bundle;

use super::{Source, describe, output, path_text, usage};

/// Arguments.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Where the bundle is written; must not exist yet.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// Carries the command out.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let dataset = arguments.source.open()?;
    let manifest = bundle::write(&dataset, &arguments.to).map_err(usage)?;
    output::say(format!(
        "imported {} tasks, {} data files: {}",
        manifest.tasks,
        manifest.blobs.len(),
        describe(&manifest.identity)
    ));
    output::data(path_text(&arguments.to));
    Ok(ExitCode::SUCCESS)
}
