//! The stream that catches what the agent's code prints, against `io.StringIO`, and what is left of long output against
//! a plain account of it.

use argosy_tests::{places, twin};
use argosy_worker::python::program;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases;

/// The same operations on both streams; with small bounds, so that a few characters are a flood.
const TWIN: &str = r#"
import io

KEPT_AT_LEAST, PIECE = 8, 5

def play(stream, operations):
    seen = []
    for name, argument in operations:
        try:
            if name == "print":
                seen.append(print(argument, file=stream))
            elif argument is None:
                seen.append(getattr(stream, name)())
            else:
                seen.append(getattr(stream, name)(argument))
        except Exception as error:
            seen.append(repr(error))
    return seen

def answer(request):
    limit, operations = request
    stream, printed = capture(limit)
    real = io.StringIO()
    same = play(stream, operations) == play(real, operations)
    if real.closed:
        return {"same": same}
    whole = real.getvalue().encode("utf-8", "backslashreplace")
    got = printed()
    return {"same": same, "whole": list(whole), "text": list(got.text), "cut": got.cut, "limited": list(limited(real.getvalue(), limit)[0])}
"#;

fn operation() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => cases::text(0..12).prop_map(|text| json!(["write", text])),
        3 => cases::text(0..12).prop_map(|text| json!(["print", text])),
        1 => prop::collection::vec(cases::text(0..5), 0..4).prop_map(|texts| json!(["writelines", texts])),
        1 => Just(json!(["write", 3])),
        1 => Just(json!(["flush", null])),
        1 => Just(json!(["isatty", null])),
    ]
}

/// What moves the position or takes something back; once anything has been forgotten, it cannot be the same.
fn moving() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => (0..10_u8).prop_map(|at| json!(["seek", at])),
        1 => (0..10_u8).prop_map(|at| json!(["truncate", at])),
        1 => Just(json!(["truncate", null])),
        1 => Just(json!(["tell", null])),
        1 => Just(json!(["read", null])),
        1 => Just(json!(["getvalue", null])),
        1 => Just(json!(["close", null])),
    ]
}

#[test]
fn a_bounded_stream_is_a_stringio_that_forgets_the_middle() {
    let flood = (1..40_u8, prop::collection::vec(operation(), 0..20).boxed());
    // Never more than fits.
    let any = prop_oneof![operation().boxed(), moving().boxed()];
    let calm = (200..300_u16, prop::collection::vec(any, 0..20).boxed());
    // As a progress display: much is written, but there is never more than fits.
    let round = (cases::text(0..22), prop::bool::ANY).prop_map(|(text, back)| {
        let write = json!(["write", text]);
        if back {
            vec![write, json!(["tell", null]), json!(["seek", 0]), json!(["write", "!"])]
        } else {
            vec![write, json!(["seek", 0]), json!(["truncate", null])]
        }
    });
    let rewound = (1..9_u8, prop::collection::vec(round, 0..20).prop_map(|rounds| rounds.concat()).boxed());
    let floods = cases::generate("capture", &flood);
    let calms = cases::generate("capture without loss", &calm);
    let rewounds = cases::generate("capture of what is taken back", &rewound);
    let requests: Vec<Value> = (floods.iter().map(|case| json!(case)))
        .chain(calms.iter().map(|case| json!(case)))
        .chain(rewounds.iter().map(|case| json!(case)))
        .collect();
    let script: String = program::PARTS
        .iter()
        .filter(|(name, _)| name.contains("capture"))
        .map(|(_, source)| *source)
        .chain([TWIN])
        .collect();
    let pythons = twin::pythons();
    if pythons.is_empty() {
        places::skipped("capture", "no Python 3.9 to 3.13");
    }
    for (minor, python) in pythons {
        let answers = twin::ask_all(&python, &script, &requests);
        for (request, answer) in requests.iter().zip(answers) {
            assert_eq!(answer["same"], true, "Python {minor}: {request}");
            if answer.get("whole").is_none() {
                continue;
            }
            let bytes = |key: &str| -> Vec<u8> { serde_json::from_value(answer[key].clone()).expect("bytes") };
            let (whole, text) = (bytes("whole"), bytes("text"));
            let limit = usize::try_from(request[0].as_u64().expect("a limit")).expect("a small limit");
            assert_eq!(text, bytes("limited"), "Python {minor}: {request}");
            check(&whole, &text, limit, &answer["cut"])
                .unwrap_or_else(|why| panic!("Python {minor}: {why}: {request}"));
        }
    }
}

/// The text is the whole, or its two ends around the marker.
fn check(whole: &[u8], text: &[u8], limit: usize, cut: &Value) -> Result<(), String> {
    if whole.len() <= limit {
        return if text == whole && *cut == 0 { Ok(()) } else { Err("it would have fitted".to_owned()) };
    }
    let marker = format!("\n[... {cut} bytes of output cut out here ...]\n").into_bytes();
    let cut = usize::try_from(cut.as_u64().unwrap_or(0)).unwrap_or(0);
    let kept = whole.len() - cut;
    let fits = (0..=kept.min(limit)).any(|head| {
        let expected = [&whole[..head], &marker, &whole[whole.len() - (kept - head)..]].concat();
        expected == text && std::str::from_utf8(&whole[..head]).is_ok()
    });
    if !fits || kept > limit || kept + 8 <= limit {
        return Err(format!("{} of {} bytes kept within {limit}", kept, whole.len()));
    }
    Ok(())
}
