//! Where the judged answer comes from.

use argosy_shared::result::{AnswerSource, Termination};
use argosy_tests::scripted::ScriptedModel;

use crate::support::{Worker, coder, play, react, run};

const WRITE: &str = "_ = open('answer.txt', 'w').write('\\n from the file \\n')";

#[tokio::test]
async fn the_file_comes_before_the_reply() {
    let result = play(&react(), &[&run(WRITE), "Final Answer: from the reply"]).await;
    assert_eq!(result.answer_source, AnswerSource::AnswerFile);
    assert_eq!(result.final_answer.as_deref(), Some("from the file"));
    // The trajectory keeps what the agent said.
    assert_eq!(result.steps[1].reply, "Final Answer: from the reply");
}

#[tokio::test]
async fn the_copy_counts_when_the_file_goes_as_python_ends() {
    let code = format!("{WRITE}; import atexit, os; atexit.register(os.remove, 'answer.txt')");
    let result = play(&react(), &[&run(&code), "Final Answer: from the reply"]).await;
    assert_eq!(result.answer_source, AnswerSource::CollectedFile);
    assert_eq!(result.final_answer.as_deref(), Some("from the file"));
}

#[tokio::test]
async fn a_file_that_is_written_out_as_python_ends_is_read_whole() {
    let code = "f = open('answer.txt', 'w'); _ = f.write('from the buffer')";
    let result = play(&react(), &[&run(code), "Final Answer: from the reply"]).await;
    assert_eq!(result.answer_source, AnswerSource::AnswerFile);
    assert_eq!(result.final_answer.as_deref(), Some("from the buffer"));
}

#[tokio::test]
async fn the_file_counts_when_the_agent_did_not_finish() {
    let result = play(&react(), &[&run(WRITE), "no more"]).await;
    assert_eq!(result.telemetry.termination_reason, Termination::OutputInvalid);
    assert_eq!(result.final_answer.as_deref(), Some("from the file"));
}

#[tokio::test]
async fn the_file_does_not_count_when_the_task_is_invalid() {
    let result = play(&react(), &[&run(&format!("{WRITE}; import os; os._exit(1)"))]).await;
    assert!(result.issues[0].is_fatal());
    assert_eq!((result.answer_source, result.final_answer), (AnswerSource::Missing, None));
}

#[tokio::test]
async fn an_empty_final_answer_finishes_without_an_answer() {
    let result = play(&coder(), &[&run("1"), "Final Answer:"]).await;
    assert_eq!(result.telemetry.termination_reason, Termination::FinalAnswer);
    assert_eq!((result.answer_source, result.final_answer), (AnswerSource::Missing, None));
    assert!(result.issues.is_empty());
}

#[tokio::test]
async fn a_blank_file_is_no_answer() {
    let result = play(&react(), &[&run("_ = open('answer.txt', 'w').write(' \\n')"), "Final Answer: said"]).await;
    assert_eq!((result.answer_source, result.final_answer.as_deref()), (AnswerSource::FinalAnswer, Some("said")));
}

#[tokio::test]
async fn a_data_file_of_that_name_is_no_answer() {
    let worker = Worker::new();
    let mut assignment = react();
    assignment.files = vec![worker.data_file("answer.txt", b"data")];
    let result = worker.carry_out(&assignment, ScriptedModel::new(["Final Answer: said"])).await;
    assert_eq!((result.answer_source, result.final_answer.as_deref()), (AnswerSource::FinalAnswer, Some("said")));
}

#[tokio::test]
async fn a_link_out_of_the_workspace_is_not_followed() {
    let code = "import os; os.symlink('/etc/passwd', 'answer.txt')";
    let result = play(&react(), &[&run(code), "Final Answer: said"]).await;
    assert_eq!((result.answer_source, result.final_answer.as_deref()), (AnswerSource::FinalAnswer, Some("said")));
    assert_eq!(result.issues.len(), 1);
    assert!(!result.issues[0].is_fatal() && result.issues[0].message.contains("symbolic link"));
}
