//! `fetch` against a server of the test's own.

use std::{fs, path::Path};

use argosy_coordinator::dataset::{Dataset, Error, fetch};
use flate2::{Compression, write::GzEncoder};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::fixture;

/// The fixture as GitHub packs a commit: everything below one folder.
fn archive(root: &Path) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    tar.append_dir_all("discoverybench-0123456", root).unwrap();
    tar.into_inner().unwrap().finish().unwrap()
}

/// Gives `body` to every request.
async fn serve(status: &'static str, body: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/archive.tar.gz", listener.local_addr().unwrap());
    argosy_shared::supervise::detach("test-server", async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(&body).await;
        }
    });
    url
}

async fn get(url: &str, to: &Path, allow_unpinned: bool) -> Result<Dataset, Error> {
    fetch::fetch(url, to, allow_unpinned, &|_, _| {}).await
}

#[tokio::test]
async fn what_arrives_is_the_checkout() {
    let url = serve("200 OK", archive(&fixture::place())).await;
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("deep/checkout");
    let fetched = get(&url, &to, true).await.unwrap();
    let fixture = fixture::open();
    assert_eq!(fetched.identity, fixture.identity);
    assert_eq!(fetched.data.tasks, fixture.data.tasks);
    assert!(fetched.data.blobs.values().all(|file| file.path.starts_with(&to) && file.path.is_file()));
    assert!(!to.join("discoverybench/real/test/lighthouse_keepers/.ipynb_checkpoints").exists());
    assert_eq!(fs::read_dir(folder.path().join("deep")).unwrap().count(), 1, "nothing else is left");
}

#[tokio::test]
async fn a_local_archive_does_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.tar.gz");
    fs::write(&file, archive(&fixture::place())).unwrap();
    let url = format!("file://{}", file.display());
    assert_eq!(get(&url, &folder.path().join("to"), true).await.unwrap().data.tasks.len(), 11);
}

#[tokio::test]
async fn whatever_fails_leaves_nothing() {
    let damaged = fixture::Copy::new();
    fs::remove_file(damaged.file("eval/answer_key_real.csv")).unwrap();
    let mut cut = archive(&fixture::place());
    cut.truncate(cut.len() / 2);
    let page = b"<html>sign in</html>".to_vec();
    let cases = [
        ("200 OK", archive(&fixture::place()), false, "not a file of DiscoveryBench's commit c31fcf0"),
        ("200 OK", archive(&damaged.root()), true, "eval/answer_key_real.csv: missing"),
        ("200 OK", cut, true, "not a .tar.gz archive"),
        ("200 OK", page, true, "not a .tar.gz archive"),
        ("404 Not Found", Vec::new(), true, "the server answered 404"),
    ];
    for (status, body, allow_unpinned, expected) in cases {
        let url = serve(status, body).await;
        let folder = tempfile::tempdir().unwrap();
        let error = get(&url, &folder.path().join("to"), allow_unpinned).await.unwrap_err();
        assert!(error.to_string().contains(expected), "`{error}` lacks `{expected}`");
        assert!(!error.to_string().contains(".argosy-"), "{error}");
        assert!(error.hint().unwrap().contains("--url"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{expected}");
    }
}

#[tokio::test]
async fn a_place_that_is_taken_is_refused_before_anything_is_downloaded() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x"), "x").unwrap();
    let error = get("http://127.0.0.1:1/never-asked", folder.path(), true).await.unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    let error = get("no url", &folder.path().join("to"), true).await.unwrap_err();
    assert!(error.to_string().contains("\"no url\" is not a URL"), "{error}");
}
