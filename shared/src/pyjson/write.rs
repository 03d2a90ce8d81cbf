//! Values on their way out: Python's `json.dumps`, and `serde_json` values.
//!
//! Neither writes anything that is not JSON: a number that is not finite becomes `{"$float": "nan"}`, `"inf"` or
//! `"-inf"`. `serde_json` cannot hold integers beyond 64 bits; there they become `{"$int": "<digits>"}`.

use num_traits::ToPrimitive as _;
use serde_json::Value;

use super::PyValue;
use crate::pyrepr;

/// `json.dumps(value, indent=indent)`: ASCII only, Python's floats, `, ` and `: ` between.
#[must_use]
pub fn dumps(value: &PyValue, indent: Option<usize>) -> String {
    let mut out = String::new();
    write(&mut out, value, indent, 0);
    out
}

/// The value for a `serde_json` writer.
#[must_use]
pub fn to_json(value: &PyValue) -> Value {
    match value {
        PyValue::None => Value::Null,
        PyValue::Bool(value) => Value::Bool(*value),
        PyValue::Int(value) => match (value.to_i64(), value.to_u64()) {
            (Some(value), _) => value.into(),
            (None, Some(value)) => value.into(),
            (None, None) => tagged("$int", value.to_string()),
        },
        PyValue::Float(value) => match serde_json::Number::from_f64(*value) {
            Some(number) => Value::Number(number),
            None => tagged("$float", pyrepr::float(*value)),
        },
        PyValue::Str(text) => Value::String(text.clone()),
        PyValue::List(items) => Value::Array(items.iter().map(to_json).collect()),
        PyValue::Dict(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), to_json(value))).collect())
        }
    }
}

/// The value Python would have read from the same JSON.
#[must_use]
pub fn from_json(value: &Value) -> PyValue {
    match value {
        Value::Null => PyValue::None,
        Value::Bool(value) => PyValue::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(value), _, _) => PyValue::Int(value.into()),
            (None, Some(value), _) => PyValue::Int(value.into()),
            (None, None, value) => PyValue::Float(value.unwrap_or(f64::NAN)),
        },
        Value::String(text) => PyValue::Str(text.clone()),
        Value::Array(items) => PyValue::List(items.iter().map(from_json).collect()),
        Value::Object(members) => PyValue::dict(members.iter().map(|(key, value)| (key.as_str(), from_json(value)))),
    }
}

fn tagged(kind: &str, text: String) -> Value {
    Value::Object([(kind.to_owned(), Value::String(text))].into_iter().collect())
}

fn write(out: &mut String, value: &PyValue, indent: Option<usize>, level: usize) {
    match value {
        PyValue::None => out.push_str("null"),
        PyValue::Bool(true) => out.push_str("true"),
        PyValue::Bool(false) => out.push_str("false"),
        PyValue::Int(value) => out.push_str(&value.to_string()),
        PyValue::Float(value) if value.is_finite() => out.push_str(&pyrepr::float(*value)),
        PyValue::Float(value) => {
            out.push_str("{\"$float\": \"");
            out.push_str(&pyrepr::float(*value));
            out.push_str("\"}");
        }
        PyValue::Str(text) => write_string(out, text),
        PyValue::List(items) if items.is_empty() => out.push_str("[]"),
        PyValue::Dict(members) if members.is_empty() => out.push_str("{}"),
        PyValue::List(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                separate(out, n, indent, level + 1);
                write(out, item, indent, level + 1);
            }
            new_line(out, indent, level);
            out.push(']');
        }
        PyValue::Dict(members) => {
            out.push('{');
            for (n, (key, item)) in members.iter().enumerate() {
                separate(out, n, indent, level + 1);
                write_string(out, key);
                out.push_str(": ");
                write(out, item, indent, level + 1);
            }
            new_line(out, indent, level);
            out.push('}');
        }
    }
}

fn separate(out: &mut String, n: usize, indent: Option<usize>, level: usize) {
    if n > 0 {
        out.push_str(if indent.is_some() { "," } else { ", " });
    }
    new_line(out, indent, level);
}

fn new_line(out: &mut String, indent: Option<usize>, level: usize) {
    if let Some(width) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', width * level));
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pyjson::{Dict, loads};

    #[test]
    fn dumps_as_python_does() {
        let text = r#"{"a": [1, 1e16, "\u00e9\ud83d\ude00\"\\\u007f\b\u0001"], "b": {}, "c": [], "d": {"x": null}}"#;
        let value = loads(text).unwrap();
        assert_eq!(
            dumps(&value, None),
            r#"{"a": [1, 1e+16, "\u00e9\ud83d\ude00\"\\\u007f\b\u0001"], "b": {}, "c": [], "d": {"x": null}}"#
        );
        assert_eq!(
            dumps(&loads("{\"a\": [1, 2], \"b\": {}}").unwrap(), Some(4)),
            "{\n    \"a\": [\n        1,\n        2\n    ],\n    \"b\": {}\n}"
        );
    }

    #[test]
    fn what_json_cannot_say_is_tagged() {
        let value = loads("[NaN, -Infinity, 18446744073709551615, 18446744073709551616]").unwrap();
        assert_eq!(
            to_json(&value).to_string(),
            r#"[{"$float":"nan"},{"$float":"-inf"},18446744073709551615,{"$int":"18446744073709551616"}]"#
        );
        let text = dumps(&value, None);
        assert_eq!(text, r#"[{"$float": "nan"}, {"$float": "-inf"}, 18446744073709551615, 18446744073709551616]"#);
        serde_json::from_str::<Value>(&text).unwrap();
    }

    fn any_value() -> impl Strategy<Value = PyValue> {
        let leaf = prop_oneof![
            Just(PyValue::None),
            any::<bool>().prop_map(PyValue::Bool),
            any::<i128>().prop_map(|n| PyValue::Int(n.into())),
            any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(PyValue::Float),
            any::<String>().prop_map(PyValue::Str),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(PyValue::List),
                prop::collection::vec((any::<String>(), inner), 0..5)
                    .prop_map(|pairs| PyValue::Dict(pairs.into_iter().collect::<Dict>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_was_dumped_is_read_back(value in any_value(), indent in prop::option::of(0..5_usize)) {
            let text = dumps(&value, indent);
            prop_assert!(loads(&text).unwrap().is_identical(&value), "{}", text);
            prop_assert!(text.is_ascii());
        }

        /// Needs `serde_json`'s `float_roundtrip`; without it some floats come back one bit off.
        #[test]
        fn floats_survive_a_record(value in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO) {
            let text = to_json(&PyValue::Float(value)).to_string();
            let back: f64 = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(back.to_bits(), value.to_bits());
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            let _ = loads(&text);
        }
    }
}
