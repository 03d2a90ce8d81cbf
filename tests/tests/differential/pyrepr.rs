//! `pyrepr` against `repr()`.

use argosy_shared::{pyjson::PyValue, pyrepr};
use argosy_tests::{places, twin};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases;

/// Python's `repr`, and whether it depends on the interpreter's Unicode version: texts of characters that Unicode 3.2
/// already had do not.
const TWIN: &str = r#"
import unicodedata
def answer(text):
    old = unicodedata.ucd_3_2_0
    return [repr(text), all(old.category(c) != "Cn" for c in text)]
"#;

#[test]
fn strings() {
    let texts = cases::generate("repr of strings", &cases::text(0..24));
    let requests: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    let pythons = twin::pythons();
    if pythons.is_empty() {
        places::skipped("pyrepr::strings", "no Python 3.9 to 3.13");
    }
    for (minor, python) in pythons {
        for (text, answer) in texts.iter().zip(twin::ask_all(&python, TWIN, &requests)) {
            if minor == twin::REFERENCE || answer[1] == json!(true) {
                assert_eq!(Some(pyrepr::repr_str(text).as_str()), answer[0].as_str(), "Python {minor}: {text:?}");
            }
        }
    }
}

/// `repr(struct.unpack(...))`: the bits travel as an integer, so that no JSON reader stands between.
const FLOAT_TWIN: &str = r#"
import struct
def answer(bits):
    return repr(struct.unpack("<d", struct.pack("<Q", bits))[0])
"#;

#[test]
fn floats() {
    let strategy = prop_oneof![
        any::<u64>(),
        (-400.0..400.0_f64).prop_map(|x| x.exp2().to_bits()),
        (-30..30_i32, 1..100_u32).prop_map(|(power, n)| (f64::from(n) * 10_f64.powi(power)).to_bits()),
    ];
    let bits = cases::generate("repr of floats", &strategy);
    let requests: Vec<Value> = bits.iter().map(|bits| json!(bits)).collect();
    for (minor, python) in twin::pythons() {
        for (bits, answer) in bits.iter().zip(twin::ask_all(&python, FLOAT_TWIN, &requests)) {
            let value = PyValue::Float(f64::from_bits(*bits));
            assert_eq!(Some(pyrepr::repr(&value).as_str()), answer.as_str(), "Python {minor}: {bits:#x}");
        }
    }
}
