//! A run directory as a reader finds it: plain files, read without Argosy's own reader.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// A run directory.
#[derive(Clone, Debug)]
pub struct RunFiles {
    dir: PathBuf,
}

impl RunFiles {
    /// At `dir`.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The newest run below `results`, whatever its model.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn newest(results: &Path) -> Self {
        let folders = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        let newest = folders(results).flat_map(|namespace| folders(&namespace).collect::<Vec<_>>()).max();
        Self::new(newest.expect("a run"))
    }

    /// Where it lies.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A file's text.
    ///
    /// # Panics
    /// It cannot be read.
    #[must_use]
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        let path = self.dir.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A JSON file.
    ///
    /// # Panics
    /// It cannot be read or is not JSON.
    #[must_use]
    #[track_caller]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every attempt's `result.json` by task id, in the order of attempts.
    ///
    /// # Panics
    /// A file cannot be read or is not JSON.
    #[must_use]
    #[track_caller]
    pub fn results(&self) -> BTreeMap<String, Vec<Value>> {
        self.tasks()
            .into_iter()
            .map(|(id, folder)| {
                let task = self.json(&format!("{folder}/task.json"));
                let count = task["attempts"].as_object().map_or(0, serde_json::Map::len);
                let attempts = (1..=count).map(|attempt| self.json(&format!("{folder}/attempt-{attempt}/result.json")));
                (id, attempts.collect())
            })
            .collect()
    }

    /// The only attempt of every task.
    ///
    /// # Panics
    /// As [`Self::results`], or a task has other than one attempt.
    #[must_use]
    #[track_caller]
    pub fn single_results(&self) -> BTreeMap<String, Value> {
        let single = |(id, mut attempts): (String, Vec<Value>)| {
            assert_eq!(attempts.len(), 1, "attempts of {id}");
            (id, attempts.remove(0))
        };
        self.results().into_iter().map(single).collect()
    }

    /// Every published task's folder, relative to the run directory, by task id.
    ///
    /// # Panics
    /// A file cannot be read or is not JSON.
    #[must_use]
    #[track_caller]
    pub fn tasks(&self) -> BTreeMap<String, String> {
        let mut tasks = BTreeMap::new();
        for state in ["normal", "error", "fatal"] {
            for entry in fs::read_dir(self.dir.join("details").join(state)).into_iter().flatten().flatten() {
                let folder = format!("details/{state}/{}", entry.file_name().to_string_lossy());
                let id = self.json(&format!("{folder}/task.json"))["task_id"].as_str().expect("an id").to_owned();
                assert_eq!(tasks.insert(id.clone(), folder), None, "{id} lies in two states");
            }
        }
        tasks
    }

    /// All files below, with their bytes.
    ///
    /// # Panics
    /// A file cannot be read.
    #[must_use]
    pub fn all(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.dir.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).expect("a file");
                    files.push((path, bytes));
                }
            }
        }
        files
    }
}

/// The codes of a result's issues.
#[must_use]
pub fn codes(result: &Value) -> Vec<&str> {
    result["issues"].as_array().into_iter().flatten().filter_map(|issue| issue["code"].as_str()).collect()
}
