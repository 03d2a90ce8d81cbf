//! Upstream's evaluation record: its keys, in its order.

use super::{
    Inputs,
    matching::{Matching, Pair},
    prompt,
    score::{Totals, VariableScore, accuracy},
};
use crate::{
    prompts::{JudgeCall, JudgePrompts},
    pyjson::{Dict, PyValue},
};

/// A matched pair's two answers.
#[derive(Clone, Debug)]
pub(super) struct PairScore {
    pub(super) variables: VariableScore,
    pub(super) variables_answer: String,
    pub(super) relation: f64,
    pub(super) relation_answer: String,
}

impl PairScore {
    pub(super) fn accuracy(&self) -> f64 {
        accuracy(self.variables.f1, self.relation)
    }
}

/// The whole record. `scores` belong to the matching's pairs, in order.
pub(super) fn eval_rec(
    prompts: &JudgePrompts,
    inputs: &Inputs,
    gold: PyValue,
    answer: PyValue,
    matching: &Matching,
    scores: &[PairScore],
    totals: &Totals,
) -> PyValue {
    let mut record = head(inputs);
    let mut put = |key: &str, value: PyValue| record.insert(key.to_owned(), value);
    put("gold_sub_hypo", gold);
    put("gen_sub_hypo", answer);
    let (_, n_answer) = matching.sizes();
    let partner = |a: usize| matching.pairs.iter().find(|pair| pair.answer == a).map(|pair| pair.gold.into());
    let partners = (0..n_answer).map(|a| (a.to_string(), partner(a).unwrap_or_else(|| PyValue::from(-1_i64))));
    put("gen_subh_to_gold_subh", PyValue::dict(partners));
    put("gold_subh_covered", PyValue::List(matching.covered.iter().map(|g| (*g).into()).collect()));
    let pairs =
        matching.pairs.iter().zip(scores).map(|(pair, score)| (pair.key(), pair_rec(prompts, inputs, pair, score)));
    put("matched_gold_gen_subh_evals", PyValue::dict(pairs));
    put("recall_context", totals.recall_context.into());
    put("mean_accuracy_score", totals.mean_accuracy_score.into());
    put("final_score", totals.final_score.into());
    PyValue::Dict(record)
}

fn pair_rec(prompts: &JudgePrompts, inputs: &Inputs, pair: &Pair, score: &PairScore) -> PyValue {
    let asked = |question: &str, answer: PyValue, score: PyValue| {
        PyValue::dict([("question", question.into()), ("answer", answer), ("score", score)])
    };
    let question = |call: &JudgeCall| call.question.clone().unwrap_or_default();
    let mut record = head(inputs);
    let mut put = |key: &str, value: PyValue| record.insert(key.to_owned(), value);
    let variables =
        asked(&question(&prompts.variables), score.variables_answer.as_str().into(), score.variables.record.clone());
    put("var", variables);
    put("rel", asked(&question(&prompts.relation), score.relation_answer.as_str().into(), score.relation.into()));
    put("context", asked(&prompt::pair_question(prompts, &pair.texts), pair.matched.clone(), 1.0.into()));
    put("accuracy_score", score.accuracy().into());
    PyValue::Dict(record)
}

fn head(inputs: &Inputs) -> Dict {
    let pairs = [
        ("query", &inputs.query),
        ("HypoA", &inputs.gold),
        ("WorkflowA", &inputs.gold_workflow),
        ("HypoB", &inputs.answer),
        ("WorkflowB", &inputs.answer_workflow),
    ];
    pairs.into_iter().map(|(key, text)| (key.to_owned(), text.as_str().into())).collect()
}
