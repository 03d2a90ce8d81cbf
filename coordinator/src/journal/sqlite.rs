//! A journal in an SQLite file, in WAL mode with `synchronous=FULL`: a commit is on the disk before it is
//! acknowledged, and a crash at any point leaves the last acknowledged state.
//!
//! # Group commit
//!
//! One task owns the only writing connection (`writer`). It takes all calls that wait at the moment into one
//! transaction, so that many callers share one sync of the disk. Reading goes through connections of its own, which
//! WAL mode lets see the last commit without waiting for the writer.
//!
//! # Blobs lie in the database, in pieces
//!
//! Measured on this code's first machine (ratios, not milliseconds): 200 results of 20 kB took 4 to 20 times as long
//! as files of their own (write, sync, rename, sync the folder) than grouped in transactions, and small results are
//! what a sweep is made of. A blob of 64 MiB takes 3 times as long in the database as in a file, still only a
//! second; written in pieces, a transaction each, it delays the events of others by no more than such a file being
//! synced does. And one file can be copied as a whole, and another database could hold the same tables.
//!
//! # One owner
//!
//! The file `<database>.lock` is locked (`flock`) for as long as the journal is open, so that two coordinators
//! cannot both lease the same work. The lock goes with the process, however it ends; the file stays.

pub(super) mod classify;
mod open;
mod read;
mod schema;
mod work;
mod writer;

use std::path::{Path, PathBuf};

use argosy_shared::{
    id::{AttemptKey, ExecutionKey},
    task::Blob,
};
use async_trait::async_trait;
use bytes::Bytes;
use sqlx::SqlitePool;

use self::{
    work::{Done, Pieces, Work},
    writer::Writer,
};
use super::{Batch, Error, Evidence, Journal, Kind, Position, StoredStep, blob_of};
use crate::scheduler::{
    Event,
    event::{VERSION, encode},
};

/// Bytes of one piece of a blob, and so about the most that another caller has to wait for.
const PIECE: usize = 512 * 1024;

/// How to open a journal.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database file. It and its folder are made when they are missing.
    pub path: PathBuf,
    /// Most pages (of 4 KiB) the database may have; `None` leaves it to the disk.
    pub max_pages: Option<u32>,
}

impl Options {
    /// A journal at `path` without a bound.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), max_pages: None }
    }
}

/// An open journal.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    writer: Writer,
    readers: SqlitePool,
}

impl Sqlite {
    /// Opens or makes a journal and takes possession of it.
    ///
    /// # Errors
    /// [`Error::Held`], [`Error::Foreign`], [`Error::NewerSchema`], or the file cannot be used.
    pub async fn open(options: &Options) -> Result<Self, Error> {
        let opened = open::open(options).await?;
        let writer = Writer::start(opened.connection, opened.last, opened.lock);
        Ok(Self { path: options.path.clone(), writer, readers: opened.readers })
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores a blob in pieces of a transaction each and returns the number of its row. It does not count before it
    /// is named by evidence: what a crash leaves of it is removed when the journal is opened.
    async fn put_pieces(&self, bytes: &Bytes) -> Result<i64, Error> {
        let Done::Id(id) = self.writer.done(Work::BeginBlob).await? else { unreachable!("BeginBlob gives an id") };
        let abandon = self.writer.abandon_unless_kept(id);
        let mut number = 0;
        while number * PIECE < bytes.len() {
            let piece = bytes.slice(number * PIECE..bytes.len().min((number + 1) * PIECE));
            self.writer.done(Work::Piece { blob: id, number, bytes: piece }).await?;
            number += 1;
        }
        abandon.keep();
        Ok(id)
    }
}

#[async_trait]
impl Journal for Sqlite {
    async fn append(&self, events: Vec<Event>) -> Result<Position, Error> {
        let work =
            if events.is_empty() { Work::Barrier } else { Work::Append { version: VERSION, events: encode(&events) } };
        match self.writer.done(work).await? {
            Done::Position(position) => Ok(position),
            Done::Id(_) | Done::Nothing | Done::Missing => unreachable!("an append gives a position"),
        }
    }

    async fn replay(&self, after: Position, limit: usize) -> Result<Vec<Batch>, Error> {
        read::batches(&self.readers, after, limit).await
    }

    async fn put(&self, execution: &ExecutionKey, kind: Kind, bytes: Bytes) -> Result<Blob, Error> {
        let blob = blob_of(bytes.clone()).await;
        let name = |pieces| Work::Name { execution: execution.clone(), kind, blob: blob.clone(), pieces };
        if bytes.len() <= PIECE {
            self.writer.done(name(Pieces::Inline(bytes))).await?;
            return Ok(blob);
        }
        // The same bytes need not be written twice, unless they are forgotten between the look and the naming.
        let known = read::has_blob(&self.readers, &blob).await?;
        if !known || self.writer.done(name(Pieces::Known)).await? == Done::Missing {
            let id = self.put_pieces(&bytes).await?;
            self.writer.done(name(Pieces::Stored(id))).await?;
        }
        Ok(blob)
    }

    async fn get(&self, blob: &Blob) -> Result<Bytes, Error> {
        let bytes = read::blob(&self.readers, blob).await?;
        let found = blob_of(bytes.clone()).await;
        if found.sha256 == blob.sha256 {
            Ok(bytes)
        } else {
            Err(Error::Corrupt(format!("blob {} has the content of {}", blob.sha256, found.sha256)))
        }
    }

    async fn supersede(&self, execution: &ExecutionKey, blob: &Blob) -> Result<(), Error> {
        let work = Work::Supersede { execution: execution.clone(), sha256: blob.sha256.clone() };
        match self.writer.done(work).await? {
            Done::Missing => Err(Error::NoBlob(blob.sha256.clone())),
            Done::Nothing | Done::Position(_) | Done::Id(_) => Ok(()),
        }
    }

    async fn evidence(&self, execution: &ExecutionKey) -> Result<Vec<Evidence>, Error> {
        read::evidence(&self.readers, execution).await
    }

    async fn append_steps(&self, execution: &ExecutionKey, steps: Vec<StoredStep>) -> Result<(), Error> {
        self.writer.done(Work::Steps { execution: execution.clone(), steps }).await.map(|_| ())
    }

    async fn steps_of(&self, execution: &ExecutionKey) -> Result<Vec<StoredStep>, Error> {
        read::steps(&self.readers, execution).await
    }

    async fn forget(&self, attempt: &AttemptKey) -> Result<(), Error> {
        self.writer.done(Work::Forget { attempt: attempt.clone() }).await.map(|_| ())
    }

    async fn close(&self) -> Result<(), Error> {
        self.readers.close().await;
        self.writer.close().await
    }
}
