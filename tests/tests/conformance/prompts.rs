//! `prompts_full.jsonl`: whole prompts after 0, 1 and 2 turns, byte for byte.

use std::{collections::BTreeMap, path::Path};

use argosy_shared::{
    id::TaskId,
    prompts::{PromptPack, agent::render_prompt},
    spec::AgentType,
    task::{
        Hints, Task,
        render::{BlankHints, input_parts},
    },
};
use argosy_tests::vectors::{self, Outcome, Tally};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::source::Source;

/// Checks every row.
pub(crate) fn check(folder: &Path, source: &Source) -> Tally {
    let mut tally = Tally::of("prompts_full.jsonl");
    let rows: Vec<Row> = vectors::read(folder, "prompts_full.jsonl")
        .into_iter()
        .map(|row| serde_json::from_value(row).expect("a row of prompts_full.jsonl"))
        .collect();
    for row in &rows {
        let outcome = match (&source.data, &source.pack) {
            (Ok(data), Ok(pack)) => match data.task(&TaskId::from(row.task_id.as_str())) {
                Some(task) => compare(row, &rows, task, pack),
                None => Outcome::Failed("there is no such task".to_owned()),
            },
            (Err(why), _) | (_, Err(why)) => Outcome::Skipped(why.clone()),
        };
        tally.count(&row.id, outcome);
    }
    tally
}

#[derive(Deserialize)]
struct Row {
    id: String,
    task_id: String,
    agent: AgentType,
    scratchpad_turns: usize,
    add_domain_knowledge: bool,
    add_workflow_tags: bool,
    system_prompt: String,
    input: Option<String>,
    intermediate_steps: Vec<Step>,
    prompt: String,
    prompt_sha256: String,
    /// Rows of a metadata with intermediate hypotheses hold those in a member of one of them.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Step {
    reply: String,
    observation: String,
}

fn compare(row: &Row, rows: &[Row], task: &Task, pack: &PromptPack) -> Outcome {
    let mut task = task.clone();
    if row.id.contains("#intermediate") {
        match intermediate(row, rows, pack) {
            Some(texts) => task.intermediate = texts,
            None => return Outcome::Failed("its intermediate hypotheses are not to be found".to_owned()),
        }
    }
    let hints = Hints { domain_knowledge: row.add_domain_knowledge, workflow_tags: row.add_workflow_tags };
    let parts = input_parts(pack, &task, hints, BlankHints::Upstream);
    let paths: Vec<String> = task.datasets.iter().map(|file| format!("/workspace/{}", file.name)).collect();
    let input = parts.with_paths(&paths);
    let steps: Vec<(&str, &str)> =
        row.intermediate_steps.iter().map(|step| (step.reply.as_str(), step.observation.as_str())).collect();
    let template = match row.agent {
        AgentType::Coder => &pack.agent.coder,
        AgentType::React => &pack.agent.react,
    };
    let prompt = render_prompt(template, &parts.system_prompt, &input, &steps);
    let checks = [
        ("turns", steps.len() == row.scratchpad_turns),
        ("system prompt", parts.system_prompt == row.system_prompt),
        ("input", row.input.as_ref().is_none_or(|expected| *expected == input)),
        ("prompt", prompt == row.prompt),
        ("digest", hex::encode(Sha256::digest(&prompt)) == row.prompt_sha256),
    ];
    match checks.iter().find(|(_, equal)| !equal) {
        None => Outcome::Equal,
        Some(("prompt", _)) => Outcome::Failed(first_difference(&prompt, &row.prompt)),
        Some((what, _)) => Outcome::Failed(format!("the {what} differs")),
    }
}

/// The intermediate hypotheses of a row's modified metadata: from the row that gives them; where the file lacks it, from
/// the prompt itself, so that only the texts between them are compared.
fn intermediate(row: &Row, rows: &[Row], pack: &PromptPack) -> Option<Vec<String>> {
    let family = |id: &str| id.split('/').next().map(ToOwned::to_owned);
    let relatives = rows.iter().filter(|other| family(&other.id) == family(&row.id));
    let given = relatives.flat_map(|other| &other.others).find_map(|(name, value)| texts(name, value));
    if given.is_some() {
        return given;
    }
    let real = &pack.task_input.real;
    let after = real.intermediate.as_ref()?.render(&[("text", "")]);
    let column_end = real.column.render(&[("name", ""), ("description", "")]);
    let question = real.query.render(&[("nl_query", "")]);
    let before_question = &row.prompt[..row.prompt.rfind(&question)?];
    let mut texts: Vec<String> = before_question.split(&after).map(ToOwned::to_owned).collect();
    texts.pop().filter(String::is_empty)?;
    // The first text follows the last column without a separator of its own.
    let first = texts.first_mut()?;
    let end_of_columns = first.rfind(column_end.trim_start_matches(": "))? + column_end.trim_start_matches(": ").len();
    *first = first.split_off(end_of_columns);
    Some(texts)
}

/// The texts of a member called something with `intermediate`, at any depth.
fn texts(name: &str, value: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_str().or_else(|| value["text"].as_str()).map(ToOwned::to_owned);
    match value {
        Value::Array(list) if name.contains("intermediate") => list.iter().map(text).collect(),
        Value::Object(members) => members.iter().find_map(|(name, value)| texts(name, value)),
        _ => None,
    }
}

fn first_difference(ours: &str, theirs: &str) -> String {
    let at = ours.bytes().zip(theirs.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let start = (at.saturating_sub(30)..=at).find(|start| text.is_char_boundary(*start)).unwrap_or(0);
        text[start..].chars().take(60).collect::<String>()
    };
    format!("the prompt differs at byte {at}: ours {:?}, theirs {:?}", around(ours), around(theirs))
}
