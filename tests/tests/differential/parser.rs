//! The reply parser against `re`.

use argosy_tests::{places, twin};
use argosy_worker::agent::parse::{Parsed, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases;

const TWIN: &str = r#"
import re, unicodedata
old = unicodedata.ucd_3_2_0
expression = re.compile(r"Action\s*\d*\s*:(.*?)\nAction\s*\d*\s*Input\s*\d*\s*:[\s]*(.*)", re.DOTALL)
def parsed(text):
    before, mark, after = text.rpartition("Final Answer:")
    if mark:
        return {"finish": after.strip()}
    match = expression.search(text)
    if match is None:
        return "neither"
    return {"tool": match.group(1).strip(), "input": match.group(2).strip(" ").strip('"')}
def answer(text):
    return [parsed(text), all(old.category(c) != "Cn" for c in text)]
"#;

/// Forms that models write. A reply that is ever read differently from Python is added here.
const WRITTEN: [&str; 34] = [
    "Action: t\nAction Input: x\nFinal Answer: y",
    "Final Answer: y\nAction: t\nAction Input: x",
    "Action 1: t\nAction 1 Input 2: x",
    "Action\u{a0}1\u{2003}: t\nAction\u{1c}1\u{1f}Input\u{85}2\u{3000}: x",
    "Action 1 2: t\nAction Input: x",
    "Action\u{661}: t\nAction Input\u{ff11}: x",
    "Action\u{b2}: t\nAction Input: x",
    "Action: t\nAction Input 2:x",
    "action: t\naction input: x",
    "final answer: y",
    "FINAL ANSWER: y",
    "FINAL_ANSWER: y",
    "**Final Answer:** y",
    "**Final Answer**: y",
    "Final Answer\u{ff1a} y",
    "Action\u{ff1a} t\nAction Input: x",
    "Action: t\nAction Input: print(\"Final Answer:\", 3)",
    "Action: t\r\nAction Input: x\r\n",
    "Action: t\rAction Input: x",
    "Action: t Action Input: x",
    "Action: t\n Action Input: x",
    "Action: t\nAction Input:",
    "Action: t\nAction Input: \n\n",
    "Action:\nAction Input: x",
    "Action: t\nAction Input: \"\"\"doc\"\"\"",
    "Action: t\nAction Input: x = \"abc\"",
    "Action: t\nAction Input: x = \"abc\"\n",
    "Action: t\nAction Input: \" \"x\" \"",
    "Action: look\nAction: t\nAction Input: x",
    "Action Input: x\nAction: t\nAction Input: y",
    "Action: t\nAction Input: x\nObservation: 1\nAction: u\nAction Input: y",
    "ActionAction: t\nActionInput: x",
    "Action: t\nAction\nInput\n:\nx",
    "\nAction:\n\nAction:\nAction\nInput",
];

#[test]
fn replies() {
    let mut replies: Vec<String> = WRITTEN.iter().map(|&reply| reply.to_owned()).collect();
    replies.extend(cases::generate("replies", &reply()));
    let requests: Vec<Value> = replies.iter().map(|reply| json!(reply)).collect();
    let pythons = twin::pythons();
    if pythons.is_empty() {
        places::skipped("parser::replies", "no Python 3.9 to 3.13");
    }
    for (minor, python) in pythons {
        for (reply, answer) in replies.iter().zip(twin::ask_all(&python, TWIN, &requests)) {
            if minor == twin::REFERENCE || answer[1] == json!(true) {
                assert_eq!(answer[0], as_json(parse(reply)), "Python {minor}: {reply:?}");
            }
        }
    }
}

#[test]
fn random_replies_reach_every_branch() {
    let parsed: Vec<Parsed> = cases::generate("branches", &reply()).iter().map(|reply| parse(reply)).collect();
    let share = |kind: fn(&Parsed) -> bool| parsed.iter().filter(|&parsed| kind(parsed)).count() * 100 / parsed.len();
    assert!(share(|parsed| matches!(parsed, Parsed::Finish(_))) >= 5);
    assert!(share(|parsed| matches!(parsed, Parsed::Action { .. })) >= 10);
    assert!(share(|parsed| *parsed == Parsed::Neither) >= 10);
}

fn as_json(parsed: Parsed) -> Value {
    match parsed {
        Parsed::Finish(answer) => json!({"finish": answer}),
        Parsed::Action { tool, input } => json!({"tool": tool, "input": input}),
        Parsed::Neither => json!("neither"),
    }
}

/// Words of the grammar, pieces of them, and what may or may not stand between.
fn reply() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "Action",
        "Action:",
        "\nAction",
        "\nAction:",
        "Input",
        "Input:",
        "\nAction Input:",
        "\nAction Input",
        ":",
        "\n",
        "\r\n",
        " ",
        "\"",
        "\n\n",
        "python_repl_ast",
        "Action Input: ",
        "action",
        "Act",
        "Observation:",
        "1",
        "x = 1",
    ]);
    let piece = prop_oneof![
        12 => word.prop_map(str::to_owned),
        3 => cases::text(0..3),
        // Where white space and digits may stand, anything that looks like them.
        3 => (cases::text(0..3), cases::text(0..3), cases::text(0..2)).prop_map(|(a, b, c)| format!("Action{a}:{b}\nAction{c}Input:")),
        1 => Just("Final Answer:".to_owned()),
    ];
    let pieces = prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat());
    // The final answer ends the search, so most replies should be without one.
    (pieces, prop::bool::weighted(0.2))
        .prop_map(|(text, keep)| if keep { text } else { text.replace("Final Answer:", "") })
}
