//! What a turn does: prompts, the tool's limits, the stop sequence.

use argosy_shared::{
    issue::{Code, Severity},
    model::ChatReply,
    result::{AnswerSource, Termination},
};
use argosy_tests::scripted::{self, Answer, ScriptedModel};
use serde_json::json;

use crate::support::{REFUSAL, Worker, coder, observations, play, react, run};

#[tokio::test]
async fn a_prompt_holds_every_earlier_reply_and_observation() {
    let worker = Worker::new();
    let mut assignment = react();
    assignment.files = vec![worker.data_file("b.csv", b"x\n1\n2\n"), worker.data_file("a.txt", b"hello")];
    let model = ScriptedModel::new([
        run("x = open('a.txt').read()"),
        run("print(x)"),
        "Thought: enough\nFinal Answer: it greets ".to_owned(),
    ]);
    let result = worker.carry_out(&assignment, model.clone()).await;

    assert_eq!(result.final_answer.as_deref(), Some("it greets"));
    assert_eq!(result.answer_source, AnswerSource::FinalAnswer);
    assert_eq!(result.telemetry.termination_reason, Termination::FinalAnswer);
    assert_eq!((result.telemetry.iterations, result.telemetry.python_executions), (3, 2));
    assert!(result.issues.is_empty());
    assert_eq!(observations(&result), ["", "hello\n"]);

    // The order of the metadata, as the sandbox names the files.
    assert!(
        result.input.starts_with("Files: ['/") && result.input.ends_with("/a.txt']. What holds?"),
        "{}",
        result.input
    );
    assert!(result.input.contains("/b.csv', '/"));
    let prompts = model.prompts();
    assert!(prompts[0].starts_with("SYSTEM\nTools: python_repl_ast: "));
    assert!(prompts[0].ends_with(&format!(" named python_repl_ast\nTask: {}\n", result.input)));
    let second = format!("{}{}\nObservation: \nThought: ", prompts[0], run("x = open('a.txt').read()"));
    assert_eq!(prompts[1], second);
    assert_eq!(prompts[2], format!("{second}{}\nObservation: hello\n\nThought: ", run("print(x)")));

    assert_eq!(result.steps[0].action.as_ref().unwrap().input, "x = open('a.txt').read()");
    assert_eq!(result.steps[0].metric.prompt_tokens, Some(10));
    assert_eq!(result.steps[0].metric.stop_reason.as_deref(), Some("stop"));
    assert!(result.steps[0].metric.env_action_ms.is_some());
    assert_eq!(result.steps[2].action, None);
    assert_eq!(result.system_prompt, "SYSTEM");
    assert_eq!((result.provenance.worker.as_str(), result.provenance.environment.as_str()), ("w1", "host_process"));
    assert!(result.provenance.python_version.starts_with("3."));
    assert!(result.telemetry.setup_ms > 0.0 && result.telemetry.python_ms > 0.0);
}

#[tokio::test]
async fn the_request_is_upstreams_with_the_models_own_parameters() {
    let mut assignment = react();
    assignment.model.params.request = serde_json::from_value(json!({"temperature": null, "seed": 7})).unwrap();
    let model = ScriptedModel::new(["Final Answer: x"]);
    Worker::new().carry_out(&assignment, model.clone()).await;
    let request = &model.requests()[0];
    assert_eq!(request.model, "m");
    assert_eq!(json!(request.params), json!({"n": 1, "stop": ["\nObservation:"], "stream": false, "seed": 7}));
}

#[tokio::test]
async fn coder_executes_once_and_a_syntax_error_is_once() {
    let result = play(&coder(), &[&run("1 +"), &run("2"), "Final Answer: x"]).await;
    let seen = observations(&result);
    assert!(seen[0].starts_with("SyntaxError: "), "{seen:?}");
    assert_eq!(seen[1], REFUSAL);
    let executed: Vec<bool> = result.steps.iter().flat_map(|step| &step.action).map(|action| action.executed).collect();
    assert_eq!(executed, [true, false]);
    assert_eq!(result.telemetry.python_executions, 1);
    assert_eq!(result.steps[1].metric.env_action_ms, None);
}

#[tokio::test]
async fn another_tool_is_answered_with_a_hint_and_uses_no_execution_up() {
    let other = "Action: search\nAction: the_web\nAction Input: x";
    let result = play(&coder(), &[other, &run("6 * 7"), "Final Answer: x"]).await;
    assert_eq!(
        observations(&result),
        ["search\nAction: the_web is not a valid tool, try one of [python_repl_ast].", "42"]
    );
    assert_eq!(result.telemetry.python_executions, 1);
}

#[tokio::test]
async fn an_observation_is_capped_and_the_cut_is_measured() {
    let mut assignment = react();
    assignment.harness.max_observation_bytes = 100;
    let result = play(&assignment, &[&run("'x' * 1000"), &run("'y' * 100"), "Final Answer: x"]).await;
    let seen = observations(&result);
    assert!(seen[0].len() < 400 && seen[0].starts_with("xxx") && seen[0].ends_with("xxx"), "{}", seen[0]);
    assert_eq!(result.steps[0].metric.observation_bytes_cut, 900);
    assert_eq!(seen[1], "y".repeat(100));
    assert_eq!(result.steps[1].metric.observation_bytes_cut, 0);
}

#[tokio::test]
async fn a_reply_is_cut_at_the_stop_sequence_when_the_endpoint_refused_it() {
    let dropped =
        |content: &str| ChatReply { changed_params: vec!["dropped stop".to_owned()], ..scripted::reply(content) };
    let model = ScriptedModel::new([
        dropped(&format!("{}\nObservation: 41\nThought: so\nFinal Answer: 41", run("6 * 7"))),
        dropped("Final Answer: 42\nObservation: none"),
    ]);
    let result = Worker::new().carry_out(&react(), model.clone()).await;
    assert_eq!(result.final_answer.as_deref(), Some("42"));
    assert_eq!(result.steps[0].reply, run("6 * 7"));
    assert!(model.prompts()[1].ends_with("6 * 7\nObservation: 42\nThought: "));
    assert_eq!(result.provenance.changed_params, ["dropped stop"]);
    assert!(result.issues.is_empty());
}

#[tokio::test]
async fn an_endpoint_that_ignores_the_stop_sequence_is_kept_whole_and_named_once() {
    let reply = format!("{}\nObservation: 41", run("6 * 7"));
    let result = play(&react(), &[&reply, &reply, "Final Answer: x"]).await;
    assert_eq!(result.steps[0].reply, reply);
    assert_eq!(result.steps[0].action.as_ref().unwrap().input, "6 * 7\nObservation: 41");
    let [issue] = result.issues.as_slice() else { panic!("{:?}", result.issues) };
    assert_eq!((issue.severity, issue.code.clone()), (Severity::Warning, Code::ModelOutputInvalid));
    assert_eq!(result.final_answer.as_deref(), Some("x"));
}

#[tokio::test]
async fn the_notice_follows_the_input_and_is_recorded() {
    let mut assignment = react();
    assignment.notice = Some("No network.".to_owned());
    let model = ScriptedModel::new(["Final Answer: x"]);
    let result = Worker::new().carry_out(&assignment, model.clone()).await;
    assert_eq!(result.input, "Files: []. What holds?\n\nNo network.");
    assert!(model.prompts()[0].contains(&result.input));
}

#[tokio::test]
async fn a_reply_at_the_token_limit_is_noted_and_used() {
    let cut_off = ChatReply { finish_reason: Some("length".to_owned()), ..scripted::reply("Final Answer: half a sen") };
    let result = Worker::new().carry_out(&react(), ScriptedModel::new([Answer::from(cut_off)])).await;
    assert_eq!(result.final_answer.as_deref(), Some("half a sen"));
    assert_eq!(result.steps[0].metric.stop_reason.as_deref(), Some("length"));
    assert!(result.issues.is_empty());
}
