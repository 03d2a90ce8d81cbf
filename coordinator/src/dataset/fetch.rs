//! Gets a checkout of the pinned commit from an archive on the net.

mod archive;

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

use argosy_shared::model::download::{Limits, download};
use url::Url;

use super::{Error, OpenOptions, bundle::Staging, identity::PINNED_COMMIT};

/// The archive holds the whole repository, 16 MB of it at the pinned commit.
const LIMITS: Limits = Limits { max_bytes: 1 << 30, connect: Duration::from_secs(30), idle: Duration::from_secs(60) };

/// Where the pinned commit comes from unless the user names another place.
#[must_use]
pub fn default_url() -> String {
    format!("https://codeload.github.com/allenai/discoverybench/tar.gz/{PINNED_COMMIT}")
}

/// Downloads a `.tar.gz` of a checkout, takes the needed files out of it, verifies them, and puts them at `to`, which must
/// not exist or be an empty directory. `url` may be `https`, `http` or `file`. `progress` hears bytes so far and, if
/// known, the size.
///
/// # Errors
/// The archive cannot be had or is not one, or its files are not those of the pinned commit (unless `allow_unpinned`).
/// Then nothing stays behind.
pub async fn fetch(
    url: &str,
    to: &Path,
    allow_unpinned: bool,
    progress: &(dyn Fn(u64, Option<u64>) + Sync),
) -> Result<super::Dataset, Error> {
    let staging = Staging::beside(to)?;
    let archive = match Url::parse(url) {
        Ok(url) if url.scheme() == "file" => {
            let path = url.to_file_path().map_err(|()| Error::Fetch { reason: format!("{url}: not a local path") })?;
            File::open(&path).map_err(|source| Error::unreadable(&path, source))?
        }
        Ok(url) => get(&url, progress).await.map_err(|error| Error::Fetch { reason: error.to_string() })?,
        Err(error) => return Err(Error::Fetch { reason: format!("{url:?} is not a URL: {error}") }),
    };
    let place: PathBuf = staging.path().to_owned();
    let verify = move || {
        archive::extract(archive, &place)?;
        super::open(&place, &OpenOptions { prompt_pack: None, allow_unpinned })
    };
    // Only a panic or the end of the runtime could lose it.
    let verified = tokio::task::spawn_blocking(verify).await.expect("the verification does not panic");
    if let Err(error) = verified {
        // The place is temporary: only the path inside the archive says something.
        let reason = error.to_string().replace(&format!("{}/", staging.path().display()), "");
        return Err(Error::Fetch { reason: format!("the archive is not a usable checkout: {reason}") });
    }
    staging.publish()?;
    super::open(to, &OpenOptions { prompt_pack: None, allow_unpinned })
}

async fn get(url: &Url, progress: &(dyn Fn(u64, Option<u64>) + Sync)) -> Result<File, Box<dyn std::error::Error>> {
    let mut file = tokio::fs::File::from_std(tempfile::tempfile()?);
    download(url, &mut file, LIMITS, progress).await?;
    let mut file = file.into_std().await;
    std::io::Seek::rewind(&mut file)?;
    Ok(file)
}
