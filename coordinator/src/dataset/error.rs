//! What can be wrong with a dataset.

use std::{
    io,
    path::{Path, PathBuf},
};

use argosy_shared::prompts;

use super::{identity::PINNED_SHORT, pack};

/// A dataset that cannot be used. One thing, by file; [`Error::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing of the three forms.
    #[error("{}: neither a DiscoveryBench checkout, nor a copy of its data folders, nor an imported bundle", path.display())]
    NotADataset {
        /// What was given.
        path: PathBuf,
        /// What was probably meant.
        instead: Option<PathBuf>,
    },
    /// The folders hold no task at all.
    #[error("{}: no metadata_<n>.json below discoverybench/", path.display())]
    Empty {
        /// What was given.
        path: PathBuf,
    },
    /// A file is not there.
    #[error("{}: missing, but {wanted_by}", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// Why it is needed.
        wanted_by: String,
    },
    /// The operating system refuses.
    #[error("{}: {source}", file.display())]
    Unreadable {
        /// The file or folder.
        file: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// A pipe, a device, a folder in the place of a file, or a link that leads out of the dataset.
    #[error("{}: {what}", file.display())]
    NotAPlainFile {
        /// The file.
        file: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Out of all proportion.
    #[error("{}: larger than {limit} bytes", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// The bound.
        limit: u64,
    },
    /// The content is not what it should be.
    #[error("{}: {reason}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// What is wrong, with line or key, and what would be right.
        reason: String,
    },
    /// The content is not that of the pinned commit.
    #[error("{}: differs from DiscoveryBench's commit {PINNED_SHORT}{}", file.display(), if *only_line_ends { ", but only in its line ends" } else { "" })]
    Altered {
        /// The file.
        file: PathBuf,
        /// Whether nothing but CR characters differs.
        only_line_ends: bool,
        /// The commit that git says is checked out.
        head: Option<String>,
    },
    /// A file that the pinned commit does not have.
    #[error("{}: not a file of DiscoveryBench's commit {PINNED_SHORT}", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The commit that git says is checked out.
        head: Option<String>,
    },
    /// The prompts could not be read from the Python source.
    #[error("the prompts cannot be read from the Python source: {0}")]
    Prompts(#[from] pack::Error),
    /// A prompt pack file is not usable.
    #[error("{}: {source}", file.display())]
    PromptPack {
        /// The file.
        file: PathBuf,
        /// Why.
        source: prompts::Error,
    },
    /// A usable prompt pack of another commit.
    #[error("{}: not the prompts of DiscoveryBench's commit {PINNED_SHORT}", file.display())]
    UnpinnedPack {
        /// The file.
        file: PathBuf,
    },
    /// A copy of the data folders has no prompts.
    #[error("{}: holds the data, but not the Python files with the prompts", path.display())]
    NoPrompts {
        /// What was given.
        path: PathBuf,
    },
    /// A bundle of another commit.
    #[error("{}: a bundle that was not made of DiscoveryBench's commit {PINNED_SHORT}", path.display())]
    UnpinnedBundle {
        /// The bundle.
        path: PathBuf,
    },
    /// A prompt pack beside a bundle.
    #[error("{}: a bundle has its prompts in it, another prompt pack cannot replace them", path.display())]
    BundleHasPack {
        /// The bundle.
        path: PathBuf,
    },
    /// A file of a bundle is not the one its manifest names.
    #[error("{}: {what}; the bundle is damaged", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What differs.
        what: String,
    },
    /// The place of a new bundle or checkout is taken.
    #[error("{}: exists already", path.display())]
    Exists {
        /// The place.
        path: PathBuf,
    },
    /// A new bundle or checkout cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The place.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A checkout could not be fetched.
    #[error("{reason}")]
    Fetch {
        /// What failed, with the URL or the path inside the archive.
        reason: String,
    },
    /// No data file with that digest.
    #[error("no data file has the digest {sha256}")]
    NoSuchBlob {
        /// The digest.
        sha256: String,
    },
    /// A data file changed after the dataset was opened.
    #[error("{}: has changed since the dataset was opened", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },
}

impl Error {
    pub(super) fn unreadable(file: impl AsRef<Path>, source: io::Error) -> Self {
        Self::Unreadable { file: file.as_ref().to_owned(), source }
    }

    pub(super) fn invalid(file: impl AsRef<Path>, reason: impl Into<String>) -> Self {
        Self::Invalid { file: file.as_ref().to_owned(), reason: reason.into() }
    }

    pub(super) fn write(path: impl AsRef<Path>, source: io::Error) -> Self {
        Self::Write { path: path.as_ref().to_owned(), source }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        const FETCH: &str = "`argosy dataset fetch` gets the right files";
        const UNPINNED: &str = "--allow-unpinned takes them as they are; every result then says so";
        let at = |head: &Option<String>| {
            head.as_ref().map_or_else(String::new, |head| format!("the checkout is at commit {}; ", short(head)))
        };
        Some(match self {
            Self::NotADataset { instead: Some(instead), .. } => format!("did you mean {}?", instead.display()),
            Self::NotADataset { .. } | Self::Empty { .. } => {
                format!("give the folder that holds `discoverybench/` and `eval/`; {FETCH}")
            }
            Self::Missing { .. } => format!("the copy is incomplete; {FETCH}"),
            Self::Altered { only_line_ends: true, .. } => {
                "git may have converted it: clone again with `git -c core.autocrlf=false clone ...`".to_owned()
            }
            Self::Altered { head, .. } | Self::Foreign { head, .. } => format!("{}{FETCH}; {UNPINNED}", at(head)),
            Self::Prompts(pack::Error::Missing { .. }) => {
                "a copy of the data folders alone takes its prompts from --prompt-pack FILE".to_owned()
            }
            Self::Prompts(_) => format!("only the shape of commit {PINNED_SHORT} is understood; {FETCH}"),
            Self::PromptPack { .. } | Self::NoPrompts { .. } => {
                "`argosy dataset pack CHECKOUT > FILE` writes one; give it with --prompt-pack FILE".to_owned()
            }
            Self::UnpinnedPack { .. } | Self::UnpinnedBundle { .. } => UNPINNED.to_owned(),
            Self::BundleHasPack { .. } => "import the data again with that prompt pack".to_owned(),
            Self::Damaged { .. } => "remove the bundle and import it again".to_owned(),
            Self::Exists { .. } => "choose another place, or remove it".to_owned(),
            Self::Changed { .. } => {
                "import it once (`argosy dataset import`) to be independent of such changes".to_owned()
            }
            Self::Fetch { .. } => {
                "--url names another place (https, http or file) with a .tar.gz of the same commit".to_owned()
            }
            Self::Unreadable { .. }
            | Self::NotAPlainFile { .. }
            | Self::TooLarge { .. }
            | Self::Invalid { .. }
            | Self::Write { .. }
            | Self::NoSuchBlob { .. } => return None,
        })
    }
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
