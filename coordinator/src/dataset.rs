//! DiscoveryBench as data: tasks, gold, data files by digest, prompt pack.
//!
//! [`open`] takes any of three forms: an upstream checkout, a copy of its data folders (with a prompt pack beside it), or
//! a bundle that [`bundle::write`] made of either. In reading order:
//!
//! - `checkout`: reads the folders; `metadata`, `keys`, `encoding`: their files;
//! - [`pack`]: reads the prompts from Python source;
//! - [`identity`]: digests, and whether this is the commit that published scores refer to;
//! - [`gold`]: what must never leave the coordinator;
//! - [`select`]: the tasks of a run;
//! - [`bundle`], [`fetch`]: the imported form, and how to get a checkout.

pub mod bundle;
pub mod error;
pub mod fetch;
pub mod gold;
pub mod identity;
pub mod pack;
pub mod select;

mod checkout;
pub(crate) mod encoding;
mod files;
mod keys;
mod metadata;
mod parallel;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use argosy_shared::{
    id::TaskId,
    prompts::PromptPack,
    task::{Blob, Task},
};

pub use error::Error;
pub use gold::{Gold, Golds};
pub use identity::Identity;
pub use select::{SelectError, TaskIndex};

use files::Pins;
use identity::pinned;

/// A prompt pack file larger than this is none.
const MAX_PACK_BYTES: u64 = 16 << 20;

/// Everything a run needs to know of the benchmark.
#[derive(Debug)]
pub struct Dataset {
    /// Tasks, gold and data files.
    pub data: Data,
    /// The prompts.
    pub pack: PromptPack,
    /// What exactly this is.
    pub identity: Identity,
}

/// The dataset without its prompts.
#[derive(Debug)]
pub struct Data {
    /// In the dataset's order: splits as documented, directories by name, metadata files by number, queries as they
    /// stand.
    pub tasks: Vec<Task>,
    /// The gold hypotheses of all tasks.
    pub golds: Golds,
    /// SHA-256 of every file the tasks were made of, by path below the checkout.
    pub sources: BTreeMap<String, String>,
    /// Data files by SHA-256.
    pub blobs: BTreeMap<String, BlobFile>,
}

/// Where a data file lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobFile {
    /// The file. For a checkout it may have changed since it was read: see [`Data::read_blob`].
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// How [`open`] treats what it finds.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// A prompt pack to use instead of the checkout's own; needed for a copy of the data folders.
    pub prompt_pack: Option<PathBuf>,
    /// Accept files that are not those of the pinned commit. The identity then says so.
    pub allow_unpinned: bool,
}

/// Opens a checkout, a copy of its data folders, or a bundle.
///
/// # Errors
/// The first thing that is missing, altered or unreadable, by file.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Dataset, Error> {
    match Form::of(path)? {
        Form::Bundle => {
            let dataset = bundle::open(path)?;
            if options.prompt_pack.is_some() {
                return Err(Error::BundleHasPack { path: path.to_owned() });
            }
            if !dataset.identity.pinned && !options.allow_unpinned {
                return Err(Error::UnpinnedBundle { path: path.to_owned() });
            }
            Ok(dataset)
        }
        form @ (Form::Checkout | Form::DataOnly) => {
            let data = read_data(path, options.allow_unpinned)?;
            let pack = match &options.prompt_pack {
                Some(file) => read_pack(file, options.allow_unpinned)?,
                None if form == Form::DataOnly => return Err(Error::NoPrompts { path: path.to_owned() }),
                None => extract_pack(path, options.allow_unpinned)?,
            };
            let identity = Identity::new(&data.sources, &pack, identity::head(path));
            Ok(Dataset { data, pack, identity })
        }
    }
}

/// Opens the data without the prompts.
///
/// # Errors
/// As [`open`].
pub fn open_data(path: &Path, allow_unpinned: bool) -> Result<Data, Error> {
    match Form::of(path)? {
        Form::Bundle => bundle::open(path).map(|dataset| dataset.data),
        Form::Checkout | Form::DataOnly => read_data(path, allow_unpinned),
    }
}

/// The prompt pack of a checkout, compared with the pinned commit.
///
/// # Errors
/// A Python file is missing, altered, or not of the expected shape.
pub fn extract_pack(checkout: &Path, allow_unpinned: bool) -> Result<PromptPack, Error> {
    if !allow_unpinned {
        let pins = Pins::new(checkout, true);
        for file in pack::FILES {
            match files::digest(checkout, file, &pins) {
                Ok(_) => {}
                Err(Error::Unreadable { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                    return Err(pack::Error::Missing { file }.into());
                }
                Err(other) => return Err(other),
            }
        }
    }
    let mut pack = pack::extract(checkout)?;
    let is_pinned =
        |(file, sha256): (&String, &String)| pinned().file(file).is_some_and(|expected| sha256.starts_with(expected));
    pack.source.commit = if pack.source.files.iter().all(is_pinned) {
        Some(identity::PINNED_COMMIT.to_owned())
    } else {
        identity::head(checkout)
    };
    Ok(pack)
}

impl Data {
    /// The task of that name.
    #[must_use]
    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == *id)
    }

    /// The content of a data file, compared with its digest.
    ///
    /// # Errors
    /// There is no such file, it cannot be read, or it has changed since the dataset was opened.
    pub fn read_blob(&self, sha256: &str) -> Result<Vec<u8>, Error> {
        let file = self.blobs.get(sha256).ok_or_else(|| Error::NoSuchBlob { sha256: sha256.to_owned() })?;
        let (bytes, found) = files::read_whole(&file.path, file.bytes)?;
        if found != sha256 {
            return Err(Error::Changed { file: file.path.clone() });
        }
        Ok(bytes)
    }

    /// Digest and size of every data file.
    pub fn blobs(&self) -> impl Iterator<Item = Blob> {
        self.blobs.iter().map(|(sha256, file)| Blob { sha256: sha256.clone(), bytes: file.bytes })
    }
}

/// What a path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Checkout,
    DataOnly,
    Bundle,
}

impl Form {
    fn of(path: &Path) -> Result<Self, Error> {
        let kind = std::fs::metadata(path).map_err(|source| Error::unreadable(path, source))?;
        if !kind.is_dir() {
            return Err(Error::NotADataset { path: path.to_owned(), instead: None });
        }
        if path.join(bundle::MANIFEST).is_file() {
            return Ok(Self::Bundle);
        }
        if path.join(checkout::DATA_FOLDER).is_dir() {
            let python = pack::FILES.iter().any(|file| path.join(file).is_file());
            return Ok(if python { Self::Checkout } else { Self::DataOnly });
        }
        // `.../discoverybench/discoverybench` instead of `.../discoverybench` is easily given.
        let instead = path.parent().filter(|parent| {
            (path.join("real").is_dir() || path.join("synth").is_dir()) && parent.join(checkout::DATA_FOLDER).is_dir()
        });
        Err(Error::NotADataset { path: path.to_owned(), instead: instead.map(ToOwned::to_owned) })
    }
}

fn read_data(path: &Path, allow_unpinned: bool) -> Result<Data, Error> {
    let pins = Pins::new(path, !allow_unpinned);
    let data = checkout::read(path, &pins)?;
    pins.check_complete(&data.sources)?;
    Ok(data)
}

fn read_pack(file: &Path, allow_unpinned: bool) -> Result<PromptPack, Error> {
    let (bytes, _) = files::read_whole(file, MAX_PACK_BYTES)?;
    let pack = PromptPack::from_json(&bytes).map_err(|source| Error::PromptPack { file: file.to_owned(), source })?;
    if !allow_unpinned && pack.hash() != pinned().pack {
        return Err(Error::UnpinnedPack { file: file.to_owned() });
    }
    Ok(pack)
}
