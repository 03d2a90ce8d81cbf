//! A Python process that does what a part of Argosy does, to compare the two.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::places;

/// Python's Unicode database of this version is the one that `pystr` and `pyrepr` follow.
pub const REFERENCE: &str = "3.11";

/// The interpreters to compare with, by minor version: all of 3.9 to 3.13 that are installed, [`REFERENCE`] first.
#[must_use]
pub fn pythons() -> Vec<(String, PathBuf)> {
    [REFERENCE, "3.9", "3.10", "3.12", "3.13"]
        .into_iter()
        .filter_map(|minor| Some((minor.to_owned(), places::python(minor)?)))
        .collect()
}

/// Sends every request to one Python process and returns its answers, in order.
///
/// `script` is Python source that defines `answer(request)`; request and result are anything JSON can say. What it
/// prints goes to stderr.
///
/// # Panics
/// Python cannot be started, stops early, or `answer` raises: the traceback is on stderr.
#[must_use]
pub fn ask_all(python: &Path, script: &str, requests: &[Value]) -> Vec<Value> {
    let program = format!("{script}\n{LOOP}");
    let mut child = Command::new(python)
        .args(["-I", "-c", &program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", python.display()));
    let mut stdin = child.stdin.take().expect("piped");
    let stdout = BufReader::new(child.stdout.take().expect("piped"));
    let answers: Vec<Value> = std::thread::scope(|scope| {
        // On a thread of its own: both pipes are smaller than a batch.
        scope.spawn(move || {
            for request in requests {
                if writeln!(stdin, "{request}").is_err() {
                    return; // Python stopped; the count of answers tells.
                }
            }
        });
        stdout
            .lines()
            .map(|line| {
                let line = line.unwrap_or_else(|error| panic!("{}: {error}", python.display()));
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{}: {error}: {line}", python.display()))
            })
            .collect()
    });
    let status = child.wait().expect("a child of ours");
    assert!(status.success(), "{}: {status}", python.display());
    assert_eq!(answers.len(), requests.len(), "{}: answers", python.display());
    answers
}

/// Keeps the real stdout for the answers alone.
const LOOP: &str = r#"
import json, sys
_channel, sys.stdout = sys.stdout, sys.stderr
for _line in sys.stdin.buffer:
    _channel.write(json.dumps(answer(json.loads(_line.decode("utf-8")))) + "\n")
_channel.flush()
"#;
