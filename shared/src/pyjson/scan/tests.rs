use super::*;
use crate::pyrepr::repr;

fn reads(text: &str) -> String {
    repr(&loads(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn refuses(text: &str) -> String {
    match loads(text) {
        Ok(value) => panic!("{text} was read as {}", repr(&value)),
        Err(error) => format!("{}: {error}", error.type_name()),
    }
}

#[test]
fn python_reads_more_than_json() {
    assert_eq!(reads("[NaN, Infinity, -Infinity, 1e999]"), "[nan, inf, -inf, inf]");
    assert_eq!(reads("{\"a\": 1, \"b\": 2, \"a\": 3}"), "{'a': 3, 'b': 2}");
    assert_eq!(reads("123456789012345678901234567890"), "123456789012345678901234567890");
    assert_eq!(reads(" \r\n\t[ 1 , -0 , 1.50 , 2E3, -0.0 ] "), "[1, 0, 1.5, 2000.0, -0.0]");
    assert_eq!(reads(r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#), "'\"\\\\/\\x08\\x0c\\n\\r\\t\u{e9}\u{1f600}'");
}

#[test]
fn lone_surrogates_become_replacement_characters() {
    assert_eq!(reads(r#""\ud800""#), "'\u{fffd}'");
    assert_eq!(reads(r#""\ude00\ud83d""#), "'\u{fffd}\u{fffd}'");
    assert_eq!(reads(r#""\ud83d\u0041""#), "'\u{fffd}A'");
}

#[test]
fn errors_have_pythons_words_and_positions() {
    for (text, error) in [
        ("", "Expecting value: line 1 column 1 (char 0)"),
        ("[1,]", "Expecting value: line 1 column 4 (char 3)"),
        ("{\"a\":1,}", "Expecting property name enclosed in double quotes: line 1 column 8 (char 7)"),
        ("\"\\x\"", "Invalid \\escape: line 1 column 2 (char 1)"),
        ("\"\\u12", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"),
        ("\"\\ud800\\udc00", "Invalid \\uXXXX escape: line 1 column 9 (char 8)"),
        ("\"\\ud800\\uzzzz  \"", "Invalid \\uXXXX escape: line 1 column 9 (char 8)"),
        ("[", "Expecting value: line 1 column 2 (char 1)"),
        ("{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("1.", "Extra data: line 1 column 2 (char 1)"),
        ("01", "Extra data: line 1 column 2 (char 1)"),
        ("1e+", "Extra data: line 1 column 2 (char 1)"),
        ("-", "Expecting value: line 1 column 1 (char 0)"),
        ("tru", "Expecting value: line 1 column 1 (char 0)"),
        ("\"\x01\"", "Invalid control character at: line 1 column 2 (char 1)"),
        ("\"\u{e9}\n\"", "Invalid control character at: line 1 column 3 (char 2)"),
        ("\"a", "Unterminated string starting at: line 1 column 1 (char 0)"),
        ("\"a\\", "Unterminated string starting at: line 1 column 1 (char 0)"),
        ("\u{feff}1", "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"),
        ("1 2", "Extra data: line 1 column 3 (char 2)"),
        ("{\"a\" 1", "Expecting ':' delimiter: line 1 column 6 (char 5)"),
        ("[1 2", "Expecting ',' delimiter: line 1 column 4 (char 3)"),
        ("\n\n  [\"\u{1f600}\" x]", "Expecting ',' delimiter: line 3 column 8 (char 9)"),
    ] {
        assert_eq!(refuses(text), format!("JSONDecodeError: {error}"), "{text:?}");
    }
}

#[test]
fn long_integers_and_deep_nesting_are_refused_as_python_does() {
    assert_eq!(reads(&"1".repeat(4300)), "1".repeat(4300));
    let digits = format!("-{}", "1".repeat(4301));
    assert!(refuses(&digits).starts_with(
        "ValueError: Exceeds the limit (4300 digits) for integer string conversion: value has 4301 digits;"
    ));
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(loads(&nested(MAX_DEPTH)).is_ok());
    assert!(matches!(loads(&nested(MAX_DEPTH + 1)), Err(Error::TooDeep { what: "array" })));
    // Deeper than a record may be, but Python has come to the end of it first.
    assert_eq!(refuses(&"[".repeat(200)), "JSONDecodeError: Expecting value: line 1 column 201 (char 200)");
    assert_eq!(
        refuses(&nested(1_000_000)),
        "RecursionError: maximum recursion depth exceeded while decoding a JSON array from a unicode string"
    );
    assert_eq!(
        refuses(&"{\"a\":".repeat(2000)),
        "RecursionError: maximum recursion depth exceeded while decoding a JSON object from a unicode string"
    );
}

#[test]
fn the_deepest_value_fits_a_small_stack() {
    let text = format!("{}{}", "[{\"a\":".repeat(MAX_DEPTH / 2), "1") + &"}]".repeat(MAX_DEPTH / 2);
    let handle = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        let value = loads(&text).unwrap();
        assert!(value.equals(&value.clone()) && value.is_identical(&value) && !value.has_non_finite());
        repr(&value).len() + crate::pyjson::dumps(&value, Some(4)).len()
    });
    assert!(handle.unwrap().join().unwrap() > MAX_DEPTH);
}
