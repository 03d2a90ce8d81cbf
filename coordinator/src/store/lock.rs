//! Keeps a second writer out of a run directory.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Write as _},
    path::Path,
};

use argosy_shared::run_dir::names::LOCK;

use super::Error;

/// The lock, held until it is dropped or the process dies, however it dies.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Takes the lock of `dir`.
pub(super) fn take(dir: &Path) -> Result<Lock, Error> {
    let path = dir.join(LOCK);
    let io = |source| Error::io(&path, source);
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // What it says is a courtesy; that it is locked is the point.
            let _ = file.take(200).read_to_string(&mut holder);
            let holder =
                if holder.trim().is_empty() { "it did not say which".to_owned() } else { holder.trim().to_owned() };
            return Err(Error::Locked { dir: dir.to_owned(), holder });
        }
        Err(TryLockError::Error(source)) => return Err(io(source)),
    }
    let uname = rustix::system::uname();
    let host = uname.nodename().to_string_lossy();
    file.set_len(0).map_err(io)?;
    writeln!(file, "process {} on {host}", std::process::id()).map_err(io)?;
    Ok(Lock { _file: file })
}
