//! A metadata file as upstream's evaluator takes it: whole, by path.

use std::path::{Path, PathBuf};

use argosy_shared::pyjson::{self, PyValue};

use crate::dataset::encoding;

/// The largest metadata file that is read. The largest of DiscoveryBench has 90 KiB.
pub const MAX_BYTES: u64 = 64 << 20;

/// Why there is no metadata.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not text or not JSON.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// Reads the file: UTF-8, else cp1252 (80 files of DiscoveryBench), then JSON as Python reads it.
///
/// # Errors
/// It cannot be read, is larger than [`MAX_BYTES`], or is not JSON.
pub fn read(path: &Path) -> Result<PyValue, Error> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let content = |reason| Error::Content { path: path.to_owned(), reason };
    if std::fs::metadata(path).map_err(io)?.len() > MAX_BYTES {
        return Err(content(format!("larger than {MAX_BYTES} bytes")));
    }
    let bytes = std::fs::read(path).map_err(io)?;
    let text = encoding::decode(&bytes).map_err(content)?;
    pyjson::loads(&text).map_err(|error| content(error.to_string()))
}

#[cfg(test)]
mod tests {
    use argosy_shared::pyrepr;

    use super::*;

    #[test]
    fn both_encodings_are_read_and_everything_else_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("metadata_0.json");
        let read_bytes = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            read(&file).map(|value| pyrepr::repr(&value)).map_err(|error| error.to_string())
        };
        assert_eq!(read_bytes("{\"a\": \"\u{b5}\"}".as_bytes()).unwrap(), "{'a': '\u{b5}'}");
        assert_eq!(read_bytes(b"{\"a\": \"\xb5 \x92\"}").unwrap(), "{'a': '\u{b5} \u{2019}'}");
        assert!(read_bytes(b"\xb5\x81").unwrap_err().contains("neither UTF-8"));
        let error = read_bytes(b"{").unwrap_err();
        assert!(error.contains("metadata_0.json: Expecting property name"), "{error}");
        assert!(matches!(read(&folder.path().join("none.json")), Err(Error::Io { .. })));
    }
}
