//! `progress.jsonl`, appended event by event, and `progress.json`, rewritten at most once a second.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{MutexGuard, PoisonError},
};

use argosy_shared::{
    run_dir::{
        json,
        names::{PROGRESS, PROGRESS_LOG},
        progress::{Event, Kind, Origin, Snapshot, Tracker, event::Line},
    },
    time::Timestamp,
};
use jiff::SignedDuration;

use super::{Error, RunStore, atomic};

/// The least time between two snapshots.
const PACE: SignedDuration = SignedDuration::from_secs(1);
/// A line that was cut off is looked for in the last part of the log only.
const TAIL: u64 = 1 << 20;

/// Both files.
#[derive(Debug)]
pub(super) struct Progress {
    dir: PathBuf,
    run_id: String,
    orchestration_id: String,
    log: File,
    tracker: Tracker,
    /// When the last snapshot was written, and whether something happened since.
    written: Option<Timestamp>,
    stale: bool,
}

impl Progress {
    /// Starts a new count; the log is continued where an earlier process left it.
    pub(super) fn open(dir: &Path, run_id: &str, origin: &Origin, now: Timestamp) -> Result<Self, Error> {
        let path = dir.join(PROGRESS_LOG);
        let io = |source| Error::io(&path, source);
        let mut log = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(io)?;
        cut_after_last_line(&mut log).map_err(io)?;
        Ok(Self {
            dir: dir.to_owned(),
            run_id: run_id.to_owned(),
            orchestration_id: uuid::Uuid::new_v4().simple().to_string(),
            log,
            tracker: Tracker::new(run_id, origin, now),
            written: None,
            stale: false,
        })
    }

    fn apply(&mut self, event: &Event) -> Result<(), Error> {
        self.tracker.apply(event);
        self.stale = true;
        self.append(event)?;
        // A wall clock that was set back must not stop the snapshots.
        let due = self.written.is_none_or(|written| event.at < written || event.at.duration_since(written) >= PACE);
        let at_once = matches!(event.kind, Kind::RunStarted(_) | Kind::ReuseLoaded { .. } | Kind::RunFinished { .. });
        if due || at_once {
            self.write_snapshot()?;
            self.written = Some(event.at);
        }
        Ok(())
    }

    fn append(&mut self, event: &Event) -> Result<(), Error> {
        let path = self.dir.join(PROGRESS_LOG);
        let line = Line { run_id: &self.run_id, orchestration_id: &self.orchestration_id, event };
        let mut line = json::line(&line).map_err(|error| Error::record(&path, &error))?;
        line.push('\n');
        let before = self.log.metadata().map_err(|source| Error::io(&path, source))?.len();
        self.log.write_all(line.as_bytes()).map_err(|source| {
            // Half a line would spoil the next one.
            let _ = self.log.set_len(before);
            Error::io(&path, source)
        })
    }

    fn write_snapshot(&mut self) -> Result<(), Error> {
        atomic::write_json(&self.dir.join(PROGRESS), self.tracker.snapshot())?;
        self.stale = false;
        Ok(())
    }
}

impl RunStore {
    /// Takes an event into both progress files.
    ///
    /// # Errors
    /// The disk. The event counts all the same.
    pub fn progress(&self, event: &Event) -> Result<(), Error> {
        self.lock_progress().apply(event)
    }

    /// What the events so far add up to.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.lock_progress().tracker.snapshot().clone()
    }

    /// Brings `progress.json` up to date.
    pub(super) fn flush_progress(&self) -> Result<(), Error> {
        let mut progress = self.lock_progress();
        if progress.stale { progress.write_snapshot() } else { Ok(()) }
    }

    fn lock_progress(&self) -> MutexGuard<'_, Progress> {
        self.inner.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cuts off a last line that has no end: its writer died.
fn cut_after_last_line(log: &mut File) -> std::io::Result<()> {
    let length = log.metadata()?.len();
    let start = length.saturating_sub(TAIL);
    log.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    log.take(TAIL).read_to_end(&mut tail)?;
    let kept = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at as u64 + 1);
    if start + kept < length {
        log.set_len(start + kept)?;
    }
    Ok(())
}
