//! The imported form of a dataset: one directory, written once, opened in milliseconds.
//!
//! ```text
//! manifest.json      what it is, and the digests of the files beside it
//! sources.txt        the files it was made of, as `sha256sum` lists them
//! tasks.json         tasks; datasets that several share stand there once
//! golds.json         gold hypotheses by task id; readable by its owner only
//! prompt-pack.json   the prompts
//! blobs/<sha256>     data files
//! ```
//!
//! The same dataset gives the same bytes, whatever form it was opened from.

mod contents;
mod write;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use argosy_shared::prompts::PromptPack;
use serde::{Deserialize, Serialize};

use super::{BlobFile, Data, Dataset, Error, Identity, files, identity};
use contents::{Golds, Tasks};

pub(super) use write::Staging;
pub use write::write;

/// The file that makes a directory a bundle.
pub const MANIFEST: &str = "manifest.json";
/// The schema of the bundles this version reads and writes.
pub const SCHEMA: &str = "argosy.dataset.v1";

const SOURCES: &str = "sources.txt";
const TASKS: &str = "tasks.json";
const GOLDS: &str = "golds.json";
const PACK: &str = "prompt-pack.json";
const BLOBS: &str = "blobs";

/// Bound of the files beside the blobs. DiscoveryBench's `tasks.json` has 5 MB.
const MAX_BYTES: u64 = 1 << 30;

/// `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// What exactly the dataset is.
    pub identity: Identity,
    /// Number of tasks.
    pub tasks: usize,
    /// SHA-256 of the files beside the manifest, by name.
    pub files: BTreeMap<String, String>,
    /// Sizes of the data files, by SHA-256.
    pub blobs: BTreeMap<String, u64>,
}

/// Opens a bundle. Its small files are compared with their digests; data files only with their sizes, since
/// [`Data::read_blob`] compares the digest of what it reads.
///
/// # Errors
/// A file is missing, or is not the one the manifest names.
pub fn open(path: &Path) -> Result<Dataset, Error> {
    let manifest = read_manifest(path)?;
    let read = |name: &str| -> Result<Vec<u8>, Error> {
        let file = path.join(name);
        let (bytes, sha256) =
            files::read_whole(&file, MAX_BYTES).map_err(|error| missing(error, "the manifest names it"))?;
        match manifest.files.get(name) {
            Some(expected) if *expected == sha256 => Ok(bytes),
            Some(_) => Err(damaged(file, "differs from the digest in the manifest")),
            None => Err(damaged(path.join(MANIFEST), format!("does not name {name}"))),
        }
    };
    let sources = parse_listing(&path.join(SOURCES), &read(SOURCES)?)?;
    let pack =
        PromptPack::from_json(&read(PACK)?).map_err(|source| Error::PromptPack { file: path.join(PACK), source })?;
    // The manifest's own statement about itself is not believed.
    let identity = Identity::new(&sources, &pack, manifest.identity.commit.clone());
    if identity != manifest.identity {
        return Err(damaged(path.join(MANIFEST), "the identity does not follow from the files"));
    }
    let tasks = Tasks::read(&path.join(TASKS), &read(TASKS)?)?;
    let golds = Golds::read(&path.join(GOLDS), &read(GOLDS)?)?;
    if tasks.len() != manifest.tasks
        || golds.len() != tasks.len()
        || tasks.iter().any(|task| golds.get(&task.id).is_none())
    {
        return Err(damaged(path.join(TASKS), "tasks and gold do not match"));
    }
    let blobs = check_blobs(path, &manifest)?;
    let named = tasks.iter().flat_map(|task| &task.datasets).find(|file| !blobs.contains_key(&file.blob.sha256));
    if let Some(file) = named {
        return Err(damaged(path.join(MANIFEST), format!("does not list {} ({})", file.blob.sha256, file.name)));
    }
    Ok(Dataset { data: Data { tasks, golds, sources, blobs }, pack, identity })
}

/// Reads the manifest alone.
///
/// # Errors
/// It is missing or not a manifest of this version.
pub fn read_manifest(path: &Path) -> Result<Manifest, Error> {
    let file = path.join(MANIFEST);
    let (bytes, _) = files::read_whole(&file, MAX_BYTES)?;
    let manifest: Manifest = parse(&file, &bytes)?;
    if manifest.schema != SCHEMA {
        let reason = format!("schema is `{}`, this version reads `{SCHEMA}`", manifest.schema);
        return Err(Error::invalid(file, reason));
    }
    Ok(manifest)
}

fn check_blobs(path: &Path, manifest: &Manifest) -> Result<BTreeMap<String, BlobFile>, Error> {
    let mut blobs = BTreeMap::new();
    for (sha256, bytes) in &manifest.blobs {
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash {
            return Err(damaged(path.join(MANIFEST), format!("{sha256:?} is no SHA-256")));
        }
        let file = path.join(BLOBS).join(sha256);
        let found =
            fs::metadata(&file).map_err(|source| missing(Error::unreadable(&file, source), "the manifest lists it"))?;
        if !found.is_file() || found.len() != *bytes {
            return Err(damaged(file, format!("has {} bytes, expected {bytes}", found.len())));
        }
        blobs.insert(sha256.clone(), BlobFile { path: file, bytes: *bytes });
    }
    Ok(blobs)
}

fn parse_listing(file: &Path, bytes: &[u8]) -> Result<BTreeMap<String, String>, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::invalid(file, "not UTF-8"))?;
    let line = |line: &str| line.split_once("  ").map(|(sha256, path)| (path.to_owned(), sha256.to_owned()));
    let sources: Option<BTreeMap<String, String>> = text.lines().map(line).collect();
    sources
        .filter(|sources| identity::listing(sources) == text)
        .ok_or_else(|| Error::invalid(file, "not a sorted list of `<sha256>  <path>`"))
}

fn parse<T: for<'de> Deserialize<'de>>(file: &Path, bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::invalid(file, error.to_string()))
}

fn missing(error: Error, wanted_by: &str) -> Error {
    match error {
        Error::Unreadable { file, source } if source.kind() == std::io::ErrorKind::NotFound => {
            Error::Missing { file, wanted_by: wanted_by.to_owned() }
        }
        other => other,
    }
}

fn damaged(file: PathBuf, what: impl Into<String>) -> Error {
    Error::Damaged { file, what: what.into() }
}
