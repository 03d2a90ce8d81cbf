//! `pystr` against `str.strip`, `str.isspace`, and `re`'s `\s` and `\d`.

use argosy_shared::pystr;
use argosy_tests::{places, twin};
use serde_json::{Value, json};

use crate::cases;

const TWIN: &str = r#"
import re, unicodedata
old = unicodedata.ucd_3_2_0
def answer(text):
    return {
        "strip": text.strip(),
        "chain": text.strip().strip("```json").strip("```"),
        "quotes": text.strip(" ").strip('"'),
        "spaces": [bool(re.match(r"\s", c)) for c in text],
        "isspace": [c.isspace() for c in text],
        "digits": [bool(re.match(r"\d", c)) for c in text],
        "values": [unicodedata.decimal(c, None) for c in text],
        "stable": all(old.category(c) != "Cn" for c in text),
    }
"#;

#[test]
fn strip_and_character_classes() {
    let texts = cases::generate("strip", &cases::text(0..16));
    let requests: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    let pythons = twin::pythons();
    if pythons.is_empty() {
        places::skipped("strip", "no Python 3.9 to 3.13");
    }
    for (minor, python) in pythons {
        for (text, answer) in texts.iter().zip(twin::ask_all(&python, TWIN, &requests)) {
            let each = |of: fn(char) -> bool| json!(text.chars().map(of).collect::<Vec<_>>());
            assert_eq!(answer["strip"], pystr::strip(text), "Python {minor}: {text:?}");
            let chain = pystr::strip_chars(pystr::strip_chars(pystr::strip(text), "```json"), "```");
            assert_eq!(answer["chain"], chain, "Python {minor}: {text:?}");
            let quotes = pystr::strip_chars(pystr::strip_chars(text, " "), "\"");
            assert_eq!(answer["quotes"], quotes, "Python {minor}: {text:?}");
            assert_eq!(answer["spaces"], each(pystr::is_space), "Python {minor}: {text:?}");
            assert_eq!(answer["isspace"], each(pystr::is_space), "Python {minor}: {text:?}");
            if minor == twin::REFERENCE || answer["stable"] == true {
                assert_eq!(answer["digits"], each(pystr::is_digit), "Python {minor}: {text:?}");
                let values: Vec<Option<u32>> = text.chars().map(pystr::digit_value).collect();
                assert_eq!(answer["values"], json!(values), "Python {minor}: {text:?}");
            }
        }
    }
}
