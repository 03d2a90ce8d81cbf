//! The cache's files.

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
};

use argosy_shared::task::Blob;
use bytes::Bytes;
use futures::{StreamExt as _, stream::BoxStream};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;

use super::{Error, is_digest};

/// What files that are still being fetched begin with.
const INCOMING: &str = "incoming-";

/// Where a file lies.
pub(super) fn path(folder: &Path, sha256: &str) -> PathBuf {
    folder.join(sha256)
}

/// Makes the folder, removes what an interrupted fetch left, and lists the files, least recently stored first.
pub(super) async fn scan(folder: PathBuf) -> Result<Vec<Blob>, Error> {
    blocking(move || {
        let refuse = |reason| Error::Folder { folder: folder.clone(), reason: Arc::new(reason) };
        fs::create_dir_all(&folder).map_err(refuse)?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder).map_err(refuse)? {
            let entry = entry.map_err(refuse)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let about = entry.metadata().map_err(refuse)?;
            if name.starts_with(INCOMING) {
                fs::remove_file(entry.path()).map_err(refuse)?;
            } else if is_digest(&name) && about.is_file() {
                found.push((about.modified().map_err(refuse)?, Blob { sha256: name, bytes: about.len() }));
            }
        }
        found.sort_by_key(|(modified, _)| *modified);
        Ok(found.into_iter().map(|(_, blob)| blob).collect())
    })
    .await
}

/// Stores a file: written beside its place, checked, and moved there in one step.
pub(super) async fn insert(
    folder: &Path,
    blob: &Blob,
    mut content: BoxStream<'static, Result<Bytes, String>>,
) -> Result<(), Error> {
    let io_error = |reason| Error::Io { path: path(folder, &blob.sha256), reason: Arc::new(reason) };
    let wrong = |found: String| Error::Content { sha256: blob.sha256.clone(), found };

    // Removed when this future ends before the move, cancelled or not.
    let incoming = tempfile::Builder::new().prefix(INCOMING).tempfile_in(folder).map_err(io_error)?;
    let mut file = tokio::fs::File::from_std(incoming.reopen().map_err(io_error)?);
    let mut digest = Sha256::new();
    let mut bytes = 0_u64;
    while let Some(chunk) = content.next().await {
        let chunk = chunk.map_err(|reason| Error::Fetch { sha256: blob.sha256.clone(), reason })?;
        bytes += chunk.len() as u64;
        if bytes > blob.bytes {
            return Err(wrong(format!("it goes on after the {} bytes it should have", blob.bytes)));
        }
        digest.update(&chunk);
        file.write_all(&chunk).await.map_err(io_error)?;
    }
    if bytes < blob.bytes {
        return Err(wrong(format!("it ends after {bytes} of {} bytes", blob.bytes)));
    }
    let found = hex::encode(digest.finalize());
    if found != blob.sha256 {
        return Err(wrong(format!("its SHA-256 is {found}")));
    }
    // No fsync: a file that a crash of the host damages is found out when it is used.
    file.flush().await.map_err(io_error)?;
    incoming.persist(path(folder, &blob.sha256)).map_err(|error| io_error(error.error))?;
    Ok(())
}

/// What is wrong with a stored file, if anything.
pub(super) async fn check(path: PathBuf, blob: &Blob) -> Result<Option<String>, Error> {
    let expected = blob.sha256.clone();
    blocking(move || match File::open(&path).and_then(digest_of) {
        Ok(found) if found == expected => Ok(None),
        Ok(found) => Ok(Some(format!("its SHA-256 is {found}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some("it is gone".to_owned())),
        Err(error) => Err(Error::Io { path, reason: Arc::new(error) }),
    })
    .await
}

fn digest_of(file: File) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut reader = BufReader::with_capacity(64 << 10, file);
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok(hex::encode(digest.finalize()));
        }
        digest.update(chunk);
        let read = chunk.len();
        reader.consume(read);
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::ShuttingDown),
        },
    }
}
