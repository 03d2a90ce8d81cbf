//! What both policies do with the text of a reply.

use crate::{
    pyjson::{self, Exception, PyValue},
    pystr,
};

/// Upstream's way to JSON in the sub-hypotheses and context replies: white space off, then any run of the characters
/// of ```` ```json ```` off both ends, whatever their order, then any run of backquotes.
pub(super) fn chained(content: &str) -> Result<PyValue, pyjson::Error> {
    let text = pystr::strip_chars(pystr::strip(content), "```json");
    pyjson::loads(pystr::strip_chars(text, "```"))
}

/// A text without the Markdown fence around it, if there is one around all of it. Upstream has no such step for the
/// variables and relation replies.
pub(super) fn unfenced(text: &str) -> &str {
    let text = pystr::strip(text);
    let Some(inner) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) else { return text };
    pystr::strip(inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()))
}

/// The score of a relation reply's option; `None` where it names none. Case and order of the tests are upstream's.
pub(super) fn relation_score(option: &str) -> Option<f64> {
    let option = pystr::strip(option);
    if option.starts_with('A') || option.contains("very similar") {
        Some(1.0)
    } else if option.starts_with('B') || option.contains("similar but general than HypoA") {
        Some(0.5)
    } else if option.starts_with('C') || option.contains("different") {
        Some(0.0)
    } else {
        None
    }
}

/// `content.strip()` of a reply's content, which may be null.
pub(super) fn stripped(content: Option<&str>) -> Result<&str, Exception> {
    content.map(pystr::strip).ok_or_else(|| Exception::no_attribute(&PyValue::None, "strip"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pyrepr::repr;

    #[test]
    fn the_strip_chain_takes_characters_not_words() {
        let chain = |text: &str| chained(text).map(|value| repr(&value)).map_err(|error| error.to_string());
        for text in ["{}", "```json\n{}\n```", "```\n{}```", " \n```json{}```\t", "json{}nosj"] {
            assert_eq!(chain(text).unwrap(), "{}", "{text:?}");
        }
        assert_eq!(chain("null").unwrap_err(), "Expecting value: line 1 column 1 (char 0)");
        assert!(chain("```JSON\n{}\n```").is_err());
        // The run of fence characters ends at the inner newline.
        assert!(chain("```json\n```json\n{}\n```\n```").is_err());
        assert!(chain("{} Hope this helps").is_err());
    }

    #[test]
    fn a_fence_goes_only_as_a_whole() {
        for text in ["{}", "```json\n{}\n```", "```JSON\n{}```", " ``` {} ``` "] {
            assert_eq!(unfenced(text), "{}", "{text:?}");
        }
        assert_eq!(unfenced("Sure: ```{}```"), "Sure: ```{}```");
        assert_eq!(unfenced("```{}"), "```{}");
        assert_eq!(unfenced("```"), "```");
    }

    #[test]
    fn options_are_read_as_upstream_reads_them() {
        for (option, score) in [
            ("A) very similar", Some(1.0)),
            ("All the same", Some(1.0)),
            ("B) not very similar", Some(1.0)),
            ("\n B", Some(0.5)),
            ("Because", Some(0.5)),
            ("(B) similar but general than HypoA", Some(0.5)),
            ("C", Some(0.0)),
            ("not different", Some(0.0)),
            ("similar but more general than HypoA", None),
            ("Very similar", None),
            ("a)", None),
            ("", None),
        ] {
            assert_eq!(relation_score(option), score, "{option:?}");
        }
    }
}
