//! The `sanitize` that Python runs in a sandbox, which goes through the characters, against the two substitutions with
//! which the tool is defined.

use argosy_tests::{places, twin};
use argosy_worker::python::program;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases;

/// Behind the sandbox's own source: both formulations of one text.
const TWIN: &str = r#"
import re

def answer(text):
    wanted = re.sub(r"^(\s|`)*(?i:python)?\s*", "", text)
    wanted = re.sub(r"(\s|`)*$", "", wanted)
    return [sanitize(text), wanted]
"#;

#[test]
fn sanitize_equals_the_substitutions() {
    // Ends of code as models write them, and anything between.
    let piece = prop_oneof![
        3 => prop::sample::select(vec![
            "```", "`", "python", "Python", "PYTHON", "pYthon3", "py", "pytho", "\n", " ", "\t", "\r\n", "x = 1", "\u{1c}",
            "\u{85}", "\u{a0}", "\u{200b}", "\u{feff}", "\u{131}", "\u{17f}", "\u{212a}", "ython", "\0",
        ]).prop_map(str::to_owned),
        1 => cases::text(0..6),
    ];
    let texts = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
    let texts = cases::generate("sanitize", &texts);
    let requests: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    let pythons = twin::pythons();
    if pythons.is_empty() {
        places::skipped("sanitize", "no Python 3.9 to 3.13");
    }
    for (minor, python) in pythons {
        for (text, answer) in texts.iter().zip(twin::ask_all(&python, &script(), &requests)) {
            assert_eq!(answer[0], answer[1], "Python {minor}: {text:?}");
        }
    }
}

/// A blank costs the substitutions time quadratic in the length of its run.
#[test]
fn sanitize_takes_linear_time() {
    let Some((_, python)) = twin::pythons().into_iter().next() else {
        places::skipped("sanitize_takes_linear_time", "no Python 3.9 to 3.13");
        return;
    };
    let only_ours = format!("{}\ndef answer(text):\n    return sanitize(text)\n", ours());
    let text = format!("x{}y", " `".repeat(2_000_000));
    let answers = twin::ask_all(&python, &only_ours, &[json!(text)]);
    assert_eq!(answers, [json!(text)]);
}

fn script() -> String {
    format!("{}\n{TWIN}", ours())
}

/// The parts that the sandbox's Python is sent, without the one that talks.
fn ours() -> String {
    program::PARTS.iter().filter(|(name, _)| !name.contains("server")).map(|(_, source)| *source).collect()
}
