//! `pyjson` against `json.loads`, on JSON and on JSON with something broken in it.

use argosy_shared::{pyjson, pyrepr};
use argosy_tests::{places, twin};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases;

/// What was read, or the exception. A lone surrogate, which Rust cannot hold, is shown as we read it.
const TWIN: &str = r#"
import json, re
def answer(text):
    try:
        value = json.loads(text)
    except Exception as error:
        return [type(error).__name__, str(error)]
    shown = re.sub(r"(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}", "\\1\ufffd", repr(value))
    return ["", shown, json.dumps(value, indent=2)]
"#;

#[test]
fn loads_and_dumps() {
    let Some((minor, python)) = twin::pythons().into_iter().find(|(minor, _)| minor == twin::REFERENCE) else {
        // Later versions word two errors differently.
        return places::skipped("pyjson", "no Python 3.11");
    };
    let texts = cases::generate("json", &document());
    let requests: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    let mut read = 0;
    for (text, answer) in texts.iter().zip(twin::ask_all(&python, TWIN, &requests)) {
        match pyjson::loads(text) {
            Ok(value) => {
                read += 1;
                assert_eq!(answer[0], "", "Python {minor} refuses {text:?}: {answer}");
                assert_eq!(answer[1], pyrepr::repr(&value), "Python {minor}: {text:?}");
                if !value.has_non_finite() && !text.contains("\\u") {
                    assert_eq!(answer[2], pyjson::dumps(&value, Some(2)), "Python {minor}: {text:?}");
                }
            }
            Err(error) => {
                assert_eq!(answer[0], error.type_name(), "Python {minor}: {text:?}: {answer}");
                assert_eq!(answer[1], error.to_string(), "Python {minor}: {text:?}");
            }
        }
    }
    assert!(read > texts.len() / 10 && read < texts.len(), "both sides need cases: {read} of {}", texts.len());
}

/// `a / b` as a `hex()` of the float, or the exception.
const DIVISION_TWIN: &str = r#"
def answer(pair):
    try:
        return (eval(pair[0]) / eval(pair[1])).hex()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"#;

#[test]
fn division() {
    let Some((minor, python)) = twin::pythons().into_iter().next() else {
        return places::skipped("division", "no Python 3.9 to 3.13");
    };
    let digits = |max| prop::collection::vec(prop::char::range('0', '9'), 1..max);
    let integer = |max| {
        (any::<bool>(), digits(max)).prop_map(|(negative, digits)| {
            let digits: String = digits.into_iter().collect();
            let digits = digits.trim_start_matches('0');
            format!("{}{}", if negative { "-" } else { "" }, if digits.is_empty() { "0" } else { digits })
        })
    };
    let number = prop_oneof![
        3 => integer(3),
        3 => integer(20),
        2 => integer(40),
        2 => integer(400),
        1 => any::<f64>().prop_filter("JSON", |x| x.is_finite()).prop_map(|x| format!("{x:e}")),
        1 => Just("True".to_owned()),
    ];
    let pairs = cases::generate("division", &(number.clone(), number));
    let requests: Vec<Value> = pairs.iter().map(|(a, b)| json!([a, b])).collect();
    for ((a, b), answer) in pairs.iter().zip(twin::ask_all(&python, DIVISION_TWIN, &requests)) {
        let read = |text: &str| pyjson::loads(if text == "True" { "true" } else { text }).expect("a number");
        let ours = match read(a).divided_by(&read(b)) {
            Ok(quotient) => hex(quotient),
            Err(exception) => exception.to_string(),
        };
        assert_eq!(answer, ours, "Python {minor}: {a} / {b}");
    }
}

/// Python's `float.hex()`.
fn hex(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    if value == 0.0 {
        return format!("{sign}0x0.0p+0");
    }
    let (exponent, mantissa) = ((value.to_bits() >> 52) & 0x7ff, value.to_bits() & ((1 << 52) - 1));
    let (first, exponent) = if exponent == 0 { (0, -1022) } else { (1, exponent as i64 - 1023) };
    format!("{sign}0x{first}.{mantissa:013x}p{exponent:+}")
}

/// A JSON text, and in two of three cases one with a piece put in, or cut off.
fn document() -> impl Strategy<Value = String> {
    let piece = prop_oneof![prop::sample::select(PIECES.to_vec()).prop_map(ToOwned::to_owned), cases::text(0..3),];
    (json_text(), 0..3_u8, any::<prop::sample::Index>(), piece).prop_map(|(text, how, at, piece)| {
        let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let at = *at.get(&boundaries);
        match how {
            0 => text,
            1 => format!("{}{piece}{}", &text[..at], &text[at..]),
            _ => format!("{}{piece}", &text[..at]),
        }
    })
}

fn json_text() -> impl Strategy<Value = String> {
    let space = prop::sample::select(vec!["", "", "", " ", "\n", "\t\r\n", "\u{a0}"]);
    let string = prop::collection::vec(
        prop_oneof![
            3 => cases::character()
                .prop_filter("valid", |c| !matches!(c, '"' | '\\' | '\0'..='\x1f'))
                .prop_map(|c| c.to_string()),
            2 => prop::sample::select(ESCAPES.to_vec()).prop_map(ToOwned::to_owned),
        ],
        0..5,
    )
    .prop_map(|parts| format!("\"{}\"", parts.concat()));
    let leaf = prop_oneof![
        prop::sample::select(PIECES.to_vec()).prop_map(ToOwned::to_owned),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|x| format!("{x:e}")),
        string.clone(),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let key = prop_oneof![Just("\"a\"".to_owned()), Just("\"b\"".to_owned()), string.clone()];
        prop_oneof![
            (space.clone(), prop::collection::vec(inner.clone(), 0..4))
                .prop_map(|(space, items)| format!("{space}[{}{space}]", items.join(&format!("{space},{space}")))),
            (space.clone(), prop::collection::vec((key, inner), 0..4)).prop_map(|(space, members)| {
                let members: Vec<String> =
                    members.into_iter().map(|(key, value)| format!("{key}{space}:{space}{value}")).collect();
                format!("{{{}{space}}}{space}", members.join(","))
            }),
        ]
    })
}

const PIECES: &[&str] = &[
    "null",
    "true",
    "false",
    "NaN",
    "Infinity",
    "-Infinity",
    "-",
    "+1",
    "01",
    "1.",
    ".5",
    "1e5",
    "1E+2",
    "1e",
    "-0",
    "1.50",
    "nul",
    "True",
    "'a'",
    "\"",
    "\\",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\u{feff}",
    "123456789012345678901234567890",
    "1e999",
    "//",
    "\"\\u00",
    "\"a\nb\"",
];

const ESCAPES: &[&str] = &[
    "\\n",
    "\\t",
    "\\\"",
    "\\\\",
    "\\/",
    "\\b",
    "\\f",
    "\\r",
    "\\u0041",
    "\\u00E9",
    "\\ud83d",
    "\\ude00",
    "\\ud83d\\ude00",
    "\\u2028",
    "\\ud83d\\u0041",
];
