//! Cancellation, restarts, and what is left behind.

use std::time::Duration;

use argosy_shared::{
    issue::{Code, Severity},
    result::{AnswerSource, ExecutionResult, Termination},
    spec::OnPythonCrash,
};
use argosy_tests::scripted::{Answer, ScriptedModel};

use crate::support::{DEADLINE, Worker, names, observations, only_issue, react, run};

fn assert_cancelled(result: &ExecutionResult) {
    assert_eq!(result.telemetry.termination_reason, Termination::Cancelled);
    assert_eq!((only_issue(result).0, only_issue(result).2), (Severity::Fatal, Code::WorkerLost));
    assert_eq!((result.answer_source, result.final_answer.as_deref()), (AnswerSource::Missing, None));
}

#[tokio::test]
async fn a_cancelled_wait_for_the_model_ends_at_once() {
    let worker = Worker::new();
    let model = ScriptedModel::new([Answer::from(run("6 * 7")), Answer::Never]);
    let assignment = react();
    let (result, ()) = tokio::join!(worker.carry_out(&assignment, model.clone()), async {
        model.asked(2).await;
        worker.cancel.cancel();
    });
    assert_cancelled(&result);
    assert_eq!(observations(&result), ["42"]);
}

#[tokio::test]
async fn a_cancelled_execution_of_code_ends_at_once_and_its_processes_with_it() {
    let worker = Worker::new();
    let told = tempfile::tempdir().unwrap();
    let pids = told.path().join("pids");
    let code = format!(
        "import os, subprocess, time\n\
         child = subprocess.Popen(['sleep', '1000'])\n\
         _ = open({0:?} + '.part', 'w').write(f'{{os.getpid()}} {{child.pid}}')\n\
         os.rename({0:?} + '.part', {0:?})\n\
         time.sleep(1000)",
        pids.display().to_string()
    );
    let assignment = react();
    let model = ScriptedModel::new([run(&code)]);
    let (result, pids) = tokio::join!(worker.carry_out(&assignment, model), async {
        let wait = async {
            while !pids.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(DEADLINE, wait).await.expect("the code runs");
        worker.cancel.cancel();
        std::fs::read_to_string(&pids).unwrap()
    });
    assert_cancelled(&result);
    // The step in progress is kept as far as it had come.
    assert_eq!((result.steps.len(), result.steps[0].observation.as_deref()), (1, None));
    for pid in pids.split(' ') {
        assert!(!runs(pid), "process {pid} still runs");
    }
}

#[tokio::test]
async fn a_lease_that_is_cancelled_beforehand_does_nothing() {
    let worker = Worker::new();
    worker.cancel.cancel();
    let model = ScriptedModel::new(["Final Answer: never asked for"]);
    let mut assignment = react();
    assignment.files = vec![worker.data_file("a.csv", b"a")];
    let result = worker.carry_out(&assignment, model.clone()).await;
    assert_cancelled(&result);
    assert!(model.requests().is_empty());
    assert_eq!(worker.files.fetches(), 0);
}

#[tokio::test]
async fn a_dead_python_is_replaced_when_the_harness_says_so() {
    let worker = Worker::new();
    let mut assignment = react();
    assignment.harness.on_python_crash = OnPythonCrash::Restart;
    assignment.files = vec![worker.data_file("a.csv", b"kept")];
    let model = ScriptedModel::new([
        run("x = 1; _ = open('own.txt', 'w').write('kept too')"),
        run("import os; os._exit(3)"),
        run("x"),
        run("open('a.csv').read() + ', ' + open('own.txt').read()"),
        "Final Answer: x".to_owned(),
    ]);
    let result = worker.carry_out(&assignment, model).await;
    let seen = observations(&result);
    assert!(seen[1].contains("died") && seen[1].contains("new Python process"), "{}", seen[1]);
    assert!(seen[2].starts_with("NameError"), "{}", seen[2]);
    assert_eq!(seen[3], "kept, kept too");
    assert!(result.steps[1].action.as_ref().unwrap().executed);
    assert_eq!((result.telemetry.python_restarts, result.telemetry.python_executions), (1, 4));
    assert_eq!(result.final_answer.as_deref(), Some("x"));
    assert!(result.issues.is_empty());
}

#[tokio::test]
async fn agents_get_copies_and_the_cache_keeps_the_originals() {
    let worker = Worker::new();
    let mut assignment = react();
    let file = worker.data_file("a.csv", b"original");
    // Listed twice in the metadata: one file, two paths.
    assignment.files = vec![file.clone(), file];
    let overwrite = [run("_ = open('a.csv', 'w').write('overwritten')"), "Final Answer: x".to_owned()];
    let first = worker.carry_out(&assignment, ScriptedModel::new(overwrite)).await;
    assert!(first.issues.is_empty(), "{:?}", first.issues);
    assert_eq!(first.input.matches("a.csv").count(), 2);

    worker.seen.lock().unwrap().clear();
    let look = [run("open('a.csv').read()"), "Final Answer: x".to_owned()];
    let second = worker.carry_out(&assignment, ScriptedModel::new(look)).await;
    assert_eq!(observations(&second), ["original"]);
    assert_eq!(worker.files.fetches(), 1);
    assert_eq!(names(&worker.cache_folder()).len(), 1);
}

#[tokio::test]
async fn a_workspace_holds_the_tasks_files_and_nothing_else() {
    let worker = Worker::new();
    let mut assignment = react();
    assignment.files = vec![worker.data_file("a.csv", b"a"), worker.data_file("b.dta", b"b")];
    let list = [run("import os; sorted(os.listdir())"), "Final Answer: x".to_owned()];
    let result = worker.carry_out(&assignment, ScriptedModel::new(list)).await;
    assert_eq!(observations(&result), ["['a.csv', 'b.dta']"]);
}

/// Whether a process exists and is no zombie.
fn runs(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses.
    status.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}
