//! The single files of a run directory.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader},
    path::Path,
};

use argosy_shared::{
    issue::Issue,
    run_dir::{
        TaskIndex,
        names::{self, RESULT},
        status::AttemptStatus,
        task_index::{self, Shared},
    },
};
use indexmap::IndexMap;
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Map, Value};

use super::{Error, is_dir_of};
use crate::report::outcome::{AttemptOutcome, TaskOutcome};

/// The schema of `task.json` in directories of AgentCompass before 1.0.
const PREVIOUS_TASK_SCHEMA: &str = "agentcompass.task.v2";

/// `result.json` as far as it is aggregated. Exactly nine keys: AgentCompass's reader refuses any other number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultFile {
    #[allow(dead_code, reason = "read so that an unknown status is refused")]
    status: AttemptStatus,
    metrics: IndexMap<String, Value>,
    #[allow(dead_code, reason = "the key must be there")]
    final_answer: IgnoredAny,
    #[allow(dead_code, reason = "the key must be there")]
    trajectory: IgnoredAny,
    issues: Vec<Issue>,
    #[allow(dead_code, reason = "the key must be there")]
    artifacts: IgnoredAny,
    #[allow(dead_code, reason = "the key must be there")]
    analysis_result: IgnoredAny,
    meta: Map<String, Value>,
    #[allow(dead_code, reason = "the key must be there")]
    retry_count: u64,
}

/// A JSON file, `None` where there is none.
pub(super) fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Io { path: path.to_owned(), source }),
    };
    // A large buffer: serde_json reads byte by byte from it, and result files may be large.
    serde_json::from_reader(BufReader::with_capacity(1 << 18, file)).map(Some).map_err(|error| {
        if error.is_io() {
            Error::Io { path: path.to_owned(), source: error.into() }
        } else {
            Error::Content { path: path.to_owned(), message: error.to_string() }
        }
    })
}

/// `task.json`, with its directory's name checked.
pub(super) fn index(path: &Path) -> Result<TaskIndex, Error> {
    let fail = |message: String| Error::Content { path: path.to_owned(), message };
    let index: TaskIndex = optional(path)?.ok_or_else(|| fail("the file is missing".to_owned()))?;
    if index.schema_version == PREVIOUS_TASK_SCHEMA {
        return Err(fail(format!("`{PREVIOUS_TASK_SCHEMA}` is too old; `agentcompass` itself can still read it")));
    }
    if index.schema_version != task_index::SCHEMA {
        return Err(fail(format!("`schema_version` is `{}`; expected `{}`", index.schema_version, task_index::SCHEMA)));
    }
    if !path.parent().is_some_and(|folder| is_dir_of(folder, &index.task_id)) {
        let expected = names::task_dir(&index.task_id);
        return Err(fail(format!("the task `{}` belongs into a directory called `{expected}`", index.task_id)));
    }
    Ok(index)
}

/// A published task with all its attempts.
pub(super) fn task(dir: &Path, index: &TaskIndex, shared: Shared) -> Result<TaskOutcome, Error> {
    let mut attempts = BTreeMap::new();
    for number in &index.attempts.0 {
        let path = dir.join(names::attempt_dir(*number)).join(RESULT);
        attempts.insert(*number, attempt(&path)?);
    }
    Ok(TaskOutcome { task: index.task_id.clone(), category: shared.category, attempts })
}

fn attempt(path: &Path) -> Result<AttemptOutcome, Error> {
    let fail = |message: String| Error::Content { path: path.to_owned(), message };
    let file: ResultFile = optional(path)?.ok_or_else(|| fail("the file is missing".to_owned()))?;
    if let Some(key) = file.meta.keys().find(|key| !["benchmark", "harness"].contains(&key.as_str())) {
        return Err(fail(format!("`meta` holds `benchmark` and `harness` only, not `{key}`")));
    }
    let metrics = file
        .metrics
        .into_iter()
        .map(|(name, value)| match &value {
            Value::Number(number) => {
                let value = number.as_f64().filter(|value| value.is_finite());
                value.map(|value| (name.clone(), value)).ok_or_else(|| fail(format!("`metrics.{name}` is not finite")))
            }
            Value::Bool(_) => Err(fail(format!(
                "`metrics.{name}` is true or false; Argosy aggregates numbers only (`agentcompass summary` does both)"
            ))),
            other => Err(fail(format!("`metrics.{name}` is `{other}`; expected a number"))),
        })
        .collect::<Result<_, _>>()?;
    Ok(AttemptOutcome { metrics, issues: file.issues })
}
