//! What the judge is asked: the prompt pack's texts filled with one task's values.

use serde_json::{Map, Value};

use super::{CallKind, Inputs, Settings};
use crate::{
    model::{ChatRequest, Message, Role},
    prompts::{JudgeCall, JudgePrompts},
    pyjson::{Exception, PyValue},
    pyrepr,
    task::{Dataset, Kind},
};

/// The datasets as the judge sees them: Python's `str()` of a list of descriptions with their columns.
#[must_use]
pub fn datasets_text(datasets: &[Dataset]) -> String {
    let shown = datasets
        .iter()
        .map(|dataset| {
            let columns = dataset
                .columns
                .iter()
                .map(|column| {
                    PyValue::dict(
                        [("name", column.name.as_str()), ("description", &column.description)]
                            .map(|(key, text)| (key, text.into())),
                    )
                })
                .collect();
            shown_dataset(dataset.description.as_str().into(), columns)
        })
        .collect();
    pyrepr::str(&PyValue::List(shown))
}

/// [`datasets_text`] of a metadata file that was read with [`crate::pyjson::loads`], whatever its values are.
///
/// # Errors
/// What upstream raises where a key is missing.
pub fn datasets_text_of_metadata(metadata: &PyValue, kind: Kind) -> Result<String, Exception> {
    let mut shown = Vec::new();
    for dataset in metadata.subscript("datasets")?.elements()? {
        let description = dataset.subscript("description")?.clone();
        let columns = match kind {
            Kind::Real => dataset.subscript("columns")?.subscript("raw")?.elements()?,
            Kind::Synth => dataset.subscript("columns")?.elements()?,
        };
        let columns: Result<Vec<PyValue>, Exception> = columns
            .iter()
            .map(|column| {
                let (name, description) = (column.subscript("name")?.clone(), column.subscript("description")?.clone());
                Ok(PyValue::dict([("name", name), ("description", description)]))
            })
            .collect();
        shown.push(shown_dataset(description, columns?));
    }
    Ok(pyrepr::str(&PyValue::List(shown)))
}

/// Which metadata shape this is: in real splits the columns are an object with the list under `raw`.
#[must_use]
pub fn metadata_kind(metadata: &PyValue) -> Option<Kind> {
    let PyValue::List(datasets) = metadata.get("datasets")? else { return None };
    match datasets.first()?.get("columns")? {
        PyValue::List(_) => Some(Kind::Synth),
        columns => columns.get("raw").map(|_| Kind::Real),
    }
}

/// The four texts of a pair whose contexts are compared, as an f-string shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PairTexts {
    pub(super) gold_text: String,
    pub(super) gold_context: String,
    pub(super) answer_text: String,
    pub(super) answer_context: String,
}

pub(super) fn sub_hypotheses(prompts: &JudgePrompts, inputs: &Inputs, hypothesis: &str, workflow: &str) -> String {
    prompts.sub_hypotheses.user.render(&[
        ("datasets", &inputs.datasets),
        ("hypothesis", hypothesis),
        ("workflow", workflow),
    ])
}

pub(super) fn context(prompts: &JudgePrompts, pair: &PairTexts) -> String {
    prompts.context.user.render(&[
        ("gold_hyp", &pair.gold_text),
        ("gold_context", &pair.gold_context),
        ("pred_hyp", &pair.answer_text),
        ("pred_context", &pair.answer_context),
    ])
}

/// The variables or the relation question. It is about the whole hypotheses, whichever pair it is asked for.
pub(super) fn dimension(call: &JudgeCall, inputs: &Inputs) -> String {
    call.user.render(&[
        ("datasets_json", &inputs.datasets),
        ("query", &inputs.query),
        ("gold_hypo", &inputs.gold),
        ("gold_workflow", &inputs.gold_workflow),
        ("gen_hypo", &inputs.answer),
        ("gen_workflow", &inputs.answer_workflow),
        ("dimension_question", call.question.as_deref().unwrap_or_default()),
    ])
}

/// The text recorded as a pair's context question.
pub(super) fn pair_question(prompts: &JudgePrompts, pair: &PairTexts) -> String {
    prompts.pair_question.render(&[
        ("gold_text", &pair.gold_text),
        ("gold_context", &pair.gold_context),
        ("gen_text", &pair.answer_text),
        ("gen_context", &pair.answer_context),
    ])
}

pub(super) fn call(prompts: &JudgePrompts, kind: CallKind) -> &JudgeCall {
    match kind {
        CallKind::SubHypotheses => &prompts.sub_hypotheses,
        CallKind::Context => &prompts.context,
        CallKind::Variables => &prompts.variables,
        CallKind::Relation => &prompts.relation,
    }
}

pub(super) fn request(prompts: &JudgePrompts, settings: &Settings, kind: CallKind, user: String) -> ChatRequest {
    let call = call(prompts, kind);
    ChatRequest {
        model: settings.model.clone(),
        messages: vec![
            Message { role: Role::System, content: call.system.clone() },
            Message { role: Role::User, content: user },
        ],
        params: overridden(kind, &call.params, &settings.params),
    }
}

/// The two names of the token limit.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// Upstream's parameters with the user's in their place. A null removes one. A token limit replaces the short limit of
/// the variables and relation questions, and raises the long one of the others but never lowers it.
/// The request parameters of every kind of call, after the user's overrides.
#[must_use]
pub fn params_in_force(prompts: &JudgePrompts, settings: &Settings) -> Map<String, Value> {
    [CallKind::SubHypotheses, CallKind::Context, CallKind::Variables, CallKind::Relation]
        .into_iter()
        .map(|kind| {
            let params = overridden(kind, &call(prompts, kind).params, &settings.params);
            (kind.as_str().to_owned(), Value::Object(params))
        })
        .collect()
}

fn overridden(kind: CallKind, own: &Map<String, Value>, user: &Map<String, Value>) -> Map<String, Value> {
    let is_limit = |name: &String| LIMITS.contains(&name.as_str());
    let own_limit = own.iter().find(|(name, _)| is_limit(name)).and_then(|(_, limit)| limit.as_u64());
    let long = matches!(kind, CallKind::SubHypotheses | CallKind::Context);
    let mut params = own.clone();
    for (name, value) in user {
        if value.is_null() {
            params.shift_remove(name);
        } else if is_limit(name) {
            let lowers = long && value.as_u64() <= own_limit;
            let limit = own_limit.filter(|_| lowers).map_or_else(|| value.clone(), Value::from);
            // The user's name for the limit is the one the endpoint understands: it takes the other's place.
            let at = params.keys().position(is_limit).unwrap_or(params.len());
            params.retain(|name, _| !is_limit(name));
            params.shift_insert(at, name.clone(), limit);
        } else {
            params.insert(name.clone(), value.clone());
        }
    }
    params
}

fn shown_dataset(description: PyValue, columns: Vec<PyValue>) -> PyValue {
    PyValue::dict([("dataset_description", description), ("columns", PyValue::List(columns))])
}

#[cfg(test)]
mod tests;
