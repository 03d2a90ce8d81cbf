//! The command line. Data goes to stdout, talk to stderr, an error is followed by a `hint:`.

pub(crate) mod compat;
pub(crate) mod config;
pub(crate) mod dataset;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod launch;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod mock_model;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod rebuild;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod summary;

use std::process::ExitCode;

use clap::{
    Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};

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
    /// Run several requests of a launch file, one after another.
    Launch(Box<launch::Arguments>),
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
    /// List benchmarks, harnesses or environments.
    List(list::Arguments),
    /// Show the configuration in force, or all keys there are.
    #[command(subcommand)]
    Config(config::command::Arguments),
    /// What is different from AgentCompass.
    #[command(long_about = compat::text(), disable_help_flag = true)]
    Compat,
}

/// Runs the command named on the command line.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    log::install();
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Dataset(arguments) => dataset::run(arguments),
        Command::MockModel(arguments) => mock_model::run(arguments),
        Command::Score(arguments) => score::run(arguments),
        Command::Summary(arguments) => summary::run(arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Rebuild(arguments) => rebuild::run(&arguments),
        Command::Launch(arguments) => launch::run(&arguments),
        Command::List(arguments) => Ok(list::run(&arguments)),
        Command::Config(arguments) => config::command::run(arguments),
        Command::Compat => {
            output::data(compat::text());
            Ok(ExitCode::SUCCESS)
        }
    };
    match result {
        Ok(code) => code,
        Err(error) => output::fail(&error),
    }
}

/// What clap does not take. A flag of AgentCompass without a meaning here is refused with the reason.
fn refuse(error: &clap::Error) -> ExitCode {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
        && let Some(absent) = compat::absent_flag(flag.split('=').next().unwrap_or_default())
    {
        let usage = output::Usage::new(format!("`{flag}` has no meaning here: {}", absent.why)).hint(absent.hint());
        return output::fail(&usage.into());
    }
    error.exit()
}
