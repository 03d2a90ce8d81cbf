//! A bundle gives what it was made of, or says what is wrong with it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use argosy_coordinator::dataset::{self, OpenOptions, bundle};
use tempfile::TempDir;

use crate::fixture;

struct Bundle {
    folder: TempDir,
}

impl Bundle {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        bundle::write(&fixture::open(), &folder.path().join("a/bundle")).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a/bundle")
    }

    fn failure(&self) -> String {
        let error = dataset::open(&self.path(), &fixture::unpinned()).unwrap_err();
        error.to_string().replace(&format!("{}/", self.path().display()), "")
    }
}

#[test]
fn it_gives_back_what_it_was_made_of() {
    let bundle = Bundle::new();
    let (made_of, opened) = (fixture::open(), dataset::open(&bundle.path(), &fixture::unpinned()).unwrap());
    assert_eq!(opened.data.tasks, made_of.data.tasks);
    assert_eq!(opened.data.golds, made_of.data.golds);
    assert_eq!(opened.data.sources, made_of.data.sources);
    assert_eq!((opened.pack, opened.identity), (made_of.pack, made_of.identity));
    for (sha256, file) in &made_of.data.blobs {
        assert_eq!(opened.data.read_blob(sha256).unwrap(), fs::read(&file.path).unwrap());
    }
    let mode = |name: &str| fs::metadata(bundle.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("golds.json"), 0o600);
    assert_eq!(mode("."), 0o755);
}

#[test]
fn made_from_a_bundle_it_has_the_same_bytes() {
    let bundle = Bundle::new();
    let again = bundle.folder.path().join("again");
    bundle::write(&dataset::open(&bundle.path(), &fixture::unpinned()).unwrap(), &again).unwrap();
    assert_eq!(tree(&bundle.path()), tree(&again));
}

#[test]
fn unpinned_ones_are_refused_unless_allowed() {
    let bundle = Bundle::new();
    let error = dataset::open(&bundle.path(), &OpenOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("not made of DiscoveryBench's commit c31fcf0"), "{error}");
    let pack = Some(bundle.path().join("prompt-pack.json"));
    let error = dataset::open(&bundle.path(), &OpenOptions { prompt_pack: pack, allow_unpinned: true }).unwrap_err();
    assert!(error.to_string().contains("another prompt pack cannot replace them"), "{error}");
}

#[test]
fn damage_is_named() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage, &str); 9] = [
        ("altered tasks", |path| edit(path, "tasks.json", "peak", "fall"), "tasks.json: differs from the digest"),
        ("altered gold", |path| edit(path, "golds.json", "1920s", "1930s"), "golds.json: differs from the digest"),
        ("altered prompts", |path| edit(path, "prompt-pack.json", "captain", "cook"), "prompt-pack.json: differs"),
        (
            "gold removed",
            |path| fs::remove_file(path.join("golds.json")).unwrap(),
            "golds.json: missing, but the manifest",
        ),
        ("another schema", |path| edit(path, "manifest.json", "dataset.v1", "dataset.v9"), "manifest.json: schema is"),
        ("no JSON", |path| fs::write(path.join("manifest.json"), "").unwrap(), "manifest.json: EOF while parsing"),
        (
            "a lie",
            |path| edit(path, "manifest.json", "\"pinned\": false", "\"pinned\": true"),
            "manifest.json: the identity",
        ),
        ("a blob cut", |path| fs::write(any_blob(path), "").unwrap(), "blobs/"),
        ("a blob removed", |path| fs::remove_file(any_blob(path)).unwrap(), "blobs/"),
    ];
    for (what, damage, expected) in cases {
        let bundle = Bundle::new();
        damage(&bundle.path());
        let failure = bundle.failure();
        assert!(failure.starts_with(expected), "{what}: `{failure}` is not `{expected}`");
    }
}

#[test]
fn an_altered_blob_of_the_same_size_is_noticed_when_it_is_read() {
    let bundle = Bundle::new();
    let blob = any_blob(&bundle.path());
    let mut bytes = fs::read(&blob).unwrap();
    bytes[0] ^= 1;
    fs::write(&blob, bytes).unwrap();
    let dataset = dataset::open(&bundle.path(), &fixture::unpinned()).unwrap();
    let error = dataset.data.read_blob(blob.file_name().unwrap().to_str().unwrap()).unwrap_err();
    assert!(error.to_string().contains("has changed"), "{error}");
}

#[test]
fn nothing_is_left_half_written() {
    let copy = fixture::Copy::new();
    let dataset = dataset::open(&copy.root(), &fixture::unpinned()).unwrap();
    copy.replace("discoverybench/real/test/lighthouse_keepers/storms+gales.csv", "1900", "1899");
    let folder = tempfile::tempdir().unwrap();
    let error = bundle::write(&dataset, &folder.path().join("bundle")).unwrap_err();
    assert!(error.to_string().contains("storms+gales.csv: has changed"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_place_that_is_taken_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (taken, empty) = (folder.path().join("taken"), folder.path().join("empty"));
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("x"), "x").unwrap();
    let error = bundle::write(&fixture::open(), &taken).unwrap_err();
    assert!(error.to_string().ends_with("taken: exists already"), "{error}");
    assert_eq!(tree(&taken).len(), 1);
    fs::create_dir(&empty).unwrap();
    bundle::write(&fixture::open(), &empty).unwrap();
    assert!(dataset::open(&empty, &fixture::unpinned()).is_ok());
}

fn edit(bundle: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(bundle.join(file)).unwrap();
    assert!(text.contains(from), "{file} lacks {from}");
    fs::write(bundle.join(file), text.replacen(from, to, 1)).unwrap();
}

fn any_blob(bundle: &Path) -> PathBuf {
    let mut blobs: Vec<PathBuf> =
        fs::read_dir(bundle.join("blobs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    blobs.sort();
    blobs.remove(0)
}

/// All files below a folder with their contents.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    files
}
