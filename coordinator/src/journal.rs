//! Durable events and what belongs to them; resume is replay.
//!
//! - [`Journal`]: the seam. Two implementations: [`sqlite`] (a file) and [`memory`] (tests, simulation).
//! - [`error`]: what can go wrong, in the terms of what follows from it.
//!
//! Four kinds of things are kept:
//!
//! - **events** of the scheduler, in batches: a batch is there as a whole or not at all;
//! - **blobs**: results of executions and judgements, of any size, by digest;
//! - **steps** of running executions, so that paid turns can be replayed;
//! - **evidence**: which blobs an execution left, and whether they count.
//!
//! Everything is durable when the call returns. Calls may be made concurrently: those that wait at the same time
//! share one transaction.

pub mod error;
pub mod memory;
pub mod sqlite;

use argosy_shared::{
    id::{AttemptKey, ExecutionKey},
    task::Blob,
};
use async_trait::async_trait;
use bytes::Bytes;
use sha2::{Digest, Sha256};

pub use self::error::Error;
use crate::scheduler::Event;

/// A place in the journal: how many batches lie up to and including it. 0 is the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub u64);

/// A batch of events as it was appended.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Where it lies.
    pub position: Position,
    /// Its events.
    pub events: Vec<Event>,
}

/// What a blob is to its execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The result a worker uploaded.
    Result,
    /// What the judge made of it.
    Judgement,
    /// A result that was refused: of an execution that was no longer the live one.
    Superseded,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Result, Self::Judgement, Self::Superseded];

    /// The name in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Judgement => "judgement",
            Self::Superseded => "superseded",
        }
    }
}

/// A blob an execution left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What it is.
    pub kind: Kind,
    /// Its content's name.
    pub blob: Blob,
}

/// A finished step of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStep {
    /// 1-based.
    pub step_id: u32,
    /// `argosy_shared::trajectory::StepRecord` as JSON.
    pub json: Bytes,
}

/// Where the coordinator's memory is kept.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Appends `events` as one batch. An empty batch stores nothing and returns when all earlier appends are durable.
    ///
    /// Appends that wait at the same time keep the order of their calls, but one may fail and a later one succeed: a
    /// caller whose batches build on each other waits for each, or makes one batch of them.
    ///
    /// # Errors
    /// Nothing of the batch is stored. After [`Error::is_transient`] the same call may be made again.
    async fn append(&self, events: Vec<Event>) -> Result<Position, Error>;

    /// At most `limit` batches after `after`, in order. Empty at the end.
    ///
    /// # Errors
    /// The journal cannot be read, or a batch is of a newer version.
    async fn replay(&self, after: Position, limit: usize) -> Result<Vec<Batch>, Error>;

    /// Stores `bytes` of any size as left by `execution`. Storing the same again changes nothing.
    ///
    /// # Errors
    /// Nothing is stored.
    async fn put(&self, execution: &ExecutionKey, kind: Kind, bytes: Bytes) -> Result<Blob, Error>;

    /// The content of a blob, checked against its digest.
    ///
    /// # Errors
    /// [`Error::NoBlob`], or content that is not what was stored.
    async fn get(&self, blob: &Blob) -> Result<Bytes, Error>;

    /// Turns a result into evidence: the scheduler refused it after it had been stored.
    ///
    /// # Errors
    /// Nothing is changed.
    async fn supersede(&self, execution: &ExecutionKey, blob: &Blob) -> Result<(), Error>;

    /// What an execution left, in the order of storing.
    ///
    /// # Errors
    /// The journal cannot be read.
    async fn evidence(&self, execution: &ExecutionKey) -> Result<Vec<Evidence>, Error>;

    /// Stores finished steps of an execution. A step that is there already stays as it is.
    ///
    /// # Errors
    /// None of `steps` is stored.
    async fn append_steps(&self, execution: &ExecutionKey, steps: Vec<StoredStep>) -> Result<(), Error>;

    /// The stored steps of an execution, in order.
    ///
    /// # Errors
    /// The journal cannot be read.
    async fn steps_of(&self, execution: &ExecutionKey) -> Result<Vec<StoredStep>, Error>;

    /// Drops blobs and steps of all executions of an attempt: its outcome is published, its retries are written.
    /// Its events stay.
    ///
    /// # Errors
    /// Nothing is dropped.
    async fn forget(&self, attempt: &AttemptKey) -> Result<(), Error>;

    /// Makes everything durable and lets go of the journal, so that another process may open it at once. Later
    /// calls fail with [`Error::Closed`].
    ///
    /// # Errors
    /// Something could not be made durable.
    async fn close(&self) -> Result<(), Error>;
}

/// What a blob of these bytes is called. Hashing many megabytes would hold an async thread up, so it is done elsewhere.
async fn blob_of(bytes: Bytes) -> Blob {
    const SMALL: usize = 1 << 18;
    let name = |bytes: &Bytes| Blob { sha256: hex::encode(Sha256::digest(bytes)), bytes: bytes.len() as u64 };
    if bytes.len() <= SMALL {
        return name(&bytes);
    }
    let kept = bytes.clone();
    tokio::task::spawn_blocking(move || name(&kept)).await.unwrap_or_else(|_| name(&bytes))
}

/// All events of a journal, in order, read in chunks.
///
/// # Errors
/// As [`Journal::replay`].
pub async fn read_all(journal: &dyn Journal) -> Result<Vec<Event>, Error> {
    const CHUNK: usize = 1024;
    let mut events = Vec::new();
    let mut after = Position::default();
    loop {
        let batches = journal.replay(after, CHUNK).await?;
        let Some(last) = batches.last() else { return Ok(events) };
        after = last.position;
        events.extend(batches.into_iter().flat_map(|batch| batch.events));
    }
}

#[cfg(test)]
mod tests;
