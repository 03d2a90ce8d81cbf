//! Rows of a vectors file as Python reads them. `serde_json` rounds some floats in the last bit and cannot hold large
//! integers; here both matter.

use std::path::Path;

use argosy_shared::{
    pyjson::{self, PyValue},
    pyrepr,
};

/// The rows of a file.
pub(crate) fn read(folder: &Path, file: &str) -> Vec<PyValue> {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| pyjson::loads(line).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .collect()
}

/// The row's `id` as text.
pub(crate) fn id(row: &PyValue) -> String {
    row.get("id").map(pyrepr::str).unwrap_or_default()
}

/// A string of the row, empty where there is none.
pub(crate) fn text<'a>(row: &'a PyValue, key: &str) -> &'a str {
    row.get(key).and_then(PyValue::as_str).unwrap_or_default()
}

/// A list of the row, empty where there is none.
pub(crate) fn list<'a>(row: &'a PyValue, key: &str) -> &'a [PyValue] {
    match row.get(key) {
        Some(PyValue::List(items)) => items,
        _ => &[],
    }
}

/// `{"$float": "nan"}` turned back into the number, everywhere.
pub(crate) fn untagged(value: &PyValue) -> PyValue {
    match value {
        PyValue::Dict(members) if members.len() == 1 => match members.get("$float").and_then(PyValue::as_str) {
            Some(number) => PyValue::Float(number.parse().expect("nan, inf or -inf")),
            None => PyValue::dict(members.iter().map(|(key, value)| (key.as_str(), untagged(value)))),
        },
        PyValue::Dict(members) => PyValue::dict(members.iter().map(|(key, value)| (key.as_str(), untagged(value)))),
        PyValue::List(items) => PyValue::List(items.iter().map(untagged).collect()),
        other => other.clone(),
    }
}
