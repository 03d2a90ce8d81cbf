//! Makes `details/`, `metrics.json` and `summary.md` of a run again from its journal. They are a projection of it, written
//! by the same code as during the run, so the bytes are the same; only times of `run_info.json` change.
//!
//! Not made again are the copies below `retries/<32 hex digits>/` that a task leaves when it is taken back after its
//! publication: they are moved files, and the journal has no names for them.

use std::collections::BTreeMap;

use argosy_shared::id::{AttemptKey, TaskId};

pub use super::publish::Error;
use super::{
    Run,
    publish::{record::Loaded, write},
};
use crate::{
    journal::{self, Journal},
    scheduler::{self, FinalAttempt, RetryNotice, RunState, Settings, State, notice},
};

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Tasks in the plan.
    pub planned: usize,
    /// Tasks published.
    pub published: usize,
    /// Tasks below `details/running`.
    pub running: usize,
    /// Records of discarded executions and judgings.
    pub retries: usize,
    /// Whether the run was over, so that its scores were written.
    pub scored: bool,
    /// Attempts whose results another run had made; this journal does not have them.
    pub adopted: usize,
}

/// What the journal says about one task.
#[derive(Default)]
struct Found {
    retries: Vec<RetryNotice>,
    /// Attempts that were begun and are not over.
    begun: Vec<AttemptKey>,
    finals: Vec<FinalAttempt>,
}

/// Rebuilds. What lies in `details/` is set aside first and put back if something fails.
///
/// # Errors
/// The journal does not know the run or lacks a result; the disk.
pub async fn rebuild(run: &Run, journal: &dyn Journal) -> Result<Rebuilt, Error> {
    let events = journal::read_all(journal).await?;
    // No lease of this state will be looked at.
    let settings = Settings { lease: super::Settings::default().lease };
    let (notices, state) = notice::notices(settings, &events);
    let (tasks, mut rebuilt) = sort(run, &state, notices);
    let aside = run.store.set_details_aside()?;
    match write_all(run, journal, &state, tasks, &mut rebuilt).await {
        Ok(()) => {
            run.store.forget_details(aside)?;
            Ok(rebuilt)
        }
        Err(error) => {
            run.store.put_details_back(aside)?;
            Err(error)
        }
    }
}

fn sort(run: &Run, state: &State, notices: Vec<RetryNotice>) -> (BTreeMap<TaskId, Found>, Rebuilt) {
    let mut rebuilt = Rebuilt { planned: run.selection.len(), ..Rebuilt::default() };
    let mut tasks: BTreeMap<TaskId, Found> = BTreeMap::new();
    for notice in notices.into_iter().filter(|notice| notice.execution.attempt.run == run.id) {
        tasks.entry(notice.execution.attempt.task.clone()).or_default().retries.push(notice);
    }
    for (key, attempt) in state.attempts(&run.id) {
        match state.final_attempt(&key) {
            Some(last) if last.outcome.execution == 0 => rebuilt.adopted += 1,
            Some(last) => tasks.entry(key.task).or_default().finals.push(last),
            None if attempt.executions > 0 => tasks.entry(key.task.clone()).or_default().begun.push(key),
            None => {}
        }
    }
    (tasks, rebuilt)
}

async fn write_all(
    run: &Run,
    journal: &dyn Journal,
    state: &State,
    tasks: BTreeMap<TaskId, Found>,
    rebuilt: &mut Rebuilt,
) -> Result<(), Error> {
    for (id, found) in tasks {
        for key in &found.begun {
            run.store.task_started(&key.task, key.attempt)?;
        }
        for notice in &found.retries {
            let loaded = Loaded::of_retry(run, journal, notice).await?;
            write::retry(run, notice, &loaded)?;
            rebuilt.retries += 1;
        }
        let mut loaded = Vec::with_capacity(found.finals.len());
        for attempt in found.finals {
            let record = Loaded::of_final(run, journal, &attempt).await?;
            loaded.push((attempt, record));
        }
        if loaded.len() == run.execution.k as usize {
            write::task(run, &id, &loaded)?;
            rebuilt.published += 1;
        } else {
            for (attempt, loaded) in &loaded {
                write::unfinished(run, &attempt.attempt, loaded)?;
            }
            rebuilt.running += 1;
        }
    }
    let over = state.run_of(&run.id).is_some_and(|view| matches!(view.state, RunState::Finished));
    // With results of another run missing, scores would be those of a part.
    if over && rebuilt.adopted == 0 {
        write::scores(run)?;
        rebuilt.scored = true;
    }
    Ok(())
}

/// Whether the journal knows the run.
///
/// # Errors
/// The journal cannot be read.
pub async fn knows(journal: &dyn Journal, run: &argosy_shared::id::RunId) -> Result<bool, Error> {
    let events = journal::read_all(journal).await?;
    Ok(events.iter().any(|event| matches!(event, scheduler::Event::RunAdded { plan } if plan.id == *run)))
}
