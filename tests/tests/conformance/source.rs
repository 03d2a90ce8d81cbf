//! The dataset and the prompt pack that vectors of prompts are compared with.

use argosy_coordinator::dataset::{self, Data};
use argosy_shared::prompts::PromptPack;
use argosy_tests::places;

/// What there is on this machine; each part may be missing, with the reason.
pub(crate) struct Source {
    /// Tasks, gold and data files.
    pub(crate) data: Result<Data, String>,
    /// The prompts.
    pub(crate) pack: Result<PromptPack, String>,
}

impl Source {
    /// Opens both. Anything but the pinned commit is a failure, not an absence.
    ///
    /// # Panics
    /// What is there cannot be used.
    pub(crate) fn open() -> Self {
        let data = places::dataset()
            .map(|path| dataset::open_data(&path, false).unwrap_or_else(|error| panic!("{error}")))
            .ok_or_else(|| "no copy of the dataset: set DISCOVERYBENCH_ROOT".to_owned());
        Self { data, pack: pack() }
    }
}

fn pack() -> Result<PromptPack, String> {
    if let Some(file) = places::prompt_pack() {
        let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        return Ok(PromptPack::from_json(&bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    }
    let checkout = places::upstream_checkout().ok_or("no prompt pack: set DISCOVERYBENCH_ROOT to a full checkout")?;
    Ok(dataset::extract_pack(&checkout, false).unwrap_or_else(|error| panic!("{error}")))
}
