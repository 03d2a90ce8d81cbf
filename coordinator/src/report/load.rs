//! Reads a run directory back, ours or AgentCompass's, one attempt at a time: trajectories are skipped while they are
//! read, so memory does not grow with them.

mod files;
mod stored;

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use argosy_shared::{
    id::TaskId,
    run_dir::{
        PlannedRun, RunInfo, State,
        names::{self, DETAILS, PLANNED, PROGRESS, RUN_INFO, TASK},
        run_info,
    },
    spec::{BENCHMARK, BenchmarkParams},
};
use serde_json::{Map, Value};

pub use self::stored::{StoredAttempt, StoredCall, StoredObservation, StoredStep, StoredTrajectory};
use super::{
    hierarchy,
    outcome::{Aggregation, Plan, TaskOutcome, discoverybench_metrics},
};

/// Why a run directory cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no run here.
    #[error("{}: not a run directory: there is no `run_info.json` in it", dir.display())]
    NotARun {
        /// Where.
        dir: PathBuf,
    },
    /// A file holds something else than it should.
    #[error("{}: {message}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What was found and what was expected.
        message: String,
    },
    /// One task lies in two states.
    #[error("{}: the task `{task}` lies in `{first}` and in `{second}`", dir.display())]
    TwoStates {
        /// The run directory.
        dir: PathBuf,
        /// The task.
        task: TaskId,
        /// One state.
        first: State,
        /// The other.
        second: State,
    },
    /// The run's parameters ask for an aggregation that is not valid.
    #[error(transparent)]
    Hierarchy(#[from] hierarchy::Error),
}

/// A run read back.
#[derive(Clone, Debug)]
pub struct LoadedRun {
    /// Where it lies.
    pub dir: PathBuf,
    /// `run_info.json`.
    pub info: RunInfo,
    /// `argosy.json`; `None` where AgentCompass made the directory.
    pub planned: Option<PlannedRun>,
    /// What the run was to do.
    pub plan: Plan,
    /// The published tasks, sorted by directory name within their states.
    pub tasks: Vec<TaskOutcome>,
    /// Tasks that were started and not published.
    pub running: Vec<TaskId>,
}

impl LoadedRun {
    /// The model under test.
    #[must_use]
    pub fn model(&self) -> &str {
        self.info.requested(&["model", "id"]).and_then(Value::as_str).unwrap_or("model")
    }

    /// The benchmark.
    #[must_use]
    pub fn benchmark(&self) -> &str {
        self.info.requested(&["benchmark", "id"]).and_then(Value::as_str).unwrap_or(BENCHMARK)
    }
}

/// Reads the run in `dir`.
///
/// # Errors
/// The first file that is missing, unreadable or not as it should be; nothing is skipped silently.
pub fn run(dir: &Path) -> Result<LoadedRun, Error> {
    let info = run_info(dir)?;
    let planned: Option<PlannedRun> = files::optional(&dir.join(PLANNED))?;
    let mut tasks = Vec::new();
    let mut running = Vec::new();
    let mut strategies = BTreeSet::new();
    let mut seen: std::collections::HashMap<TaskId, State> = std::collections::HashMap::new();
    for state in State::ALL {
        for path in task_dirs(dir, state)? {
            let index = files::index(&path.join(TASK))?;
            if let Some(first) = seen.insert(index.task_id.clone(), state) {
                return Err(Error::TwoStates { dir: dir.to_owned(), task: index.task_id, first, second: state });
            }
            match index.shared.clone() {
                Some(shared) if state != State::Running => {
                    strategies.insert((shared.attempt_plan.k, shared.attempt_plan.strategy.clone()));
                    tasks.push(files::task(&path, &index, shared)?);
                }
                _ if state == State::Running => running.push(index.task_id),
                _ => {
                    let message = "the task is in a final state without `category`, `ground_truth` and `attempt_plan`";
                    return Err(Error::Content { path: path.join(TASK), message: message.to_owned() });
                }
            }
        }
    }
    let plan = plan(dir, &info, planned.as_ref(), &tasks, &running, &strategies)?;
    Ok(LoadedRun { dir: dir.to_owned(), info, planned, plan, tasks, running })
}

/// Reads `run_info.json` alone.
///
/// # Errors
/// It is missing, unreadable or of an unknown schema.
pub fn run_info(dir: &Path) -> Result<RunInfo, Error> {
    let path = dir.join(RUN_INFO);
    let info: RunInfo = files::optional(&path)?.ok_or_else(|| Error::NotARun { dir: dir.to_owned() })?;
    if ![run_info::SCHEMA, run_info::PREVIOUS_SCHEMA].contains(&info.schema_version.as_str()) {
        let message = format!("`schema_version` is `{}`; expected `{}`", info.schema_version, run_info::SCHEMA);
        return Err(Error::Content { path, message });
    }
    Ok(info)
}

/// The task directories of one state, sorted by name. Hidden entries are files being written.
fn task_dirs(dir: &Path, state: State) -> Result<Vec<PathBuf>, Error> {
    let folder = dir.join(DETAILS).join(state.as_str());
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::Io { path: folder, source }),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| Error::Io { path: folder.clone(), source })?;
        if !entry.file_name().to_string_lossy().starts_with('.') && entry.path().join(TASK).is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn plan(
    dir: &Path,
    info: &RunInfo,
    planned: Option<&PlannedRun>,
    tasks: &[TaskOutcome],
    running: &[TaskId],
    strategies: &BTreeSet<(u32, String)>,
) -> Result<Plan, Error> {
    let content = |message: String| Error::Content { path: dir.join(RUN_INFO), message };
    let attempts = info.requested(&["execution", "attempts"]);
    let requested = attempts.and_then(|attempts| u32::try_from(attempts.get("k")?.as_u64()?).ok());
    let k = match (strategies.first(), requested) {
        (Some((k, _)), _) if strategies.len() == 1 => *k,
        (Some(_), _) => {
            return Err(content(format!("tasks were published with different attempt plans: {strategies:?}")));
        }
        (None, requested) => requested.unwrap_or(1),
    };
    if let Some((_, strategy)) = strategies.iter().find(|(_, strategy)| strategy != "avg") {
        return Err(content(format!(
            "the strategy `{strategy}` needs a metric that is right or wrong; expected `avg`"
        )));
    }
    let (planned_tasks, unnamed_missing) = match planned {
        Some(planned) => (planned.tasks.clone(), 0),
        None => (Vec::new(), total_tasks(dir)?.unwrap_or(0).max(tasks.len() + running.len()) - tasks.len()),
    };
    Ok(Plan {
        k,
        metrics: metrics(info, tasks),
        aggregation: aggregation(info)?,
        tasks: planned_tasks,
        unnamed_missing,
    })
}

/// How many tasks a directory without Argosy's plan was to have.
fn total_tasks(dir: &Path) -> Result<Option<usize>, Error> {
    let progress: Option<Value> = files::optional(&dir.join(PROGRESS))?;
    Ok(progress.and_then(|progress| usize::try_from(progress.get("total_tasks")?.as_u64()?).ok()))
}

/// DiscoveryBench's metrics, or those found in the results of another benchmark, `score` first.
fn metrics(info: &RunInfo, tasks: &[TaskOutcome]) -> Vec<String> {
    let benchmark = info.requested(&["benchmark", "id"]).and_then(Value::as_str);
    if benchmark == Some(BENCHMARK) {
        return discoverybench_metrics();
    }
    let mut found: Vec<String> = Vec::new();
    for name in tasks.iter().flat_map(|task| task.attempts.values()).flat_map(|attempt| attempt.metrics.keys()) {
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    found.sort_by_key(|name| name != "score");
    if found.is_empty() { discoverybench_metrics() } else { found }
}

fn aggregation(info: &RunInfo) -> Result<Aggregation, Error> {
    let member = |name: &str| {
        info.requested(&["benchmark", "params", name])
            .filter(|value| !value.is_null())
            .map(|value| (name.to_owned(), value.clone()))
    };
    let members: Map<String, Value> =
        ["aggregation_mode", "category_hierarchy"].into_iter().filter_map(member).collect();
    let params = BenchmarkParams::parse(members)
        .map_err(|error| Error::Content { path: PathBuf::from(RUN_INFO), message: error.to_string() })?;
    Ok(Aggregation::of(&params)?)
}

/// Whether `path` is the directory a task of this id must have.
fn is_dir_of(path: &Path, task: &TaskId) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy() == names::task_dir(task))
}
