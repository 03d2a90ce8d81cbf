//! A metadata file as upstream's evaluator takes it: whole, by path.

use std::path::{Path, PathBuf};

use argosy_shared::pyjson::{self, PyValue};

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
    let text = decode(&bytes).map_err(content)?;
    pyjson::loads(&text).map_err(|error| content(error.to_string()))
}

fn decode(bytes: &[u8]) -> Result<std::borrow::Cow<'_, str>, String> {
    Ok(match std::str::from_utf8(bytes) {
        Ok(t) => t.into(),
        Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
    })
}
