//! The collect phase: where the judged answer comes from.
//!
//! The DiscoveryBench page gives the order: `answer.txt` in the workspace, then the harness's collected copy of that
//! file, then the harness's final reply. An answer of white space only is none. The file counts as well where the agent
//! did not finish normally (an ERROR issue), which the page calls "still scored, usually 0".

use argosy_shared::{
    issue::{Code, Issue, Phase, Severity},
    lease::Assignment,
    pystr,
    result::AnswerSource,
};

use crate::sandbox::host_process::Sandbox;

/// The file an agent may write its answer to.
const ANSWER_FILE: &str = "answer.txt";

/// What a look at the answer file brought: its text, nothing, or why it cannot be read.
pub(super) type Found = Result<Option<String>, String>;

/// The answer to be judged.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) source: AnswerSource,
    pub(super) text: Option<String>,
    /// WARNINGs about the answer file.
    pub(super) issues: Vec<Issue>,
}

/// Reads the answer file of a sandbox. A data file of that name is no answer.
pub(super) async fn answer_file(sandbox: &Sandbox, assignment: &Assignment) -> Found {
    if assignment.files.iter().any(|file| file.name == ANSWER_FILE) {
        return Ok(None);
    }
    sandbox.read_answer().await.map_err(|error| error.to_string())
}

/// Takes the first of the three that is an answer.
pub(super) fn choose(file: Found, collected: Found, reply: Option<String>) -> Answer {
    let mut issues = Vec::new();
    if let Err(reason) = &file {
        let message = format!("{ANSWER_FILE} is there but was not read: {reason}");
        let issue = Issue::new(Phase::Collect, Code::EnvironmentFailed, message);
        issues.push(Issue { severity: Severity::Warning, ..issue });
    }
    let candidates = [
        (AnswerSource::AnswerFile, file.unwrap_or_default()),
        (AnswerSource::CollectedFile, collected.unwrap_or_default()),
        (AnswerSource::FinalAnswer, reply),
    ];
    for (source, text) in candidates {
        let text = text.as_deref().map(pystr::strip).filter(|text| !text.is_empty());
        if let Some(text) = text {
            return Answer { source, text: Some(text.to_owned()), issues };
        }
    }
    Answer { source: AnswerSource::Missing, text: None, issues }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn chosen(
        file: Option<String>,
        collected: Option<String>,
        reply: Option<String>,
    ) -> (AnswerSource, Option<String>) {
        let answer = choose(Ok(file), Ok(collected), reply);
        assert!(answer.issues.is_empty());
        (answer.source, answer.text)
    }

    #[test]
    fn the_order_is_file_copy_reply() {
        assert_eq!(chosen(text(" f\n"), text("c"), text("r")), (AnswerSource::AnswerFile, text("f")));
        assert_eq!(chosen(None, text("c"), text("r")), (AnswerSource::CollectedFile, text("c")));
        assert_eq!(chosen(None, None, text("r")), (AnswerSource::FinalAnswer, text("r")));
        assert_eq!(chosen(None, None, None), (AnswerSource::Missing, None));
    }

    #[test]
    fn white_space_is_no_answer() {
        assert_eq!(chosen(text(" \n"), text("\u{1c}"), text("r")), (AnswerSource::FinalAnswer, text("r")));
        assert_eq!(chosen(None, None, text("")), (AnswerSource::Missing, None));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_warning() {
        let answer = choose(Err("it is a symbolic link".to_owned()), Ok(None), text("r"));
        assert_eq!((answer.source, answer.text), (AnswerSource::FinalAnswer, text("r")));
        assert_eq!(answer.issues.len(), 1);
        assert_eq!(answer.issues[0].severity, Severity::Warning);
    }
}
