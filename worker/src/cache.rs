//! Data files by digest, on the worker's disk.
//!
//! A file is fetched once, however many executions want it at the same time, and is only ever stored when its bytes
//! have the digest it is asked for by. Agents never get the stored file, only private copies of it. It is checked again
//! whenever it is used: an environment without isolation lets the agent's code write anywhere.

mod books;
mod flight;
mod store;
#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use argosy_shared::task::Blob;
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;

use self::{books::Books, flight::Flights};

/// Where files come from that are not in the cache.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Opens the stream of a file's content, of which nothing is trusted. One item is what fits into memory with ease.
    ///
    /// # Errors
    /// The source cannot be reached or does not have the file; one line for people.
    async fn fetch(&self, sha256: &str) -> Result<BoxStream<'static, Result<Bytes, String>>, String>;
}

/// A bounded store of data files. Clones share it.
#[derive(Clone)]
pub struct Cache(Arc<Inner>);

/// Why a file could not be had.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The cache's folder cannot be used.
    #[error("cache folder {}: {reason}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        reason: Arc<std::io::Error>,
    },
    /// The digest is not the 64 lower-case hexadecimal digits of a SHA-256.
    #[error("`{0}` is not a lower-case hexadecimal SHA-256")]
    Digest(String),
    /// The source has no such file or broke off.
    #[error("data file {sha256} cannot be fetched: {reason}")]
    Fetch {
        /// The file.
        sha256: String,
        /// What the source says.
        reason: String,
    },
    /// Other bytes came than were announced.
    #[error("data file {sha256} was fetched but is another: {found}")]
    Content {
        /// The file.
        sha256: String,
        /// What came.
        found: String,
    },
    /// The worker's runtime is shutting down.
    #[error("the worker is shutting down")]
    ShuttingDown,
    /// A file cannot be written or read.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: Arc<std::io::Error>,
    },
}

/// A file that stays in the cache as long as this lives.
pub struct Held {
    cache: Arc<Inner>,
    blob: Blob,
    serial: u64,
}

struct Inner {
    folder: PathBuf,
    source: Arc<dyn Fetch>,
    books: Mutex<Books>,
    flights: Flights,
}

impl Cache {
    /// Opens a cache in `folder`, which is made if it is missing; what an earlier one left there is used again.
    ///
    /// `max_bytes` bounds what is kept. Files in use count, but are never removed: while executions use more than fits,
    /// the bound is exceeded, and kept again as soon as they let go.
    ///
    /// # Errors
    /// The folder cannot be made or read.
    pub async fn open(folder: &Path, max_bytes: u64, source: Arc<dyn Fetch>) -> Result<Self, Error> {
        let found = store::scan(folder.to_owned()).await?;
        let mut books = Books::new(max_bytes);
        for blob in found {
            books.insert(blob);
        }
        let cache = Self(Arc::new(Inner {
            folder: folder.to_owned(),
            source,
            books: Mutex::new(books),
            flights: Flights::default(),
        }));
        cache.0.tidy();
        Ok(cache)
    }

    /// The file, fetched if it is not there or was damaged, and kept until the answer is dropped.
    ///
    /// # Errors
    /// It cannot be fetched or stored, or other bytes come than its digest and size say.
    pub async fn hold(&self, blob: &Blob) -> Result<Held, Error> {
        if !is_digest(&blob.sha256) {
            return Err(Error::Digest(blob.sha256.clone()));
        }
        if let Some(held) = self.0.pin(blob) {
            match store::check(held.path(), blob).await? {
                None => return Ok(held),
                Some(damage) => {
                    tracing::warn!(sha256 = blob.sha256, damage, "a stored data file was damaged, fetching it again");
                    held.forget();
                }
            }
        }
        self.0
            .flights
            .one_at_a_time(&blob.sha256, async {
                // Another flight may have landed between the look above and here.
                if let Some(held) = self.0.pin(blob) {
                    return Ok(held);
                }
                let stream = self
                    .0
                    .source
                    .fetch(&blob.sha256)
                    .await
                    .map_err(|reason| Error::Fetch { sha256: blob.sha256.clone(), reason })?;
                store::insert(&self.0.folder, blob, stream).await?;
                let serial = self.0.books().insert_pinned(blob.clone());
                self.0.tidy();
                Ok(Held { cache: self.0.clone(), blob: blob.clone(), serial })
            })
            .await
    }

    /// Bytes of all stored files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.books().bytes()
    }

    /// Whether the file is stored.
    #[must_use]
    pub fn has(&self, sha256: &str) -> bool {
        self.0.books().has(sha256)
    }
}

impl Held {
    /// Where it is stored. To be copied from, never to be given away: whoever can write there damages it for others.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        store::path(&self.cache.folder, &self.blob.sha256)
    }

    /// Removes the stored file although it is in use: it is damaged.
    fn forget(self) {
        let path = self.path();
        self.cache.books().remove(&self.blob.sha256, || drop(std::fs::remove_file(&path)));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.cache.books().unpin(&self.blob.sha256, self.serial);
        self.cache.tidy();
    }
}

impl Inner {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pin(self: &Arc<Self>, blob: &Blob) -> Option<Held> {
        let serial = self.books().pin(&blob.sha256)?;
        Some(Held { cache: self.clone(), blob: blob.clone(), serial })
    }

    /// Removes the least recently used files that are not in use until the rest is within the bound.
    fn tidy(&self) {
        // Removed under the lock: a file that is fetched again right now must not be removed afterwards.
        self.books().evict(|sha256| {
            if let Err(error) = std::fs::remove_file(store::path(&self.folder, sha256)) {
                tracing::warn!(sha256, %error, "cannot remove a data file from the cache");
            }
        });
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
