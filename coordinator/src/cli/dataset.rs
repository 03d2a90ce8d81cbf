//! `argosy dataset`: import, list, show and fetch the dataset, and read its prompts.

mod fetch;
mod import;
mod list;
mod show;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use argosy_coordinator::dataset::{self, Dataset, Error, OpenOptions};
use clap::Subcommand;

use super::output::{self, Usage};

/// Arguments.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check a checkout or a copy of its data folders and write it as a bundle: one directory that opens at once.
    Import(import::Arguments),
    /// Count the tasks by split and domain; with --tasks, name them.
    List(list::Arguments),
    /// Show what an agent is given for one task.
    Show(show::Arguments),
    /// Download the pinned commit and verify it.
    Fetch(fetch::Arguments),
    /// Write the prompt pack of a checkout to stdout, as JSON for --prompt-pack.
    Pack(PackArguments),
}

#[derive(clap::Args)]
struct PackArguments {
    /// An upstream checkout.
    path: PathBuf,
    /// Accept Python files that are not those of the pinned commit, as long as they have the expected shape.
    #[arg(long)]
    allow_unpinned: bool,
}

/// How a dataset is opened; the same flags as for `argosy run`.
#[derive(clap::Args)]
struct Source {
    /// An upstream checkout, a copy of its data folders (with --prompt-pack), or an imported bundle.
    path: PathBuf,
    /// Prompt pack of a copy of the data folders (`argosy dataset pack CHECKOUT` writes one).
    #[arg(long, value_name = "FILE")]
    prompt_pack: Option<PathBuf>,
    /// Accept a dataset that is not upstream's pinned commit.
    #[arg(long)]
    allow_unpinned: bool,
}

impl Source {
    fn open(&self) -> Result<Dataset, Usage> {
        let options = OpenOptions { prompt_pack: self.prompt_pack.clone(), allow_unpinned: self.allow_unpinned };
        dataset::open(&self.path, &options).map_err(usage)
    }
}

/// Carries the command out.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::Import(arguments) => import::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Fetch(arguments) => fetch::run(&arguments),
        Command::Pack(arguments) => pack(&arguments),
    }
}

fn pack(arguments: &PackArguments) -> anyhow::Result<ExitCode> {
    let pack = dataset::extract_pack(&arguments.path, arguments.allow_unpinned).map_err(usage)?;
    output::data(pack.to_json().trim_end());
    output::say(format!("prompt pack {}", pack.hash()));
    Ok(ExitCode::SUCCESS)
}

/// Opens what is given, pinned or not, for a caller that knows the digest it must have.
pub(crate) fn open_any(path: &Path, prompt_pack: Option<&Path>) -> Result<Dataset, Usage> {
    let options = OpenOptions { prompt_pack: prompt_pack.map(Path::to_owned), allow_unpinned: true };
    dataset::open(path, &options).map_err(usage)
}

/// A dataset that cannot be used is the user's to put right.
pub(crate) fn usage(error: Error) -> Usage {
    let usage = Usage::new(error.to_string());
    match error.hint() {
        Some(hint) => usage.hint(hint),
        None => usage,
    }
}

/// One line that says what a dataset is.
fn describe(identity: &dataset::Identity) -> String {
    let what = if identity.pinned {
        format!("DiscoveryBench at commit {}", dataset::identity::PINNED_SHORT)
    } else {
        "not DiscoveryBench's pinned commit".to_owned()
    };
    format!("{what}; digest {}", identity.digest)
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
