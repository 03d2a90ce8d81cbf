//! `--dry-run`: what would be run, and how many calls that takes.

use std::{collections::BTreeMap, fmt::Write as _};

use argosy_coordinator::dataset::{Dataset, TaskIndex};
use argosy_shared::{
    prompts::agent::render_prompt,
    spec::AgentType,
    task::render::{BlankHints, input_parts},
};

use super::plan::Plan;

/// Characters of English text to a token, roughly, over the vocabularies in use.
const CHARACTERS_PER_TOKEN: usize = 4;

/// The whole text.
pub(super) fn text(plan: &Plan, dataset: &Dataset, selection: &[TaskIndex]) -> anyhow::Result<String> {
    let mut text = String::new();
    for &index in selection {
        writeln!(text, "{}", dataset.data[index].id)?;
    }
    let mut per_split: BTreeMap<_, usize> = BTreeMap::new();
    for &index in selection {
        *per_split.entry(dataset.data[index].split).or_default() += 1;
    }
    let counts: Vec<String> = per_split.iter().map(|(split, count)| format!("{split} {count}")).collect();
    writeln!(text, "\n{} tasks: {}", selection.len(), counts.join(", "))?;
    writeln!(text, "dataset: {}{}", dataset.identity.digest, pinned(dataset))?;
    writeln!(text, "\nparameters in force:")?;
    writeln!(text, "  harness     {}", serde_json::to_string(&plan.harness)?)?;
    writeln!(text, "  environment {}", serde_json::to_string(&plan.environment)?)?;
    writeln!(text, "  execution   {}", serde_json::to_string(&plan.execution)?)?;
    writeln!(text, "  model       {} at {}", plan.model.id, plan.model.base_url)?;
    writeln!(text, "              {}", serde_json::to_string(&plan.model.params)?)?;
    writeln!(text, "  judge       {} at {}", plan.judge.id, plan.judge.base_url)?;
    writeln!(text, "              {}", serde_json::to_string(&plan.judge.params)?)?;
    writeln!(text, "  policy      {}", serde_json::to_string(&plan.benchmark.judge_policy)?.trim_matches('"'))?;
    estimate(&mut text, plan, dataset, selection)?;
    Ok(text.trim_end().to_owned())
}

fn estimate(text: &mut String, plan: &Plan, dataset: &Dataset, selection: &[TaskIndex]) -> anyhow::Result<()> {
    let agent = &dataset.pack.agent;
    let (template, typical) = match plan.harness.agent_type {
        AgentType::Coder => (&agent.coder, 2),
        AgentType::React => (&agent.react, 6),
    };
    let most = plan.harness.max_iterations.unwrap_or(template.max_iterations) as usize;
    let attempts = selection.len() * plan.execution.k as usize;
    let first_turns: usize = selection
        .iter()
        .map(|&index| {
            let task = &dataset.data[index];
            let parts = input_parts(&dataset.pack, task, plan.benchmark.hints(), BlankHints::Unchanged);
            let paths: Vec<String> =
                task.datasets.iter().map(|dataset| format!("/workspace/{}", dataset.name)).collect();
            render_prompt(template, &parts.system_prompt, &parts.with_paths(&paths), &[]).chars().count()
        })
        .sum();
    let tokens = first_turns * plan.execution.k as usize / CHARACTERS_PER_TOKEN;
    writeln!(text, "\ncalls to expect:")?;
    writeln!(
        text,
        "  model: {attempts} attempts, typically {typical} turns each, at most {most}: {} to {}",
        attempts * typical.min(most),
        attempts * most
    )?;
    writeln!(
        text,
        "  judge: 4 to 6 an answer, fewer where contexts do not match: about {} to {}",
        attempts * 4,
        attempts * 6
    )?;
    writeln!(
        text,
        "  prompt tokens: about {tokens} for all first turns together; each further turn repeats its prompt"
    )?;
    writeln!(
        text,
        "  retries come on top (max_retries {}, {} a request)",
        plan.execution.max_retries, plan.model.params.max_retries
    )?;
    Ok(())
}

fn pinned(dataset: &Dataset) -> String {
    match (&dataset.identity.commit, dataset.identity.pinned) {
        (Some(commit), true) => format!(" (upstream's pinned commit {})", &commit[..7.min(commit.len())]),
        (Some(commit), false) => format!(" (commit {commit}, NOT the pinned one)"),
        (None, _) => " (NOT the pinned commit)".to_owned(),
    }
}
