//! What can go wrong with a journal.

use std::path::PathBuf;

use crate::scheduler::event::DecodeError;

/// A failed call. Clonable, because callers that shared a transaction share its failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Another process has the journal open.
    #[error("journal {} is in use by {holder}; stop that process or use another --state", path.display())]
    Held {
        /// The database.
        path: PathBuf,
        /// What the holder wrote about itself.
        holder: String,
    },
    /// Written by a newer Argosy.
    #[error("journal {} has schema {found}; this argosy knows schemas up to {known}, use the newer one", path.display())]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest known.
        known: i64,
    },
    /// A database, but not a journal.
    #[error("{} is a database of another program (application id {found:#x}); name another file", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
        /// Its application id.
        found: i64,
    },
    /// A batch of events that cannot be decoded.
    #[error("journal batch {position}: {reason}")]
    Events {
        /// Which batch.
        position: u64,
        /// Why.
        reason: String,
    },
    /// No space is left (or the allowed size is reached). Nothing was stored; try again when there is space.
    #[error("no space left for the journal: {0}")]
    Full(String),
    /// The file or its folder cannot be written.
    #[error("the journal is read-only: {0}")]
    ReadOnly(String),
    /// Someone else holds a lock inside the database for longer than the busy timeout.
    #[error("the journal's database is locked by another program: {0}")]
    Locked(String),
    /// The content is damaged.
    #[error("the journal is damaged: {0}")]
    Corrupt(String),
    /// Reading, writing or syncing failed.
    #[error("journal input/output: {0}")]
    Io(String),
    /// There is no such blob.
    #[error("the journal has no blob {0}")]
    NoBlob(String),
    /// The journal was closed.
    #[error("the journal is closed")]
    Closed,
    /// Anything else the database said: a defect of Argosy.
    #[error("unexpected answer of the journal's database: {0}")]
    Database(String),
}

impl Error {
    /// Whether the same call may succeed later without anyone repairing the content: the engine pauses and tries
    /// again instead of giving up.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Full(_) | Self::ReadOnly(_) | Self::Locked(_) | Self::Io(_) => true,
            Self::Held { .. }
            | Self::NewerSchema { .. }
            | Self::Foreign { .. }
            | Self::Events { .. }
            | Self::Corrupt(_)
            | Self::NoBlob(_)
            | Self::Closed
            | Self::Database(_) => false,
        }
    }

    pub(super) fn events(position: u64, error: &DecodeError) -> Self {
        Self::Events { position, reason: error.to_string() }
    }
}
