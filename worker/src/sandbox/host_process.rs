//! The environment `host_process`: a process of the worker's own user in a private temporary directory. No isolation.
//!
//! A sandbox is a folder of mode 0700 below the root:
//!
//! ```text
//! <root>/sandbox-XXXXXX/workspace    where the code runs; HOME; only this question's files at first
//!                       tmp          TMPDIR
//!                       matplotlib   MPLCONFIGDIR
//!                       owner        locked as long as the worker lives, see `reaper`
//! ```

mod answer;
mod environment;

use std::{
    fs::{self, File, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
};

use super::reaper::Owned;
use crate::python;

/// A sandbox of one execution. Dropping it destroys it as well, but blocks and cannot say what went wrong.
#[derive(Debug)]
pub struct Sandbox {
    workspace: PathBuf,
    owned: Option<Owned>,
}

/// Why a sandbox could not be made, used or destroyed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

impl Sandbox {
    /// Makes an empty workspace in a new private directory below `root`, which is made as well where it is missing.
    /// What dead workers left there is removed first.
    ///
    /// # Errors
    /// The directory cannot be made, or the root's path is not UTF-8 and so cannot stand in a prompt.
    pub async fn create(root: &Path) -> Result<Self, Error> {
        let root = root.to_path_buf();
        blocking(move || {
            let owned = Owned::claim(&root)?;
            let workspace = owned.path().join("workspace");
            for folder in [&workspace, &owned.path().join("tmp"), &owned.path().join("matplotlib")] {
                fs::create_dir(folder).map_err(|error| at(folder, &error))?;
            }
            if workspace.to_str().is_none() {
                return Err(Error(format!("the path {} is not UTF-8", workspace.display())));
            }
            Ok(Self { workspace, owned: Some(owned) })
        })
        .await
    }

    /// Where this question's files go.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// How the agent's code names a file of the workspace: by its real path.
    #[must_use]
    pub fn path_of(&self, name: &str) -> String {
        self.workspace.join(name).display().to_string()
    }

    /// Puts a copy of a file into the workspace. The agent may change it; the source stays as it is.
    ///
    /// # Errors
    /// `name` is not a plain file name or is taken, or the file cannot be copied.
    pub async fn put_file(&self, name: &str, source: &Path) -> Result<(), Error> {
        if !is_plain(name) {
            return Err(Error(format!("`{name}` is not a plain file name, it would leave the workspace")));
        }
        let (target, source) = (self.workspace.join(name), source.to_path_buf());
        blocking(move || {
            let mut from = File::open(&source).map_err(|error| at(&source, &error))?;
            let mut to = File::create_new(&target).map_err(|error| at(&target, &error))?;
            std::io::copy(&mut from, &mut to)
                .and_then(|_| to.set_permissions(Permissions::from_mode(0o644)))
                .map_err(|error| at(&target, &error))
        })
        .await
    }

    /// Starts Python in the workspace. Its environment variables are few and known; it inherits none but for the search
    /// path and some that say how the machine computes.
    ///
    /// # Errors
    /// See [`python::Session::start`].
    pub async fn start_python(&self, options: &python::Options) -> Result<python::Session, python::Error> {
        let host = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = self.home();
        let program = environment::interpreter(&options.python, host("PATH").as_deref())?;
        let variables = environment::variables(home, &self.workspace, &options.python, &program, host);
        let launch = python::Launch {
            program,
            environment: variables,
            workspace: self.workspace.clone(),
            home: home.to_path_buf(),
        };
        python::Session::start(&launch, options).await
    }

    /// The text of `answer.txt` in the workspace, `None` where there is none. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// Why the file does not count: it is no regular file, leads out of the workspace, has more than 1 MiB, or cannot be
    /// read.
    pub async fn read_answer(&self) -> Result<Option<String>, Error> {
        let workspace = self.workspace.clone();
        blocking(move || answer::read(&workspace).map_err(Error)).await
    }

    /// Kills what is left and removes the directory, also where the code has taken away the permissions.
    ///
    /// # Errors
    /// Something could not be killed or removed.
    pub async fn destroy(mut self) -> Result<(), Error> {
        match self.owned.take() {
            Some(owned) => blocking(move || owned.remove()).await,
            None => Ok(()),
        }
    }

    fn home(&self) -> &Path {
        self.workspace.parent().unwrap_or(&self.workspace)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.owned.take().map(Owned::remove) {
            tracing::warn!(%error, "a sandbox is not gone");
        }
    }
}

/// Says where something went wrong.
pub(super) fn at(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error(format!("{}: {error}", path.display()))
}

fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let first = matches!(parts.next(), Some(Component::Normal(part)) if part == name);
    first && parts.next().is_none() && !name.contains('\0')
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(Error(error.to_string())))
}

#[cfg(test)]
mod tests;
