//! Which sub-hypothesis of the answer meets which of the gold: each in turn takes the first uncovered one whose context
//! is the same or, asked about, matches.

use super::prompt::PairTexts;
use crate::{
    pyjson::{Exception, PyValue},
    pyrepr,
};

/// The walk over all pairs, answer-major. It stops where the judge has to be asked.
#[derive(Clone, Debug)]
pub(super) struct Matching {
    gold: Vec<PyValue>,
    answer: Vec<PyValue>,
    /// Where the walk is.
    a: usize,
    g: usize,
    /// Indices of matched gold sub-hypotheses in the order of matching.
    pub(super) covered: Vec<usize>,
    /// The matched pairs in the order of the answer.
    pub(super) pairs: Vec<Pair>,
}

/// A matched pair.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// Index in the answer.
    pub(super) answer: usize,
    /// Index in the gold.
    pub(super) gold: usize,
    /// What the record shows of it.
    pub(super) texts: PairTexts,
    /// True for equal contexts, else the judge's `match` as it stood.
    pub(super) matched: PyValue,
}

impl Pair {
    /// `P0||G1`.
    pub(super) fn key(&self) -> String {
        key(self.answer, self.gold)
    }
}

impl Matching {
    /// At the start of the walk.
    pub(super) fn new(gold: Vec<PyValue>, answer: Vec<PyValue>) -> Self {
        Self { gold, answer, a: 0, g: 0, covered: Vec::new(), pairs: Vec::new() }
    }

    /// Number of sub-hypotheses: gold, answer.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.gold.len(), self.answer.len())
    }

    /// Goes on until the judge has to compare two contexts, or to the end (`None`).
    ///
    /// # Errors
    /// What upstream raises where a sub-hypothesis is not an object with `text` (and, matched, `context`).
    pub(super) fn advance(&mut self) -> Result<Option<PairTexts>, Exception> {
        while let Some(answer) = self.answer.get(self.a) {
            let Some(gold) = self.gold.get(self.g) else {
                self.a += 1;
                self.g = 0;
                continue;
            };
            if self.covered.contains(&self.g) {
                self.g += 1;
                continue;
            }
            let missing = PyValue::from("");
            let none = PyValue::from("None");
            let gold_text = gold.subscript("text")?;
            let gold_context = gold.get("context").unwrap_or(&missing);
            let answer_text = answer.subscript("text")?;
            let answer_context = answer.get("context").unwrap_or(&missing);
            if gold_context.equals(answer_context) {
                self.matched(PyValue::Bool(true))?;
            } else if gold_context.equals(&none) || answer_context.equals(&none) {
                self.g += 1;
            } else {
                return Ok(Some(PairTexts {
                    gold_text: pyrepr::str(gold_text),
                    gold_context: pyrepr::str(gold_context),
                    answer_text: pyrepr::str(answer_text),
                    answer_context: pyrepr::str(answer_context),
                }));
            }
        }
        Ok(None)
    }

    /// The key of the pair that [`Matching::advance`] stopped at.
    pub(super) fn current_key(&self) -> String {
        key(self.a, self.g)
    }

    /// Takes the judge's `match` for it: by truthiness, so a non-empty string matches.
    ///
    /// # Errors
    /// What upstream raises for a match without `context`.
    pub(super) fn answer(&mut self, matched: PyValue) -> Result<(), Exception> {
        if matched.is_truthy() {
            self.matched(matched)
        } else {
            self.g += 1;
            Ok(())
        }
    }

    fn matched(&mut self, matched: PyValue) -> Result<(), Exception> {
        let (gold, answer) = (&self.gold[self.g], &self.answer[self.a]);
        self.covered.push(self.g);
        let texts = PairTexts {
            gold_text: pyrepr::str(gold.subscript("text")?),
            gold_context: pyrepr::str(gold.subscript("context")?),
            answer_text: pyrepr::str(answer.subscript("text")?),
            answer_context: pyrepr::str(answer.subscript("context")?),
        };
        self.pairs.push(Pair { answer: self.a, gold: self.g, texts, matched });
        self.a += 1;
        self.g = 0;
        Ok(())
    }
}

fn key(answer: usize, gold: usize) -> String {
    format!("P{answer}||G{gold}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pyjson::loads;

    /// Contexts of gold and answer, and the judge's replies in order: the matched pairs and how often it was asked.
    fn walk(gold: &str, answer: &str, replies: &[bool]) -> (Vec<String>, usize) {
        let hypotheses = |contexts: &str| {
            let context = |context: &PyValue| PyValue::dict([("text", "t".into()), ("context", context.clone())]);
            loads(contexts).unwrap().elements().unwrap().iter().map(context).collect()
        };
        let mut matching = Matching::new(hypotheses(gold), hypotheses(answer));
        let mut asked = 0;
        while matching.advance().unwrap().is_some() {
            matching.answer(PyValue::Bool(replies[asked])).unwrap();
            asked += 1;
        }
        (matching.pairs.iter().map(Pair::key).collect(), asked)
    }

    #[test]
    fn equal_contexts_match_without_a_question() {
        assert_eq!(walk(r#"["a", "b"]"#, r#"["b", "a"]"#, &[false]), (vec!["P0||G1".into(), "P1||G0".into()], 1));
        assert_eq!(walk("[1, null, \"None\"]", "[true]", &[]), (vec!["P0||G0".into()], 0));
        assert_eq!(walk(r#"["None"]"#, r#"["None"]"#, &[]).1, 0);
    }

    #[test]
    fn none_on_one_side_is_no_match_and_no_question() {
        assert_eq!(walk(r#"["None"]"#, r#"["a"]"#, &[]), (vec![], 0));
        assert_eq!(walk(r#"["a"]"#, r#"["None", "a"]"#, &[]), (vec!["P1||G0".into()], 0));
    }

    #[test]
    fn a_covered_gold_is_not_compared_again() {
        assert_eq!(walk(r#"["a"]"#, r#"["x", "y", "z"]"#, &[false, true]), (vec!["P1||G0".into()], 2));
        let (pairs, asked) = walk(r#"["a", "b"]"#, r#"["x", "y"]"#, &[true, false]);
        assert_eq!((pairs, asked), (vec!["P0||G0".into()], 2));
    }

    #[test]
    fn missing_keys_raise_as_in_python() {
        let only = |text: &str| vec![loads(text).unwrap()];
        let mut matching = Matching::new(only("{\"text\": \"t\"}"), only("{\"text\": \"t\"}"));
        assert_eq!(matching.advance().unwrap_err().to_string(), "KeyError: 'context'");
        let mut matching = Matching::new(only("{}"), only("{}"));
        assert_eq!(matching.advance().unwrap_err().to_string(), "KeyError: 'text'");
        let mut matching = Matching::new(only("{\"text\": \"t\"}"), only("\"s\""));
        assert_eq!(
            matching.advance().unwrap_err().to_string(),
            "TypeError: string indices must be integers, not 'str'"
        );
    }
}
