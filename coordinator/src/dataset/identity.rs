//! What exactly a dataset is: digests, and whether it is the commit that published scores refer to.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
    sync::OnceLock,
};

use argosy_shared::prompts::PromptPack;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::pack;

/// The commit of allenai/discoverybench that AgentCompass and the published scores use.
pub const PINNED_COMMIT: &str = "c31fcf011e070f021a5f5b906896d0821f6880e8";
/// The same for people.
pub const PINNED_SHORT: &str = "c31fcf0";

/// What exactly a dataset is. Equal digests mean equal tasks, gold, data files and prompts, in whatever form the dataset
/// was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The pinned commit where the files are its files; otherwise what git says is checked out, if anything.
    pub commit: Option<String>,
    /// SHA-256 over data and prompts.
    pub digest: String,
    /// SHA-256 over metadata files, answer keys and referenced data files: of their listing as `sha256sum` prints it,
    /// sorted by path.
    pub data_digest: String,
    /// [`PromptPack::hash`].
    pub pack_hash: String,
    /// Whether data and prompts are those of the pinned commit.
    pub pinned: bool,
}

impl Identity {
    /// The identity of a dataset made of `sources` (SHA-256 by path) and `pack`; `head` is what git says.
    #[must_use]
    pub fn new(sources: &BTreeMap<String, String>, pack: &PromptPack, head: Option<String>) -> Self {
        let data_digest = data_digest(sources);
        let pack_hash = pack.hash();
        let pinned = data_digest == pinned().data && pack_hash == pinned().pack;
        let digest = hex::encode(Sha256::digest(format!("data {data_digest}\nprompts {pack_hash}\n")));
        let commit = if pinned { Some(PINNED_COMMIT.to_owned()) } else { head };
        Self { commit, digest, data_digest, pack_hash, pinned }
    }
}

/// The listing that [`Identity::data_digest`] is made of.
#[must_use]
pub fn listing(sources: &BTreeMap<String, String>) -> String {
    sources.iter().map(|(path, sha256)| format!("{sha256}  {path}\n")).collect()
}

/// Whether files are those of the pinned commit, prompts aside.
#[must_use]
pub fn is_pinned_data(sources: &BTreeMap<String, String>) -> bool {
    data_digest(sources) == pinned().data
}

pub(super) fn data_digest(sources: &BTreeMap<String, String>) -> String {
    hex::encode(Sha256::digest(listing(sources)))
}

/// The files of the pinned commit.
pub(super) struct Pinned {
    /// [`Identity::data_digest`].
    pub(super) data: &'static str,
    /// [`Identity::pack_hash`].
    pub(super) pack: &'static str,
    /// The first 16 digits of each file's SHA-256, by path.
    files: HashMap<String, &'static str>,
    /// Paths in the order of the list.
    order: Vec<String>,
}

/// The embedded list of files.
pub(super) fn pinned() -> &'static Pinned {
    static PINNED: OnceLock<Pinned> = OnceLock::new();
    PINNED.get_or_init(|| Pinned::parse(include_str!("pinned.txt")))
}

impl Pinned {
    fn parse(text: &'static str) -> Self {
        let mut pinned = Self { data: "", pack: "", files: HashMap::new(), order: Vec::new() };
        let mut folder = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                folder = name;
                continue;
            }
            let Some((name, value)) = line.rsplit_once(' ') else { continue };
            match name {
                "data" => pinned.data = value,
                "prompts" => pinned.pack = value,
                _ => {
                    let path = if folder == "." { name.to_owned() } else { format!("{folder}/{name}") };
                    pinned.files.insert(path.clone(), value);
                    pinned.order.push(path);
                }
            }
        }
        pinned
    }

    /// The beginning of a file's SHA-256.
    pub(super) fn file(&self, path: &str) -> Option<&'static str> {
        self.files.get(path).copied()
    }

    /// All files but the Python ones.
    pub(super) fn data_files(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str).filter(|path| !pack::FILES.contains(path))
    }
}

/// The commit that git says is checked out at `root`. Only read, for messages and provenance; git itself is not needed.
pub(super) fn head(root: &Path) -> Option<String> {
    let git = root.join(".git");
    let read = |path: &Path| {
        fs::metadata(path).ok().filter(|file| file.is_file() && file.len() < (1 << 20))?;
        fs::read_to_string(path).ok()
    };
    let head = read(&git.join("HEAD"))?;
    let head = head.trim();
    let commit = match head.strip_prefix("ref: ") {
        None => head.to_owned(),
        Some(name) if name.split('/').all(|part| !matches!(part, "" | "." | "..")) => match read(&git.join(name)) {
            Some(commit) => commit.trim().to_owned(),
            None => read(&git.join("packed-refs"))?
                .lines()
                .find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(ToOwned::to_owned))?,
        },
        Some(_) => return None,
    };
    let is_hash = matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_list_is_whole() {
        let pinned = pinned();
        assert_eq!((pinned.data.len(), pinned.pack.len()), (64, 64));
        assert!(pinned.files.values().all(|hash| hash.len() == 16));
        let metadata = pinned.order.iter().filter(|path| path.ends_with(".json")).count();
        assert_eq!(metadata, 144 + 14 + 200 + 153 + 550);
        assert!(pack::FILES.iter().all(|file| pinned.file(file).is_some()));
        assert!(pinned.file("eval/answer_key_synth.csv").is_some());
    }

    #[test]
    fn the_listing_is_what_sha256sum_prints() {
        let sources = BTreeMap::from([("b/c".to_owned(), "11".to_owned()), ("a".to_owned(), "22".to_owned())]);
        assert_eq!(listing(&sources), "22  a\n11  b/c\n");
    }

    #[test]
    fn git_head_in_its_three_forms() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(head(folder.path()), None);
        fs::create_dir_all(git.join("refs/heads")).unwrap();
        fs::write(git.join("HEAD"), format!("{commit}\n")).unwrap();
        assert_eq!(head(folder.path()).as_deref(), Some(commit));
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(head(folder.path()), None);
        fs::write(git.join("packed-refs"), format!("# pack-refs\n{commit} refs/heads/main\n")).unwrap();
        assert_eq!(head(folder.path()).as_deref(), Some(commit));
        fs::write(git.join("refs/heads/main"), format!("{}\n", commit.replace('0', "f"))).unwrap();
        assert_eq!(head(folder.path()), Some(commit.replace('0', "f")));
        fs::write(git.join("HEAD"), "ref: ../../etc/passwd\n").unwrap();
        assert_eq!(head(folder.path()), None);
    }
}
