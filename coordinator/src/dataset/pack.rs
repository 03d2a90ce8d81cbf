//! Reads the prompt pack from the Python source of a checkout, as syntax.
//!
//! Nothing is guessed: every text is read together with the statements that bring it into a prompt, and a source that
//! differs from what is expected is refused with file, line and the expected construct.

mod agents;
mod judge;
mod names;
mod shape;
mod source;
mod task_input;
mod text;

use std::{collections::BTreeMap, path::Path};

use argosy_shared::prompts::{self, PackSource, PromptPack, SCHEMA};

use source::Source;

/// The Python files that decide the texts.
pub const FILES: [&str; 10] = [
    "agents/coder_agent.py",
    "agents/coder_utils.py",
    "agents/react_agent.py",
    "agents/react_utils.py",
    "discovery_agent.py",
    "eval/lm_utils.py",
    "eval/new_eval.py",
    "utils/autonomous_single_agent.py",
    "utils/openai_helpers.py",
    "utils/openai_semantic_gen_prompts.py",
];

/// Enough for the deepest syntax tree that [`Source`] lets through.
const STACK_BYTES: usize = 32 << 20;

/// A source that does not hold what is expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such file.
    #[error("{file}: not found in the checkout")]
    Missing {
        /// Path below the checkout.
        file: &'static str,
    },
    /// The file cannot be read, or is out of all proportion.
    #[error("{file}: {reason}")]
    Unreadable {
        /// Path below the checkout.
        file: &'static str,
        /// Why.
        reason: String,
    },
    /// The file is not Python.
    #[error("{file}:{line}: {reason}")]
    Syntax {
        /// Path below the checkout.
        file: &'static str,
        /// 1-based line.
        line: usize,
        /// What the parser says.
        reason: String,
    },
    /// A definition is not there.
    #[error("{file}: expected {expected}, found no such thing at module level")]
    Absent {
        /// Path below the checkout.
        file: &'static str,
        /// The construct.
        expected: String,
    },
    /// Something else stands there.
    #[error("{file}:{line}: expected {expected}, found `{found}`")]
    Unexpected {
        /// Path below the checkout.
        file: &'static str,
        /// 1-based line.
        line: usize,
        /// The construct; holes of any content in angle brackets.
        expected: String,
        /// The beginning of what is there.
        found: String,
    },
    /// The texts make no usable pack.
    #[error("the texts of the source make no prompt pack: {0}")]
    Pack(#[from] prompts::Error),
}

/// Reads the prompt pack of the checkout at `root`. `source.commit` is left open.
///
/// # Errors
/// The first construct that is not as expected.
pub fn extract(root: &Path) -> Result<PromptPack, Error> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("prompt-pack".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || extract_here(root))
            .map_err(|error| Error::Unreadable { file: FILES[0], reason: format!("no thread to read it: {error}") })?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn extract_here(root: &Path) -> Result<PromptPack, Error> {
    let files = Files::read(root)?;
    let pack = PromptPack {
        schema: SCHEMA.to_owned(),
        source: PackSource { commit: None, files: files.hashes() },
        agent: agents::extract(&files)?,
        task_input: task_input::extract(&files)?,
        judge: judge::extract(&files)?,
    };
    pack.check()?;
    Ok(pack)
}

/// All files, parsed.
struct Files(Vec<Source>);

impl Files {
    fn read(root: &Path) -> Result<Self, Error> {
        let files = FILES.iter().map(|path| Source::read(root, path)).collect::<Result<_, _>>()?;
        Ok(Self(files))
    }

    fn get(&self, path: &str) -> &Source {
        self.0.iter().find(|source| source.path == path).expect("one of FILES")
    }

    fn hashes(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|source| (source.path.to_owned(), source.sha256.clone())).collect()
    }
}
