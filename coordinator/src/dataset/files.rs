//! Reading files of a dataset: plain files inside it only, bounded, with their digest, compared with the pinned commit.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::{
    Error, checkout,
    identity::{self, pinned},
};

/// Bound of a data file. The largest of DiscoveryBench has 3 MB.
const MAX_DATA_BYTES: u64 = 1 << 30;
const CHUNK: usize = 256 << 10;

/// What a checkout's files are compared with.
pub(super) struct Pins {
    root: PathBuf,
    enforce: bool,
    head: Option<String>,
}

impl Pins {
    /// With `enforce`, every file must be that of the pinned commit.
    pub(super) fn new(root: &Path, enforce: bool) -> Self {
        Self { root: root.to_owned(), enforce, head: identity::head(root) }
    }

    /// Compares one file; `path` is relative to the root, with `/`.
    pub(super) fn check(&self, path: &str, sha256: &str) -> Result<(), Error> {
        if !self.enforce {
            return Ok(());
        }
        let file = self.root.join(path);
        match pinned().file(path) {
            Some(expected) if sha256.starts_with(expected) => Ok(()),
            Some(expected) => {
                let only_line_ends = differs_in_line_ends(&file, expected);
                Err(Error::Altered { file, only_line_ends, head: self.head.clone() })
            }
            None => Err(Error::Foreign { file, head: self.head.clone() }),
        }
    }

    /// Makes sure that no data file of the pinned commit is missing, and that the whole is what it should be to the
    /// last bit (the comparison by file looks at 64 bits only).
    pub(super) fn check_complete(&self, sources: &BTreeMap<String, String>) -> Result<(), Error> {
        if !self.enforce || identity::is_pinned_data(sources) {
            return Ok(());
        }
        let missing = pinned().data_files().find(|path| !sources.contains_key(*path));
        match missing {
            Some(path) => Err(Error::Missing {
                file: self.root.join(path),
                wanted_by: format!("a file of commit {}", identity::PINNED_SHORT),
            }),
            None => Err(Error::Altered {
                file: self.root.join(checkout::DATA_FOLDER),
                only_line_ends: false,
                head: self.head.clone(),
            }),
        }
    }
}

/// A file's bytes and SHA-256, refused above `limit`.
pub(super) fn read_whole(file: &Path, limit: u64) -> Result<(Vec<u8>, String), Error> {
    let mut bytes = Vec::new();
    open(file)?.take(limit + 1).read_to_end(&mut bytes).map_err(|source| Error::unreadable(file, source))?;
    if bytes.len() as u64 > limit {
        return Err(Error::TooLarge { file: file.to_owned(), limit });
    }
    let sha256 = hex::encode(Sha256::digest(&bytes));
    Ok((bytes, sha256))
}

/// Reads a file of a checkout, which must lie inside it.
pub(super) fn read(root: &Path, path: &str, limit: u64, pins: &Pins) -> Result<(Vec<u8>, String), Error> {
    let file = root.join(path);
    check_inside(root, &file)?;
    let (bytes, sha256) = read_whole(&file, limit)?;
    pins.check(path, &sha256)?;
    Ok((bytes, sha256))
}

/// SHA-256 and size of a file of a checkout, which must lie inside it.
pub(super) fn digest(root: &Path, path: &str, pins: &Pins) -> Result<(String, u64), Error> {
    let file = root.join(path);
    check_inside(root, &file)?;
    let (sha256, bytes) = hash(open(&file)?, MAX_DATA_BYTES).map_err(|source| Error::unreadable(&file, source))?;
    if bytes > MAX_DATA_BYTES {
        return Err(Error::TooLarge { file, limit: MAX_DATA_BYTES });
    }
    pins.check(path, &sha256)?;
    Ok((sha256, bytes))
}

/// SHA-256 and size of what `reader` gives, at most `limit` + 1 bytes of it.
pub(super) fn hash(reader: impl Read, limit: u64) -> io::Result<(String, u64)> {
    let mut reader = reader.take(limit + 1);
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut total = 0;
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return Ok((hex::encode(hasher.finalize()), total)),
            Ok(count) => {
                hasher.update(&chunk[..count]);
                total += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The names in a folder that is inside `root`, sorted; names that are not UTF-8 are refused.
pub(super) fn list(root: &Path, path: &str) -> Result<Vec<(String, bool)>, Error> {
    let folder = root.join(path);
    check_inside(root, &folder)?;
    let unreadable = |source| Error::unreadable(&folder, source);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        let is_dir = if kind.is_symlink() { entry.path().is_dir() } else { kind.is_dir() };
        let name = entry
            .file_name()
            .into_string()
            .map_err(|name| Error::invalid(folder.join(name), "the name is not UTF-8"))?;
        names.push((name, is_dir));
    }
    names.sort();
    Ok(names)
}

/// A pipe would block for ever, a device has no end.
fn open(file: &Path) -> Result<File, Error> {
    let unreadable = |source| Error::unreadable(file, source);
    if !fs::metadata(file).map_err(unreadable)?.is_file() {
        return Err(Error::NotAPlainFile { file: file.to_owned(), what: "not a plain file" });
    }
    File::open(file).map_err(unreadable)
}

/// A link in a checkout must not bring other files of this machine into a sandbox.
fn check_inside(root: &Path, path: &Path) -> Result<(), Error> {
    let unreadable = |source| Error::unreadable(path, source);
    if !fs::symlink_metadata(path).map_err(unreadable)?.is_symlink() {
        return Ok(());
    }
    let target = fs::canonicalize(path).map_err(unreadable)?;
    if target.starts_with(fs::canonicalize(root).map_err(unreadable)?) {
        return Ok(());
    }
    Err(Error::NotAPlainFile { file: path.to_owned(), what: "a link that leads out of the dataset" })
}

/// Whether the file would be the expected one with other line ends.
fn differs_in_line_ends(file: &Path, expected: &str) -> bool {
    let Ok((bytes, _)) = read_whole(file, 64 << 20) else { return false };
    let lf: Vec<u8> = {
        let mut kept = bytes.clone();
        let mut at = 0;
        kept.retain(|byte| {
            at += 1;
            !(*byte == b'\r' && bytes.get(at) == Some(&b'\n'))
        });
        kept
    };
    let crlf: Vec<u8> =
        lf.iter().flat_map(|byte| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] }).collect();
    [lf, crlf].iter().any(|text| hex::encode(Sha256::digest(text)).starts_with(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_line_ends_are_recognised_in_both_directions() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        let expected = |text: &str| hex::encode(Sha256::digest(text))[..16].to_owned();
        fs::write(&file, "a\r\nb\r\n").unwrap();
        assert!(differs_in_line_ends(&file, &expected("a\nb\n")));
        fs::write(&file, "a\nb\n").unwrap();
        assert!(differs_in_line_ends(&file, &expected("a\r\nb\r\n")));
        assert!(!differs_in_line_ends(&file, &expected("a\nc\n")));
    }

    #[test]
    fn links_out_and_devices_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(folder.path().join("outside"), "x").unwrap();
        fs::write(root.join("inside"), "x").unwrap();
        std::os::unix::fs::symlink("../outside", root.join("out")).unwrap();
        std::os::unix::fs::symlink("inside", root.join("in")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero")).unwrap();
        let pins = Pins::new(&root, false);
        assert!(digest(&root, "in", &pins).is_ok());
        let error = digest(&root, "out", &pins).unwrap_err().to_string();
        assert!(error.ends_with("out: a link that leads out of the dataset"), "{error}");
        let error = read_whole(&folder.path().join("zero"), 10).unwrap_err().to_string();
        assert!(error.ends_with("zero: not a plain file"), "{error}");
    }

    #[test]
    fn sizes_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        fs::write(&file, "12345").unwrap();
        assert!(read_whole(&file, 5).is_ok());
        assert!(matches!(read_whole(&file, 4), Err(Error::TooLarge { limit: 4, .. })));
    }
}
