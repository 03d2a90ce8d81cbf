//! Data files from memory, where a worker would ask the coordinator.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use argosy_shared::task::Blob;
use argosy_worker::cache::Fetch;
use async_trait::async_trait;
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use sha2::{Digest as _, Sha256};

/// Files by digest.
#[derive(Debug, Default)]
pub struct LocalFiles {
    files: Mutex<HashMap<String, Vec<u8>>>,
    fetches: AtomicUsize,
}

impl LocalFiles {
    /// Adds a file.
    pub fn add(&self, content: &[u8]) -> Blob {
        let sha256 = hex::encode(Sha256::digest(content));
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(sha256.clone(), content.to_vec());
        Blob { sha256, bytes: content.len() as u64 }
    }

    /// How often a file was asked for.
    #[must_use]
    pub fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Fetch for LocalFiles {
    async fn fetch(&self, sha256: &str) -> Result<BoxStream<'static, Result<bytes::Bytes, String>>, String> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let content = files.get(sha256).ok_or("no such file")?.clone();
        Ok(stream::once(async { Ok(content.into()) }).boxed())
    }
}
