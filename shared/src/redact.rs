//! Keeps credentials out of everything that is written down. Two means, used together:
//!
//! - **by key**, on JSON: [`mask`] follows AgentCompass 1.0.1 (`redact_secrets`), so that the same members are masked in
//!   both systems' files;
//! - **by value**, in any text: a [`Redactor`] knows the credentials in force and replaces them wherever they turn up,
//!   for example in the output of code that printed its environment.

use std::borrow::Cow;

use serde_json::Value;

use crate::model::secret::Secret;

/// What stands in for a credential.
pub const MASK: &str = "********";

/// Shorter credentials are not searched for in free text: a placeholder such as `EMPTY` or `none` would be found in
/// innocent words.
const SHORTEST: usize = 8;

const KEYS: [&str; 9] =
    ["aksk", "token_id", "authorization", "cookie", "jwt", "password", "proxy_authorization", "set_cookie", "token"];
const SUFFIXES: [&str; 5] = ["_key", "_secret", "_token", "_jwt", "_password"];
const NOT_KEYS: [&str; 1] = ["wrap_api_key"];
const CONTAINERS: [&str; 9] = [
    "auth",
    "authentication",
    "credentials",
    "headers",
    "env",
    "env_variables",
    "run_env_variables",
    "evaluation_env_variables",
    "evaluation_environment_env_variables",
];

/// Masks the values of members whose key sounds like a credential, at any depth. Null, the empty string and an exact
/// `${VAR}` reference stay as they are; everything else below such a key is replaced by [`MASK`].
pub fn mask(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                let key = normalised(key);
                if CONTAINERS.contains(&key.as_str()) {
                    mask_leaves(member);
                } else if is_sensitive(&key) {
                    mask_value(member);
                } else {
                    mask(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Masks the value of a sensitive member as a whole, whatever it is.
pub fn mask_value(value: &mut Value) {
    let keep = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty() || is_reference(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    };
    if !keep {
        *value = Value::from(MASK);
    }
}

/// Whether the value of a member with this key is masked.
#[must_use]
pub fn is_sensitive_key(key: &str) -> bool {
    is_sensitive(&normalised(key))
}

/// Knows the credentials in force and hides them in free text.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// A redactor for these credentials. Those below eight bytes are left out.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut secrets: Vec<String> = secrets
            .into_iter()
            .map(Secret::expose)
            .filter(|secret| secret.len() >= SHORTEST)
            .map(ToOwned::to_owned)
            .collect();
        // A credential that contains another one must be found first.
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self { secrets }
    }

    /// The text without the credentials.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), MASK));
            }
        }
        text
    }

    /// Hides the credentials in all strings of a value, keys included.
    pub fn value(&self, value: &mut Value) {
        if self.secrets.is_empty() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.text(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                if members.keys().any(|key| matches!(self.text(key), Cow::Owned(_))) {
                    *members = std::mem::take(members)
                        .into_iter()
                        .map(|(key, member)| (self.text(&key).into_owned(), member))
                        .collect();
                }
                members.values_mut().for_each(|member| self.value(member));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

/// Lower case, every run of other characters than `a-z0-9` one underscore, none at the ends.
fn normalised(key: &str) -> String {
    let mut normal = String::with_capacity(key.len());
    for character in key.to_lowercase().chars() {
        if character.is_ascii_lowercase() || character.is_ascii_digit() {
            normal.push(character);
        } else if !normal.is_empty() && !normal.ends_with('_') {
            normal.push('_');
        }
    }
    normal.truncate(normal.trim_end_matches('_').len());
    normal
}

fn is_sensitive(normal: &str) -> bool {
    !NOT_KEYS.contains(&normal) && (KEYS.contains(&normal) || SUFFIXES.iter().any(|suffix| normal.ends_with(suffix)))
}

fn mask_leaves(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(mask_leaves),
        Value::Array(items) => items.iter_mut().for_each(mask_leaves),
        leaf @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => mask_value(leaf),
    }
}

/// Exactly `${VAR}`, white space around it allowed.
fn is_reference(text: &str) -> bool {
    let Some(name) = text.trim().strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else { return false };
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_that_sound_like_credentials_are_masked() {
        for key in ["api_key", "API-KEY", "x.api.key", "Authorization", "set-cookie", "client_secret", "token", " jwt "]
        {
            assert!(is_sensitive_key(key), "{key}");
        }
        for key in
            ["wrap_api_key", "key", "tokens", "max_tokens", "prompt_tokens_len", "keyed", "tool_call_id", "secret"]
        {
            assert!(!is_sensitive_key(key), "{key}");
        }
    }

    #[test]
    fn values_are_masked_as_agentcompass_does() {
        let mut value = json!({
            "api_key": "sk-1", "wrap_api_key": true, "empty_token": "", "no_token": null, "ref_key": "${MY_KEY}",
            "half_key": "a${MY_KEY}", "foo_key": {"nested": 1}, "n_key": 0,
            "headers": {"X-Trace": "t", "list": ["a", 1, "${OK}"], "deep": {"x": null}},
            "list": [{"password": "p"}], "text": "api_key=sk-1",
        });
        mask(&mut value);
        assert_eq!(
            value,
            json!({
                "api_key": MASK, "wrap_api_key": true, "empty_token": "", "no_token": null, "ref_key": "${MY_KEY}",
                "half_key": MASK, "foo_key": MASK, "n_key": MASK,
                "headers": {"X-Trace": MASK, "list": [MASK, MASK, "${OK}"], "deep": {"x": null}},
                "list": [{"password": MASK}], "text": "api_key=sk-1",
            })
        );
    }

    #[test]
    fn known_credentials_vanish_from_free_text() {
        let secrets = [Secret::new("abcdefgh"), Secret::new("abcdefghij"), Secret::new("EMPTY"), Secret::new("")];
        let redactor = Redactor::new(&secrets);
        assert_eq!(redactor.text("k=abcdefghij, abcdefgh; EMPTY"), "k=********, ********; EMPTY");
        assert!(matches!(redactor.text("nothing here"), Cow::Borrowed(_)));
        let mut value = json!({"a": ["abcdefgh"], "abcdefgh": {"b": "xabcdefghy"}, "n": 1});
        redactor.value(&mut value);
        assert_eq!(value, json!({"a": [MASK], MASK: {"b": "x********y"}, "n": 1}));
        assert_eq!(format!("{redactor:?}"), "Redactor(2 secrets)");
    }
}
