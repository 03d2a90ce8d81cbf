//! A task's public side: all that may reach the agent. The gold hypothesis is not here; it lives in
//! `argosy_coordinator::dataset` and never leaves the coordinator.

pub mod render;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::TaskId;

/// A part of DiscoveryBench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// DB-REAL, 239 tasks; gold from `eval/answer_key_real.csv`.
    RealTest,
    /// 25 tasks; gold from the metadata.
    RealTrain,
    /// DB-SYNTH, 200 tasks; gold from `eval/answer_key_synth.csv`.
    SynthTest,
    /// 153 tasks; gold from the metadata.
    SynthDev,
    /// 550 tasks; gold from the metadata.
    SynthTrain,
}

/// Which of upstream's two metadata shapes and prompts a split uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// From published papers; has hints.
    Real,
    /// Generated.
    Synth,
}

impl Split {
    /// All splits in the order of the documentation.
    pub const ALL: [Self; 5] = [Self::RealTest, Self::RealTrain, Self::SynthTest, Self::SynthDev, Self::SynthTrain];
    /// What the paper reports and what runs when `split` is not given.
    pub const DEFAULT: [Self; 2] = [Self::RealTest, Self::SynthTest];

    /// The name used in task ids and parameters.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RealTest => "real_test",
            Self::RealTrain => "real_train",
            Self::SynthTest => "synth_test",
            Self::SynthDev => "synth_dev",
            Self::SynthTrain => "synth_train",
        }
    }

    /// The split of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|split| split.as_str() == name)
    }

    /// Its folder below `discoverybench/` of an upstream checkout.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::RealTest => "real/test",
            Self::RealTrain => "real/train",
            Self::SynthTest => "synth/test",
            Self::SynthDev => "synth/dev",
            Self::SynthTrain => "synth/train",
        }
    }

    /// Real or synthetic.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::RealTest | Self::RealTrain => Kind::Real,
            Self::SynthTest | Self::SynthDev | Self::SynthTrain => Kind::Synth,
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A column of a data file, as the metadata describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// May be empty (one file of real_test).
    pub name: String,
    /// May hold newlines.
    pub description: String,
}

/// A file by content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Blob {
    /// Lower-case hexadecimal SHA-256.
    pub sha256: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// A data file with its description. Not only CSV: `.dta` and `.txt` occur.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// File name, without a folder.
    pub name: String,
    /// As in the metadata, outer whitespace kept.
    pub description: String,
    /// In the order of the metadata.
    pub columns: Vec<Column>,
    /// The file's content.
    pub blob: Blob,
}

/// One query of one metadata file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// `<split>__<dataset directory>__<metadata file number>__<qid>`.
    pub id: TaskId,
    /// The split.
    pub split: Split,
    /// The folder that holds the metadata file.
    pub dataset_dir: String,
    /// The number in the metadata file's name (not the JSON `id`).
    pub metadata_id: u64,
    /// The query's `qid` (not its position).
    pub query_id: i64,
    /// As in the metadata; lower case in all of DiscoveryBench.
    pub domain: String,
    /// The question.
    pub question: String,
    /// Upstream's noisy label; unused in prompts.
    pub question_type: String,
    /// In the order of the metadata.
    pub datasets: Vec<Dataset>,
    /// Texts of `hypotheses.intermediate` (empty in all published files).
    pub intermediate: Vec<String>,
    /// A hint; real splits only. `None` where the key is missing.
    pub domain_knowledge: Option<String>,
    /// A hint; real splits only. `None` where the key is missing.
    pub workflow_tags: Option<String>,
}

impl Task {
    /// `<split>:<domain>`, the unit of the finest score table.
    #[must_use]
    pub fn category(&self) -> String {
        format!("{}:{}", self.split, self.domain)
    }

    /// The task id made of its parts.
    #[must_use]
    pub fn make_id(split: Split, dataset_dir: &str, metadata_id: u64, query_id: i64) -> TaskId {
        TaskId(format!("{split}__{dataset_dir}__{metadata_id}__{query_id}"))
    }
}

/// Which hints are appended to the prompts of real splits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// `add_domain_knowledge`.
    pub domain_knowledge: bool,
    /// `add_workflow_tags`.
    pub workflow_tags: bool,
}
