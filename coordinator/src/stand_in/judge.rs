//! The judge's part without a script: plausible, and the same for the same texts.

use serde_json::json;

use super::{Kind, draw::Draw, recognise::field};

/// The reply to a judge call, as the JSON the call demands.
pub(super) fn reply(kind: Kind, text: &str, seed: u64, match_probability: f64) -> String {
    match kind {
        Kind::SubHypotheses => sub_hypotheses(field(text, "hypothesis").unwrap_or(text), seed),
        Kind::Context => {
            let key = pair(text, ["gold_context", "predicted_context"]);
            let matches = Draw::new(seed, "context", key.as_bytes()).chance(match_probability);
            json!({ "match": matches }).to_string()
        }
        Kind::Variables => {
            let mut draw = Draw::new(seed, "variables", pair(text, ["HypoA", "HypoB"]).as_bytes());
            let sizes = [1 + draw.below(4), 1 + draw.below(4)];
            let smaller = sizes[0].min(sizes[1]);
            // The better of two draws: hypotheses about one dataset usually share variables.
            let intersection = draw.below(smaller + 1).max(draw.below(smaller + 1));
            json!({
                "sizeA": sizes[0],
                "sizeB": sizes[1],
                "intersection": intersection,
                "explanation": format!("{intersection} in common"),
            })
            .to_string()
        }
        Kind::Relation => {
            let mut draw = Draw::new(seed, "relation", pair(text, ["HypoA", "HypoB"]).as_bytes());
            let answer = ["A", "A", "B", "C"][draw.below(4)];
            json!({ "answer": answer, "explanation": "as drawn" }).to_string()
        }
        Kind::Agent | Kind::Other => String::new(),
    }
}

/// What two fields of a prompt say, or the whole prompt where they are not found.
fn pair(text: &str, keys: [&str; 2]) -> String {
    match keys.map(|key| field(text, key)) {
        [Some(first), Some(second)] => format!("{first}\n\n{second}"),
        _ => text.to_owned(),
    }
}

/// One to three of the hypothesis's first sentences, each with a context of its own.
fn sub_hypotheses(hypothesis: &str, seed: u64) -> String {
    let mut draw = Draw::new(seed, "sub_hypotheses", hypothesis.as_bytes());
    let most = 1 + draw.below(3);
    let sentences: Vec<&str> =
        hypothesis.split(['.', '\n', ';']).map(str::trim).filter(|part| part.len() > 12).take(most).collect();
    let sentences = if sentences.is_empty() { vec![hypothesis.trim()] } else { sentences };
    let parts: Vec<serde_json::Value> = sentences
        .into_iter()
        .map(|sentence| {
            let words: Vec<&str> = sentence.split_whitespace().collect();
            let context = if draw.chance(0.15) { "None".to_owned() } else { words[..words.len().min(6)].join(" ") };
            let variables: Vec<&str> = words.iter().rev().filter(|word| word.len() > 4).take(2).copied().collect();
            json!({ "text": sentence, "context": context, "variables": variables, "relations": "as stated" })
        })
        .collect();
    json!({ "sub_hypo": parts }).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn ask(kind: Kind, text: &str) -> Value {
        serde_json::from_str(&reply(kind, text, 1, 0.7)).unwrap()
    }

    #[test]
    fn a_hypothesis_is_segmented_into_its_sentences() {
        let text =
            "{\n\"hypothesis\": \"Income rises with schooling. In towns it rises faster.\",\n\"workflow\": \"\"\n}";
        let parts = ask(Kind::SubHypotheses, text)["sub_hypo"].clone();
        assert!((1..=2).contains(&parts.as_array().unwrap().len()), "{parts}");
        assert_eq!(parts[0]["text"], "Income rises with schooling");
        assert_eq!(ask(Kind::SubHypotheses, "\"hypothesis\": \"short\",\n")["sub_hypo"][0]["text"], "short");
    }

    #[test]
    fn counts_never_contradict_each_other_and_the_same_texts_get_the_same_reply() {
        for case in 0..200 {
            let text = format!("\"HypoA\": a{case},\n\"HypoB\": b,\n ask");
            let counts = ask(Kind::Variables, &text);
            let of = |key: &str| counts[key].as_u64().unwrap();
            assert!(of("intersection") <= of("sizeA").min(of("sizeB")) && of("sizeA") > 0);
            assert_eq!(counts, ask(Kind::Variables, &text));
            let answer = ask(Kind::Relation, &text)["answer"].clone();
            assert!(["A", "B", "C"].contains(&answer.as_str().unwrap()));
        }
    }

    #[test]
    fn contexts_match_as_often_as_asked_for() {
        let asked = |case: usize| format!("\"gold_context\": \"a{case}\",\n\"predicted_context\": \"b\"\n}}");
        let matches = |probability| {
            (0..400).filter(|case| reply(Kind::Context, &asked(*case), 1, probability).contains("true")).count()
        };
        assert_eq!((matches(0.0), matches(1.0)), (0, 400));
        assert!((240..=320).contains(&matches(0.7)), "{}", matches(0.7));
    }
}
