//! The texts we make of an extracted pack are those that the Python itself makes: its functions are run, with every
//! library replaced by a stand-in, and the results compared.

use std::path::Path;

use argosy_coordinator::dataset::{Dataset, pack};
use argosy_shared::{
    hms,
    prompts::{JudgeCall, TOOL_DESCRIPTION, agent},
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
    compare("of_the_fixture", &fixture::place(), &dataset, dataset.data.tasks.iter().collect());
}

#[test]
fn of_the_real_checkout() {
    let Some(checkout) = places::upstream_checkout() else {
        places::skipped("of_the_real_checkout", "DISCOVERYBENCH_ROOT is not set");
        return;
    };
    let dataset = argosy_coordinator::dataset::open(&checkout, &Default::default()).unwrap();
    assert_eq!(dataset.pack.source.files.len(), pack::FILES.len());
    compare("of_the_real_checkout", &checkout, &dataset, dataset.data.tasks.iter().collect());
}

const HINTS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

fn compare(test: &str, checkout: &Path, dataset: &Dataset, tasks: Vec<&Task>) {
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
    let Some((_, python)) = twin::pythons().into_iter().next() else {
        places::skipped(test, "there is no Python");
        return;
    };
    let mut answers = twin::ask_all(&python, include_str!("texts.py"), &requests).into_iter();

    for ((task, hints), theirs) in inputs.iter().zip(answers.by_ref()) {
        let parts = input_parts(&dataset.pack, task, *hints, BlankHints::Upstream);
        assert_eq!(theirs["system_prompt"], parts.system_prompt.as_str());
        assert_eq!(theirs["input"], parts.with_paths(&paths(task)).as_str(), "{} with {hints:?}", task.id);
    }
    let agents = [&dataset.pack.agent.coder, &dataset.pack.agent.react];
    let ours =
        agents.iter().flat_map(|agent| step_lists.map(|steps| agent::render_prompt(agent, "SYS {z}", "IN\n{}", steps)));
    for (ours, theirs) in ours.zip(answers.by_ref()) {
        assert_eq!(theirs, ours.as_str());
    }
    for task in tasks {
        compare_judge(dataset, task, &answers.next().expect("an answer to each request"));
    }
}

const GOLD: &str = "gold {a} \"b\" %s";
const PRED: &str = "pred 'c' %%";
const WORKFLOW: &str = "";

fn compare_judge(dataset: &Dataset, task: &Task, theirs: &Value) {
    let judge = &dataset.pack.judge;
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
    let expected = [
        (&judge.sub_hypotheses, judge.sub_hypotheses.user.render(&segment)),
        (&judge.context, judge.context.user.render(&context)),
        (&judge.variables, pair(&judge.variables)),
        (&judge.relation, pair(&judge.relation)),
    ];
    let requests = list(&theirs["requests"]);
    assert_eq!(requests.len(), expected.len());
    for ((call, user), request) in expected.iter().zip(requests) {
        let mut ours = json!({
            "model": "m",
            "messages": [{"role": "system", "content": call.system}, {"role": "user", "content": user}],
        });
        ours.as_object_mut().unwrap().extend(call.params.clone());
        assert_eq!(*request, ours, "{}", task.id);
    }
    let questions = [judge.variables.question.as_deref(), judge.relation.question.as_deref()];
    assert_eq!(theirs["questions"], json!(questions));
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

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}
