//! What can go wrong with a run directory.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use argosy_shared::{id::TaskId, run_dir::State};

/// A run directory cannot be written or opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was being written, read or moved.
        path: PathBuf,
        /// What it means for the run.
        trouble: Trouble,
        /// The refusal.
        source: io::Error,
    },
    /// The run id is taken.
    #[error("the run `{run_id}` exists already: {}", dir.display())]
    RunExists {
        /// The id.
        run_id: String,
        /// Where it lies.
        dir: PathBuf,
    },
    /// The run id cannot be a directory's name.
    #[error("`{run_id}` cannot be a run id: letters, digits and `._=-` only, at most 200 of them")]
    BadRunId {
        /// The id.
        run_id: String,
    },
    /// No free time stamp was found.
    #[error("no free run id within a minute from `{first}` in {}", dir.display())]
    NoFreeRunId {
        /// The first one tried.
        first: String,
        /// Where.
        dir: PathBuf,
    },
    /// Another process writes this run.
    #[error("{}: another process writes this run ({holder})", dir.display())]
    Locked {
        /// The run directory.
        dir: PathBuf,
        /// What it wrote about itself.
        holder: String,
    },
    /// A task lies in two states; Argosy never leaves it so.
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
    /// What is there cannot be read.
    #[error(transparent)]
    Load(#[from] crate::report::load::Error),
    /// A record cannot be written as JSON.
    #[error("{}: {message}", path.display())]
    Record {
        /// The file it was meant for.
        path: PathBuf,
        /// Why not.
        message: String,
    },
}

/// What a refusal of the file system means. Whatever it is, nothing more can be made durable, so the run pauses and
/// tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No space or no quota is left.
    DiskFull,
    /// The file system or directory may not be written.
    ReadOnly,
    /// Anything else, for example a failing disk.
    Other,
}

impl Trouble {
    /// What a kind of refusal means.
    #[must_use]
    pub fn of(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Self::DiskFull,
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Self::ReadOnly,
            _ => Self::Other,
        }
    }
}

impl Error {
    /// `Some` when the run should pause until the disk works again; `None` when trying again cannot help.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::Io { trouble, .. } => Some(*trouble),
            Self::RunExists { .. }
            | Self::BadRunId { .. }
            | Self::NoFreeRunId { .. }
            | Self::Locked { .. }
            | Self::TwoStates { .. }
            | Self::Load(_)
            | Self::Record { .. } => None,
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { trouble: Trouble::DiskFull, path, .. } => {
                Some(format!("free some space on the file system of {}; the run goes on by itself", path.display()))
            }
            Self::Io { trouble: Trouble::ReadOnly, path, .. } => {
                Some(format!("make {} writable; the run goes on by itself", path.display()))
            }
            Self::RunExists { run_id, .. } => {
                Some(format!("give another --run-id, or go on with it by --reuse {run_id}"))
            }
            Self::BadRunId { run_id } => {
                Some(format!("for example --run-id {}", argosy_shared::run_dir::names::sanitise(run_id)))
            }
            Self::Locked { .. } => Some("wait for it to end, or look at the run without writing".to_owned()),
            Self::TwoStates { first, second, .. } => Some(format!(
                "move one of the two directories away; `{second}` is usually the newer of `{first}` and `{second}`"
            )),
            Self::Io { trouble: Trouble::Other, .. }
            | Self::NoFreeRunId { .. }
            | Self::Load(_)
            | Self::Record { .. } => None,
        }
    }

    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), trouble: Trouble::of(&source), source }
    }

    pub(super) fn record(path: impl AsRef<Path>, error: &serde_json::Error) -> Self {
        Self::Record { path: path.as_ref().to_owned(), message: error.to_string() }
    }
}
