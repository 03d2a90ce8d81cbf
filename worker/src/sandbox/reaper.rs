//! Folders that belong to a living worker, and the removal of those whose worker has died.
//!
//! Every sandbox folder holds a file `owner` on which its worker keeps an exclusive lock. The kernel releases it when the
//! worker ends, however it ends; whoever gets the lock then may take the folder away. Making a folder and looking for
//! abandoned ones exclude each other by a lock on `<root>/.lock`, so that a folder is never seen before it is locked.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::FlockOperation;

use super::{
    host_process::{Error, at},
    remove,
};
use crate::python;

const PREFIX: &str = "sandbox-";
const OWNER: &str = "owner";

/// A folder that this process owns as long as the value lives.
#[derive(Debug)]
pub(super) struct Owned {
    path: PathBuf,
    _lock: File,
}

impl Owned {
    /// Makes a new private folder below `root`, and first removes those that no living worker owns. An abandoned folder
    /// that resists is left where it is, with a warning.
    pub(super) fn claim(root: &Path) -> Result<Self, Error> {
        DirBuilder::new().recursive(true).mode(0o700).create(root).map_err(|error| at(root, &error))?;
        let root = root.canonicalize().map_err(|error| at(root, &error))?;
        let (new, abandoned) = {
            let _guard = lock_root(&root)?;
            let abandoned = abandoned(&root);
            (Self::new(&root)?, abandoned)
        };
        for folder in abandoned {
            remove_abandoned(folder);
        }
        Ok(new)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Kills the processes that belong to the folder and removes it.
    pub(super) fn remove(self) -> Result<(), Error> {
        let left = python::kill_strays(&self.path, None);
        let removed = remove::tree(&self.path).map_err(|error| at(&self.path, &error));
        if !left.is_empty() {
            return Err(Error(format!("processes {left:?} of {} are still there", self.path.display())));
        }
        removed
    }

    /// Only under the root's lock.
    fn new(root: &Path) -> Result<Self, Error> {
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(root)
            .map_err(|error| at(root, &error))?;
        let lock = File::create_new(folder.path().join(OWNER)).map_err(|error| at(folder.path(), &error))?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| at(folder.path(), &error))?;
        Ok(Self { path: folder.keep(), _lock: lock })
    }
}

/// Removes what dead workers have left below `root`, and the processes that are left of them, and returns how many
/// folders that were. [`Sandbox::create`](super::host_process::Sandbox::create) does it as well.
///
/// # Errors
/// The root cannot be locked.
pub async fn sweep(root: &Path) -> Result<usize, Error> {
    let root = root.to_path_buf();
    let swept = tokio::task::spawn_blocking(move || {
        if !root.exists() {
            return Ok(0);
        }
        let abandoned = {
            let _guard = lock_root(&root)?;
            abandoned(&root)
        };
        let count = abandoned.len();
        abandoned.into_iter().for_each(remove_abandoned);
        Ok(count)
    });
    swept.await.unwrap_or_else(|error| Err(Error(error.to_string())))
}

fn lock_root(root: &Path) -> Result<File, Error> {
    let path = root.join(".lock");
    let lock = File::options().create(true).append(true).open(&path).map_err(|error| at(&path, &error))?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|error| at(&path, &error))?;
    Ok(lock)
}

/// The folders whose owner is gone; they are ours now. Only under the root's lock.
fn abandoned(root: &Path) -> Vec<Owned> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .filter_map(|entry| {
            let path = entry.path();
            // A folder without the file is none of ours, or its maker died in between: then it is empty.
            let Ok(lock) = File::options().read(true).write(true).open(path.join(OWNER)) else {
                let _ = fs::remove_dir(&path);
                return None;
            };
            rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
            Some(Owned { path, _lock: lock })
        })
        .collect()
}

fn remove_abandoned(folder: Owned) {
    let path = folder.path.clone();
    match folder.remove() {
        Ok(()) => tracing::info!(path = %path.display(), "removed the sandbox of a worker that has died"),
        Err(error) => tracing::warn!(%error, "the sandbox of a worker that has died is not gone"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_left_alone_as_long_as_its_owner_lives() {
        let root = tempfile::tempdir().unwrap();
        let first = Owned::claim(&root.path().join("deep/er")).unwrap();
        let root = root.path().join("deep/er");
        let second = Owned::claim(&root).unwrap();
        assert!(first.path().exists() && second.path().exists());

        // As if the owner had died: the lock is free, the folder still there.
        let path = first.path().to_path_buf();
        fs::write(path.join("file"), "left").unwrap();
        drop(first);
        let third = Owned::claim(&root).unwrap();
        assert!(!path.exists());
        assert!(second.path().exists() && third.path().exists());
        second.remove().unwrap();
        third.remove().unwrap();
        assert_eq!(
            fs::read_dir(&root).unwrap().flatten().map(|entry| entry.file_name()).collect::<Vec<_>>(),
            [".lock"]
        );
    }

    #[tokio::test]
    async fn only_folders_of_this_kind_are_swept() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(sweep(&root.path().join("missing")).await.unwrap(), 0);
        for name in ["sandbox-foreign", "sandbox-empty", "other"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        fs::write(root.path().join("sandbox-foreign/precious"), "").unwrap();
        drop(Owned::claim(root.path()).unwrap());
        assert_eq!(sweep(root.path()).await.unwrap(), 1);
        let mut left: Vec<_> = fs::read_dir(root.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, [".lock", "other", "sandbox-foreign"]);
    }

    #[test]
    fn a_root_that_cannot_be() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Owned::claim(file.path()).unwrap_err().to_string();
        assert!(error.contains(&file.path().display().to_string()), "{error}");
    }
}
