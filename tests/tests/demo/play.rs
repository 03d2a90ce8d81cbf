//! The script, played through the stand-in with prompts rendered from the pack: every agent's turn and every judge's
//! question gets the reply meant for it, and the scores are those worked out by hand.

use std::{sync::Arc, time::Duration};

use argosy_coordinator::stand_in::{Body, Kind, Script, StandIn};
use argosy_shared::{
    hms::{CallKind, Inputs, Judged, Judging, Settings, Step, prompt::datasets_text},
    model::{ChatReply, ChatRequest, Message, Role},
    prompts::agent::render_prompt,
    spec::JudgePolicy,
    task::{
        Hints, Task,
        render::{BlankHints, input_parts},
    },
};
use argosy_worker::agent::parse::{Parsed, parse};
use serde_json::{Map, Value, json};

use crate::{Agent, Demo};

#[test]
fn every_task_comes_out_as_worked_out_by_hand() {
    let demo = Demo::new();
    for policy in [JudgePolicy::Strict, JudgePolicy::Upstream] {
        for agent in Agent::BOTH {
            // A stand-in of its own, as for a run of its own; within it all tasks share its memory.
            let stand_in = stand_in(&demo);
            for task in demo.tasks() {
                let name = format!("{} {agent:?} {policy:?}", task.id);
                let expected = agent.expectation(task);
                let (answer, turns, issue) = run(&demo, &stand_in, task, agent);
                assert_eq!((turns, issue), (expected.turns, expected.issue.as_deref()), "{name}");
                let Some(answer) = answer else { continue };
                let judged = judge(&demo, &stand_in, task, answer, policy);
                let close = |found: f64, wanted: f64| (found - wanted).abs() < 1e-6;
                assert!(close(judged.final_score, expected.score), "{name}: score {}", judged.final_score);
                assert!(close(judged.recall_context, expected.recall_context), "{name}: {}", judged.recall_context);
                assert!(
                    close(judged.mean_accuracy_score, expected.mean_accuracy_score),
                    "{name}: {}",
                    judged.mean_accuracy_score
                );
                assert_eq!(judged.calls.len(), expected.judge_calls as usize, "{name}: calls of the judge");
                assert_eq!(judged.warnings, Vec::<String>::new(), "{name}");
            }
        }
    }
}

#[test]
fn the_judge_is_asked_everything_it_can_be() {
    let demo = Demo::new();
    let stand_in = stand_in(&demo);
    let mut kinds = Vec::new();
    let mut problems = 0;
    let mut refused = 0;
    for task in demo.tasks() {
        let (Some(answer), ..) = run(&demo, &stand_in, task, Agent::Coder) else { continue };
        let judged = judge(&demo, &stand_in, task, answer, JudgePolicy::Strict);
        let record = judged.eval_rec_json();
        let matches = record["gen_subh_to_gold_subh"].as_object().expect("a map");
        refused += matches.values().filter(|gold| **gold == json!(-1)).count();
        for call in judged.calls {
            problems += usize::from(call.problem.is_some());
            if !kinds.contains(&call.kind) {
                kinds.push(call.kind);
            }
        }
    }
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    assert_eq!(problems, 1, "one reply of the judge is no JSON at first");
    assert!(refused >= 2, "some claims are about something else than the gold");
}

#[test]
fn the_demo_takes_seconds() {
    let demo = Demo::new();
    for agent in Agent::BOTH {
        let stand_in = stand_in(&demo);
        let mut delays = Duration::ZERO;
        let tasks = demo.tasks().iter().filter(|task| argosy_shared::task::Split::DEFAULT.contains(&task.split));
        for task in tasks {
            let mut steps = Vec::new();
            for _ in 0..agent.expectation(task).turns {
                let (reply, delay) = turn(&demo, &stand_in, task, agent, &steps);
                delays += delay;
                steps.push((reply, "seen".to_owned()));
            }
        }
        // Four at a time; the judge's calls overlap with other tasks' turns.
        let quarter = delays / 4;
        assert!((Duration::from_secs(2)..Duration::from_secs(12)).contains(&quarter), "{agent:?}: {quarter:?}");
    }
}

fn stand_in(demo: &Demo) -> StandIn {
    StandIn::new(Script::parse(&demo.script.to_string()).expect("the stand-in can play the script"), None)
}

/// An agent's loop without Python: answer, turns, and the code of the issue.
fn run(demo: &Demo, stand_in: &StandIn, task: &Task, agent: Agent) -> (Option<String>, u32, Option<&'static str>) {
    let agents = &demo.dataset.pack.agent;
    let template = if agent == Agent::Coder { &agents.coder } else { &agents.react };
    let mut steps = Vec::new();
    for turn_number in 1..=template.max_iterations {
        let (reply, _) = turn(demo, stand_in, task, agent, &steps);
        assert_eq!(reply, demo.replies(task, agent)[turn_number as usize - 1], "{} {agent:?}", task.id);
        match parse(&reply) {
            Parsed::Finish(answer) => return (Some(answer), turn_number, None),
            Parsed::Neither => return (None, turn_number, Some("model_output_invalid")),
            // The script does not depend on what is observed; `programs` runs the code.
            Parsed::Action { .. } => steps.push((reply, format!("observed in turn {turn_number}"))),
        }
    }
    (None, template.max_iterations, Some("harness_max_iterations"))
}

fn turn(demo: &Demo, stand_in: &StandIn, task: &Task, agent: Agent, steps: &[(String, String)]) -> (String, Duration) {
    let pack = &demo.dataset.pack;
    let template = if agent == Agent::Coder { &pack.agent.coder } else { &pack.agent.react };
    let parts = input_parts(pack, task, Hints::default(), BlankHints::default());
    let paths: Vec<String> = task.datasets.iter().map(|dataset| format!("/tmp/w/{}", dataset.name)).collect();
    let steps: Vec<(&str, &str)> = steps.iter().map(|(reply, seen)| (reply.as_str(), seen.as_str())).collect();
    let content = render_prompt(template, &parts.system_prompt, &parts.with_paths(&paths), &steps);
    let request = ChatRequest {
        model: "demo-agent".to_owned(),
        messages: vec![Message { role: Role::User, content }],
        params: Map::from_iter([("stop".to_owned(), json!(template.stop))]),
    };
    ask(stand_in, &request, Kind::Agent, Some(task))
}

fn judge(demo: &Demo, stand_in: &StandIn, task: &Task, answer: String, policy: JudgePolicy) -> Judged {
    let inputs = Inputs {
        query: task.question.clone(),
        gold: demo.dataset.data.golds.get(&task.id).expect("a gold").hypothesis().to_owned(),
        answer,
        datasets: datasets_text(&task.datasets),
        ..Inputs::default()
    };
    let settings = Settings { model: "demo-judge".to_owned(), policy, params: Map::new() };
    let mut judging = Judging::new(Arc::new(demo.dataset.pack.judge.clone()), inputs, settings);
    loop {
        match judging.step() {
            Step::Ask(request) => {
                let kind = match request.kind {
                    CallKind::SubHypotheses => Kind::SubHypotheses,
                    CallKind::Context => Kind::Context,
                    CallKind::Variables => Kind::Variables,
                    CallKind::Relation => Kind::Relation,
                };
                let (content, _) = ask(stand_in, &request.chat, kind, Some(task));
                judging.answer(Ok(ChatReply {
                    content: Some(content),
                    finish_reason: Some("stop".to_owned()),
                    ..ChatReply::default()
                }));
            }
            Step::Pause(_) => panic!("{}: nothing failed", task.id),
            Step::Done(judged) => return *judged,
            Step::Failed(failed) => panic!("{}: {}", task.id, failed.failure),
        }
    }
}

/// One request; it must be recognised for what it is.
fn ask(stand_in: &StandIn, request: &ChatRequest, kind: Kind, task: Option<&Task>) -> (String, Duration) {
    let mut body = json!({ "model": request.model, "messages": request.messages });
    body.as_object_mut().expect("an object").extend(request.params.clone());
    let plan = stand_in.answer(None, body.to_string().as_bytes(), Duration::ZERO, 0);
    assert_eq!(plan.kind, kind);
    assert_eq!(plan.task.as_deref(), task.map(|task| task.id.0.as_str()), "{kind}");
    let Body::Whole(_, text) = plan.body else { panic!("{kind}: not a whole body") };
    let reply: Value = serde_json::from_str(&text).expect("JSON");
    let choice = &reply["choices"][0];
    assert_eq!(choice["finish_reason"], "stop", "{kind}");
    (choice["message"]["content"].as_str().expect("a text").to_owned(), plan.delay)
}
