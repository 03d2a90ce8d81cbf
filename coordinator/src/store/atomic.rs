//! Files and directories that are there completely or not at all.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use argosy_shared::run_dir::{json, names::TEMPORARY};
use serde::Serialize;

use super::Error;

/// Replaces `path` by `text`.
pub(super) fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    replace(path, |writer| writer.write_all(text.as_bytes()).map_err(|source| Error::io(path, source)))
}

/// Replaces `path` by `value` as indented JSON, streamed.
pub(super) fn write_json<T: Serialize + ?Sized>(path: &Path, value: &T) -> Result<(), Error> {
    replace(path, |writer| {
        json::write_pretty(writer, value).map_err(|error| match error.io_error_kind() {
            Some(_) => Error::io(path, error.into()),
            None => Error::record(path, &error),
        })
    })
}

/// Removes a file, if it is there, for good.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Ok(()) => sync_parent(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Error::io(path, source)),
    }
}

/// Makes a directory and those above it, for good.
pub(super) fn make_dirs(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_dirs(parent)?;
    }
    match fs::create_dir(path) {
        Ok(()) => sync_parent(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(source) => Err(Error::io(path, source)),
    }
}

/// Moves a file or directory, for good.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).map_err(|source| Error::io(to, source))?;
    sync_parent(to)?;
    if from.parent() == to.parent() { Ok(()) } else { sync_parent(from) }
}

fn replace(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), Error>) -> Result<(), Error> {
    let temporary = temporary(path);
    let written = fill_file(&temporary, path, fill).and_then(|()| {
        fs::rename(&temporary, path).map_err(|source| Error::io(path, source))?;
        sync_parent(path)
    });
    if written.is_err() {
        // After a successful rename there is nothing to remove; an error here would hide the real one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn fill_file(
    temporary: &Path,
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), Error>,
) -> Result<(), Error> {
    let file = File::create_new(temporary).map_err(|source| Error::io(path, source))?;
    let mut writer = BufWriter::with_capacity(1 << 18, file);
    fill(&mut writer)?;
    writer.flush().map_err(|source| Error::io(path, source))?;
    writer.get_ref().sync_all().map_err(|source| Error::io(path, source))
}

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{TEMPORARY}{name}.{}", uuid::Uuid::new_v4().simple()))
}

fn sync_parent(path: &Path) -> Result<(), Error> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(parent).and_then(|folder| folder.sync_all()).map_err(|source| Error::io(parent, source))
}
