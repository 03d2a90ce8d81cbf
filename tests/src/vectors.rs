//! Golden vectors and the account of them: no row is skipped without being counted and named.

use std::{fmt::Write as _, path::Path};

use serde_json::Value;

/// The account of one vectors file.
#[derive(Debug, Default)]
pub struct Tally {
    /// File name.
    pub file: String,
    /// Rows in the file.
    pub rows: usize,
    /// Rows whose every check was equal.
    pub equal: usize,
    /// Rows with a deliberate difference that is written down in the test: id and reason.
    pub documented: Vec<(String, String)>,
    /// Rows that cannot run on this machine: id and reason.
    pub skipped: Vec<(String, String)>,
    /// Rows that differ: id and difference.
    pub failed: Vec<(String, String)>,
    /// Anything worth saying beside the table, for example which Python versions took part.
    pub notes: Vec<String>,
}

/// What became of one row.
pub enum Outcome {
    /// Everything equal.
    Equal,
    /// A deliberate difference.
    Documented(String),
    /// It cannot run here.
    Skipped(String),
    /// It differs.
    Failed(String),
}

impl Tally {
    /// An empty account of `file`.
    #[must_use]
    pub fn of(file: &str) -> Self {
        Self { file: file.to_owned(), ..Self::default() }
    }

    /// Counts one row.
    pub fn count(&mut self, id: &str, outcome: Outcome) {
        self.rows += 1;
        match outcome {
            Outcome::Equal => self.equal += 1,
            Outcome::Documented(reason) => self.documented.push((id.to_owned(), reason)),
            Outcome::Skipped(reason) => self.skipped.push((id.to_owned(), reason)),
            Outcome::Failed(difference) => self.failed.push((id.to_owned(), difference)),
        }
    }
}

/// The rows of a vectors file.
///
/// # Panics
/// The file cannot be read or is not JSON lines.
#[must_use]
pub fn read(folder: &Path, file: &str) -> Vec<Value> {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .collect()
}

/// The closing table, with everything named that is not simply equal.
#[must_use]
pub fn table(tallies: &[Tally]) -> String {
    let mut text = String::new();
    for tally in tallies {
        for note in &tally.notes {
            let _ = writeln!(text, "{}: {note}", tally.file);
        }
        for (what, rows) in [("documented", &tally.documented), ("skipped", &tally.skipped), ("FAILED", &tally.failed)]
        {
            for (id, reason) in rows {
                let _ = writeln!(text, "{} {what} {id}: {reason}", tally.file);
            }
        }
    }
    let _ = writeln!(
        text,
        "{:<22} {:>6} {:>6} {:>23} {:>8} {:>7}",
        "vectors file", "rows", "equal", "documented divergences", "skipped", "failed"
    );
    for tally in tallies {
        let _ = writeln!(
            text,
            "{:<22} {:>6} {:>6} {:>23} {:>8} {:>7}",
            tally.file,
            tally.rows,
            tally.equal,
            tally.documented.len(),
            tally.skipped.len(),
            tally.failed.len()
        );
    }
    text
}
