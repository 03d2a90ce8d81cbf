//! JSON as Python's `json.dump(…, ensure_ascii=False)` writes it: two spaces, or one line with `, ` and `: `; floats as
//! Python's `repr` (`0.0`, `1e-05`, `1e+16`); non-ASCII characters as they are.

use std::io;

use serde::Serialize;
use serde_json::{Value, ser::Formatter};

/// Writes `value` with an indent of two and a closing newline, members in their own order. The value is streamed: what
/// serialises itself piece by piece is never held whole.
///
/// # Errors
/// `writer` fails, or `value` cannot be JSON (a float that is not finite must be refused by its own `Serialize`).
pub fn write_pretty<W: io::Write, T: Serialize + ?Sized>(mut writer: W, value: &T) -> serde_json::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut writer, Python::pretty());
    value.serialize(&mut serializer)?;
    writer.write_all(b"\n").map_err(serde_json::Error::io)
}

/// The text [`write_pretty`] writes.
///
/// # Errors
/// `value` cannot be JSON.
pub fn pretty<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    write_pretty(&mut bytes, value)?;
    text(bytes)
}

/// The same with sorted keys at every depth, as `metrics.json`, `run_info.json` and `params.json` have them.
///
/// # Errors
/// `value` cannot be JSON.
pub fn pretty_sorted<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(value)?;
    value.sort_all_objects();
    pretty(&value)
}

/// One line without the newline, as in `progress.jsonl`.
///
/// # Errors
/// `value` cannot be JSON.
pub fn line<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Python::line());
    value.serialize(&mut serializer)?;
    text(bytes)
}

/// Python's `repr` of a finite float: the shortest digits that read back, an exponent from 1e16 and below 1e-4.
#[must_use]
pub fn float_repr(value: f64) -> String {
    // Rust's `Debug` has the same digits and thresholds; only the exponent is written differently.
    let text = format!("{value:?}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// `value` without members that are null, an empty string, an empty list or an empty object, at every depth; items of
/// lists stay as they are. AgentCompass does this to `meta`: an empty list of `eval_rec` disappears.
#[must_use]
pub fn without_empty(value: Value) -> Value {
    let Value::Object(members) = value else { return value };
    let kept = members
        .into_iter()
        .map(|(key, member)| (key, without_empty(member)))
        .filter(|(_, member)| !is_empty(member))
        .collect();
    Value::Object(kept)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn text(bytes: Vec<u8>) -> serde_json::Result<String> {
    // serde_json writes UTF-8 only.
    String::from_utf8(bytes).map_err(|error| serde_json::Error::io(io::Error::other(error)))
}

/// Python's separators and floats.
struct Python {
    pretty: bool,
    depth: usize,
    has_value: bool,
}

impl Python {
    fn pretty() -> Self {
        Self { pretty: true, depth: 0, has_value: false }
    }

    fn line() -> Self {
        Self { pretty: false, depth: 0, has_value: false }
    }

    fn begin<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn end<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value {
            self.new_line(writer)?;
        }
        self.has_value = true;
        writer.write_all(bracket)
    }

    fn item<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(if self.pretty { b"," } else { b", " })?;
        }
        self.new_line(writer)
    }

    fn new_line<W: io::Write + ?Sized>(&self, writer: &mut W) -> io::Result<()> {
        if self.pretty {
            writer.write_all(b"\n")?;
            for _ in 0..self.depth {
                writer.write_all(b"  ")?;
            }
        }
        Ok(())
    }
}

impl Formatter for Python {
    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float_repr(value).as_bytes())
    }

    fn begin_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: io::Write + ?Sized>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: io::Write + ?Sized>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // The expected texts of this module were written by CPython 3.12.1's `json.dumps`.

    #[test]
    fn floats_are_python_floats() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (1.5e-7, "1.5e-07"),
            (1e16, "1e+16"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e22, "1e+22"),
            (1.234_567_890_123_457e100, "1.234567890123457e+100"),
            (5e-324, "5e-324"),
            (1.0 / 3.0, "0.3333333333333333"),
            (1_796_094_102.640_616, "1796094102.640616"),
            (61.32, "61.32"),
        ];
        for (value, expected) in cases {
            assert_eq!(float_repr(value), expected);
        }
    }

    #[test]
    fn pretty_text_is_pythons() {
        let value = json!({"b": [], "a": {}, "l": [1, [2.0, {"x": null}], "é\u{1}\"\\\n\t\u{7f}\u{2028}"], "t": true});
        let expected = "{\n  \"b\": [],\n  \"a\": {},\n  \"l\": [\n    1,\n    [\n      2.0,\n      {\n        \"x\": null\n      \
                        }\n    ],\n    \"é\\u0001\\\"\\\\\\n\\t\u{7f}\u{2028}\"\n  ],\n  \"t\": true\n}\n";
        assert_eq!(pretty(&value).unwrap(), expected);
        let sorted = pretty_sorted(&json!({"b": 1, "a": {"d": 1, "c": 2}})).unwrap();
        assert_eq!(sorted, "{\n  \"a\": {\n    \"c\": 2,\n    \"d\": 1\n  },\n  \"b\": 1\n}\n");
    }

    #[test]
    fn lines_have_pythons_separators() {
        let value = json!({"a": [1, {"b": []}], "c": 1e-7, "d": {}});
        assert_eq!(line(&value).unwrap(), r#"{"a": [1, {"b": []}], "c": 1e-07, "d": {}}"#);
    }

    #[test]
    fn empty_members_disappear_and_items_stay() {
        let value =
            json!({"a": null, "b": "", "c": [], "d": {"e": {}}, "f": 0, "g": false, "h": [null, "", {"i": null}]});
        assert_eq!(without_empty(value), json!({"f": 0, "g": false, "h": [null, "", {"i": null}]}));
    }
}
