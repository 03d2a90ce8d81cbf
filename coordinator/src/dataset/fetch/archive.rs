//! Takes the needed files out of a `.tar.gz` of a checkout. Nothing in the archive decides where a file goes: only plain
//! files, only known places, bounded in number and size.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufReader, Read as _},
    path::{Component, Path},
};

use flate2::read::GzDecoder;
use tar::EntryType;

use crate::dataset::{Error, checkout, pack};

/// Unpacked, the repository has 50 MB.
const MAX_UNPACKED_BYTES: u64 = 4 << 30;
/// It has 1,500 files.
const MAX_ENTRIES: usize = 200_000;

/// Files outside the data folder that are taken along.
const OTHERS: [&str; 3] = ["eval/answer_key_real.csv", "eval/answer_key_synth.csv", "LICENSE"];

/// Extracts the needed files of `archive` into `to`.
pub(super) fn extract(archive: File, to: &Path) -> Result<(), Error> {
    extract_bounded(archive, to, MAX_UNPACKED_BYTES, MAX_ENTRIES)
}

fn extract_bounded(archive: File, to: &Path, max_bytes: u64, max_entries: usize) -> Result<(), Error> {
    let broken = |error: io::Error| Error::Fetch { reason: format!("not a .tar.gz archive: {error}") };
    let too_large = || Error::Fetch { reason: format!("the archive unpacks to more than {max_bytes} bytes") };
    let mut left = max_bytes;
    // One byte more than is allowed, to tell the bound from the end.
    let unpacked = GzDecoder::new(BufReader::new(archive)).take(max_bytes.saturating_add(1));
    let mut archive = tar::Archive::new(unpacked);
    for (index, entry) in archive.entries().map_err(broken)?.enumerate() {
        let mut entry = entry.map_err(broken)?;
        if index >= max_entries {
            return Err(Error::Fetch { reason: format!("the archive has more than {max_entries} entries") });
        }
        left = left.checked_sub(entry.size()).ok_or_else(too_large)?;
        if entry.header().entry_type() != EntryType::Regular {
            continue;
        }
        let Some(path) = entry.path().ok().and_then(|path| wanted(&path)) else { continue };
        let file = to.join(&path);
        let failed = |source| Error::write(&file, source);
        fs::create_dir_all(file.parent().expect("it has at least the name of a file")).map_err(failed)?;
        let mut out = OpenOptions::new().write(true).create_new(true).open(&file).map_err(failed)?;
        io::copy(&mut entry, &mut out).map_err(broken)?;
    }
    Ok(())
}

/// The path below the checkout, if the file is one of those that are needed. The first folder is the archive's own.
fn wanted(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let parts = parts?;
    let inner = parts.get(1..).filter(|inner| !inner.is_empty())?;
    if inner.iter().any(|part| part.starts_with('.')) {
        return None;
    }
    let path = inner.join("/");
    let needed = inner[0] == checkout::DATA_FOLDER && inner.len() > 1
        || pack::FILES.contains(&path.as_str())
        || OTHERS.contains(&path.as_str());
    needed.then_some(path)
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    #[test]
    fn only_known_places() {
        let of = |path: &str| wanted(Path::new(path));
        assert_eq!(of("repo-1/discoverybench/real/test/a/b.csv").as_deref(), Some("discoverybench/real/test/a/b.csv"));
        assert_eq!(of("repo-1/eval/new_eval.py").as_deref(), Some("eval/new_eval.py"));
        for other in [
            "repo-1/README.md",
            "repo-1",
            "discoverybench",
            "repo-1/discoverybench",
            "repo-1/discoverybench/../../x",
            "../discoverybench/x",
            "/discoverybench/x",
            "repo-1/discoverybench/.ipynb_checkpoints/x",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    fn archive(entries: &[(&str, EntryType, &[u8])]) -> File {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, kind, content) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            // Straight into the header: the builder itself would refuse a path with `..`.
            header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
            if *kind == EntryType::Symlink {
                header.set_link_name("/etc/passwd").unwrap();
            }
            header.set_cksum();
            tar.append(&header, *content).unwrap();
        }
        let mut gz = GzEncoder::new(tempfile::tempfile().unwrap(), Compression::fast());
        gz.write_all(&tar.into_inner().unwrap()).unwrap();
        let mut file = gz.finish().unwrap();
        file.rewind().unwrap();
        file
    }

    #[test]
    fn traversal_links_and_foreign_files_stay_out() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        fs::create_dir(&to).unwrap();
        let entries: [(&str, EntryType, &[u8]); 5] = [
            ("r/discoverybench/a.csv", EntryType::Regular, b"1"),
            ("r/discoverybench/../../evil", EntryType::Regular, b"2"),
            ("r/discoverybench/link", EntryType::Symlink, b""),
            ("r/setup.py", EntryType::Regular, b"3"),
            ("/discoverybench/abs", EntryType::Regular, b"4"),
        ];
        extract(archive(&entries), &to).unwrap();
        assert_eq!(fs::read(to.join("discoverybench/a.csv")).unwrap(), b"1");
        assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
        assert_eq!(fs::read_dir(to.join("discoverybench")).unwrap().count(), 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn size_and_number_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let entries: [(&str, EntryType, &[u8]); 2] = [
            ("r/discoverybench/a", EntryType::Regular, &[0; 3000]),
            ("r/discoverybench/b", EntryType::Regular, &[0; 3000]),
        ];
        let error = extract_bounded(archive(&entries), folder.path(), 5000, 9).unwrap_err().to_string();
        assert!(error.contains("more than 5000 bytes"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let error = extract_bounded(archive(&entries), folder.path(), 1 << 20, 1).unwrap_err().to_string();
        assert!(error.contains("more than 1 entries"), "{error}");
    }

    #[test]
    fn a_twice_named_file_and_noise_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let entries: [(&str, EntryType, &[u8]); 2] =
            [("r/LICENSE", EntryType::Regular, b"1"), ("r/LICENSE", EntryType::Regular, b"2")];
        assert!(matches!(extract(archive(&entries), folder.path()), Err(Error::Write { .. })));
        let mut noise = tempfile::tempfile().unwrap();
        noise.write_all(b"<html>").unwrap();
        noise.rewind().unwrap();
        let error = extract(noise, folder.path()).unwrap_err().to_string();
        assert!(error.contains("not a .tar.gz archive"), "{error}");
    }
}
