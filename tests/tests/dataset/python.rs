//! The texts we make of an extracted pack are those that the Python itself makes: its functions are run, with every
//! library replaced by a stand-in, and the results compared.

use std::path::Path;

use argosy_coordinator::dataset::pack;
use argosy_shared::{
    hms,
    prompts::{JudgeCall, PromptPack, TOOL_DESCRIPTION, agent},
    task::{
        Hints, Kind, Task,
        render::{BlankHints, input_parts},
    },
};
use argosy_tests::{places, twin};
use serde_json::{Value, json};

use crate::fixture;

#[test]
fn of_the_fixture() {
    let dataset = fixture::open();
    let tasks: Vec<&Task> = dataset.data.tasks.iter().collect();
    report("of_the_fixture", compare(&fixture::place(), &dataset.pack, &tasks));
}

#[test]
fn of_the_real_checkout() {
    let Some(checkout) = places::upstream_checkout() else {
        places::skipped("of_the_real_checkout", "DISCOVERYBENCH_ROOT is not set");
        return;
    };
    let dataset = argosy_coordinator::dataset::open(&checkout, &Default::default()).unwrap();
    assert_eq!(dataset.pack.source.files.len(), pack::FILES.len());
    let tasks: Vec<&Task> = dataset.data.tasks.iter().collect();
    report("of_the_real_checkout", compare(&checkout, &dataset.pack, &tasks));
}

fn report(test: &str, verdict: Option<Verdict>) {
    match verdict {
        None => places::skipped(test, "there is no Python"),
        Some(Verdict::Equal) => {}
        Some(Verdict::Raised(what) | Verdict::Different(what)) => panic!("{what}"),
    }
}

/// How our texts compare with Python's.
pub(crate) enum Verdict {
    /// All are equal.
    Equal,
    /// Python made none for a case.
    Raised(String),
    /// The first that differs.
    Different(String),
}

const HINTS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

/// Compares the texts that `pack` makes with those that the Python of `checkout` makes; `None` where there is no Python.
pub(crate) fn compare(checkout: &Path, pack: &PromptPack, tasks: &[&Task]) -> Option<Verdict> {
    let (_, python) = twin::pythons().into_iter().next()?;
    let inputs: Vec<(&Task, Hints)> = tasks
        .iter()
        .flat_map(|task| {
            HINTS.map(|(domain_knowledge, workflow_tags)| (*task, Hints { domain_knowledge, workflow_tags }))
        })
        // Upstream fails where the key is missing.
        .filter(|(task, hints)| {
            !(hints.domain_knowledge && task.split.kind() == Kind::Real && task.domain_knowledge.is_none())
        })
        .collect();
    let step_lists: [&[(&str, &str)]; 3] =
        [&[], &[("Action: a\n", "{x}\n")], &[("one {y}", "1"), ("two ", "\u{b5}\u{2019}")]];
    let mut requests: Vec<Value> = inputs.iter().map(|(task, hints)| input_request(checkout, task, *hints)).collect();
    for agent in ["coder", "react"] {
        requests.extend(step_lists.map(|steps| {
            json!({
                "make": "prompt", "checkout": checkout, "agent": agent, "tool": agent::TOOL_NAME,
                "description": TOOL_DESCRIPTION, "steps": steps, "system": "SYS {z}", "input": "IN\n{}",
            })
        }));
    }
    requests.extend(tasks.iter().map(|task| judge_request(checkout, task)));
    let answers = twin::ask_all(&python, include_str!("texts.py"), &requests);

    let mut ours: Vec<(String, Value)> = Vec::new();
    for (task, hints) in &inputs {
        let parts = input_parts(pack, task, *hints, BlankHints::Upstream);
        let input = parts.with_paths(&paths(task));
        ours.push((
            format!("{} with {hints:?}", task.id),
            json!({"system_prompt": parts.system_prompt, "input": input}),
        ));
    }
    for agent in [&pack.agent.coder, &pack.agent.react] {
        ours.extend(
            step_lists.map(|steps| {
                ("agent prompt".to_owned(), agent::render_prompt(agent, "SYS {z}", "IN\n{}", steps).into())
            }),
        );
    }
    ours.extend(tasks.iter().map(|task| (format!("judge of {}", task.id), judge_texts(pack, task))));
    assert_eq!(answers.len(), ours.len());
    if let Some(raised) = answers.iter().find_map(|answer| answer["raised"].as_str()) {
        return Some(Verdict::Raised(raised.to_owned()));
    }
    let differs = answers.into_iter().zip(ours).find(|(theirs, (_, ours))| theirs != ours);
    Some(differs.map_or(Verdict::Equal, |(theirs, (what, ours))| {
        Verdict::Different(format!("{what}\nPython: {theirs}\nours:   {ours}"))
    }))
}

const GOLD: &str = "gold {a} \"b\" %s";
const PRED: &str = "pred 'c' %%";
const WORKFLOW: &str = "";

/// All requests of the judge, and the questions it records.
fn judge_texts(pack: &PromptPack, task: &Task) -> Value {
    let judge = &pack.judge;
    let datasets = hms::prompt::datasets_text(&task.datasets);
    let pair = |call: &JudgeCall| {
        call.user.render(&[
            ("datasets_json", &datasets),
            ("query", &task.question),
            ("gold_hypo", GOLD),
            ("gold_workflow", WORKFLOW),
            ("gen_hypo", PRED),
            ("gen_workflow", WORKFLOW),
            ("dimension_question", call.question.as_deref().unwrap()),
        ])
    };
    let segment = [("datasets", datasets.as_str()), ("hypothesis", GOLD), ("workflow", WORKFLOW)];
    let context = [("gold_hyp", GOLD), ("gold_context", "None"), ("pred_hyp", PRED), ("pred_context", "in {winter}")];
    let requests = [
        (&judge.sub_hypotheses, judge.sub_hypotheses.user.render(&segment)),
        (&judge.context, judge.context.user.render(&context)),
        (&judge.variables, pair(&judge.variables)),
        (&judge.relation, pair(&judge.relation)),
    ]
    .map(|(call, user)| {
        let mut request = json!({
            "model": "m",
            "messages": [{"role": "system", "content": call.system}, {"role": "user", "content": user}],
        });
        request.as_object_mut().unwrap().extend(call.params.clone());
        request
    });
    json!({"requests": requests, "questions": [judge.variables.question, judge.relation.question]})
}

fn input_request(checkout: &Path, task: &Task, hints: Hints) -> Value {
    let mut request = request_for("input", checkout, task);
    request["paths"] = json!(paths(task));
    request["knowledge"] = json!(hints.domain_knowledge);
    request["tags"] = json!(hints.workflow_tags);
    request
}

fn judge_request(checkout: &Path, task: &Task) -> Value {
    let mut request = request_for("judge", checkout, task);
    for (name, value) in [("gold", GOLD), ("pred", PRED), ("workflow", WORKFLOW)] {
        request[name] = json!(value);
    }
    request["gold_context"] = json!("None");
    request["pred_context"] = json!("in {winter}");
    request
}

fn request_for(make: &str, checkout: &Path, task: &Task) -> Value {
    let path = checkout
        .join("discoverybench")
        .join(task.split.folder())
        .join(&task.dataset_dir)
        .join(format!("metadata_{}.json", task.metadata_id));
    let utf8 = std::str::from_utf8(&std::fs::read(&path).unwrap()).is_ok();
    json!({
        "make": make,
        "checkout": checkout,
        "metadata": path,
        "encoding": if utf8 { "utf-8" } else { "cp1252" },
        "kind": match task.split.kind() { Kind::Real => "real", Kind::Synth => "synth" },
        "question": task.question,
    })
}

fn paths(task: &Task) -> Vec<String> {
    task.datasets.iter().map(|file| format!("/workspace/{}", file.name)).collect()
}
