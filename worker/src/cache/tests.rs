use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use argosy_shared::supervise;
use futures::{StreamExt as _, stream};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::*;

/// A source with files, which counts what it is asked for.
struct Source {
    files: Mutex<HashMap<String, Vec<u8>>>,
    asked: AtomicUsize,
    /// One permit is taken per fetch.
    gate: Semaphore,
}

#[async_trait]
impl Fetch for Source {
    async fn fetch(&self, sha256: &str) -> Result<BoxStream<'static, Result<Bytes, String>>, String> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.map_err(|error| error.to_string())?.forget();
        let content = self.files.lock().unwrap().get(sha256).cloned().ok_or("no such file")?;
        let chunks: Vec<Result<Bytes, String>> =
            content.chunks(7).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        Ok(stream::iter(chunks).boxed())
    }
}

impl Source {
    fn new() -> Arc<Self> {
        Arc::new(Self { files: Mutex::default(), asked: AtomicUsize::new(0), gate: Semaphore::new(1000) })
    }

    fn add(&self, content: &[u8]) -> Blob {
        let sha256 = hex::encode(Sha256::digest(content));
        self.files.lock().unwrap().insert(sha256.clone(), content.to_vec());
        Blob { sha256, bytes: content.len() as u64 }
    }

    fn replace(&self, blob: &Blob, content: &[u8]) {
        self.files.lock().unwrap().insert(blob.sha256.clone(), content.to_vec());
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

async fn open(folder: &Path, max_bytes: u64, source: &Arc<Source>) -> Cache {
    Cache::open(folder, max_bytes, source.clone()).await.unwrap()
}

fn stored(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_file_is_fetched_once_and_used_as_often_as_wanted() {
    let (folder, source) = (tempfile::tempdir().unwrap(), Source::new());
    let blob = source.add(b"a,b\n1,2\n3,4\n");
    let cache = open(&folder.path().join("new/cache"), 1000, &source).await;
    for _ in 0..2 {
        let held = cache.hold(&blob).await.unwrap();
        assert_eq!(std::fs::read(held.path()).unwrap(), b"a,b\n1,2\n3,4\n");
    }
    assert_eq!(source.asked(), 1);
    assert_eq!(cache.bytes(), 12);
}

#[tokio::test]
async fn who_asks_at_the_same_time_shares_one_fetch() {
    let (folder, source) = (tempfile::tempdir().unwrap(), Source::new());
    let blobs = [source.add(b"x"), source.add(b"y")];
    source.gate.forget_permits(1000);
    let cache = open(folder.path(), 1000, &source).await;
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let (cache, blob) = (cache.clone(), blobs[number % 2].clone());
            supervise::spawn("hold", async move { cache.hold(&blob).await.map(drop) })
        })
        .collect();
    while source.asked() < 2 {
        tokio::task::yield_now().await;
    }
    source.gate.add_permits(1000);
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(source.asked(), 2);
}

#[tokio::test]
async fn a_cancelled_fetch_is_taken_over_and_leaves_nothing() {
    let (folder, source) = (tempfile::tempdir().unwrap(), Source::new());
    let blob = source.add(b"x");
    source.gate.forget_permits(1000);
    let cache = open(folder.path(), 1000, &source).await;
    let hold = |cache: Cache, blob: Blob| supervise::spawn("hold", async move { cache.hold(&blob).await.map(drop) });
    let first = hold(cache.clone(), blob.clone());
    while source.asked() < 1 {
        tokio::task::yield_now().await;
    }
    let second = hold(cache.clone(), blob.clone());
    tokio::task::yield_now().await;
    drop(first);
    source.gate.add_permits(1000);
    second.await.unwrap().unwrap();
    assert_eq!(source.asked(), 2);
    assert_eq!(stored(folder.path()), [blob.sha256]);
}

#[tokio::test]
async fn who_waited_for_a_failed_fetch_does_not_repeat_it() {
    let (folder, source) = (tempfile::tempdir().unwrap(), Source::new());
    let blob = source.add(b"x");
    source.files.lock().unwrap().clear();
    source.gate.forget_permits(1000);
    let cache = open(folder.path(), 1000, &source).await;
    let tasks: Vec<_> = (0..5)
        .map(|_| {
            let (cache, blob) = (cache.clone(), blob.clone());
            supervise::spawn("hold", async move { cache.hold(&blob).await.map(drop) })
        })
        .collect();
    while source.asked() < 1 {
        tokio::task::yield_now().await;
    }
    source.gate.add_permits(1000);
    for task in tasks {
        assert!(task.await.unwrap().unwrap_err().to_string().contains("no such file"));
    }
    assert_eq!(source.asked(), 1);
    // Later on it is tried again.
    source.replace(&blob, b"x");
    cache.hold(&blob).await.unwrap();
}

#[tokio::test]
async fn other_bytes_than_announced_are_never_stored() {
    let (folder, source) = (tempfile::tempdir().unwrap(), Source::new());
    let blob = source.add(b"the right content");
    let cache = open(folder.path(), 1000, &source).await;
    for (content, complaint) in [
        (&b"the wrong content"[..], "its SHA-256 is"),
        (b"the right", "ends after 9 of 17 bytes"),
        (b"the right content, and then some", "goes on after the 17 bytes"),
    ] {
        source.replace(&blob, content);
        let error = cache.hold(&blob).await.err().unwrap();
        assert!(error.to_string().contains(complaint), "{error}");
        assert!(stored(folder.path()).is_empty());
        assert_eq!(cache.bytes(), 0);
    }
    let path = Blob { sha256: "../../etc/passwd".to_owned(), bytes: 1 };
    assert!(matches!(cache.hold(&path).await, Err(Error::Digest(_))));
}

#[tokio::test]
async fn the_bound_is_kept_but_never_at_the_cost_of_a_file_in_use() {
    let (folder, source) = (tempfile::tempdir().unwrap(), Source::new());
    let blobs: Vec<Blob> = ["aaaa", "bbbb", "cccc"].iter().map(|content| source.add(content.as_bytes())).collect();
    let cache = open(folder.path(), 8, &source).await;
    let first = cache.hold(&blobs[0]).await.unwrap();
    drop(cache.hold(&blobs[1]).await.unwrap());
    drop(cache.hold(&blobs[2]).await.unwrap());
    // The second went: the first is older, but in use.
    assert!(cache.has(&blobs[0].sha256) && !cache.has(&blobs[1].sha256) && cache.has(&blobs[2].sha256));
    assert_eq!(stored(folder.path()).len(), 2);

    let others = [cache.hold(&blobs[1]).await.unwrap(), cache.hold(&blobs[2]).await.unwrap()];
    assert_eq!(cache.bytes(), 12);
    drop(first);
    assert_eq!(cache.bytes(), 8);
    assert!(!cache.has(&blobs[0].sha256));
    drop(others);
}

#[tokio::test]
async fn a_damaged_file_is_fetched_again() {
    let (folder, source) = (tempfile::tempdir().unwrap(), Source::new());
    let blob = source.add(b"right");
    let cache = open(folder.path(), 1000, &source).await;
    let path = cache.hold(&blob).await.unwrap().path();
    for damage in [Some("wrong"), Some("right and more"), None] {
        match damage {
            Some(content) => std::fs::write(&path, content).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let held = cache.hold(&blob).await.unwrap();
        assert_eq!(std::fs::read(held.path()).unwrap(), b"right");
    }
    assert_eq!((source.asked(), cache.bytes()), (4, 5));

    // A source that is damaged too: no file at all rather than a wrong one.
    std::fs::write(&path, "wrong").unwrap();
    source.replace(&blob, b"wrong");
    assert!(matches!(cache.hold(&blob).await, Err(Error::Content { .. })));
    assert!(!path.exists() && !cache.has(&blob.sha256));
}

#[tokio::test]
async fn what_an_earlier_cache_left_is_used_and_its_rubbish_removed() {
    let (folder, source) = (tempfile::tempdir().unwrap(), Source::new());
    let blobs = [source.add(b"aaaa"), source.add(b"bbbb")];
    {
        let cache = open(folder.path(), 1000, &source).await;
        for blob in &blobs {
            drop(cache.hold(blob).await.unwrap());
        }
    }
    std::fs::write(folder.path().join("incoming-1"), "half").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "not ours").unwrap();
    let cache = open(folder.path(), 1000, &source).await;
    assert_eq!(cache.bytes(), 8);
    drop(cache.hold(&blobs[0]).await.unwrap());
    assert_eq!(source.asked(), 2);
    let mut expected: Vec<String> =
        blobs.iter().map(|blob| blob.sha256.clone()).chain(["notes.txt".to_owned()]).collect();
    expected.sort();
    assert_eq!(stored(folder.path()), expected);

    let smaller = open(folder.path(), 5, &source).await;
    assert_eq!(smaller.bytes(), 4);
}
