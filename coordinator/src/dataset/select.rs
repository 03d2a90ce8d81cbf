//! Which tasks a run consists of.

use std::collections::HashSet;

use argosy_shared::{
    spec::{BenchmarkParams, nearest},
    task::{Split, Task},
};
use sha2::{Digest as _, Sha256};

use super::Data;

/// A task's place in [`Data::tasks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskIndex(pub usize);

/// A selection that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectError {
    /// Lower case, names the parameter.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
}

impl Data {
    /// The tasks that `params` ask for: splits, then categories, then `sample_ids`, then `limit` (after shuffling with
    /// `shuffle_seed`, if given). Always in the dataset's order.
    ///
    /// # Errors
    /// An unknown task id or category, with the nearest that exists; or nothing is left, with the reason.
    pub fn select(&self, params: &BenchmarkParams) -> Result<Vec<TaskIndex>, SelectError> {
        let in_splits: Vec<TaskIndex> =
            self.indices().filter(|index| params.split.contains(&self[*index].split)).collect();
        if in_splits.is_empty() {
            return Err(SelectError {
                message: format!("benchmark_params.split: the dataset has no task of {}", list(&params.split)),
                hint: Some(format!("it has {}", list(&self.splits()))),
            });
        }
        let mut chosen = self.in_categories(in_splits, params)?;
        if let Some(ids) = &params.sample_ids {
            chosen = self.named(ids, chosen, params)?;
        }
        if let Some(seed) = params.shuffle_seed {
            // By a hash of seed and id: the same on every machine and in every version, and a task's rank does not
            // depend on which others take part.
            chosen.sort_by_cached_key(|index| Sha256::digest(format!("{seed} {}", self[*index].id)).to_vec());
        }
        if let Some(limit) = params.limit {
            chosen.truncate(limit);
        }
        chosen.sort_unstable();
        Ok(chosen)
    }

    /// What to say about a task id that does not exist.
    #[must_use]
    pub fn hint_for(&self, id: &str) -> String {
        // The parts of an id are of unequal weight: a wrong number at its end is nearer than a wrong directory.
        let equal_parts = |other: &str| id.split("__").zip(other.split("__")).take_while(|(a, b)| a == b).count();
        let ids = || self.tasks.iter().map(|task| task.id.as_str());
        let most = ids().map(equal_parts).max().unwrap_or_default();
        match nearest(id, ids().filter(|other| equal_parts(other) == most)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`argosy dataset list PATH --tasks` lists all ids".to_owned(),
        }
    }

    fn indices(&self) -> impl Iterator<Item = TaskIndex> {
        (0..self.tasks.len()).map(TaskIndex)
    }

    fn splits(&self) -> Vec<Split> {
        Split::ALL.into_iter().filter(|split| self.tasks.iter().any(|task| task.split == *split)).collect()
    }

    /// Keeps the tasks of the given domains, written alone (`sociology`) or with the split (`real_test:sociology`).
    fn in_categories(&self, tasks: Vec<TaskIndex>, params: &BenchmarkParams) -> Result<Vec<TaskIndex>, SelectError> {
        if params.category.is_empty() {
            return Ok(tasks);
        }
        let matches =
            |task: &Task, name: &str| task.domain.to_lowercase() == name || task.category().to_lowercase() == name;
        for name in &params.category {
            if tasks.iter().any(|index| matches(&self[*index], name)) {
                continue;
            }
            let elsewhere: Vec<Split> = Split::ALL
                .into_iter()
                .filter(|split| self.tasks.iter().any(|task| task.split == *split && matches(task, name)))
                .collect();
            if !elsewhere.is_empty() {
                return Err(SelectError {
                    message: format!(
                        "benchmark_params.category: `{name}` is no domain of the selected splits ({})",
                        list(&params.split)
                    ),
                    hint: Some(format!("it is one of {}: add it to `split`", list(&elsewhere))),
                });
            }
            let mut domains: Vec<&str> = tasks.iter().map(|index| self[*index].domain.as_str()).collect();
            domains.sort_unstable();
            domains.dedup();
            let near = nearest(name, domains.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            return Err(SelectError {
                message: format!("benchmark_params.category: unknown domain `{name}`"),
                hint: Some(format!("{near}the selected splits have {}", quoted(domains))),
            });
        }
        let wanted = |index: &TaskIndex| params.category.iter().any(|name| matches(&self[*index], name));
        Ok(tasks.into_iter().filter(wanted).collect())
    }

    /// Keeps the tasks with the given ids, all of which must be there.
    fn named(
        &self,
        ids: &[String],
        tasks: Vec<TaskIndex>,
        params: &BenchmarkParams,
    ) -> Result<Vec<TaskIndex>, SelectError> {
        let available: HashSet<&str> = tasks.iter().map(|index| self[*index].id.as_str()).collect();
        for id in ids {
            if available.contains(id.as_str()) {
                continue;
            }
            let Some(task) = self.tasks.iter().find(|task| task.id.as_str() == id) else {
                return Err(SelectError {
                    message: format!("benchmark_params.sample_ids: there is no task `{id}`"),
                    hint: Some(self.hint_for(id)),
                });
            };
            let (parameter, value) = if params.split.contains(&task.split) {
                ("category", task.domain.clone())
            } else {
                ("split", task.split.to_string())
            };
            return Err(SelectError {
                message: format!("benchmark_params.sample_ids: `{id}` is left out by `{parameter}`"),
                hint: Some(format!("add \"{value}\" to `{parameter}`")),
            });
        }
        let wanted: HashSet<&str> = ids.iter().map(String::as_str).collect();
        let chosen: Vec<TaskIndex> =
            tasks.into_iter().filter(|index| wanted.contains(self[*index].id.as_str())).collect();
        if chosen.is_empty() {
            return Err(SelectError {
                message: "benchmark_params.sample_ids: an empty list leaves nothing to run".to_owned(),
                hint: Some("omit `sample_ids` to run all".to_owned()),
            });
        }
        Ok(chosen)
    }
}

impl std::ops::Index<TaskIndex> for Data {
    type Output = Task;

    fn index(&self, index: TaskIndex) -> &Task {
        &self.tasks[index.0]
    }
}

fn list(splits: &[Split]) -> String {
    splits.iter().map(|split| format!("`{split}`")).collect::<Vec<_>>().join(", ")
}

fn quoted(names: Vec<&str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
