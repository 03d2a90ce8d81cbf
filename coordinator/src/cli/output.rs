//! The only place that prints. Data goes to stdout, talk to stderr.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this module is where printing happens")]

use std::{fmt, process::ExitCode};

/// Bad input by the user: exit code 2, with the next step.
#[derive(Debug)]
pub(crate) struct Usage {
    message: String,
    hint: Option<String>,
}

impl Usage {
    /// A message in lower case without a full stop.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// The same with a next step.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Usage {}

impl From<argosy_shared::spec::Error> for Usage {
    fn from(error: argosy_shared::spec::Error) -> Self {
        Self { message: format!("{}: {}", error.place, error.message), hint: error.hint }
    }
}

/// Writes data to stdout.
pub(crate) fn data(text: impl fmt::Display) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    // A closed pipe (`argosy … | head`) is the reader's choice, not an error.
    let _ = writeln!(out, "{text}");
}

/// Writes talk to stderr.
pub(crate) fn say(text: impl fmt::Display) {
    eprintln!("{text}");
}

/// Prints an error with its causes and hint, and chooses the exit code: 2 for bad input, 1 for the rest.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    let mut text = format!("error: {error}");
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    let usage = error.downcast_ref::<Usage>();
    if usage.is_some_and(|usage| usage.hint.is_none()) {
        text.push_str("\nhint: `--help` after the command explains its flags and gives examples");
    }
    say(text);
    if usage.is_some() { ExitCode::from(2) } else { ExitCode::from(1) }
}
