//! The demo: its benchmark is what it claims to be, its scripted agents run real code that prints what they report,
//! and its judge's replies lead to the scores that were worked out by hand.

mod benchmark;
mod generator;
mod pack;
mod play;
mod programs;

use std::path::Path;

use argosy_coordinator::{
    dataset::{self, Dataset, OpenOptions},
    demo::{self, Expectation, Materialised},
};
use argosy_shared::task::Task;
use serde_json::Value;
use tempfile::TempDir;

/// The two agents, by the names of `agent_type` and of `expected.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    Coder,
    React,
}

impl Agent {
    const BOTH: [Self; 2] = [Self::Coder, Self::React];

    /// A sentence of its template, by which the script knows it.
    fn mark(self) -> &'static str {
        match self {
            Self::Coder => "Your program runs a single time",
            Self::React => "Work in small steps",
        }
    }

    fn expectation(self, task: &Task) -> Expectation {
        let expected = demo::expected();
        let outcomes = if self == Self::Coder { expected.coder } else { expected.react };
        outcomes.get(&task.id.0).unwrap_or_else(|| panic!("{} is not in expected.json", task.id)).clone()
    }
}

/// The demo, put in place and imported.
struct Demo {
    _folder: TempDir,
    files: Materialised,
    dataset: Dataset,
    script: Value,
}

impl Demo {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = demo::materialise(folder.path()).expect("the demo's files");
        let options = OpenOptions { prompt_pack: Some(files.prompt_pack.clone()), allow_unpinned: true };
        let dataset = dataset::open(&files.dataset, &options).expect("the demo's benchmark");
        let script = std::fs::read(&files.script).expect("the script");
        let script = serde_json::from_slice(&script).expect("the script is JSON");
        Self { _folder: folder, files, dataset, script }
    }

    fn tasks(&self) -> &[Task] {
        &self.dataset.data.tasks
    }

    /// What the script lets an agent say about a task, by turn.
    fn replies(&self, task: &Task, agent: Agent) -> Vec<String> {
        let entries = self.script["tasks"].as_array().expect("tasks");
        let said = |entry: &&Value| {
            entry["task"] == task.id.0.as_str()
                && entry["files"].as_array().is_some_and(|files| files.iter().any(|text| text == agent.mark()))
        };
        let mut found = entries.iter().filter(said);
        let entry = found.next().unwrap_or_else(|| panic!("{}: no script for {agent:?}", task.id));
        assert!(found.next().is_none(), "{}: two scripts for {agent:?}", task.id);
        let replies = entry["agent"].as_array().expect("replies");
        let text = |reply: &Value| reply.as_str().or_else(|| reply["content"].as_str()).expect("a text").to_owned();
        replies.iter().map(text).collect()
    }

    /// The folder that holds a task's metadata and data files.
    fn folder(&self, task: &Task) -> std::path::PathBuf {
        self.files.dataset.join("discoverybench").join(task.split.folder()).join(&task.dataset_dir)
    }
}

/// Where the demo's sources lie.
fn sources() -> std::path::PathBuf {
    argosy_tests::places::project().join(Path::new("coordinator/demo"))
}
