//! The run's directory: a new one, or with `--reuse` the one to go on with.

use std::path::{Path, PathBuf};

use argosy_coordinator::{
    dataset::{Dataset, TaskIndex},
    report::load,
    store::{NewRun, RunStore},
};
use argosy_shared::{
    redact::Redactor,
    run_dir::{
        PlannedRun, PlannedTask,
        names::{self, JOURNAL, PLANNED},
    },
    spec::{BENCHMARK, HARNESS},
    time,
};
use sha2::{Digest as _, Sha256};

use super::{arguments::Arguments, fingerprint, plan::Plan};
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
    let namespace = names::namespace(&plan.model.id, BENCHMARK, HARNESS);
    let redactor = Redactor::new([&plan.model.api_key, &plan.judge.api_key]);
    let mark = fingerprint::of(plan, dataset, selection);
    if let Some(wanted) = &arguments.reuse {
        let mut parent = plan.results_dir.clone();
        parent.extend(names::run_name_levels(&plan.run_name));
        parent.push(&namespace);
        let dir = find(&parent, wanted)?;
        check(&dir, &mark)?;
        let store = RunStore::open(&dir, redactor, time::wall())?;
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
        results_dir: plan.results_dir.clone(),
        run_name: plan.run_name.clone(),
        namespace,
        run_id: arguments.run_id.clone(),
        request: plan.request.clone(),
        reused_from: None,
        planned: PlannedRun::new(tasks, mark),
        redactor,
        started_at: time::wall(),
    })
    .map_err(|error| {
        let hint = match &error {
            argosy_coordinator::store::Error::RunExists { run_id, .. } => {
                format!("--reuse {run_id} goes on with it; another --run-id starts anew")
            }
            _ => "choose another place with --results-dir, or another --run-id".to_owned(),
        };
        Usage::new(error.to_string()).hint(hint)
    })?;
    let journal = store.dir().join(JOURNAL);
    Ok(Directory { store, journal, resumed: false })
}

/// The named run, or the newest one that has a journal.
fn find(parent: &Path, wanted: &str) -> anyhow::Result<PathBuf> {
    if !wanted.is_empty() {
        let dir = parent.join(wanted);
        if names::is_run_id(wanted) && dir.join(JOURNAL).is_file() {
            return Ok(dir);
        }
        let known = runs(parent);
        let known: Vec<&str> = known.iter().map(|(_, name)| name.as_str()).collect();
        let hint = if known.is_empty() {
            "there is none yet: leave --reuse away".to_owned()
        } else {
            format!("there are {}", known.join(", "))
        };
        return Err(Usage::new(format!("no run `{wanted}` to go on with in {}", parent.display())).hint(hint).into());
    }
    let newest = runs(parent).into_iter().max();
    newest.map(|(_, name)| parent.join(name)).ok_or_else(|| {
        Usage::new(format!("no run to go on with in {}", parent.display()))
            .hint("leave --reuse away to start one, or check --results-dir, --run-name and the model id")
            .into()
    })
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
