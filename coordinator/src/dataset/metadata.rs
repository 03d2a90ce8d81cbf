//! `metadata_<n>.json`: datasets, hints and queries of one file. Pure.

use std::fmt;

use argosy_shared::task::{Column, Kind};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

/// What is used of a metadata file. Other keys (`id`, `workflow`, `depth`, ...) are ignored, as upstream does.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    pub(super) domain: String,
    pub(super) domain_knowledge: Option<String>,
    pub(super) workflow_tags: Option<String>,
    pub(super) datasets: Vec<Described>,
    pub(super) intermediate: Vec<String>,
    /// Flattened; not empty.
    pub(super) queries: Vec<Query>,
}

/// A data file as the metadata describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Described {
    /// A plain file name.
    pub(super) name: String,
    pub(super) description: String,
    pub(super) columns: Vec<Column>,
}

/// One question.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Query {
    pub(super) qid: i64,
    pub(super) question: String,
    #[serde(default)]
    pub(super) question_type: String,
    /// Train and dev splits only; never a part of a task.
    pub(super) true_hypothesis: Option<String>,
}

/// Reads a metadata file.
///
/// # Errors
/// In words: key and line where possible.
pub(super) fn parse(text: &str, kind: Kind) -> Result<Metadata, String> {
    let metadata = match kind {
        Kind::Real => {
            let wire: Wire<RawColumns> = serde_json::from_str(text).map_err(|error| error.to_string())?;
            wire.into_metadata(kind, |columns| columns.raw)
        }
        Kind::Synth => {
            let wire: Wire<Vec<Column>> = serde_json::from_str(text).map_err(|error| error.to_string())?;
            wire.into_metadata(kind, |columns| columns)
        }
    }?;
    if metadata.domain.trim().is_empty() {
        return Err("`domain` is blank".to_owned());
    }
    if metadata.datasets.is_empty() {
        return Err("`datasets` is empty".to_owned());
    }
    if metadata.queries.is_empty() {
        return Err("`queries` is empty".to_owned());
    }
    for dataset in &metadata.datasets {
        check_name(&dataset.name)?;
    }
    Ok(metadata)
}

/// A data file must lie in its metadata's own folder.
fn check_name(name: &str) -> Result<(), String> {
    let plain = !matches!(name, "" | "." | "..") && !name.contains(['/', '\\']) && !name.chars().any(char::is_control);
    if plain { Ok(()) } else { Err(format!("the dataset name {name:?} is not a plain file name")) }
}

#[derive(Deserialize)]
struct Wire<C> {
    domain: String,
    domain_knowledge: Option<String>,
    workflow_tags: Option<String>,
    datasets: Vec<WireDataset<C>>,
    hypotheses: Option<Hypotheses>,
    queries: Queries,
}

#[derive(Deserialize)]
struct WireDataset<C> {
    name: String,
    description: String,
    columns: C,
}

#[derive(Deserialize)]
struct RawColumns {
    raw: Vec<Column>,
}

#[derive(Deserialize)]
struct Hypotheses {
    intermediate: Vec<Intermediate>,
}

#[derive(Deserialize)]
struct Intermediate {
    text: String,
}

impl<C> Wire<C> {
    fn into_metadata(self, kind: Kind, columns: impl Fn(C) -> Vec<Column>) -> Result<Metadata, String> {
        let intermediate = match (kind, self.hypotheses) {
            (Kind::Real, Some(hypotheses)) => hypotheses.intermediate.into_iter().map(|one| one.text).collect(),
            (Kind::Real, None) => return Err("missing field `hypotheses`".to_owned()),
            (Kind::Synth, _) => Vec::new(),
        };
        let datasets = self.datasets.into_iter().map(|dataset| Described {
            name: dataset.name,
            description: dataset.description,
            columns: columns(dataset.columns),
        });
        Ok(Metadata {
            domain: self.domain,
            domain_knowledge: self.domain_knowledge,
            workflow_tags: self.workflow_tags,
            datasets: datasets.collect(),
            intermediate,
            queries: self.queries.0,
        })
    }
}

/// Real splits nest their queries in one inner list, synthetic ones do not.
struct Queries(Vec<Query>);

impl<'de> Deserialize<'de> for Queries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let groups = Vec::<Group>::deserialize(deserializer)?;
        Ok(Self(groups.into_iter().flat_map(|group| group.0).collect()))
    }
}

struct Group(Vec<Query>);

impl<'de> Deserialize<'de> for Group {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Group;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a query or a list of queries")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Group, A::Error> {
                let mut queries = Vec::new();
                while let Some(query) = items.next_element()? {
                    queries.push(query);
                }
                Ok(Group(queries))
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Group, A::Error> {
                Ok(Group(vec![Query::deserialize(MapAccessDeserializer::new(members))?]))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn real() -> Value {
        json!({
            "id": 0, "domain": "trade", "workflow_tags": "", "intermediate": [],
            "datasets": [{"name": "a.csv", "description": " d ", "domain_knowledge": "unused",
                          "columns": {"raw": [{"name": "c", "description": "", "depth": 0}]}}],
            "hypotheses": {"main": [{}], "intermediate": [{"text": "so"}]},
            "queries": [[{"qid": 0, "question": "q0", "question_type": "general"}, {"qid": 1, "question": "q1"}]],
        })
    }

    #[test]
    fn real_metadata() {
        let metadata = parse(&real().to_string(), Kind::Real).unwrap();
        assert_eq!(metadata.queries.iter().map(|query| query.qid).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(metadata.domain_knowledge, None);
        assert_eq!(metadata.workflow_tags.as_deref(), Some(""));
        assert_eq!(metadata.intermediate, ["so"]);
        assert_eq!(metadata.datasets[0].description, " d ");
    }

    #[test]
    fn synthetic_metadata() {
        let json = json!({
            "id": 3, "domain": "jazz",
            "datasets": [{"name": "data.csv", "description": "", "columns": [{"name": "c", "description": "d"}]}],
            "queries": [{"qid": 189, "question": "q", "true_hypothesis": "h "}],
        });
        let metadata = parse(&json.to_string(), Kind::Synth).unwrap();
        assert_eq!(metadata.queries[0].true_hypothesis.as_deref(), Some("h "));
        assert!(parse(&json.to_string(), Kind::Real).is_err(), "columns differ");
    }

    proptest! {
        /// Foreign bytes end in an error, not in a panic; whatever is accepted keeps to the rules.
        #[test]
        fn damaged_text_never_panics(cut in 0_usize..700, insert in ".{0,4}", remove in 0_usize..9, synth: bool) {
            let mut text: Vec<char> = real().to_string().chars().collect();
            let cut = cut.min(text.len());
            text.splice(cut..(cut + remove).min(text.len()), insert.chars());
            let kind = if synth { Kind::Synth } else { Kind::Real };
            if let Ok(metadata) = parse(&text.into_iter().collect::<String>(), kind) {
                prop_assert!(!metadata.queries.is_empty());
                prop_assert!(metadata.datasets.iter().all(|dataset| !dataset.name.contains('/')));
            }
        }
    }

    #[test]
    fn damage_is_named() {
        type Damage = fn(&mut Value);
        let cases: [(Damage, &str); 11] = [
            (|json| drop(json.as_object_mut().unwrap().shift_remove("domain")), "missing field `domain`"),
            (|json| json["domain"] = json!(" "), "`domain` is blank"),
            (|json| json["datasets"] = json!([]), "`datasets` is empty"),
            (|json| json["queries"] = json!([[]]), "`queries` is empty"),
            (|json| json["queries"] = json!([[{"question": "q"}]]), "missing field `qid`"),
            (
                |json| json["queries"] = json!([{"qid": "1", "question": "q"}]),
                "invalid type: string \"1\", expected i64",
            ),
            (|json| json["queries"] = json!(["q"]), "expected a query or a list of queries"),
            (|json| json["datasets"][0]["name"] = json!("../a.csv"), "\"../a.csv\" is not a plain file name"),
            (|json| json["datasets"][0]["name"] = json!("a\u{0}"), "is not a plain file name"),
            (|json| json["datasets"][0]["columns"] = json!({}), "missing field `raw`"),
            (|json| drop(json.as_object_mut().unwrap().shift_remove("hypotheses")), "missing field `hypotheses`"),
        ];
        for (damage, expected) in cases {
            let mut json = real();
            damage(&mut json);
            let error = parse(&json.to_string(), Kind::Real).unwrap_err();
            assert!(error.contains(expected), "`{error}` lacks `{expected}`");
        }
    }
}
