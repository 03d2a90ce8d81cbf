//! Setting `details/` aside while it is made again.

use std::{fs, io, path::PathBuf};

use argosy_shared::run_dir::names::{DETAILS, TEMPORARY};

use super::{Error, RunStore, atomic};

impl RunStore {
    /// Moves `details/` to another name, which it gives; `None` where there is none.
    ///
    /// # Errors
    /// The disk.
    pub fn set_details_aside(&self) -> Result<Option<PathBuf>, Error> {
        let details = self.dir().join(DETAILS);
        if !details.exists() {
            return Ok(None);
        }
        let aside = self.dir().join(format!("{TEMPORARY}{DETAILS}.{}", uuid::Uuid::new_v4().simple()));
        atomic::rename(&details, &aside)?;
        Ok(Some(aside))
    }

    /// Removes what was set aside: there is a new one.
    ///
    /// # Errors
    /// The disk.
    pub fn forget_details(&self, aside: Option<PathBuf>) -> Result<(), Error> {
        let Some(aside) = aside else { return Ok(()) };
        fs::remove_dir_all(&aside).map_err(|source| Error::io(&aside, source))
    }

    /// Puts what was set aside back in place of what has been made since.
    ///
    /// # Errors
    /// The disk.
    pub fn put_details_back(&self, aside: Option<PathBuf>) -> Result<(), Error> {
        let Some(aside) = aside else { return Ok(()) };
        let details = self.dir().join(DETAILS);
        match fs::remove_dir_all(&details) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::io(&details, source)),
        }
        atomic::rename(&aside, &details)
    }
}
