//! Tasks: started, retried, published.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use argosy_shared::{
    id::TaskId,
    run_dir::{
        AttemptRecord, AttemptResult, RetryRecord, State, TaskHeader, TaskIndex, checkpoint,
        names::{self, CHECKPOINT, RESULT, RETRIES, TASK},
        retry::RetryFile,
        status,
    },
};

use super::{Error, RunStore, atomic};

impl RunStore {
    /// Lists an attempt in its task's index below `details/running`. A task that was published is taken back first, and
    /// what an earlier execution left in the attempt's directory is kept below `retries/`.
    ///
    /// # Errors
    /// The disk, or the index there cannot be read.
    pub fn task_started(&self, task: &TaskId, attempt: u32) -> Result<(), Error> {
        let dir = self.running_dir(task)?;
        let path = dir.join(TASK);
        let mut index = read_index(&path)?.unwrap_or_else(|| TaskIndex::running(task, Vec::new()));
        let before = index.clone();
        index.shared = None;
        index.attempts.insert(attempt);
        if index != before || !path.exists() {
            atomic::write_json(&path, &index)?;
        }
        let attempt_dir = dir.join(names::attempt_dir(attempt));
        atomic::make_dirs(&attempt_dir)?;
        archive(&attempt_dir)
    }

    /// Writes the result of an attempt whose task has others that are not over; [`RunStore::publish`] may be given it
    /// again.
    ///
    /// # Errors
    /// The disk, or a metric is not finite.
    pub fn attempt_finished(&self, task: &TaskId, attempt: u32, record: &AttemptRecord<'_>) -> Result<(), Error> {
        let dir = self.running_dir(task)?;
        let path = dir.join(TASK);
        let mut index = read_index(&path)?.unwrap_or_else(|| TaskIndex::running(task, Vec::new()));
        index.attempts.insert(attempt);
        atomic::write_json(&path, &index)?;
        let attempt_dir = self.write_result(&dir, attempt, record)?;
        let waiting = checkpoint::waiting_for_siblings(task, attempt, record.retry_count, record.issues);
        atomic::write_json(&attempt_dir.join(CHECKPOINT), &waiting)
    }

    /// Publishes a task with all its attempts and gives the path of its `task.json`. Doing it again, also after a crash
    /// at any point, ends the same way.
    ///
    /// # Errors
    /// The disk, or a metric is not finite, or the task lies in two states.
    pub fn publish(&self, header: &TaskHeader<'_>, attempts: &[(u32, AttemptRecord<'_>)]) -> Result<PathBuf, Error> {
        if !self.inner.params_written.load(Ordering::Acquire) {
            self.write_params()?;
        }
        let (state, dir) = match self.locate(header.task)? {
            Some(place) => place,
            None => (State::Running, self.running_dir(header.task)?),
        };
        for (attempt, record) in attempts {
            let attempt_dir = self.write_result(&dir, *attempt, record)?;
            atomic::write_json(&attempt_dir.join(CHECKPOINT), &checkpoint::published())?;
        }
        let numbers = attempts.iter().map(|(attempt, _)| *attempt).collect();
        atomic::write_json(&dir.join(TASK), &TaskIndex::published(header, numbers))?;
        let worst = attempts.iter().filter_map(|(_, record)| record.worst()).max();
        let dir = self.move_to(header.task, (state, dir), status::state_of(worst))?;
        Ok(dir.join(TASK))
    }

    /// Where a published task lies; `None` while it is not published.
    ///
    /// # Errors
    /// The task lies in two states.
    pub fn published(&self, task: &TaskId) -> Result<Option<State>, Error> {
        Ok(self.locate(task)?.map(|(state, _)| state).filter(|state| *state != State::Running))
    }

    /// Keeps what a discarded execution had produced, and gives the record's path.
    ///
    /// # Errors
    /// The disk.
    pub fn retry_diagnostic(&self, record: &RetryRecord<'_>) -> Result<PathBuf, Error> {
        let dir = self.running_dir(record.task)?.join(names::attempt_dir(record.attempt)).join(RETRIES);
        atomic::make_dirs(&dir)?;
        let name = names::retry_file(record.task, record.attempt, record.retry, record.scope.as_str());
        let path = dir.join(name);
        atomic::write_json(&path, &RetryFile { record, redactor: &self.inner.redactor })?;
        Ok(path)
    }

    fn write_result(&self, dir: &Path, attempt: u32, record: &AttemptRecord<'_>) -> Result<PathBuf, Error> {
        let attempt_dir = dir.join(names::attempt_dir(attempt));
        atomic::make_dirs(&attempt_dir)?;
        let result = AttemptResult { record, redactor: &self.inner.redactor };
        atomic::write_json(&attempt_dir.join(RESULT), &result)?;
        Ok(attempt_dir)
    }

    /// The task's directory below `details/running`, made or taken back if need be.
    fn running_dir(&self, task: &TaskId) -> Result<PathBuf, Error> {
        match self.locate(task)? {
            Some((State::Running, dir)) => Ok(dir),
            Some(place) => self.move_to(task, place, State::Running),
            None => {
                let dir = self.dir_in(State::Running, task);
                atomic::make_dirs(&dir)?;
                Ok(dir)
            }
        }
    }

    fn move_to(&self, task: &TaskId, from: (State, PathBuf), to: State) -> Result<PathBuf, Error> {
        let (state, dir) = from;
        if state == to {
            return Ok(dir);
        }
        let target = self.dir_in(to, task);
        if let Some(parent) = target.parent() {
            atomic::make_dirs(parent)?;
        }
        atomic::rename(&dir, &target)?;
        Ok(target)
    }

    fn locate(&self, task: &TaskId) -> Result<Option<(State, PathBuf)>, Error> {
        let mut found: Option<(State, PathBuf)> = None;
        for state in State::ALL {
            let dir = self.dir_in(state, task);
            if !dir.is_dir() {
                continue;
            }
            if let Some((first, _)) = found {
                let dir = self.inner.dir.clone();
                return Err(Error::TwoStates { dir, task: task.clone(), first, second: state });
            }
            found = Some((state, dir));
        }
        Ok(found)
    }

    fn dir_in(&self, state: State, task: &TaskId) -> PathBuf {
        self.inner.dir.join(names::task_path(state, task))
    }
}

fn read_index(path: &Path) -> Result<Option<TaskIndex>, Error> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::record(path, &error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::io(path, source)),
    }
}

/// Moves an earlier result and checkpoint below `retries/<32 hex digits>/`.
fn archive(attempt_dir: &Path) -> Result<(), Error> {
    let old: Vec<&str> = [RESULT, CHECKPOINT].into_iter().filter(|name| attempt_dir.join(name).exists()).collect();
    if old.is_empty() {
        return Ok(());
    }
    let kept = attempt_dir.join(RETRIES).join(uuid::Uuid::new_v4().simple().to_string());
    atomic::make_dirs(&kept)?;
    old.iter().try_for_each(|name| atomic::rename(&attempt_dir.join(name), &kept.join(name)))
}
