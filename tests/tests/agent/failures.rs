//! Every row of the harness document's table of failures.

use argosy_shared::{
    issue::{Code, Phase, Severity},
    model::{ChatReply, Failure},
    result::{AnswerSource, ExecutionResult, Termination},
};
use argosy_tests::scripted::{self, Answer, ScriptedModel};

use crate::support::{Worker, coder, observations, only_issue, play, react, run};

/// Checks a result that is not to be judged a success: the issue, the reason, and that there is no answer.
fn check(result: &ExecutionResult, severity: Severity, code: Code, phase: Phase, reason: Termination, says: &str) {
    let (got_severity, got_phase, got_code, message) = only_issue(result);
    assert_eq!((got_severity, got_code, got_phase), (severity, code, phase), "{message}");
    assert!(message.contains(says), "{message}");
    assert_eq!(result.telemetry.termination_reason, reason);
    assert_eq!((result.final_answer.as_deref(), result.answer_source), (None, AnswerSource::Missing));
    assert_eq!(result.telemetry.iterations as usize, result.steps.len());
}

async fn answer_with(answer: impl Into<Answer>) -> ExecutionResult {
    let script = [Answer::from(run("6 * 7")), answer.into()];
    Worker::new().carry_out(&react(), ScriptedModel::new(script)).await
}

#[tokio::test]
async fn a_reply_with_neither_answer_nor_action() {
    let result = play(&coder(), &[&run("6 * 7"), "I think it rises.", "Final Answer: never asked for"]).await;
    let invalid = Termination::OutputInvalid;
    check(&result, Severity::Error, Code::ModelOutputInvalid, Phase::Run, invalid, "neither `Final Answer:` nor");
    assert_eq!(result.steps.len(), 2);
    assert_eq!(result.steps[1].reply, "I think it rises.");
}

#[tokio::test]
async fn an_empty_reply_or_reasoning_only() {
    let empty = |content: Option<&str>, reasoning: Option<&str>, reason: &str| ChatReply {
        content: content.map(str::to_owned),
        reasoning: reasoning.map(str::to_owned),
        finish_reason: Some(reason.to_owned()),
        raw: format!("{{\"raw\":\"{reason}\"}}"),
        ..ChatReply::default()
    };
    let thinking = "Final Answer: only thought of";
    for (reply, says) in [
        (empty(None, None, "stop"), "the reply is empty"),
        (empty(Some(""), None, "content_filter"), "finish_reason content_filter"),
        (empty(Some(" \n"), Some(thinking), "stop"), "29 characters of reasoning"),
        (empty(None, Some(thinking), "length"), "finish_reason length"),
    ] {
        let raw = reply.raw.clone();
        let result = answer_with(reply).await;
        let invalid = Termination::OutputInvalid;
        check(&result, Severity::Error, Code::ModelOutputInvalid, Phase::Run, invalid, says);
        assert_eq!(result.raw_replies, [raw]);
        assert_eq!(observations(&result), ["42"]);
    }
}

#[tokio::test]
async fn the_raw_body_that_is_kept_is_bounded() {
    let huge = ChatReply { raw: "\u{e9}".repeat(100_000), ..ChatReply::default() };
    let result = answer_with(huge).await;
    assert_eq!(result.raw_replies[0].len(), 64 << 10);
}

#[tokio::test]
async fn the_turn_limit() {
    let mut assignment = react();
    assignment.harness.max_iterations = Some(2);
    let result = play(&assignment, &[&run("x = 6"), &run("x * 7"), "Final Answer: never asked for"]).await;
    let limit = Termination::MaxIterations;
    check(&result, Severity::Error, Code::HarnessMaxIterations, Phase::Run, limit, "2 model turns");
    // The last turn's code has been executed all the same.
    assert_eq!(observations(&result), ["", "42"]);

    let in_time = play(&assignment, &[&run("x = 6"), "Final Answer: in time"]).await;
    assert_eq!(in_time.final_answer.as_deref(), Some("in time"));

    // Without the parameter the template's limit holds.
    let script: Vec<String> = (0..6).map(|number| run(&number.to_string())).collect();
    let script: Vec<&str> = script.iter().map(String::as_str).collect();
    let result = play(&coder(), &script).await;
    check(&result, Severity::Error, Code::HarnessMaxIterations, Phase::Run, limit, "5 model turns");
}

#[tokio::test]
async fn code_that_runs_too_long() {
    let mut assignment = react();
    assignment.harness.command_timeout = 2.0;
    let result = play(&assignment, &[&run("1"), &run("while True: pass"), "Final Answer: never asked for"]).await;
    check(&result, Severity::Error, Code::HarnessTimeout, Phase::Run, Termination::Timeout, "command_timeout (2s)");
    assert_eq!(result.steps.len(), 2);
    let action = result.steps[1].action.as_ref().unwrap();
    assert_eq!((action.input.as_str(), action.executed), ("while True: pass", true));
    assert_eq!(result.steps[1].observation, None);
}

#[tokio::test]
async fn a_loop_that_runs_too_long_in_python_or_in_the_model() {
    let mut assignment = react();
    assignment.run_timeout_seconds = Some(4.0);
    let busy = [Answer::from(run("6 * 7")), Answer::from(run("while True: pass"))];
    let waiting = [Answer::from(run("6 * 7")), Answer::Never];
    let carry_out = async |script: [Answer; 2]| Worker::new().carry_out(&assignment, ScriptedModel::new(script)).await;
    let (busy, waiting) = tokio::join!(carry_out(busy), carry_out(waiting));
    for (result, steps) in [(busy, 2), (waiting, 1)] {
        let says = "execution.run_timeout_seconds (4s)";
        check(&result, Severity::Error, Code::HarnessTimeout, Phase::Run, Termination::Timeout, says);
        assert_eq!(result.steps.len(), steps);
        assert_eq!(observations(&result), ["42"]);
    }
}

#[tokio::test]
async fn a_model_request_that_fails() {
    for (code, severity, reason) in [
        (Code::ModelTimeout, Severity::Error, Termination::ModelTimeout),
        (Code::ModelContextExceeded, Severity::Error, Termination::ContextExceeded),
        (Code::ModelOutputInvalid, Severity::Error, Termination::OutputInvalid),
        (Code::ModelFailed, Severity::Fatal, Termination::ModelFailed),
    ] {
        let failure =
            Failure { raw: Some("{\"error\":1}".to_owned()), ..scripted::failure(code.clone(), "status 4711") };
        let result = answer_with(failure).await;
        check(&result, severity, code, Phase::Run, reason, "status 4711");
        // What had been done until then is kept, whatever the severity.
        assert_eq!(observations(&result), ["42"]);
        assert_eq!(result.raw_replies, ["{\"error\":1}"]);
    }
}

#[tokio::test]
async fn the_client_decides_the_severity_of_a_failure() {
    let failure = Failure { severity: Severity::Error, ..scripted::failure(Code::ModelFailed, "status 418") };
    let result = answer_with(failure).await;
    check(&result, Severity::Error, Code::ModelFailed, Phase::Run, Termination::ModelFailed, "418");
}

#[tokio::test]
async fn a_python_that_cannot_start() {
    let mut assignment = react();
    assignment.environment.python = "/nowhere/python3".to_owned();
    let model = ScriptedModel::new(["Final Answer: never asked for"]);
    let result = Worker::new().carry_out(&assignment, model.clone()).await;
    let failed = Termination::EnvironmentFailed;
    check(&result, Severity::Fatal, Code::EnvironmentFailed, Phase::Setup, failed, "/nowhere/python3");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_python_that_dies() {
    let failed = Termination::EnvironmentFailed;
    for (code, says) in [("import os; os._exit(3)", "3"), ("import os; os.kill(os.getpid(), 9)", "9")] {
        let result = play(&react(), &[&run("x = 1"), &run(code), "Final Answer: never asked for"]).await;
        check(&result, Severity::Fatal, Code::EnvironmentFailed, Phase::Run, failed, says);
        assert_eq!(result.steps.len(), 2);
        assert_eq!(observations(&result), [""]);
    }
}

#[tokio::test]
async fn a_python_that_answers_with_garbage() {
    // Code that looks for the connection and writes to it.
    let code = "import os, stat\n\
                for fd in map(int, os.listdir('/proc/self/fd')):\n    \
                    try:\n        \
                        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'garbage' * 100)\n    \
                    except OSError: pass";
    let result = play(&react(), &[&run(code), "Final Answer: never asked for"]).await;
    let failed = Termination::EnvironmentFailed;
    check(&result, Severity::Fatal, Code::EnvironmentFailed, Phase::Run, failed, "unreadable reply");
}

#[tokio::test]
async fn an_exit_or_an_exception_is_an_observation_and_no_failure() {
    let script = [run("import sys; sys.exit(1)"), run("1 / 0"), "Final Answer: x".to_owned()];
    let result = Worker::new().carry_out(&react(), ScriptedModel::new(script)).await;
    assert_eq!(observations(&result), ["SystemExit: 1", "ZeroDivisionError: division by zero"]);
    assert!(result.issues.is_empty());
}

#[tokio::test]
async fn a_data_file_that_is_not_to_be_had() {
    let worker = Worker::new();
    let mut assignment = react();
    let mut file = worker.data_file("a.csv", b"a");
    file.blob.sha256 = "0".repeat(64);
    assignment.files = vec![file];
    let failed = Termination::EnvironmentFailed;
    let result = worker.carry_out(&assignment, ScriptedModel::new([""; 0])).await;
    check(&result, Severity::Fatal, Code::SetupFailed, Phase::Setup, failed, "a.csv");

    assignment.files = vec![worker.data_file("../a.csv", b"a")];
    let result = worker.carry_out(&assignment, ScriptedModel::new([""; 0])).await;
    check(&result, Severity::Fatal, Code::SetupFailed, Phase::Setup, failed, "not a plain file name");
}

#[tokio::test]
async fn a_sandbox_that_cannot_be_made() {
    let worker = Worker::new();
    let file = worker.cache_folder().with_file_name("a file");
    std::fs::write(&file, "").unwrap();
    let result = worker.carry_out_below(&file, &react(), ScriptedModel::new([""; 0])).await;
    let failed = Termination::EnvironmentFailed;
    check(&result, Severity::Fatal, Code::EnvironmentFailed, Phase::Setup, failed, "the sandbox cannot be made");
}
