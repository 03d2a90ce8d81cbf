//! The command line. Data goes to stdout, talk to stderr, an error is followed by a `hint:`.

pub(crate) mod config;
pub(crate) mod dataset;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod mock_model;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod rebuild;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod summary;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// DiscoveryBench as large multi-model sweeps over many machines.
#[derive(Parser)]
#[command(name = "argosy", version, about, max_term_width = 110, infer_long_args = false)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the benchmark with one model.
    Run(Box<run::Arguments>),
    /// Run a small benchmark of our own against a built-in stand-in: no model, key or network needed.
    Demo(demo::Arguments),
    /// Import, list, show and fetch the dataset.
    Dataset(dataset::Arguments),
    /// Serve an OpenAI-compatible stand-in model and judge, to rehearse without spending anything.
    MockModel(mock_model::Arguments),
    /// Score one stored answer, as upstream's `discovery_eval.py` does.
    Score(score::Arguments),
    /// Compute a run's scores from its results again, show them, and write `metrics.json` and `summary.md`.
    Summary(summary::Arguments),
    /// Write a run in the format of others: Harbor's trajectories, an Inspect eval log, JSON lines, CSV.
    Export(export::Arguments),
    /// Make a run's `details/`, `metrics.json` and `summary.md` again from its journal.
    Rebuild(rebuild::Arguments),
}

/// Runs the command named on the command line.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Dataset(arguments) => dataset::run(arguments),
        Command::MockModel(arguments) => mock_model::run(arguments),
        Command::Score(arguments) => score::run(arguments),
        Command::Summary(arguments) => summary::run(arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Rebuild(arguments) => rebuild::run(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) => output::fail(&error),
    }
}
