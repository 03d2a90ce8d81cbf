//! Files a writer left half done when it died.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use argosy_shared::run_dir::{
    State,
    names::{DETAILS, RETRIES, TEMPORARY},
};

use super::Error;

/// Removes temporary files of ours and of AgentCompass (`.result.json.<hex>.tmp`). Only for the holder of the lock.
pub(super) fn remove(dir: &Path) -> Result<(), Error> {
    sweep(dir)?;
    for state in State::ALL {
        for task in folders(&dir.join(DETAILS).join(state.as_str()))? {
            sweep(&task)?;
            for attempt in folders(&task)? {
                sweep(&attempt)?;
                let retries = attempt.join(RETRIES);
                if retries.is_dir() {
                    sweep(&retries)?;
                }
            }
        }
    }
    Ok(())
}

fn sweep(folder: &Path) -> Result<(), Error> {
    for (path, is_dir) in entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let foreign = name.starts_with('.') && path.extension().is_some_and(|ending| ending == "tmp");
        if !is_dir && (name.starts_with(TEMPORARY) || foreign) {
            fs::remove_file(&path).map_err(|source| Error::io(&path, source))?;
        }
    }
    Ok(())
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(entries(folder)?.into_iter().filter(|(_, is_dir)| *is_dir).map(|(path, _)| path).collect())
}

fn entries(folder: &Path) -> Result<Vec<(PathBuf, bool)>, Error> {
    let io = |source| Error::io(folder, source);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(io(source)),
    };
    entries
        .map(|entry| {
            let entry = entry.map_err(io)?;
            Ok((entry.path(), entry.file_type().map_err(io)?.is_dir()))
        })
        .collect()
}
