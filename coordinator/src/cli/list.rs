//! `argosy list benchmark|harness|env`.

use std::process::ExitCode;

use argosy_shared::spec::{BENCHMARK, EnvironmentId, HARNESS};
use clap::ValueEnum;
use comfy_table::{Table, presets};

use super::output::data;

/// Arguments.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// What to list.
    #[arg(value_enum)]
    what: What,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Benchmarks.
    Benchmark,
    /// Harnesses.
    Harness,
    /// Environments.
    Env,
}

/// Carries the command out.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let rows: Vec<(&str, &str)> = match arguments.what {
        What::Benchmark => vec![(BENCHMARK, "DiscoveryBench, scored by its Hypothesis Matching Score")],
        What::Harness => vec![(HARNESS, "the paper's two agents: agent_type coder (CodeGen) or react (ReAct)")],
        What::Env => EnvironmentId::ALL
            .into_iter()
            .map(|id| {
                let isolation = if id.isolates_network() {
                    "keeps the agent from the network"
                } else {
                    "no isolation: needs isolate_network false"
                };
                (id.as_str(), isolation)
            })
            .collect(),
    };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for (id, meaning) in rows {
        table.add_row([id, meaning]);
    }
    data(table.trim_fmt());
    ExitCode::SUCCESS
}
