//! What policy `strict` makes of each row that upstream's arithmetic cannot digest.

use argosy_shared::{issue::Code, pyjson::PyValue};
use argosy_tests::vectors::Outcome;

use super::play::{End, Played};
use crate::rows;

/// How a row ends under `strict` where that is not upstream's end.
#[derive(Clone, Debug, PartialEq)]
enum Strict {
    /// FATAL with this code after so many requests.
    Fatal(Code, usize),
    /// This score, with so many warnings.
    Score(f64, usize),
}

const INVALID: Code = Code::JudgeInvalidOutput;
const FAILED: Code = Code::JudgeFailed;

/// The rows whose strict outcome differs from upstream's. Every other row ends alike under both, without a warning.
///
/// A question's replies are those that upstream got, the last one repeated: a judge that does not change its mind. So
/// an unusable reply costs three requests (five for a context) where upstream stopped at the first.
#[rustfmt::skip]
const TABLE: &[(&str, Strict)] = &[
    ("context_missing_both", Strict::Fatal(INVALID, 3)),
    ("context_missing_gold_match", Strict::Fatal(INVALID, 3)),
    ("context_missing_pred_match", Strict::Fatal(INVALID, 4)),
    ("text_missing_gold", Strict::Fatal(INVALID, 3)),
    ("text_missing_pred", Strict::Fatal(INVALID, 4)),
    ("match_bad_5", Strict::Fatal(INVALID, 7)),
    ("match_list", Strict::Fatal(INVALID, 7)),
    ("match_api_error", Strict::Fatal(FAILED, 3)),
    ("sub_fenced_upper", Strict::Fatal(INVALID, 3)),
    ("sub_trailing_prose", Strict::Fatal(INVALID, 3)),
    ("sub_inner_newline_strip", Strict::Fatal(INVALID, 3)),
    ("sub_gold_unparseable", Strict::Fatal(INVALID, 3)),
    ("sub_missing_key", Strict::Fatal(INVALID, 3)),
    ("sub_missing_key_gen", Strict::Fatal(INVALID, 4)),
    ("sub_top_level_list", Strict::Fatal(INVALID, 3)),
    ("sub_null_list", Strict::Fatal(INVALID, 3)),
    ("sub_dict_instead_of_list", Strict::Fatal(INVALID, 3)),
    ("sub_list_of_strings", Strict::Fatal(INVALID, 3)),
    ("sub_string_value", Strict::Fatal(INVALID, 3)),
    ("sub_empty_string_value", Strict::Fatal(INVALID, 3)),
    ("sub_number", Strict::Fatal(INVALID, 3)),
    ("sub_number_value", Strict::Fatal(INVALID, 3)),
    ("sub_json_string", Strict::Fatal(INVALID, 3)),
    ("sub_true", Strict::Fatal(INVALID, 3)),
    ("sub_content_none", Strict::Fatal(INVALID, 3)),
    ("sub_api_error", Strict::Fatal(FAILED, 1)),
    ("sub_nan", Strict::Fatal(INVALID, 3)),
    ("sub_trailing_comma", Strict::Fatal(INVALID, 3)),
    ("sub_single_quotes", Strict::Fatal(INVALID, 3)),
    ("sub_control_char", Strict::Fatal(INVALID, 3)),
    ("sub_bom", Strict::Fatal(INVALID, 3)),
    ("var_inter_gt", Strict::Score(0.6666666666666666, 1)),
    ("var_strings", Strict::Score(1.0, 3)),
    ("var_bools", Strict::Fatal(INVALID, 5)),
    ("var_nulls", Strict::Fatal(INVALID, 5)),
    ("var_null_inter", Strict::Fatal(INVALID, 5)),
    ("var_empty_strings", Strict::Fatal(INVALID, 5)),
    ("var_list_sizes", Strict::Fatal(INVALID, 5)),
    ("var_inter_list_zero_sizes", Strict::Fatal(INVALID, 5)),
    ("var_missing_explanation", Strict::Fatal(INVALID, 5)),
    ("var_missing_intersection", Strict::Fatal(INVALID, 5)),
    ("var_fenced", Strict::Score(1.0, 0)),
    ("var_garbage_rel_B", Strict::Fatal(INVALID, 5)),
    ("var_garbage_rel_C", Strict::Fatal(INVALID, 5)),
    ("var_garbage_rel_unknown", Strict::Fatal(INVALID, 5)),
    ("var_list", Strict::Fatal(INVALID, 5)),
    ("var_infinity", Strict::Fatal(INVALID, 5)),
    ("var_api_error_twice_then_ok", Strict::Fatal(FAILED, 3)),
    ("var_api_error_three", Strict::Fatal(FAILED, 3)),
    ("rel_Very_cap", Strict::Fatal(INVALID, 6)),
    ("rel_Different_cap", Strict::Fatal(INVALID, 6)),
    ("rel_quote_B", Strict::Fatal(INVALID, 6)),
    ("rel_similar", Strict::Fatal(INVALID, 6)),
    ("rel_garbage", Strict::Fatal(INVALID, 6)),
    ("rel_fenced", Strict::Score(1.0, 0)),
    ("rel_answer_null", Strict::Fatal(INVALID, 6)),
    ("rel_answer_list", Strict::Fatal(INVALID, 6)),
    ("rel_answer_number", Strict::Fatal(INVALID, 6)),
    ("rel_api_error_three", Strict::Fatal(FAILED, 4)),
    ("rel_content_none", Strict::Fatal(INVALID, 6)),
    ("rel_empty_reply", Strict::Fatal(INVALID, 6)),
    ("rel_upper_key", Strict::Fatal(INVALID, 6)),
];

/// Compares the strict outcome with the table. A row that the table does not know (another set of vectors) may end
/// as the policy's rules allow; that is said.
pub(super) fn outcome(row: &PyValue, upstream: &Played, strict: &Played) -> Result<Outcome, String> {
    let id = rows::id(row);
    let expected = TABLE.iter().find(|(known, _)| *known == id).map(|(_, strict)| strict);
    let (ours, why) = match &strict.end {
        End::Failed(failure) => (Strict::Fatal(failure.code(), strict.requests.len()), failure.to_string()),
        End::Done(judged) => {
            let scores = [judged.recall_context, judged.mean_accuracy_score, judged.final_score];
            if let Some(score) = scores.into_iter().find(|score| !(0.0..=1.0).contains(score)) {
                return Err(format!("a score of {score}"));
            }
            if let End::Done(same) = &upstream.end
                && judged.warnings.is_empty()
                && same.eval_rec.is_identical(&judged.eval_rec)
            {
                return match expected {
                    None => Ok(Outcome::Equal),
                    Some(expected) => Err(format!("{expected:?} expected, but it ends as upstream")),
                };
            }
            (Strict::Score(judged.final_score, judged.warnings.len()), judged.warnings.join("; "))
        }
    };
    if strict.pauses > 0 {
        return Err("a pause, which only upstream makes".to_owned());
    }
    match expected {
        Some(expected) if *expected == ours => Ok(Outcome::Documented(shown(&ours, &why))),
        Some(expected) => Err(format!("{expected:?} expected, found {ours:?}: {why}")),
        None => by_rule(row, &ours, &why),
    }
}

fn by_rule(row: &PyValue, ours: &Strict, why: &str) -> Result<Outcome, String> {
    let raises = rows::list(row, "replies").iter().any(|reply| reply.get("raise").is_some());
    match ours {
        Strict::Fatal(code, _) if *code == INVALID || (*code == FAILED && raises) => {
            Ok(Outcome::Documented(format!("by rule, not in the table: {}", shown(ours, why))))
        }
        Strict::Score(_, warnings) if *warnings > 0 => {
            Ok(Outcome::Documented(format!("by rule, not in the table: {}", shown(ours, why))))
        }
        // Without a warning only a fence taken off can bring another score.
        Strict::Score(..) if rows::list(row, "replies").iter().any(is_fenced) => {
            Ok(Outcome::Documented(format!("by rule, not in the table: {}", shown(ours, "a fence is taken off"))))
        }
        ours => Err(format!("{ours:?} where upstream ends otherwise: {why}")),
    }
}

fn is_fenced(reply: &PyValue) -> bool {
    reply.as_str().is_some_and(|text| text.trim().starts_with("```"))
}

fn shown(ours: &Strict, why: &str) -> String {
    match ours {
        Strict::Fatal(code, requests) => format!("FATAL {code} after {requests} requests: {why}"),
        Strict::Score(score, 0) => format!("score {score}: a fence is taken off"),
        Strict::Score(score, warnings) => format!("score {score} with {warnings} WARNING: {why}"),
    }
}
