//! The one task that writes.

use std::fs::File;

use argosy_shared::supervise;
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

use super::{
    classify::classify,
    work::{Done, Work},
};
use crate::journal::Error;

/// Calls that may wait at the door before callers have to wait to be let in.
const QUEUE: usize = 1024;

/// A transaction takes no more than this, so that the first in it does not wait for too many others.
const MAX_GROUP: usize = 256;
const MAX_BYTES: usize = 4 << 20;

/// The handle of the writing task.
#[derive(Debug)]
pub(super) struct Writer {
    calls: mpsc::Sender<Call>,
}

#[derive(Debug)]
enum Call {
    Work(Work, oneshot::Sender<Result<Done, Error>>),
    Close(oneshot::Sender<Result<(), Error>>),
}

impl Writer {
    /// Starts the task. It ends when it is told to close or when the last handle is gone; then it lets go of `lock`.
    pub(super) fn start(connection: SqliteConnection, last: u64, lock: File) -> Self {
        let (calls, waiting) = mpsc::channel(QUEUE);
        let task = Task { connection, last, waiting, _lock: lock };
        supervise::detach("journal", task.run());
        Self { calls }
    }

    /// Has it done and waits until it is durable.
    pub(super) async fn done(&self, work: Work) -> Result<Done, Error> {
        let (answer, answered) = oneshot::channel();
        self.calls.send(Call::Work(work, answer)).await.map_err(|_| Error::Closed)?;
        answered.await.map_err(|_| Error::Closed)?
    }

    /// Ends the task after all that waits.
    pub(super) async fn close(&self) -> Result<(), Error> {
        let (answer, answered) = oneshot::channel();
        if self.calls.send(Call::Close(answer)).await.is_err() {
            // It is closed already.
            return Ok(());
        }
        answered.await.map_err(|_| Error::Closed)?
    }

    /// Removes the pieces of a blob if the caller does not live to keep them.
    pub(super) fn abandon_unless_kept(&self, blob: i64) -> Abandon {
        Abandon { blob: Some(blob), calls: self.calls.clone() }
    }
}

/// See [`Writer::abandon_unless_kept`].
pub(super) struct Abandon {
    blob: Option<i64>,
    calls: mpsc::Sender<Call>,
}

impl Abandon {
    pub(super) fn keep(mut self) {
        self.blob = None;
    }
}

impl Drop for Abandon {
    fn drop(&mut self) {
        if let Some(blob) = self.blob {
            // If there is no room now, the next opening removes it.
            let _ = self.calls.try_send(Call::Work(Work::AbandonBlob { blob }, oneshot::channel().0));
        }
    }
}

struct Task {
    connection: SqliteConnection,
    /// Position of the last durable batch.
    last: u64,
    waiting: mpsc::Receiver<Call>,
    /// Held for as long as this lives; declared last, so it is let go of last.
    _lock: File,
}

impl Task {
    async fn run(mut self) {
        let mut closing = None;
        while closing.is_none()
            && let Some(first) = self.waiting.recv().await
        {
            let mut group = Vec::new();
            let mut bytes = 0;
            let mut next = Some(first);
            while let Some(call) = next {
                match call {
                    Call::Work(work, answer) => {
                        bytes += work.size();
                        group.push((work, answer));
                    }
                    Call::Close(answer) => {
                        closing = Some(answer);
                        break;
                    }
                }
                if group.len() >= MAX_GROUP || bytes >= MAX_BYTES {
                    break;
                }
                next = self.waiting.try_recv().ok();
            }
            self.write(group).await;
        }
        self.waiting.close();
        let Self { mut connection, _lock, .. } = self;
        // Leaves one file instead of three. A reader that still reads would make it wait, so it is only tried.
        let _ = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await;
        let closed = connection.close().await.map_err(classify);
        drop(_lock);
        if let Some(answer) = closing {
            let _ = answer.send(closed);
        }
    }

    /// All of the group in one transaction; if that fails and there are several, each in one of its own, so that
    /// what cannot be written fails alone.
    async fn write(&mut self, group: Vec<(Work, oneshot::Sender<Result<Done, Error>>)>) {
        let (works, answers): (Vec<Work>, Vec<_>) = group.into_iter().unzip();
        let outcomes = match self.transaction(&works).await {
            Ok(done) => done.into_iter().map(Ok).collect(),
            Err(error) if works.len() < 2 => vec![Err(error)],
            Err(_) => {
                let mut outcomes = Vec::with_capacity(works.len());
                // Events build on each other: after a batch that is not there, none of this group is.
                let mut broken = None;
                for work in &works {
                    let append = matches!(work, Work::Append { .. });
                    let outcome = match broken.clone().filter(|_| append) {
                        Some(error) => Err(error),
                        None => self.transaction(std::slice::from_ref(work)).await.map(|done| done[0]),
                    };
                    if append && let Err(error) = &outcome {
                        broken.get_or_insert_with(|| error.clone());
                    }
                    outcomes.push(outcome);
                }
                outcomes
            }
        };
        for (answer, outcome) in answers.into_iter().zip(outcomes) {
            // A caller that gave up waiting has its work done all the same.
            let _ = answer.send(outcome);
        }
    }

    async fn transaction(&mut self, works: &[Work]) -> Result<Vec<Done>, Error> {
        if works.iter().all(|work| matches!(work, Work::Barrier)) {
            // Everything before it has been committed: this task does one thing after another.
            return Ok(vec![Done::Position(crate::journal::Position(self.last)); works.len()]);
        }
        let mut last = self.last;
        let outcome = self.attempt(works, &mut last).await;
        if outcome.is_ok() {
            self.last = last;
        } else {
            // After some errors SQLite has rolled back by itself, then this one says that there is nothing to do.
            let _ = sqlx::query("ROLLBACK").execute(&mut self.connection).await;
        }
        outcome
    }

    async fn attempt(&mut self, works: &[Work], last: &mut u64) -> Result<Vec<Done>, Error> {
        let db = &mut self.connection;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *db).await.map_err(classify)?;
        let mut done = Vec::with_capacity(works.len());
        for work in works {
            done.push(work.run(db, last).await?);
        }
        sqlx::query("COMMIT").execute(&mut *db).await.map_err(classify)?;
        Ok(done)
    }
}
