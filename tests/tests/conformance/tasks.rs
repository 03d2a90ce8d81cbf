//! `tasks.jsonl`: tasks, gold, data files, and the hashes of everything a task's texts become.

use std::{collections::BTreeMap, fmt::Debug, path::Path};

use argosy_coordinator::dataset::Data;
use argosy_shared::{
    hms,
    id::TaskId,
    prompts::{PromptPack, agent::render_prompt},
    task::{
        Hints, Split, Task,
        render::{BlankHints, InputParts, input_parts},
    },
};
use argosy_tests::vectors::{self, Outcome, Tally};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::source::Source;

/// Checks every row.
pub(crate) fn check(folder: &Path, source: &Source) -> Tally {
    let mut tally = Tally::of("tasks.jsonl");
    let rows = vectors::read(folder, "tasks.jsonl");
    for row in rows {
        let row: Row = serde_json::from_value(row).expect("a row of tasks.jsonl");
        tally.count(&row.task_id, check_row(&row, source));
    }
    if let Ok(data) = &source.data {
        let count = |split| data.tasks.iter().filter(|task| task.split == split).count();
        let counts: Vec<String> = Split::ALL.iter().map(|split| format!("{split} {}", count(*split))).collect();
        tally.notes.push(format!("{} tasks imported: {}", data.tasks.len(), counts.join(", ")));
        if Split::ALL.map(count) != [239, 25, 200, 153, 550] {
            tally.failed.push(("counts".to_owned(), "expected 239, 25, 200, 153, 550".to_owned()));
        }
    }
    tally
}

#[derive(Deserialize)]
struct Row {
    task_id: String,
    split: Split,
    category: String,
    domain: String,
    dataset_dir: String,
    metadata_id: u64,
    query_id: i64,
    metadata: String,
    datasets: Vec<File>,
    question_type: String,
    question: String,
    gold: String,
    has_domain_knowledge: Option<bool>,
    domain_knowledge_key_present: Option<bool>,
    input_chars: usize,
    input_sha256: BTreeMap<String, String>,
    prompt_sha256: BTreeMap<String, String>,
    judge_datasets_repr_sha256: String,
}

#[derive(Deserialize)]
struct File {
    name: String,
    size: u64,
    sha256: String,
}

fn check_row(row: &Row, source: &Source) -> Outcome {
    let data = match &source.data {
        Ok(data) => data,
        Err(why) => return Outcome::Skipped(why.clone()),
    };
    let Some(task) = data.task(&TaskId::from(row.task_id.as_str())) else {
        return Outcome::Failed("there is no such task".to_owned());
    };
    let mut differences = Differences::default();
    check_data(row, task, data, &mut differences);
    if let Ok(pack) = &source.pack {
        check_texts(row, task, pack, &mut differences);
    }
    match (differences.0.is_empty(), &source.pack) {
        (false, _) => Outcome::Failed(differences.0.join("; ")),
        (true, Err(why)) => Outcome::Skipped(format!("hashes of inputs and prompts, everything else is equal: {why}")),
        (true, Ok(_)) => Outcome::Equal,
    }
}

#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn compare<T: PartialEq + Debug + ?Sized>(&mut self, what: &str, ours: &T, theirs: &T) {
        if ours != theirs {
            self.0.push(format!("{what} is {ours:?}, expected {theirs:?}"));
        }
    }
}

/// Everything that does not need the prompts.
fn check_data(row: &Row, task: &Task, data: &Data, differences: &mut Differences) {
    differences.compare("split", &task.split, &row.split);
    differences.compare("category", task.category().as_str(), &row.category);
    differences.compare("domain", &task.domain, &row.domain);
    differences.compare("directory", &task.dataset_dir, &row.dataset_dir);
    differences.compare("metadata id", &task.metadata_id, &row.metadata_id);
    differences.compare("query id", &task.query_id, &row.query_id);
    differences.compare("metadata file", &data.sources.contains_key(&row.metadata), &true);
    differences.compare("question", &task.question, &row.question);
    differences.compare("question type", &task.question_type, &row.question_type);
    let gold = data.golds.get(&task.id).map(|gold| gold.hypothesis());
    differences.compare("gold", &gold, &Some(row.gold.as_str()));
    let files: Vec<_> =
        task.datasets.iter().map(|file| (file.name.as_str(), file.blob.bytes, file.blob.sha256.as_str())).collect();
    let expected: Vec<_> =
        row.datasets.iter().map(|file| (file.name.as_str(), file.size, file.sha256.as_str())).collect();
    differences.compare("data files", &files, &expected);
    if let Some(present) = row.domain_knowledge_key_present {
        differences.compare("domain knowledge key", &task.domain_knowledge.is_some(), &present);
    }
    if let Some(has) = row.has_domain_knowledge {
        let knowledge = task.domain_knowledge.as_deref().unwrap_or_default();
        differences.compare("domain knowledge", &!knowledge.trim().is_empty(), &has);
    }
    let judged = sha256(&hms::prompt::datasets_text(&task.datasets));
    differences.compare("judge's dataset text", &judged, &row.judge_datasets_repr_sha256);
}

/// Inputs under all hints and path forms, and the first prompts.
fn check_texts(row: &Row, task: &Task, pack: &PromptPack, differences: &mut Differences) {
    let parts = |knowledge, tags, blank| {
        input_parts(pack, task, Hints { domain_knowledge: knowledge, workflow_tags: tags }, blank)
    };
    let plain = parts(false, false, BlankHints::Unchanged);
    let input = plain.with_paths(&paths(task, "/workspace/"));
    differences.compare("input characters", &input.chars().count(), &row.input_chars);
    let folder = row.metadata.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (form, expected) in &row.input_sha256 {
        let workspace = |parts: InputParts| parts.with_paths(&paths(task, "/workspace/"));
        let upstream = BlankHints::Upstream;
        let rendered = match form.as_str() {
            "none" => input.clone(),
            "bare_names" => plain.with_paths(&paths(task, "")),
            "upstream_relative_paths" => plain.with_paths(&paths(task, &format!("{folder}/"))),
            "domain_knowledge" | "both" if expected.starts_with("KeyError") => {
                differences.compare("upstream's missing key", &task.domain_knowledge.is_none(), &true);
                continue;
            }
            "domain_knowledge" => workspace(parts(true, false, upstream)),
            "workflow_tags" => workspace(parts(false, true, upstream)),
            "both" => workspace(parts(true, true, upstream)),
            "domain_knowledge_ac" => workspace(parts(true, false, BlankHints::Unchanged)),
            "both_ac" => workspace(parts(true, true, BlankHints::Unchanged)),
            other => {
                differences.0.push(format!("unknown form of input `{other}`"));
                continue;
            }
        };
        differences.compare(&format!("input {form}"), &sha256(&rendered), expected);
    }
    for (agent, expected) in &row.prompt_sha256 {
        let template = match agent.as_str() {
            "coder" => &pack.agent.coder,
            "react" => &pack.agent.react,
            other => {
                differences.0.push(format!("unknown agent `{other}`"));
                continue;
            }
        };
        let prompt = render_prompt(template, &plain.system_prompt, &input, &[]);
        differences.compare(&format!("first prompt of {agent}"), &sha256(&prompt), expected);
    }
}

fn paths(task: &Task, folder: &str) -> Vec<String> {
    task.datasets.iter().map(|file| format!("{folder}{}", file.name)).collect()
}

fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}
