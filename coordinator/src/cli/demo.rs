//! `argosy demo`: a small benchmark of our own making, through the same code as a real run, against the stand-in.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use argosy_coordinator::{
    demo::{self, Materialised},
    stand_in::{Script, StandIn},
};
use argosy_shared::spec::{BENCHMARK, HARNESS};
use clap::{Args, ValueEnum};

use super::{
    output::say,
    run::{self, arguments::Progress},
};

/// Arguments of `argosy demo`.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Which of the two agents.
    #[arg(long, value_enum, default_value_t)]
    agent: Agent,
    /// Where the run is written.
    #[arg(long, value_name = "DIR", default_value = "results")]
    results_dir: PathBuf,
    /// Tasks at once.
    #[arg(long, value_name = "N", default_value_t = 4)]
    task_concurrency: u32,
    /// Progress on stderr.
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    progress: Progress,
}

/// The two agents.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Agent {
    /// Writes the complete solution in one go.
    #[default]
    Coder,
    /// Alternates reasoning and code.
    React,
}

/// Carries the command out.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let place = tempfile::tempdir().context("no temporary directory")?;
    let demo = demo::materialise(place.path())?;
    let script = std::fs::read_to_string(&demo.script).context("the demo's script")?;
    let script = Script::parse(&script).context("the demo's script")?;
    // The stand-in lives on a runtime of its own: it stands for a server elsewhere.
    let server = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let stand_in = server.block_on(StandIn::start(SocketAddr::from(([127, 0, 0, 1], 0)), script))?;
    say(format!("a stand-in for model and judge answers at {}", stand_in.base_url()));
    let code = run::run(&as_run(arguments, &demo, &stand_in.base_url()));
    server.block_on(stand_in.stop());
    code
}

/// The demo as the command a user would give.
fn as_run(arguments: &Arguments, demo: &Materialised, base_url: &str) -> run::Arguments {
    let agent = match arguments.agent {
        Agent::Coder => "coder",
        Agent::React => "react",
    };
    run::Arguments {
        benchmark: Some(BENCHMARK.to_owned()),
        harness: Some(HARNESS.to_owned()),
        model: Some("demo-agent".to_owned()),
        dataset: Some(demo.dataset.clone()),
        prompt_pack: Some(demo.prompt_pack.clone()),
        allow_unpinned: true,
        env: Some("host_process".to_owned()),
        benchmark_params: Some(r#"{"judge_model":{"id":"demo-judge"},"isolate_network":false}"#.to_owned()),
        harness_params: Some(format!(r#"{{"agent_type":"{agent}"}}"#)),
        model_base_url: Some(base_url.to_owned()),
        task_concurrency: Some(arguments.task_concurrency),
        results_dir: Some(arguments.results_dir.clone()),
        progress: Some(arguments.progress),
        // The stand-in is known to answer.
        no_preflight: true,
        ..run::Arguments::default()
    }
}
