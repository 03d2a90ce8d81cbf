//! The prompt pack: it renders, it keeps to the protocol, and its words are our own.

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    path::Path,
};

use argosy_shared::{
    prompts::{self, Part, Template, agent::render_prompt},
    task::{
        Hints,
        render::{BlankHints, input_parts},
    },
    trajectory::PYTHON_TOOL,
};
use argosy_tests::places;
use serde_json::Value;

use crate::{Agent, Demo};

#[test]
fn every_task_renders_for_both_agents() {
    let demo = Demo::new();
    let pack = &demo.dataset.pack;
    for task in demo.tasks() {
        let paths: Vec<String> = task.datasets.iter().map(|dataset| format!("/workspace/{}", dataset.name)).collect();
        let parts = input_parts(pack, task, Hints::default(), BlankHints::default());
        let input = parts.with_paths(&paths);
        assert!(input.contains(&format!("Paths: ['{}'", paths[0])), "{input}");
        assert!(input.contains(&task.question));
        for (agent, template) in [(Agent::Coder, &pack.agent.coder), (Agent::React, &pack.agent.react)] {
            let first = render_prompt(template, &parts.system_prompt, &input, &[]);
            for needed in [pack.agent.system_prompt.as_str(), PYTHON_TOOL, prompts::TOOL_DESCRIPTION, &input] {
                assert!(first.contains(needed), "{}: {agent:?} lacks {needed}", task.id);
            }
            for other in Agent::BOTH {
                assert_eq!(first.contains(other.mark()), other == agent, "{}: {agent:?}", task.id);
            }
            let second = render_prompt(template, &parts.system_prompt, &input, &[("said", "seen\n")]);
            assert_eq!(second, format!("{first}said\nObservation: seen\n\nThought: "));
        }
    }
}

#[test]
fn hints_change_only_the_tasks_that_have_them() {
    let demo = Demo::new();
    let input = |task, domain_knowledge, workflow_tags| {
        let hints = Hints { domain_knowledge, workflow_tags };
        input_parts(&demo.dataset.pack, task, hints, BlankHints::default()).with_paths(&[])
    };
    for task in demo.tasks() {
        let plain = input(task, false, false);
        let has = |hint: &Option<String>| hint.as_ref().is_some_and(|hint| !hint.trim().is_empty());
        for (with, hint) in
            [(input(task, true, false), &task.domain_knowledge), (input(task, false, true), &task.workflow_tags)]
        {
            assert_eq!(with != plain, has(hint), "{}", task.id);
            assert!(!has(hint) || with.contains(hint.as_deref().unwrap_or_default()), "{}", task.id);
        }
    }
}

#[test]
fn the_protocol_is_the_agents() {
    let pack = Demo::new().dataset.pack;
    for (agent, turns, executions) in [(&pack.agent.coder, 5, Some(1)), (&pack.agent.react, 25, None)] {
        assert_eq!(agent.stop, ["\nObservation:"]);
        assert_eq!((agent.max_iterations, agent.max_executions), (turns, executions));
        let text = whole(&agent.template);
        for word in ["Action: ", "Action Input: ", "Final Answer: ", "WORKFLOW SUMMARY:"] {
            assert!(text.contains(word), "{word}");
        }
    }
    assert!(whole(&pack.agent.react.template).contains("Thought: "));
    assert!(!whole(&pack.agent.coder.template).contains("Thought:"), "the stand-in tells react by its thoughts");
}

#[test]
fn no_six_words_in_a_row_are_upstreams() {
    let Some(checkout) = places::upstream_checkout() else {
        places::skipped("no_six_words_in_a_row_are_upstreams", "DISCOVERYBENCH_ROOT is not set");
        return;
    };
    let mut upstream = HashSet::new();
    let mut files = 0;
    for folder in ["", "agents", "eval", "utils"] {
        for entry in fs::read_dir(checkout.join(folder)).expect("a full checkout").flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "py" || ending == "md") {
                upstream.extend(shingles(&String::from_utf8_lossy(&fs::read(&path).expect("a file"))));
                files += 1;
            }
        }
    }
    // The questions, descriptions and golds of the benchmark itself.
    texts_below(&checkout.join("discoverybench"), &mut upstream);
    for key in ["real", "synth"] {
        let key = checkout.join(format!("eval/answer_key_{key}.csv"));
        upstream.extend(shingles(&String::from_utf8_lossy(&fs::read(&key).expect("a key"))));
    }
    assert!(files > 10 && upstream.len() > 50_000, "{files} files, {} runs of words", upstream.len());

    let demo = Demo::new();
    let mut ours = vec![fs::read_to_string(&demo.files.script).expect("the script")];
    let pack = fs::read(&demo.files.prompt_pack).expect("the pack");
    strings(&serde_json::from_slice(&pack).expect("the pack is JSON"), &mut ours);
    for task in demo.tasks() {
        ours.push(task.question.clone());
        ours.extend(task.domain_knowledge.clone());
        ours.extend(task.workflow_tags.clone());
        ours.push(demo.dataset.data.golds.get(&task.id).expect("a gold").hypothesis().to_owned());
        for dataset in &task.datasets {
            ours.push(dataset.description.clone());
            ours.extend(dataset.columns.iter().map(|column| column.description.clone()));
        }
    }
    let shared: BTreeSet<String> =
        ours.iter().flat_map(|text| shingles(text)).filter(|words| upstream.contains(words)).collect();
    assert!(shared.is_empty(), "{shared:#?}");
}

/// Every run of six words. Keys of JSON objects are interface, so a run ends at one.
fn shingles(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for character in text.chars().chain(" ".chars()) {
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            if quoted && character == '"' {
                words.clear();
                word.clear();
            } else {
                words.push(std::mem::take(&mut word));
                if words.len() >= 6 {
                    found.push(words[words.len() - 6..].join(" "));
                }
            }
        }
        quoted = character == '"';
    }
    found
}

/// The texts of a JSON value; the pieces of a template are texts of their own.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(members) => members.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

fn texts_below(folder: &Path, found: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts_below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "json") {
            found.extend(shingles(&String::from_utf8_lossy(&fs::read(&path).expect("a file"))));
        }
    }
}

fn whole(template: &Template) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Field { field } => format!("{{{field}}}"),
    };
    template.parts().iter().map(text).collect()
}
