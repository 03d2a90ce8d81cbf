//! Reading a pack from JSON, and its identity.

use sha2::{Digest as _, Sha256};

use super::{AgentTemplate, JudgeCall, PackSource, PromptPack, QueryPrompts, SCHEMA, agent};

/// A pack that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not JSON, a key is missing or unknown, or a value has another type.
    #[error("not a prompt pack: {0}")]
    Shape(String),
    /// Written by another version.
    #[error("schema is `{found}`, expected `{SCHEMA}`")]
    Schema {
        /// What the file says.
        found: String,
    },
    /// A template has a hole nobody fills.
    #[error("{place}: unknown field `{field}` in the template, expected `{expected}`")]
    UnknownField {
        /// The template, for example `agent.coder.template`.
        place: String,
        /// The hole.
        field: String,
        /// The names that would be right, joined by "`, `".
        expected: String,
    },
    /// A template lacks a hole, so a value would silently be left out.
    #[error("{place}: the field `{field}` is missing from the template")]
    MissingField {
        /// The template.
        place: String,
        /// The hole.
        field: String,
    },
    /// A value no prompt can be made with.
    #[error("{place}: {message}")]
    Value {
        /// The key.
        place: String,
        /// What is wrong and what would be right.
        message: String,
    },
}

impl PromptPack {
    /// Reads and validates a pack.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn from_json(bytes: &[u8]) -> Result<Self, Error> {
        /// The one key that says whether the rest can be understood.
        #[derive(serde::Deserialize)]
        struct Head {
            schema: Option<String>,
        }
        let shape = |error: serde_json::Error| Error::Shape(error.to_string());
        let head: Head = serde_json::from_slice(bytes).map_err(shape)?;
        match head.schema {
            Some(schema) if schema == SCHEMA => {}
            Some(found) => return Err(Error::Schema { found }),
            None => return Err(Error::Shape("missing field `schema`".to_owned())),
        }
        let pack: Self = serde_json::from_slice(bytes).map_err(shape)?;
        pack.check()?;
        Ok(pack)
    }

    /// The pack as a file: readable JSON that [`PromptPack::from_json`] takes.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a pack has only string keys and finite numbers");
        text.push('\n');
        text
    }

    /// Validates what the types do not say.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), Error> {
        check_agent("agent.coder", &self.agent.coder)?;
        check_agent("agent.react", &self.agent.react)?;
        self.task_input.input.check_fields("task_input.input", &["dataset_paths", "query"])?;
        if self.task_input.input.fields().filter(|field| *field == "dataset_paths").count() != 1 {
            return Err(value("task_input.input", "the field `dataset_paths` stands there more than once"));
        }
        check_query("task_input.real", &self.task_input.real, true)?;
        check_query("task_input.synth", &self.task_input.synth, false)?;
        let judge = &self.judge;
        check_call("judge.sub_hypotheses", &judge.sub_hypotheses, &["datasets", "hypothesis", "workflow"], false)?;
        let context = ["gold_hyp", "gold_context", "pred_hyp", "pred_context"];
        check_call("judge.context", &judge.context, &context, false)?;
        check_call("judge.variables", &judge.variables, &PAIR_FIELDS, true)?;
        check_call("judge.relation", &judge.relation, &PAIR_FIELDS, true)?;
        let pair = ["gold_text", "gold_context", "gen_text", "gen_context"];
        judge.pair_question.check_fields("judge.pair_question", &pair)?;
        if !judge.fallback.contains_key("text") {
            return Err(value("judge.fallback", "lacks the key `text`, which the scorer fills in"));
        }
        Ok(())
    }

    /// The text that is hashed: the pack without its source, as compact JSON. Two packs with the same canonical text
    /// make the same prompts, wherever they were read.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        let anywhere = Self { source: PackSource { commit: None, files: Default::default() }, ..self.clone() };
        serde_json::to_string(&anywhere).expect("a pack has only string keys and finite numbers")
    }

    /// The pack's identity: lower-case hexadecimal SHA-256 of [`PromptPack::canonical_json`].
    #[must_use]
    pub fn hash(&self) -> String {
        hex::encode(Sha256::digest(self.canonical_json()))
    }
}

/// Fields of the variables and relation questions.
pub(super) const PAIR_FIELDS: [&str; 7] =
    ["datasets_json", "query", "gold_hypo", "gold_workflow", "gen_hypo", "gen_workflow", "dimension_question"];

fn check_agent(place: &str, agent: &AgentTemplate) -> Result<(), Error> {
    agent.template.check_fields(&format!("{place}.template"), &agent::FIELDS)?;
    agent.observation.check_fields(&format!("{place}.observation"), &["observation"])?;
    if agent.max_iterations == 0 {
        return Err(value(format!("{place}.max_iterations"), "0 turns leave nothing to do"));
    }
    if agent.max_executions.is_some() != agent.refusal.is_some() {
        return Err(value(place, "`max_executions` and `refusal` belong together, only one is given"));
    }
    Ok(())
}

fn check_query(place: &str, query: &QueryPrompts, real: bool) -> Result<(), Error> {
    query.dataset.check_fields(&format!("{place}.dataset"), &["name", "description"])?;
    query.column.check_fields(&format!("{place}.column"), &["name", "description"])?;
    query.query.check_fields(&format!("{place}.query"), &["nl_query"])?;
    let optional = [
        ("intermediate", &query.intermediate, "text"),
        ("domain_knowledge", &query.domain_knowledge, "domain_knowledge"),
        ("workflow_tags", &query.workflow_tags, "workflow_tags"),
    ];
    for (name, template, field) in optional {
        let place = format!("{place}.{name}");
        match template {
            Some(template) if real => template.check_fields(&place, &[field])?,
            None if !real => {}
            Some(_) => return Err(value(place, "does not belong here: synthetic splits have no hints")),
            None => return Err(value(place, "is missing")),
        }
    }
    Ok(())
}

fn check_call(place: &str, call: &JudgeCall, fields: &[&str], asks: bool) -> Result<(), Error> {
    call.user.check_fields(&format!("{place}.user"), fields)?;
    if call.question.is_some() != asks {
        let message = if asks { "is missing" } else { "does not belong here" };
        return Err(value(format!("{place}.question"), message));
    }
    if call.attempts == 0 {
        return Err(value(format!("{place}.attempts"), "0 attempts leave nothing to ask"));
    }
    Ok(())
}

fn value(place: impl Into<String>, message: &str) -> Error {
    Error::Value { place: place.into(), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::prompts::sample::{json as sample, pack};

    #[test]
    fn a_pack_survives_its_own_json() {
        let pack = pack();
        let again = PromptPack::from_json(pack.to_json().as_bytes()).unwrap();
        assert_eq!(again, pack);
        assert_eq!(again.hash(), pack.hash());
    }

    #[test]
    fn the_hash_is_of_the_texts_not_of_their_origin() {
        let mut other = pack();
        other.source.commit = Some("abc".to_owned());
        assert_eq!(other.hash(), pack().hash());
        other.agent.system_prompt.push('!');
        assert_ne!(other.hash(), pack().hash());
    }

    #[test]
    fn every_kind_of_damage_is_named() {
        type Damage = fn(&mut Value);
        let cases: [(Damage, &str); 13] = [
            (|pack| pack["schema"] = json!("argosy.prompt_pack.v9"), "schema is `argosy.prompt_pack.v9`"),
            (|pack| pack["schema"] = json!(7), "not a prompt pack: invalid type: integer `7`"),
            (|pack| drop(pack.as_object_mut().unwrap().shift_remove("schema")), "missing field `schema`"),
            (|pack| drop(pack["agent"].as_object_mut().unwrap().shift_remove("react")), "missing field `react`"),
            (|pack| pack["judge"]["mood"] = json!("mild"), "unknown field `mood`"),
            (
                |pack| pack["agent"]["coder"]["template"] = json!(["x"]),
                "agent.coder.template: the field `system_prompt`",
            ),
            (|pack| pack["task_input"]["real"]["closing"] = json!(1), "invalid type: integer `1`, expected a string"),
            (|pack| pack["judge"]["context"]["attempts"] = json!(0), "judge.context.attempts: 0 attempts"),
            (|pack| pack["judge"]["context"]["question"] = json!("?"), "judge.context.question: does not belong"),
            (|pack| pack["agent"]["react"]["refusal"] = json!("?"), "agent.react: `max_executions` and `refusal`"),
            (
                |pack| pack["task_input"]["synth"]["workflow_tags"] = json!(["x"]),
                "synth.workflow_tags: does not belong",
            ),
            (|pack| pack["task_input"]["real"]["workflow_tags"] = json!(null), "real.workflow_tags: is missing"),
            (|pack| pack["judge"]["fallback"] = json!({}), "judge.fallback: lacks the key `text`"),
        ];
        for (damage, expected) in cases {
            let mut value = sample();
            damage(&mut value);
            let error = PromptPack::from_json(value.to_string().as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "`{error}` lacks `{expected}`");
        }
        assert!(PromptPack::from_json(b"\xff{}").is_err());
    }
}
