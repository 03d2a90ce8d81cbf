//! The demo: a small benchmark of our own in DiscoveryBench's format, its prompt pack, and a script for the stand-in
//! model and judge, all embedded, so that the whole journey can be watched without a checkout, a key or a network.
//!
//! The files lie in `coordinator/demo`. `generate.py` there makes `benchmark/` and `script.json` from `topics/`;
//! `prompt-pack.json` and `expected.json` are written by hand.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use include_dir::{Dir, include_dir};
use serde::Deserialize;

static BENCHMARK: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/demo/benchmark");
const PROMPT_PACK: &str = include_str!("../demo/prompt-pack.json");
const SCRIPT: &str = include_str!("../demo/script.json");
const EXPECTED: &str = include_str!("../demo/expected.json");

/// Where the demo's files were put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Materialised {
    /// A data-only copy of a benchmark, as `--dataset` takes it.
    pub dataset: PathBuf,
    /// Its prompt pack, as `--prompt-pack` takes it.
    pub prompt_pack: PathBuf,
    /// What the stand-in says, as `argosy mock-model --script` takes it.
    pub script: PathBuf,
}

/// What comes out of the demo when it is run with one kind of agent and the script's replies.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// With `agent_type` `coder`, by task id.
    pub coder: BTreeMap<String, Expectation>,
    /// With `agent_type` `react`, by task id.
    pub react: BTreeMap<String, Expectation>,
}

/// What comes out of one task. Scores were worked out by hand from the judge's scripted replies and are rounded to
/// six places.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// 0 to 1.
    pub score: f64,
    /// 0 to 1.
    pub recall_context: f64,
    /// 0 to 1.
    pub mean_accuracy_score: f64,
    /// The code of the issue that kept the agent from answering.
    pub issue: Option<String>,
    /// Model calls of the agent.
    pub turns: u32,
    /// Model calls of the judge, a repeated question counted each time.
    pub judge_calls: u32,
}

/// Why the demo's files could not be put in place.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder or file cannot be written or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is something that the demo did not put there; it would be taken for a part of the benchmark.
    #[error("{}: does not belong to the demo's benchmark, give a folder of its own", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
    },
}

/// Writes the demo's files below `into`, which is made if need be. Files that are there already and whole are left
/// alone, others are replaced in one step each, so it may be called again and by several processes at once.
///
/// # Errors
/// The file that cannot be written, or a stranger among the benchmark's files.
pub fn materialise(into: &Path) -> Result<Materialised, Error> {
    let files = Materialised {
        dataset: into.join("benchmark"),
        prompt_pack: into.join("prompt-pack.json"),
        script: into.join("script.json"),
    };
    write_folder(&BENCHMARK, &files.dataset)?;
    write(&files.prompt_pack, PROMPT_PACK.as_bytes())?;
    write(&files.script, SCRIPT.as_bytes())?;
    Ok(files)
}

/// The outcome of every task of the demo.
///
/// # Panics
/// Never; a test reads the embedded file.
#[must_use]
pub fn expected() -> Expected {
    serde_json::from_str(EXPECTED).expect("coordinator/demo/expected.json has this form")
}

fn write_folder(folder: &Dir<'_>, into: &Path) -> Result<(), Error> {
    fs::create_dir_all(into).map_err(at(into))?;
    for entry in fs::read_dir(into).map_err(at(into))? {
        let name = entry.map_err(at(into))?.file_name();
        // A file that another process is about to put in place starts with a dot; importers do not look at it.
        let is_ours = folder.entries().iter().any(|ours| ours.path().file_name() == Some(&name));
        if !is_ours && !name.to_string_lossy().starts_with('.') {
            return Err(Error::Foreign { path: into.join(name) });
        }
    }
    for file in folder.files() {
        write(&into.join(file.path().file_name().unwrap_or_default()), file.contents())?;
    }
    for inner in folder.dirs() {
        write_folder(inner, &into.join(inner.path().file_name().unwrap_or_default()))?;
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".demo-").tempfile_in(folder).map_err(at(folder))?;
    file.write_all(content).map_err(at(path))?;
    file.persist(path).map_err(|error| at(path)(error.error))?;
    Ok(())
}

fn at(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |source| Error::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_once_and_mended_when_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("a/b");
        let files = materialise(&into).unwrap();
        let key = files.dataset.join("eval/answer_key_real.csv");
        let written = fs::metadata(&key).unwrap().modified().unwrap();
        fs::write(&files.script, "{}").unwrap();
        assert_eq!(materialise(&into).unwrap(), files);
        assert_eq!(fs::metadata(&key).unwrap().modified().unwrap(), written);
        assert_eq!(fs::read_to_string(&files.script).unwrap(), SCRIPT);
        assert_eq!(fs::read_to_string(&files.prompt_pack).unwrap(), PROMPT_PACK);
    }

    #[test]
    fn every_embedded_file_is_written_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let files = materialise(folder.path()).unwrap();
        let mut count = 0;
        let mut folders = vec![&BENCHMARK];
        while let Some(dir) = folders.pop() {
            folders.extend(dir.dirs());
            for file in dir.files() {
                assert_eq!(fs::read(files.dataset.join(file.path())).unwrap(), file.contents(), "{:?}", file.path());
                count += 1;
            }
        }
        assert!(count > 30, "{count}");
    }

    #[test]
    fn a_stranger_among_the_files_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let files = materialise(folder.path()).unwrap();
        let stranger = files.dataset.join("discoverybench/real/test/own_work");
        fs::create_dir(&stranger).unwrap();
        let error = materialise(folder.path()).unwrap_err().to_string();
        assert!(error.contains("own_work: does not belong to the demo's benchmark"), "{error}");
        fs::remove_dir(&stranger).unwrap();
        materialise(folder.path()).unwrap();
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("file");
        fs::write(&into, "").unwrap();
        let error = materialise(&into).unwrap_err().to_string();
        assert!(error.contains("file/benchmark"), "{error}");
    }

    #[test]
    fn expectations_are_consistent() {
        let Expected { coder, react } = expected();
        assert!(coder.keys().eq(react.keys()));
        for (task, outcome) in coder.iter().chain(&react) {
            let product = outcome.recall_context * outcome.mean_accuracy_score;
            assert!((outcome.score - product).abs() < 1e-6, "{task}");
            assert_eq!(outcome.issue.is_some(), outcome.judge_calls == 0, "{task}");
        }
    }
}
