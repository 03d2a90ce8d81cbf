//! `argosy dataset show`

use std::process::ExitCode;

use argosy_shared::{
    id::TaskId,
    prompts,
    task::{
        Hints,
        render::{BlankHints, input_parts},
    },
};
use clap::ValueEnum;

use super::{
    Source,
    output::{self, Usage},
};

/// Arguments.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// The task, for example real_test__nls_ses__0__0.
    #[arg(value_name = "TASK_ID")]
    task: String,
    /// Whose prompt --prompt shows.
    #[arg(long, default_value = "coder", requires = "prompt")]
    agent: Agent,
    /// Show the whole prompt of the first turn instead of the task input.
    #[arg(long)]
    prompt: bool,
    /// Show the gold hypothesis too. An agent never sees it.
    #[arg(long)]
    gold: bool,
    /// With the domain-knowledge hint (real splits).
    #[arg(long)]
    add_domain_knowledge: bool,
    /// With the workflow tags (real splits).
    #[arg(long)]
    add_workflow_tags: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Agent {
    /// CodeGen: one Python execution.
    Coder,
    /// ReAct: reasoning and code in turns.
    React,
}

/// Carries the command out.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let dataset = arguments.source.open()?;
    let id = TaskId(arguments.task.clone());
    let Some(task) = dataset.data.task(&id) else {
        return Err(Usage::new(format!("there is no task `{id}`")).hint(dataset.data.hint_for(id.as_str())).into());
    };
    let hints = Hints { domain_knowledge: arguments.add_domain_knowledge, workflow_tags: arguments.add_workflow_tags };
    let parts = input_parts(&dataset.pack, task, hints, BlankHints::Unchanged);
    let paths: Vec<String> = task.datasets.iter().map(|file| format!("/workspace/{}", file.name)).collect();
    let input = parts.with_paths(&paths);
    output::say(format!("{id}: {}, {} data files", task.category(), task.datasets.len()));
    for file in &task.datasets {
        output::say(format!("  {} ({} bytes, sha256 {})", file.name, file.blob.bytes, file.blob.sha256));
    }
    if arguments.prompt {
        let agent = match arguments.agent {
            Agent::Coder => &dataset.pack.agent.coder,
            Agent::React => &dataset.pack.agent.react,
        };
        output::data(prompts::agent::render_prompt(agent, &parts.system_prompt, &input, &[]));
    } else {
        output::data(format!("{}\n\n{input}", parts.system_prompt));
    }
    if arguments.gold {
        let gold = dataset.data.golds.get(&id).map_or("", |gold| gold.hypothesis());
        output::data(format!("\nGold hypothesis: {gold}"));
    }
    Ok(ExitCode::SUCCESS)
}
