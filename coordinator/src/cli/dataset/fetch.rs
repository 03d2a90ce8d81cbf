//! `argosy dataset fetch`

use std::{path::PathBuf, process::ExitCode};

use argosy_coordinator::dataset::fetch;
use indicatif::{ProgressBar, ProgressStyle};

use super::{describe, output, path_text, usage};

/// Arguments.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Where the checkout is put; must not exist yet.
    #[arg(long, value_name = "DIR", default_value = "discoverybench-c31fcf0")]
    to: PathBuf,
    /// A .tar.gz of the commit (https, http or file), for example on a mirror; the files are verified all the same.
    #[arg(long, value_name = "URL", default_value_t = fetch::default_url())]
    url: String,
    /// Accept an archive that is not upstream's pinned commit.
    #[arg(long)]
    allow_unpinned: bool,
}

/// Carries the command out.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let bar = ProgressBar::no_length().with_style(ProgressStyle::with_template("{bytes} of {total_bytes} {wide_bar}")?);
    let progress = |received: u64, size: Option<u64>| {
        if let Some(size) = size {
            bar.set_length(size);
        }
        bar.set_position(received);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let fetching = fetch::fetch(&arguments.url, &arguments.to, arguments.allow_unpinned, &progress);
    let dataset = runtime.block_on(fetching);
    bar.finish_and_clear();
    let dataset = dataset.map_err(usage)?;
    output::say(format!("fetched {} tasks: {}", dataset.data.tasks.len(), describe(&dataset.identity)));
    output::data(path_text(&arguments.to));
    Ok(ExitCode::SUCCESS)
}
