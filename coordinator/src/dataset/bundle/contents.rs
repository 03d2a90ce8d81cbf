//! `tasks.json` and `golds.json`.

use std::{collections::BTreeMap, path::Path};

use argosy_shared::{
    id::TaskId,
    task::{Column, Dataset, Split, Task},
};
use serde::{Deserialize, Serialize};

use super::{damaged, parse};
use crate::dataset::{Error, gold};

/// `tasks.json`. Most of its bulk would be descriptions of columns that many tasks share; a task names them by number.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tasks {
    columns: Vec<Vec<Column>>,
    tasks: Vec<CompactTask>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompactTask {
    split: Split,
    dir: String,
    metadata: u64,
    query: i64,
    domain: String,
    question: String,
    question_type: String,
    datasets: Vec<CompactDataset>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    intermediate: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    domain_knowledge: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workflow_tags: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompactDataset {
    name: String,
    description: String,
    /// Place in the list of columns.
    columns: usize,
    sha256: String,
    bytes: u64,
}

impl Tasks {
    pub(super) fn of(tasks: &[Task]) -> Self {
        let mut columns: Vec<Vec<Column>> = Vec::new();
        let mut known: BTreeMap<Vec<(String, String)>, usize> = BTreeMap::new();
        let mut number = |of: &[Column]| {
            let key = of.iter().map(|column| (column.name.clone(), column.description.clone())).collect();
            *known.entry(key).or_insert_with(|| {
                columns.push(of.to_vec());
                columns.len() - 1
            })
        };
        let tasks = tasks
            .iter()
            .map(|task| CompactTask {
                split: task.split,
                dir: task.dataset_dir.clone(),
                metadata: task.metadata_id,
                query: task.query_id,
                domain: task.domain.clone(),
                question: task.question.clone(),
                question_type: task.question_type.clone(),
                datasets: task
                    .datasets
                    .iter()
                    .map(|dataset| CompactDataset {
                        name: dataset.name.clone(),
                        description: dataset.description.clone(),
                        columns: number(&dataset.columns),
                        sha256: dataset.blob.sha256.clone(),
                        bytes: dataset.blob.bytes,
                    })
                    .collect(),
                intermediate: task.intermediate.clone(),
                domain_knowledge: task.domain_knowledge.clone(),
                workflow_tags: task.workflow_tags.clone(),
            })
            .collect();
        Self { columns, tasks }
    }

    pub(super) fn read(file: &Path, bytes: &[u8]) -> Result<Vec<Task>, Error> {
        let Self { columns, tasks } = parse(file, bytes)?;
        let dataset = |dataset: CompactDataset| {
            let columns =
                columns.get(dataset.columns).ok_or_else(|| damaged(file.to_owned(), "columns are missing"))?;
            Ok(Dataset {
                name: dataset.name,
                description: dataset.description,
                columns: columns.clone(),
                blob: argosy_shared::task::Blob { sha256: dataset.sha256, bytes: dataset.bytes },
            })
        };
        tasks
            .into_iter()
            .map(|task| {
                Ok(Task {
                    id: Task::make_id(task.split, &task.dir, task.metadata, task.query),
                    split: task.split,
                    dataset_dir: task.dir,
                    metadata_id: task.metadata,
                    query_id: task.query,
                    domain: task.domain,
                    question: task.question,
                    question_type: task.question_type,
                    datasets: task.datasets.into_iter().map(dataset).collect::<Result<_, Error>>()?,
                    intermediate: task.intermediate,
                    domain_knowledge: task.domain_knowledge,
                    workflow_tags: task.workflow_tags,
                })
            })
            .collect()
    }
}

/// `golds.json`.
pub(super) struct Golds;

impl Golds {
    pub(super) fn write(golds: &gold::Golds, tasks: &[Task]) -> BTreeMap<String, String> {
        let gold = |task: &Task| Some((task.id.to_string(), golds.get(&task.id)?.hypothesis().to_owned()));
        tasks.iter().filter_map(gold).collect()
    }

    pub(super) fn read(file: &Path, bytes: &[u8]) -> Result<gold::Golds, Error> {
        let golds: BTreeMap<String, String> = parse(file, bytes)?;
        Ok(golds.into_iter().map(|(id, hypothesis)| (TaskId(id), gold::Gold::new(hypothesis))).collect())
    }
}
