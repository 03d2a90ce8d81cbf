//! An execution that goes on where an earlier one lost its worker.

use argosy_shared::{lease::Assignment, result::Termination, trajectory::StepRecord};
use argosy_tests::scripted::ScriptedModel;

use crate::support::{Worker, observations, play, react, run};

/// The first steps of a finished execution: three turns of code and the answer.
async fn recorded(count: usize) -> Vec<StepRecord> {
    let script = [run("x = 6"), run("x * 7"), run("print(x)"), "Final Answer: recorded".to_owned()];
    let script: Vec<&str> = script.iter().map(String::as_str).collect();
    let result = play(&react(), &script).await;
    assert_eq!(observations(&result), ["", "42", "6\n"]);
    result.steps[..count].to_vec()
}

fn with_replay(replay: Vec<StepRecord>) -> Assignment {
    Assignment { replay, ..react() }
}

#[tokio::test]
async fn paid_turns_are_not_paid_again_and_python_is_where_it_was() {
    let replay = recorded(2).await;
    let model = ScriptedModel::new([run("x + 1"), "Final Answer: live".to_owned()]);
    let result = Worker::new().carry_out(&with_replay(replay.clone()), model.clone()).await;

    assert_eq!(observations(&result), ["", "42", "7"]);
    assert_eq!(result.final_answer.as_deref(), Some("live"));
    assert_eq!((result.telemetry.replayed_turns, result.telemetry.iterations), (2, 4));
    assert_eq!(result.telemetry.python_executions, 3);
    assert_eq!(model.requests().len(), 2);
    // The model sees the conversation as if nothing had happened.
    let prompt = &model.prompts()[0];
    assert!(prompt.contains(&format!("{}\nObservation: 42\nThought: ", run("x * 7"))), "{prompt}");
    // The cost of a replayed turn is the recorded one.
    assert_eq!(result.steps[1].metric.prompt_tokens, replay[1].metric.prompt_tokens);
    assert_eq!(result.steps[1].started_at, replay[1].started_at);
}

#[tokio::test]
async fn at_the_first_difference_it_goes_on_live() {
    let mut replay = recorded(3).await;
    replay[1].observation = Some("43".to_owned());
    let model = ScriptedModel::new(["Final Answer: live"]);
    let result = Worker::new().carry_out(&with_replay(replay), model.clone()).await;
    // The second reply was still used, its new observation is what the model sees; the third was given up.
    assert_eq!(observations(&result), ["", "42"]);
    assert_eq!((result.telemetry.replayed_turns, result.telemetry.iterations), (2, 3));
    assert!(model.prompts()[0].ends_with("x * 7\nObservation: 42\nThought: "));
}

#[tokio::test]
async fn a_recorded_end_needs_no_model() {
    let model = ScriptedModel::new([""; 0]);
    let result = Worker::new().carry_out(&with_replay(recorded(4).await), model.clone()).await;
    assert_eq!(result.final_answer.as_deref(), Some("recorded"));
    assert_eq!(result.telemetry.termination_reason, Termination::FinalAnswer);
    assert_eq!(result.telemetry.replayed_turns, 4);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn records_count_up_to_the_first_gap() {
    let mut replay = recorded(3).await;
    replay.remove(1);
    let model = ScriptedModel::new(["Final Answer: live"]);
    let result = Worker::new().carry_out(&with_replay(replay), model.clone()).await;
    assert_eq!((result.telemetry.replayed_turns, result.telemetry.iterations), (1, 2));
}

#[tokio::test]
async fn a_turn_that_brought_no_observation_is_tried_again_and_goes_on_live() {
    let mut replay = recorded(3).await;
    replay[1].observation = None;
    let result = Worker::new().carry_out(&with_replay(replay), ScriptedModel::new(["Final Answer: live"])).await;
    assert_eq!(observations(&result), ["", "42"]);
    assert_eq!(result.telemetry.replayed_turns, 2);
}

#[tokio::test]
async fn what_an_endpoint_refused_is_remembered_with_the_turn() {
    let mut replay = recorded(4).await;
    replay[0].metric.changed_params = vec!["dropped stop".to_owned()];
    let result = Worker::new().carry_out(&with_replay(replay), ScriptedModel::new([""; 0])).await;
    assert_eq!(result.provenance.changed_params, ["dropped stop"]);
}
