//! Writing a bundle: beside its place, then renamed, so that a bundle is there as a whole or not at all.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{BLOBS, GOLDS, Golds, MANIFEST, Manifest, PACK, SCHEMA, SOURCES, TASKS, Tasks};
use crate::dataset::{BlobFile, Dataset, Error, identity, parallel};

/// Writes `dataset` as a bundle to `to`, which must not exist or be an empty directory.
///
/// # Errors
/// The place is taken, a data file has changed meanwhile, or something cannot be written. Then nothing stays behind.
pub fn write(dataset: &Dataset, to: &Path) -> Result<Manifest, Error> {
    let place = Staging::beside(to)?;
    let folder = place.path();
    let failed = |source| Error::write(to, source);
    let tasks = json(&Tasks::of(&dataset.data.tasks));
    let golds = json(&Golds::write(&dataset.data.golds, &dataset.data.tasks));
    let small: [(&str, Vec<u8>, u32); 4] = [
        (SOURCES, identity::listing(&dataset.data.sources).into_bytes(), 0o644),
        (TASKS, tasks, 0o644),
        (GOLDS, golds, 0o600),
        (PACK, dataset.pack.to_json().into_bytes(), 0o644),
    ];
    let mut files = BTreeMap::new();
    for (name, content, mode) in small {
        write_file(&folder.join(name), &content, mode).map_err(failed)?;
        files.insert(name.to_owned(), hex::encode(Sha256::digest(&content)));
    }
    fs::create_dir(folder.join(BLOBS)).map_err(failed)?;
    let blobs: Vec<(&String, &BlobFile)> = dataset.data.blobs.iter().collect();
    parallel::map(&blobs, |(sha256, _)| {
        let content = dataset.data.read_blob(sha256)?;
        write_file(&folder.join(BLOBS).join(sha256), &content, 0o644).map_err(failed)
    })?;
    let manifest = Manifest {
        schema: SCHEMA.to_owned(),
        identity: dataset.identity.clone(),
        tasks: dataset.data.tasks.len(),
        files,
        blobs: blobs.into_iter().map(|(sha256, file)| (sha256.clone(), file.bytes)).collect(),
    };
    let mut text = serde_json::to_vec_pretty(&manifest).expect("a manifest has only string keys");
    text.push(b'\n');
    write_file(&folder.join(MANIFEST), &text, 0o644).map_err(failed)?;
    sync_folder(&folder.join(BLOBS)).and_then(|()| sync_folder(folder)).map_err(failed)?;
    place.publish()?;
    Ok(manifest)
}

/// A directory under construction beside its final place; removed again if it is dropped before it is published.
pub(in crate::dataset) struct Staging<'p> {
    folder: tempfile::TempDir,
    to: &'p Path,
}

impl<'p> Staging<'p> {
    /// Checks that `to` is free and creates the directory.
    pub(in crate::dataset) fn beside(to: &'p Path) -> Result<Self, Error> {
        let taken = match fs::read_dir(to) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        if taken {
            return Err(Error::Exists { path: to.to_owned() });
        }
        let failed = |source| Error::write(to, source);
        let parent = parent(to);
        fs::create_dir_all(parent).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix(".argosy-").tempdir_in(parent).map_err(failed)?;
        Ok(Self { folder, to })
    }

    /// The directory.
    pub(in crate::dataset) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives the directory its final name.
    pub(in crate::dataset) fn publish(self) -> Result<(), Error> {
        use std::os::unix::fs::PermissionsExt as _;
        let failed = |source| Error::write(self.to, source);
        // tempfile makes it 0700; others may use a dataset too, only golds.json stays private.
        fs::set_permissions(self.folder.path(), fs::Permissions::from_mode(0o755)).map_err(failed)?;
        fs::rename(self.folder.path(), self.to).map_err(failed)?;
        // It is no longer there under the temporary name.
        let _ = self.folder.keep();
        sync_folder(parent(self.to)).map_err(failed)
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("only string keys")
}

fn write_file(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
