//! Reads a JSON object field by field and refuses what nobody asked for.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A parameter that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// Where: `benchmark_params.split`.
    pub place: String,
    /// What is wrong, lower case, no full stop.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
}

impl Error {
    /// An error without a hint.
    #[must_use]
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into(), hint: None }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

/// An object whose members are taken one by one; [`Fields::finish`] refuses the rest.
pub(super) struct Fields {
    place: String,
    members: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Fields {
    pub(super) fn new(place: impl Into<String>, members: Map<String, Value>) -> Self {
        Self { place: place.into(), members, known: Vec::new() }
    }

    pub(super) fn place(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    /// The raw member; null counts as absent.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.members.shift_remove(name).filter(|value| !value.is_null())
    }

    /// The member as a `T`, or `default` where it is absent or null.
    pub(super) fn get<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        expected: &str,
        default: T,
    ) -> Result<T, Error> {
        Ok(self.optional(name, expected)?.unwrap_or(default))
    }

    /// The member as a `T`, `None` where it is absent or null.
    pub(super) fn optional<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        expected: &str,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match serde_json::from_value(value.clone()) {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(Error::new(self.place(name), format!("expected {expected}, found `{value}`"))),
        }
    }

    /// One of `choices` by name, or `default`.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&'static str, T)],
        default: T,
    ) -> Result<T, Error> {
        let Some(value) = self.take(name) else { return Ok(default) };
        let text = value.as_str().unwrap_or_default();
        match choices.iter().find(|(choice, _)| *choice == text) {
            Some((_, value)) => Ok(*value),
            None => {
                let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
                Err(unknown(self.place(name), "value", &value_text(&value), &names))
            }
        }
    }

    /// What was not taken.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.members
    }

    /// Refuses members nobody took.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.members.keys().next() {
            None => Ok(()),
            Some(name) => Err(unknown(self.place, "parameter", name, &self.known)),
        }
    }
}

/// "unknown X `y`", with the nearest valid name and the list of all.
pub(super) fn unknown(place: impl Into<String>, what: &str, name: &str, valid: &[&str]) -> Error {
    let mut hint = String::new();
    if let Some(near) = nearest(name, valid.iter().copied()) {
        hint = format!("did you mean `{near}`? ");
    }
    let all = valid.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Error::new(place, format!("unknown {what} `{name}`")).hint(format!("{hint}valid: {all}"))
}

/// The name most like `name`, if one is near enough to be a slip.
#[must_use]
pub fn nearest<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    valid
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
