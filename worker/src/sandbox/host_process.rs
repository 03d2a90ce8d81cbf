//! The environment `host_process`: a process of the worker's own user in a private temporary directory. No isolation.

use std::path::{Path, PathBuf};

use crate::python;

/// A sandbox of one execution.
#[derive(Debug)]
pub struct Sandbox {
    workspace: PathBuf,
}

/// Why a sandbox could not be made or destroyed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

impl Sandbox {
    /// Makes an empty workspace in a new private directory below `root`.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub async fn create(root: &Path) -> Result<Self, Error> {
        Err(Error(root.display().to_string()))
    }

    /// Where this question's files go.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// How the agent's code names a file of the workspace.
    #[must_use]
    pub fn path_of(&self, name: &str) -> String {
        self.workspace.join(name).display().to_string()
    }

    /// Starts Python in the workspace.
    ///
    /// # Errors
    /// See [`python::Session::start`].
    pub async fn start_python(&self, _options: &python::Options) -> Result<python::Session, python::Error> {
        Err(python::Error::Start("to be written".to_owned()))
    }

    /// Kills what is left and removes the directory.
    ///
    /// # Errors
    /// Something could not be removed.
    pub async fn destroy(self) -> Result<(), Error> {
        Ok(())
    }
}
