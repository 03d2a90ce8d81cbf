//! `pyrepr.jsonl`

use std::path::Path;

use argosy_shared::{pyjson::PyValue, pyrepr};
use argosy_tests::vectors::{Outcome, Tally};

use crate::rows;

/// Checks every row.
pub(crate) fn check(folder: &Path) -> Tally {
    let mut tally = Tally::of("pyrepr.jsonl");
    for row in rows::read(folder, "pyrepr.jsonl") {
        tally.count(&rows::id(&row), outcome(&row));
    }
    tally
}

fn outcome(row: &PyValue) -> Outcome {
    let Some(value) = row.get("value") else { return Outcome::Failed("no value".to_owned()) };
    for (key, ours) in [("python_str", pyrepr::str(value)), ("python_repr", pyrepr::repr(value))] {
        let theirs = row.get(key).and_then(PyValue::as_str);
        if theirs != Some(&ours) {
            return Outcome::Failed(format!("{key}: {theirs:?}, ours {ours:?}"));
        }
    }
    Outcome::Equal
}
