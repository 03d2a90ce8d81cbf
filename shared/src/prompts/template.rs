//! Texts with named holes.

use serde::{Deserialize, Deserializer, Serialize};

use super::Error;

/// A text with named holes: a `str.format` template, an f-string or a `%` template, once parsed.
///
/// Always in normal form: no empty text, no two texts side by side. Two templates are equal exactly when they render
/// alike for every value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Template(Vec<Part>);

/// A piece of a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "expected a text or an object {\"field\": \"<name>\"}")]
pub enum Part {
    /// Text as it stands.
    Text(String),
    /// A hole.
    Field {
        /// Its name.
        field: String,
    },
}

impl Part {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A hole.
    pub fn field(name: impl Into<String>) -> Self {
        Self::Field { field: name.into() }
    }
}

impl Template {
    /// The template made of `parts`, brought into normal form.
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        let mut normal: Vec<Part> = Vec::new();
        for part in parts {
            match (part, normal.last_mut()) {
                (Part::Text(text), _) if text.is_empty() => {}
                (Part::Text(text), Some(Part::Text(before))) => before.push_str(&text),
                (part, _) => normal.push(part),
            }
        }
        Self(normal)
    }

    /// Its parts.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The names of its holes, in order, repeated where they repeat.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Field { field } => Some(field.as_str()),
        })
    }

    /// Fills the holes. Values go in as they are and are not parsed again, so braces in them are harmless
    /// (`str.format` and f-strings do the same).
    ///
    /// Every hole needs a value; [`Template::check_fields`] has made sure of it when the pack was loaded. A hole
    /// without one is a mistake of the caller: it panics in debug builds and stays as `{name}` in release builds.
    #[must_use]
    pub fn render(&self, values: &[(&str, &str)]) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(piece) => text.push_str(piece),
                Part::Field { field } => match values.iter().find(|(name, _)| name == field) {
                    Some((_, value)) => text.push_str(value),
                    None => {
                        debug_assert!(false, "no value for `{field}`");
                        text.push('{');
                        text.push_str(field);
                        text.push('}');
                    }
                },
            }
        }
        text
    }

    /// Makes sure that the holes are exactly `expected`, each at least once, in any order.
    ///
    /// # Errors
    /// The first hole that is missing or unknown; `place` names the template.
    pub fn check_fields(&self, place: &str, expected: &[&str]) -> Result<(), Error> {
        if let Some(unknown) = self.fields().find(|field| !expected.contains(field)) {
            return Err(Error::UnknownField {
                place: place.to_owned(),
                field: unknown.to_owned(),
                expected: expected.join("`, `"),
            });
        }
        match expected.iter().find(|name| !self.fields().any(|field| field == **name)) {
            None => Ok(()),
            Some(missing) => Err(Error::MissingField { place: place.to_owned(), field: (*missing).to_owned() }),
        }
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(Vec::<Part>::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn greeting() -> Template {
        Template::new([Part::text("Ahoy, "), Part::field("name"), Part::text("! "), Part::field("text")])
    }

    #[test]
    fn values_are_not_parsed_again() {
        let rendered = greeting().render(&[("name", "{text}"), ("text", "{{}} {name} %s")]);
        assert_eq!(rendered, "Ahoy, {text}! {{}} {name} %s");
    }

    #[test]
    fn normal_form_joins_texts() {
        let parts = [Part::text(""), Part::text("a"), Part::text("b"), Part::field("x"), Part::text("")];
        assert_eq!(Template::new(parts).parts(), [Part::text("ab"), Part::field("x")]);
    }

    #[test]
    fn json_form() {
        let json = r#"["Ahoy, ",{"field":"name"},"! ",{"field":"text"}]"#;
        assert_eq!(serde_json::to_string(&greeting()).unwrap(), json);
        assert_eq!(serde_json::from_str::<Template>(json).unwrap(), greeting());
        let wrong = serde_json::from_str::<Template>(r#"["a", 5]"#).unwrap_err().to_string();
        assert!(wrong.contains("expected a text or an object"), "{wrong}");
        assert!(serde_json::from_str::<Template>(r#"[{"field":"x","width":3}]"#).is_err());
    }

    #[test]
    fn fields_are_checked_both_ways() {
        assert!(greeting().check_fields("greeting", &["text", "name"]).is_ok());
        let missing = greeting().check_fields("greeting", &["name", "text", "port"]).unwrap_err();
        assert_eq!(missing.to_string(), "greeting: the field `port` is missing from the template");
        let unknown = greeting().check_fields("greeting", &["name"]).unwrap_err();
        assert_eq!(unknown.to_string(), "greeting: unknown field `text` in the template, expected `name`");
    }

    proptest! {
        #[test]
        fn rendering_puts_each_value_where_its_hole_is(texts in prop::collection::vec(".*", 1..5), value in ".*") {
            let parts = texts.iter().flat_map(|text| [Part::text(text.clone()), Part::field("hole")]);
            let expected: String = texts.iter().map(|text| format!("{text}{value}")).collect();
            prop_assert_eq!(Template::new(parts).render(&[("hole", &value)]), expected);
        }
    }
}
