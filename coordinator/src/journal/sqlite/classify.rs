//! What SQLite says, in the journal's terms.

use std::io;

use crate::journal::Error;

/// Primary result codes, <https://www.sqlite.org/rescode.html>.
mod code {
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const IOERR: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const NOTADB: i32 = 26;
}

#[allow(clippy::needless_pass_by_value, reason = "used as the argument of `map_err`")]
pub(in crate::journal) fn classify(error: sqlx::Error) -> Error {
    match &error {
        sqlx::Error::Database(said) => {
            let code = said.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or(0);
            let text = said.to_string();
            // The low byte of an extended code is the primary one.
            match code & 0xff {
                code::FULL => Error::Full(text),
                code::READONLY => Error::ReadOnly(text),
                code::BUSY | code::LOCKED => Error::Locked(text),
                code::CORRUPT | code::NOTADB => Error::Corrupt(text),
                code::IOERR | code::CANTOPEN => Error::Io(text),
                _ => Error::Database(text),
            }
        }
        sqlx::Error::Io(error) => classify_io(error, &error.to_string()),
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => Error::Closed,
        sqlx::Error::PoolTimedOut => Error::Locked("all reading connections are busy".to_owned()),
        other => Error::Database(other.to_string()),
    }
}

/// The same for what the file system says about a file beside the database.
pub(super) fn classify_io(error: &io::Error, what: &str) -> Error {
    let text = what.to_owned();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::Full(text),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Error::ReadOnly(text),
        _ => Error::Io(text),
    }
}
