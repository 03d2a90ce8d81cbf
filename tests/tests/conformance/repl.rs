//! `repl.jsonl`: sessions with the Python tool, on every Python from 3.9 to 3.13 that is there.

use std::{collections::BTreeMap, path::Path, time::Duration};

use argosy_tests::{
    pandas, places,
    vectors::{self, Outcome, Tally},
};
use argosy_worker::{
    python::{Options, Session},
    sandbox::host_process::Sandbox,
};
use futures::{StreamExt as _, stream};
use serde::Deserialize;

/// The version that `observations` was recorded with.
const RECORDED: &str = "3.12";
/// Those with which all rows without pandas were recorded, where they differ.
const OTHERS: [&str; 5] = ["3.9", "3.10", "3.11", RECORDED, "3.13"];
const TIMEOUT: Duration = Duration::from_secs(120);

/// Checks every row.
pub(crate) fn check(folder: &Path) -> Tally {
    let mut tally = Tally::of("repl.jsonl");
    let rows: Vec<Row> = vectors::read(folder, "repl.jsonl")
        .into_iter()
        .map(|row| serde_json::from_value(row).expect("a row of repl.jsonl"))
        .collect();
    let refusal = rows.iter().find(|row| row.variant == "coder").and_then(|row| row.observations.last().cloned());
    let pythons = Pythons::found(&mut tally);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let outcomes: Vec<Outcome> = runtime.block_on(async {
        let compared = rows.iter().map(|row| compare(row, &pythons, refusal.as_ref()));
        stream::iter(compared).buffered(4).collect().await
    });
    for (row, outcome) in rows.iter().zip(outcomes) {
        tally.count(&row.id, outcome);
    }
    tally
}

#[derive(Deserialize)]
struct Row {
    id: String,
    variant: String,
    needs: Vec<String>,
    inputs: Vec<String>,
    /// Null where an exception left upstream's tool.
    observations: Vec<Option<String>>,
    #[serde(default)]
    raised: Vec<Option<String>>,
    #[serde(default)]
    leaked_stdout: String,
    /// By full version, only where different.
    #[serde(default)]
    other_pythons: BTreeMap<String, Vec<Option<String>>>,
}

/// The interpreters that take part.
struct Pythons {
    plain: Vec<String>,
    with_pandas: Result<String, String>,
}

impl Pythons {
    fn found(tally: &mut Tally) -> Self {
        let mut plain = vec!["python3".to_owned()];
        for minor in OTHERS {
            match places::python(minor) {
                Some(path) => plain.push(path.display().to_string()),
                None => tally.notes.push(format!("Python {minor} is not there")),
            }
        }
        let with_pandas = pandas::interpreter().map(|path| path.display().to_string());
        tally.notes.push(format!("run on {}, with pandas on {with_pandas:?}", plain.join(", ")));
        Self { plain, with_pandas }
    }
}

async fn compare(row: &Row, pythons: &Pythons, refusal: Option<&Option<String>>) -> Outcome {
    let pythons = match (&pythons.with_pandas, row.needs.is_empty()) {
        (_, true) => pythons.plain.clone(),
        (Ok(python), false) => vec![python.clone()],
        (Err(why), false) => return Outcome::Skipped(format!("needs {}: {why}", row.needs.join(", "))),
    };
    for python in pythons {
        if let Err(difference) = play(row, &python, refusal).await {
            return Outcome::Failed(format!("{python}: {difference}"));
        }
    }
    let escaped: Vec<&str> = row.raised.iter().flatten().map(String::as_str).collect();
    if escaped.is_empty() {
        return Outcome::Equal;
    }
    Outcome::Documented(format!("{escaped:?} is an observation, where upstream's own process ends"))
}

/// One session with one interpreter.
async fn play(row: &Row, python: &str, refusal: Option<&Option<String>>) -> Result<(), String> {
    let root = tempfile::tempdir().map_err(|error| error.to_string())?;
    let sandbox = Sandbox::create(root.path()).await.map_err(|error| error.to_string())?;
    let options = Options { python: python.to_owned(), max_observation_bytes: 0 };
    let mut session = sandbox.start_python(&options).await.map_err(|error| error.to_string())?;
    let expected = row.expected(session.version());
    if expected.len() != row.inputs.len() {
        return Err(format!("{} observations for {} inputs", expected.len(), row.inputs.len()));
    }
    for (turn, (input, expected)) in row.inputs.iter().zip(&expected).enumerate() {
        // A second execution in coder mode is the agent's matter: nothing runs, and every row shows the same text.
        if row.variant == "coder" && turn > 0 {
            if refusal.and_then(Option::as_ref) != expected.as_ref() {
                return Err(format!("turn {turn}: not the refusal but {expected:?}"));
            }
            continue;
        }
        let observed = session.execute(input, TIMEOUT).await.map_err(|error| format!("turn {turn}: {error}"))?;
        if Some(&observed.observation) != expected.as_ref() || observed.bytes_cut != 0 {
            return Err(format!("turn {turn}: {:?}, expected {expected:?}", observed.observation));
        }
    }
    leaked(&session, &row.leaked_stdout).await?;
    session.stop().await;
    sandbox.destroy().await.map_err(|error| error.to_string())
}

impl Row {
    /// What a version shows; what escapes from upstream's tool is shown like any exception.
    fn expected(&self, version: &str) -> Vec<Option<String>> {
        let version = if self.id == "null_byte" { before_null_bytes_were_syntax_errors(version) } else { version };
        let minor = |version: &str| version.split('.').take(2).map(str::to_owned).collect::<Vec<_>>();
        let recorded = self.other_pythons.iter().find(|(other, _)| minor(other) == minor(version));
        let observations = recorded.map_or(&self.observations, |(_, observations)| observations);
        let raised = self.raised.iter().cloned().chain(std::iter::repeat(None));
        observations.iter().cloned().zip(raised).map(|(observation, raised)| observation.or(raised)).collect()
    }
}

/// Recorded was 3.11.7. Until 3.11.3 Python still said what 3.10 says.
fn before_null_bytes_were_syntax_errors(version: &str) -> &str {
    if matches!(version, "3.11.0" | "3.11.1" | "3.11.2" | "3.11.3") { "3.10" } else { version }
}

/// What was printed before a last statement is in the process's own stdout, and nothing else is.
async fn leaked(session: &Session, expected: &str) -> Result<(), String> {
    for _ in 0..500 {
        if session.output().stdout == expected.as_bytes() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let stdout = String::from_utf8_lossy(&session.output().stdout).into_owned();
    Err(format!("stdout is {stdout:?}, expected {expected:?}"))
}
