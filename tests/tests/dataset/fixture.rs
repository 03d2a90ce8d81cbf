//! The checkout-shaped fixture, whole or as a copy to be damaged.

use std::{
    fs,
    path::{Path, PathBuf},
};

use argosy_coordinator::dataset::{self, Dataset, Error, OpenOptions};
use tempfile::TempDir;

/// Its place.
pub(crate) fn place() -> PathBuf {
    argosy_tests::places::project().join("tests/fixtures/checkout")
}

/// Accepts what is not the pinned commit.
pub(crate) fn unpinned() -> OpenOptions {
    OpenOptions { prompt_pack: None, allow_unpinned: true }
}

/// The fixture, opened.
pub(crate) fn open() -> Dataset {
    dataset::open(&place(), &unpinned()).unwrap()
}

/// A copy that may be changed.
pub(crate) struct Copy {
    folder: TempDir,
}

impl Copy {
    /// Copies the whole fixture.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&place(), &folder.path().join("checkout"));
        Self { folder }
    }

    /// The copy's root.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("checkout")
    }

    /// A file of it.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// Replaces `from`, which must occur, by `to` in a file; bytes, since not all files are UTF-8.
    pub(crate) fn replace(&self, path: &str, from: &str, to: &str) {
        let bytes = fs::read(self.file(path)).unwrap();
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes());
        let at = at.unwrap_or_else(|| panic!("{path} lacks {from:?}"));
        let changed = [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat();
        fs::write(self.file(path), changed).unwrap();
    }

    /// Opens it, which must fail; gives the message without the temporary folder, and the hint.
    pub(crate) fn failure(&self, options: &OpenOptions) -> (String, String) {
        let error: Error = dataset::open(&self.root(), options).expect_err("it is damaged");
        let message = error.to_string().replace(&format!("{}/", self.root().display()), "");
        (message, error.hint().unwrap_or_default())
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
