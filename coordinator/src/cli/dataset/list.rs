//! `argosy dataset list`

use std::{collections::BTreeMap, process::ExitCode};

use argosy_coordinator::dataset::{self, Data, identity};
use argosy_shared::{
    spec::nearest,
    task::{Split, Task},
};
use clap::ValueEnum;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::{
    output::{self, Usage},
    usage,
};

/// Characters of a line of the overview; long cells wrap.
const WIDTH: u16 = 120;
/// Characters of a question in the list of tasks, which has one line for each.
const QUESTION: usize = 80;

/// Arguments.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// An upstream checkout, a copy of its data folders, or an imported bundle.
    path: std::path::PathBuf,
    /// Only these splits (`all`, or real_test, real_train, synth_test, synth_dev, synth_train).
    #[arg(long, value_name = "SPLIT", value_delimiter = ',', value_parser = split)]
    split: Vec<Splits>,
    /// Name every task.
    #[arg(long)]
    tasks: bool,
    /// How it is written.
    #[arg(long, default_value = "table")]
    format: Format,
    /// Accept a dataset that is not upstream's pinned commit.
    #[arg(long)]
    allow_unpinned: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

#[derive(Clone, Copy)]
enum Splits {
    All,
    One(Split),
}

fn split(name: &str) -> Result<Splits, String> {
    if name == "all" {
        return Ok(Splits::All);
    }
    Split::parse(name).map(Splits::One).ok_or_else(|| {
        let names: Vec<&str> = Split::ALL.iter().map(|split| split.as_str()).collect();
        let near =
            nearest(name, names.iter().copied()).map_or_else(String::new, |near| format!("; did you mean {near}?"));
        format!("valid: all, {}{near}", names.join(", "))
    })
}

/// Carries the command out.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let data = dataset::open_data(&arguments.path, arguments.allow_unpinned).map_err(usage)?;
    let chosen = |split: Split| {
        arguments.split.is_empty()
            || arguments.split.iter().any(|splits| match splits {
                Splits::All => true,
                Splits::One(one) => *one == split,
            })
    };
    let listing = Listing::of(&data, chosen);
    if listing.splits.is_empty() {
        return Err(Usage::new("the dataset has no task of these splits").into());
    }
    match (arguments.format, arguments.tasks) {
        (Format::Json, with_tasks) => output::data(serde_json::to_string_pretty(&listing.json(with_tasks))?),
        (Format::Table, false) => output::data(listing.table()),
        (Format::Table, true) => output::data(listing.task_table()),
    }
    Ok(ExitCode::SUCCESS)
}

/// The chosen tasks by split, in the order of the documentation.
struct Listing<'d> {
    data: &'d Data,
    splits: Vec<(Split, Vec<&'d Task>)>,
}

impl<'d> Listing<'d> {
    fn of(data: &'d Data, chosen: impl Fn(Split) -> bool) -> Self {
        let of = |split| data.tasks.iter().filter(|task| task.split == split).collect::<Vec<_>>();
        let splits = Split::ALL.into_iter().filter(|split| chosen(*split)).map(|split| (split, of(split)));
        Self { data, splits: splits.filter(|(_, tasks)| !tasks.is_empty()).collect() }
    }

    fn table(&self) -> String {
        let mut table = table(&["split", "tasks", "files", "directories", "gold from", "domains (tasks)"]);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
        for (split, tasks) in &self.splits {
            let domains: Vec<String> =
                domains(tasks).into_iter().map(|(domain, count)| format!("{domain} {count}")).collect();
            table.add_row([
                split.to_string(),
                tasks.len().to_string(),
                metadata_files(tasks).to_string(),
                directories(tasks).to_string(),
                gold_from(*split).to_owned(),
                domains.join(", "),
            ]);
        }
        let total: usize = self.splits.iter().map(|(_, tasks)| tasks.len()).sum();
        let mut text = format!("{table}\n{total} tasks, {} data files", self.data_files());
        for line in self.explanations() {
            text.push('\n');
            text.push_str(&line);
        }
        text
    }

    /// Why the numbers are what they are, where people have stumbled over them.
    fn explanations(&self) -> Vec<String> {
        let count = |split| self.splits.iter().find(|(one, _)| *one == split).map_or(0, |(_, tasks)| tasks.len());
        let mut lines = Vec::new();
        let (test, train) = (count(Split::RealTest), count(Split::RealTrain));
        if test > 0 && train > 0 {
            lines.push(format!(
                "{} real tasks: {test} of real_test, which have a row in eval/answer_key_real.csv, and {train} of real_train",
                test + train
            ));
        }
        let both = test + count(Split::SynthTest);
        if test > 0 && both > test {
            lines.push(format!(
                "{both} tasks run by default: real_test and synth_test, the splits that the paper reports"
            ));
        }
        let pinned = identity::is_pinned_data(&self.data.sources);
        lines.push(if pinned {
            format!("the data is that of DiscoveryBench's commit {}", identity::PINNED_SHORT)
        } else {
            format!("the data is NOT that of DiscoveryBench's commit {}", identity::PINNED_SHORT)
        });
        lines
    }

    /// How many different data files the chosen tasks need.
    fn data_files(&self) -> usize {
        let tasks = self.splits.iter().flat_map(|(_, tasks)| tasks);
        distinct(tasks.flat_map(|task| &task.datasets).map(|file| file.blob.sha256.as_str()))
    }

    fn task_table(&self) -> String {
        let mut table = table(&["task", "domain", "data files", "question"]);
        for task in self.splits.iter().flat_map(|(_, tasks)| tasks) {
            table.add_row([
                task.id.to_string(),
                task.domain.clone(),
                task.datasets.len().to_string(),
                shorten(&task.question, QUESTION),
            ]);
        }
        table.to_string()
    }

    fn json(&self, with_tasks: bool) -> Value {
        let splits: Vec<Value> = self
            .splits
            .iter()
            .map(|(split, tasks)| {
                let mut value = json!({
                    "split": split,
                    "tasks": tasks.len(),
                    "metadata_files": metadata_files(tasks),
                    "directories": directories(tasks),
                    "gold_from": gold_from(*split),
                    "domains": domains(tasks),
                });
                if with_tasks {
                    value["task_list"] = tasks.iter().map(|task| task_json(task)).collect();
                }
                value
            })
            .collect();
        json!({
            "pinned_data": identity::is_pinned_data(&self.data.sources),
            "tasks": self.splits.iter().map(|(_, tasks)| tasks.len()).sum::<usize>(),
            "data_files": self.data_files(),
            "splits": splits,
        })
    }
}

fn task_json(task: &Task) -> Value {
    let files: Vec<Value> = task
        .datasets
        .iter()
        .map(|file| json!({"name": file.name, "bytes": file.blob.bytes, "sha256": file.blob.sha256}))
        .collect();
    json!({"id": task.id, "category": task.category(), "question": task.question, "data_files": files})
}

fn gold_from(split: Split) -> &'static str {
    match split {
        Split::RealTest => "eval/answer_key_real.csv",
        Split::SynthTest => "eval/answer_key_synth.csv",
        Split::RealTrain | Split::SynthDev | Split::SynthTrain => "metadata",
    }
}

fn domains(tasks: &[&Task]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for task in tasks {
        *counts.entry(task.domain.clone()).or_insert(0) += 1;
    }
    counts
}

fn directories(tasks: &[&Task]) -> usize {
    distinct(tasks.iter().map(|task| task.dataset_dir.as_str()))
}

fn metadata_files(tasks: &[&Task]) -> usize {
    distinct(tasks.iter().map(|task| (task.dataset_dir.as_str(), task.metadata_id)))
}

fn distinct<T: Ord>(items: impl Iterator<Item = T>) -> usize {
    items.collect::<std::collections::BTreeSet<_>>().len()
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    for (index, name) in header.iter().enumerate() {
        if matches!(*name, "tasks" | "files" | "directories" | "data files")
            && let Some(column) = table.column_mut(index)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn shorten(text: &str, limit: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
