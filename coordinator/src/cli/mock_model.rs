//! (to be written)

use std::process::ExitCode;

/// Arguments.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

/// Carries the command out.
pub(crate) fn run(_arguments: Arguments) -> anyhow::Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
