//! What a model refuses of a request, learned from its answers and never from its name.
//!
//! A model that answers 400 to `stop` is asked again without it, at once; what was changed is remembered for the
//! (endpoint, model) once an answer has come, so that no further request is wasted, and reported with every reply.
//! [`Learned`] is a value of its own: it can be read, written down, sent elsewhere and seeded from there.

mod refusal;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(super) use refusal::refused;

/// A change of the parameters that a model demands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The parameter is left out.
    Drop(String),
    /// The parameter has another name.
    Rename {
        /// As asked for.
        from: String,
        /// As sent.
        to: String,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drop(name) => write!(f, "dropped {name}"),
            Self::Rename { from, to } => write!(f, "renamed {from} to {to}"),
        }
    }
}

/// What one model at one endpoint refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The endpoint, as scheme, host and path.
    pub endpoint: String,
    /// The model id.
    pub model: String,
    /// The changes it demands.
    pub changes: BTreeSet<Change>,
}

/// Everything learned so far; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Learned(Arc<Mutex<Known>>);

type Known = BTreeMap<(String, String), BTreeSet<Change>>;

impl Learned {
    /// Nothing learned yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what was learned elsewhere.
    pub fn seed(&self, entries: impl IntoIterator<Item = Entry>) {
        for Entry { endpoint, model, changes } in entries {
            self.add(&endpoint, &model, changes);
        }
    }

    /// Everything learned, in a fixed order.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let entry = |((endpoint, model), changes): (&(String, String), &BTreeSet<Change>)| Entry {
            endpoint: endpoint.clone(),
            model: model.clone(),
            changes: changes.clone(),
        };
        self.known().iter().map(entry).collect()
    }

    /// The changes that a model demands.
    #[must_use]
    pub fn changes(&self, endpoint: &str, model: &str) -> BTreeSet<Change> {
        self.known().get(&(endpoint.to_owned(), model.to_owned())).cloned().unwrap_or_default()
    }

    /// Remembers changes. True if any of them is new.
    pub fn add(&self, endpoint: &str, model: &str, changes: impl IntoIterator<Item = Change>) -> bool {
        let mut known = self.known();
        let mut is_new = false;
        for change in changes {
            is_new |= known.entry((endpoint.to_owned(), model.to_owned())).or_default().insert(change);
        }
        is_new
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `params` with the changes that concern them, and those changes. The order of the rest is kept.
pub(super) fn apply(params: &Map<String, Value>, changes: &BTreeSet<Change>) -> (Map<String, Value>, Vec<Change>) {
    let mut applied = Vec::new();
    let mut changed = Map::new();
    for (name, value) in params {
        let change = changes.iter().find(|change| match change {
            Change::Drop(dropped) => dropped == name,
            // A parameter that is already there under the new name is not overwritten.
            Change::Rename { from, to } => from == name && !params.contains_key(to),
        });
        match change {
            None => _ = changed.insert(name.clone(), value.clone()),
            Some(Change::Drop(_)) => {}
            Some(Change::Rename { to, .. }) => _ = changed.insert(to.clone(), value.clone()),
        }
        applied.extend(change.cloned());
    }
    (changed, applied)
}

/// The stop sequences of a request.
pub(super) fn stops(params: &Map<String, Value>) -> Vec<&str> {
    match params.get("stop") {
        Some(Value::String(stop)) => vec![stop.as_str()],
        Some(Value::Array(stops)) => stops.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
    .into_iter()
    .filter(|stop| !stop.is_empty())
    .collect()
}

/// Cuts `text` at the first of `stops`, as the endpoint would have. True if something was cut.
pub(super) fn cut_at_stop(text: &mut String, stops: &[&str]) -> bool {
    match stops.iter().filter_map(|stop| text.find(stop)).min() {
        None => false,
        Some(at) => {
            text.truncate(at);
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn rename() -> Change {
        Change::Rename { from: "max_tokens".to_owned(), to: "max_completion_tokens".to_owned() }
    }

    #[test]
    fn changes_touch_only_their_parameter_and_keep_the_order() {
        let asked = params(json!({"temperature": 0, "max_tokens": 250, "top_p": 1.0, "stop": ["x"]}));
        let changes = BTreeSet::from([Change::Drop("temperature".to_owned()), Change::Drop("n".to_owned()), rename()]);
        let (changed, applied) = apply(&asked, &changes);
        assert_eq!(json!(changed).to_string(), r#"{"max_completion_tokens":250,"top_p":1.0,"stop":["x"]}"#);
        let words: Vec<String> = applied.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["dropped temperature", "renamed max_tokens to max_completion_tokens"]);
        let both = params(json!({"max_tokens": 1, "max_completion_tokens": 2}));
        assert_eq!(apply(&both, &changes).0, both);
    }

    #[test]
    fn what_was_learned_can_be_carried_elsewhere() {
        let here = Learned::new();
        assert!(here.add("http://h/v1", "m", [rename()]));
        assert!(!here.clone().add("http://h/v1", "m", [rename()]));
        let text = serde_json::to_string(&here.entries()).unwrap();
        let there = Learned::new();
        there.seed(serde_json::from_str::<Vec<Entry>>(&text).unwrap());
        assert_eq!(there.entries(), here.entries());
        assert_eq!(there.changes("http://h/v1", "m"), BTreeSet::from([rename()]));
        assert!(there.changes("http://h/v1", "other").is_empty());
    }

    #[test]
    fn a_reply_is_cut_at_the_first_stop() {
        let asked = params(json!({"stop": ["\nObservation:", "", "END"]}));
        let mut text = "Action: x END\nObservation: made up".to_owned();
        assert!(cut_at_stop(&mut text, &stops(&asked)));
        assert_eq!(text, "Action: x ");
        assert!(!cut_at_stop(&mut text, &stops(&asked)));
        assert_eq!(stops(&params(json!({"stop": "a"}))), ["a"]);
        assert!(stops(&params(json!({"stop": null}))).is_empty());
    }
}
