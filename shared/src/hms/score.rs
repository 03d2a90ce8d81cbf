//! The arithmetic. The order of operations is upstream's: it decides the last bits.

use crate::pyjson::{Exception, PyValue};

/// What the variables question of a pair came to.
#[derive(Clone, Debug)]
pub(super) struct VariableScore {
    pub(super) f1: f64,
    /// The object recorded as `score`.
    pub(super) record: PyValue,
}

impl VariableScore {
    /// What upstream puts where there is nothing to compute with.
    pub(super) fn minus_one() -> Self {
        let record = PyValue::dict(["p", "r", "f1"].map(|name| (name, PyValue::Float(-1.0))));
        Self { f1: -1.0, record }
    }

    /// Precision, recall and F1 of the judge's counts. A count may be anything Python can divide.
    ///
    /// # Errors
    /// What Python raises.
    pub(super) fn of_counts(
        size_a: &PyValue,
        size_b: &PyValue,
        intersection: &PyValue,
        explanation: &PyValue,
    ) -> Result<Self, Exception> {
        let p = if size_b.is_truthy() { intersection.divided_by(size_b)? } else { 0.0 };
        let r = if size_a.is_truthy() { intersection.divided_by(size_a)? } else { 0.0 };
        let f1 = if p > 0.0 && r > 0.0 { (2.0 * p * r) / (p + r) } else { 0.0 };
        let record = PyValue::dict([
            ("p", p.into()),
            ("r", r.into()),
            ("f1", f1.into()),
            ("sizeA", size_a.clone()),
            ("sizeB", size_b.clone()),
            ("intersection", intersection.clone()),
            ("explanation", explanation.clone()),
        ]);
        Ok(Self { f1, record })
    }
}

/// The accuracy of a pair whose contexts match.
pub(super) fn accuracy(f1: f64, relation: f64) -> f64 {
    // Upstream multiplies 1.0 * context * f1 * relation; a pair is only scored where context is 1.0.
    1.0 * 1.0 * f1 * relation
}

/// The three results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    pub(super) recall_context: f64,
    pub(super) mean_accuracy_score: f64,
    pub(super) final_score: f64,
}

impl Totals {
    /// From the accuracies of the matched pairs in order, and how many sub-hypotheses there are on each side.
    pub(super) fn of(accuracies: impl IntoIterator<Item = f64>, covered: usize, gold: usize, answer: usize) -> Self {
        let sum = accuracies.into_iter().fold(0.0, |sum, accuracy| sum + accuracy);
        let share = |part: f64, whole: usize| if whole == 0 { 0.0 } else { part / whole as f64 };
        let recall_context = share(covered as f64, gold);
        let mean_accuracy_score = share(sum, answer);
        Self { recall_context, mean_accuracy_score, final_score: recall_context * mean_accuracy_score }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pyjson::loads, pyrepr::repr};

    fn score(size_a: &str, size_b: &str, intersection: &str) -> Result<String, String> {
        let read = |text: &str| loads(text).unwrap();
        VariableScore::of_counts(&read(size_a), &read(size_b), &read(intersection), &PyValue::from("e"))
            .map(|score| repr(&score.record))
            .map_err(|exception| exception.to_string())
    }

    #[test]
    fn counts_give_precision_recall_and_f1() {
        assert_eq!(
            score("3", "2", "1").unwrap(),
            "{'p': 0.5, 'r': 0.3333333333333333, 'f1': 0.4, 'sizeA': 3, 'sizeB': 2, 'intersection': 1, \
             'explanation': 'e'}"
        );
        assert!(score("0", "2", "0").unwrap().starts_with("{'p': 0.0, 'r': 0.0, 'f1': 0.0,"));
        assert!(score("true", "1", "1.0").unwrap().starts_with("{'p': 1.0, 'r': 1.0, 'f1': 1.0, 'sizeA': True,"));
        // Falsy sizes are never divided by, whatever they are.
        assert!(score("null", "\"\"", "[]").is_ok());
        assert!(score("\"2\"", "2", "1").is_err());
        // No clamp in the arithmetic itself.
        assert!(score("1", "1", "2").unwrap().starts_with("{'p': 2.0, 'r': 2.0, 'f1': 2.0,"));
    }

    #[test]
    fn totals_are_recall_times_mean() {
        let totals = Totals::of([0.5, 0.25], 2, 3, 4);
        assert_eq!(totals.recall_context, 2.0 / 3.0);
        assert_eq!(totals.mean_accuracy_score, 0.1875);
        assert_eq!(totals.final_score, 2.0 / 3.0 * 0.1875);
        // Summing from 0.0 as Python does turns a lone -0.0 into 0.0.
        assert!(Totals::of([-0.0], 1, 1, 1).mean_accuracy_score.is_sign_positive());
        assert_eq!(Totals::of([], 0, 0, 0).final_score, 0.0);
    }
}
