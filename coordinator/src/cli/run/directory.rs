//! The run's directory: a new one, or with `--reuse` the one to go on with.

use std::path::{Path, PathBuf};

use argosy_coordinator::{
    dataset::{Dataset, TaskIndex},
    report::load,
    store::{Error, NewRun, RunStore},
};
use argosy_shared::{
    redact::Redactor,
    run_dir::{
        PlannedRun, PlannedTask,
        names::{self, JOURNAL, PLANNED},
    },
    time,
};
use sha2::{Digest as _, Sha256};

use super::{arguments::Arguments, fingerprint, plan::Plan, runtime::Reuse};
use crate::cli::output::Usage;

/// A run directory that this process may write.
pub(super) struct Directory {
    pub(super) store: RunStore,
    pub(super) journal: PathBuf,
    pub(super) resumed: bool,
}

/// Makes or opens the directory.
///
/// # Errors
/// The name is taken, there is nothing to go on with, or what there is was made with other parameters.
pub(super) fn open(
    arguments: &Arguments,
    plan: &Plan,
    dataset: &Dataset,
    selection: &[TaskIndex],
) -> anyhow::Result<Directory> {
    let redactor = redactor(plan);
    let mark = fingerprint::of(plan, dataset, selection);
    let mut parent = plan.runtime.results_dir.clone();
    parent.extend(names::run_name_levels(&plan.run_name));
    parent.push(&plan.namespace);
    if let Some(dir) = earlier(&parent, &plan.runtime.reuse)? {
        check(&dir, &mark)?;
        let store = RunStore::open(&dir, redactor, time::wall()).map_err(refused)?;
        store.resumed()?;
        let journal = dir.join(JOURNAL);
        return Ok(Directory { store, journal, resumed: true });
    }
    let tasks = selection
        .iter()
        .map(|&index| {
            let task = &dataset.data[index];
            let group = hex::encode(&Sha256::digest(task.question.trim())[..8]);
            PlannedTask { task_id: task.id.clone(), category: task.category(), question_group: Some(group) }
        })
        .collect();
    let store = RunStore::create(NewRun {
        results_dir: plan.runtime.results_dir.clone(),
        run_name: plan.run_name.clone(),
        namespace: plan.namespace.clone(),
        run_id: arguments.run_id.clone(),
        request: plan.request.clone(),
        reused_from: None,
        planned: PlannedRun::new(tasks, mark),
        redactor,
        started_at: time::wall(),
    })
    .map_err(refused)?;
    let journal = store.dir().join(JOURNAL);
    Ok(Directory { store, journal, resumed: false })
}

/// Knows the credentials of a run.
pub(super) fn redactor(plan: &Plan) -> Redactor {
    Redactor::new([&plan.model.api_key, &plan.judge.api_key])
}

/// A directory that cannot be had is the user's to choose differently.
fn refused(error: Error) -> anyhow::Error {
    let hint = match &error {
        Error::RunExists { .. } | Error::BadRunId { .. } | Error::Locked { .. } => error.hint(),
        _ => Some("choose another place with --results-dir, or another --run-id".to_owned()),
    };
    let usage = Usage::new(error.to_string());
    match hint {
        Some(hint) => usage.hint(hint).into(),
        None => usage.into(),
    }
}

/// The run to go on with: the named one, or the newest that has a journal.
fn earlier(parent: &Path, reuse: &Reuse) -> anyhow::Result<Option<PathBuf>> {
    let newest = || runs(parent).into_iter().max().map(|(_, name)| parent.join(name));
    match reuse {
        Reuse::No => Ok(None),
        Reuse::IfAny => Ok(newest()),
        Reuse::Latest => newest().map(Some).ok_or_else(|| {
            Usage::new(format!("no run to go on with in {}", parent.display()))
                .hint("leave --reuse away to start one, or check --results-dir, --run-name and the model id")
                .into()
        }),
        Reuse::Named(wanted) => {
            let dir = parent.join(wanted);
            if names::is_run_id(wanted) && dir.join(JOURNAL).is_file() {
                return Ok(Some(dir));
            }
            let known: Vec<String> = runs(parent).into_iter().map(|(_, name)| name).collect();
            let hint = if known.is_empty() {
                "there is none yet: leave --reuse away".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            Err(Usage::new(format!("no run `{wanted}` to go on with in {}", parent.display())).hint(hint).into())
        }
    }
}

/// Runs with a journal: when each began, and its name.
fn runs(parent: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.path().join(JOURNAL).is_file())
        .filter_map(|entry| {
            let info = load::run_info(&entry.path()).ok()?;
            Some((info.started_at, entry.file_name().to_string_lossy().into_owned()))
        })
        .collect()
}

/// Refuses to go on with a run whose scores would not be comparable with those still to come.
fn check(dir: &Path, now: &serde_json::Value) -> anyhow::Result<()> {
    let path = dir.join(PLANNED);
    let text = std::fs::read_to_string(&path).map_err(|error| Usage::new(format!("{}: {error}", path.display())))?;
    let planned: PlannedRun =
        serde_json::from_str(&text).map_err(|error| Usage::new(format!("{}: {error}", path.display())))?;
    let differences = fingerprint::differences(&planned.fingerprint, now);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Usage::new(format!(
        "{} was made with other parameters, its scores and new ones would not be comparable:\n  {}",
        dir.display(),
        differences.join("\n  ")
    ))
    .hint("repeat the command it was started with, or leave --reuse away")
    .into())
}
