//! What a reply asks for. Pure; equal to the parser that both of upstream's agents share.
//!
//! Upstream's rule, in Python's terms: with `Final Answer:` anywhere in the reply, the text after its last occurrence,
//! stripped, is the answer. Otherwise a `re.search` with DOTALL for
//! `Action\s*\d*\s*:(.*?)\nAction\s*\d*\s*Input\s*\d*\s*:[\s]*(.*)` finds tool and code; the tool is stripped, the
//! code loses outer spaces and then outer double quotes. Anything else cannot be parsed.
//!
//! The search is written by hand: it takes linear time on any reply, and `\s` and `\d` are exactly Python's.

use argosy_shared::pystr::{is_digit, is_space, strip, strip_chars};

const FINAL_ANSWER: &str = "Final Answer:";
const ACTION: &str = "Action";
const ACTION_ON_ITS_LINE: &str = "\nAction";
const INPUT: &str = "Input";

/// What a reply asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// The task is done. The answer may be empty.
    Finish(String),
    /// A tool is to be used.
    Action {
        /// The tool's name as written; it may be none that exists, and may span lines.
        tool: String,
        /// The code; it may be empty.
        input: String,
    },
    /// Neither: upstream stops here.
    Neither,
}

/// Reads a reply.
#[must_use]
pub fn parse(reply: &str) -> Parsed {
    if let Some(at) = reply.rfind(FINAL_ANSWER) {
        return Parsed::Finish(strip(&reply[at + FINAL_ANSWER.len()..]).to_owned());
    }
    match action(reply) {
        Some((tool, input)) => Parsed::Action {
            tool: strip(tool).to_owned(),
            input: strip_chars(strip_chars(input, " "), "\"").to_owned(),
        },
        None => Parsed::Neither,
    }
}

/// The two groups of the expression, before they are stripped.
fn action(reply: &str) -> Option<(&str, &str)> {
    // The leftmost `Action … :` decides. When no `\nAction … Input … :` follows it, none follows a later one either.
    let rest = reply.match_indices(ACTION).find_map(|(at, _)| number_and_colon(&reply[at + ACTION.len()..]))?;
    rest.match_indices(ACTION_ON_ITS_LINE).find_map(|(at, word)| {
        let after_action = optional_number(&rest[at + word.len()..]);
        let input = number_and_colon(after_action.strip_prefix(INPUT)?)?;
        Some((&rest[..at], input.trim_start_matches(is_space)))
    })
}

/// What follows `\s*\d*\s*:`.
fn number_and_colon(text: &str) -> Option<&str> {
    optional_number(text).strip_prefix(':')
}

/// What follows `\s*\d*\s*`. The two classes have no character in common and what must come next (`:` or `Input`)
/// begins with neither, so giving characters back, as a regular expression could, never helps.
fn optional_number(text: &str) -> &str {
    text.trim_start_matches(is_space).trim_start_matches(is_digit).trim_start_matches(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(answer: &str) -> Parsed {
        Parsed::Finish(answer.to_owned())
    }

    fn code(tool: &str, input: &str) -> Parsed {
        Parsed::Action { tool: tool.to_owned(), input: input.to_owned() }
    }

    #[test]
    fn a_final_answer_wins_wherever_it_stands() {
        assert_eq!(parse("Action: t\nAction Input: x\nFinal Answer: y "), finish("y"));
        assert_eq!(parse("Final Answer: y\nAction: t\nAction Input: x"), finish("y\nAction: t\nAction Input: x"));
        assert_eq!(parse("Action: t\nAction Input: print('Final Answer:', 3)"), finish("', 3)"));
        assert_eq!(parse("Final Answer: a\nFinal Answer:\u{1c}b\u{3000}"), finish("b"));
        assert_eq!(parse("Final Answer:"), finish(""));
    }

    #[test]
    fn its_spelling_is_exact() {
        for reply in
            ["FINAL_ANSWER: x", "Final Answer : x", "final answer: x", "**Final Answer**: x", "Final  Answer: x"]
        {
            assert_eq!(parse(reply), Parsed::Neither, "{reply}");
        }
    }

    #[test]
    fn numbers_and_white_space_may_stand_between_the_words() {
        assert_eq!(parse("Action 1 : t\nAction 2 Input 3 : x"), code("t", "x"));
        assert_eq!(parse("Action\n:\tt\nAction\u{1f}\u{661}Input\u{a0}:\u{2003}x"), code("t", "x"));
        assert_eq!(parse("Action1:t\nActionInput:x"), code("t", "x"));
        assert_eq!(parse("Action 1 2: t\nAction Input: x"), Parsed::Neither);
        assert_eq!(parse("Action \u{b2}: t\nAction Input: x"), Parsed::Neither);
        assert_eq!(parse("Action\u{200b}: t\nAction Input: x"), Parsed::Neither);
    }

    #[test]
    fn the_input_line_begins_its_line() {
        assert_eq!(parse("Action: t\n Action Input: x"), Parsed::Neither);
        assert_eq!(parse("Action: t\rAction Input: x"), Parsed::Neither);
        assert_eq!(parse("Action: t\r\nAction Input: x\r\n"), code("t", "x\r\n"));
        assert_eq!(parse("Action: t\n\nAction Input: x"), code("t", "x"));
    }

    #[test]
    fn the_first_action_and_the_first_input_count() {
        assert_eq!(parse("Action: a\nAction: t\nAction Input: x"), code("a\nAction: t", "x"));
        assert_eq!(
            parse("Action: t\nAction Input: x\nAction: u\nAction Input: y"),
            code("t", "x\nAction: u\nAction Input: y")
        );
        assert_eq!(parse("Action Input: x\nAction: t\nAction Input: y"), code("t", "y"));
        assert_eq!(parse("Action: t\nAction Inputs: x\nAction Input: y"), code("t\nAction Inputs: x", "y"));
    }

    #[test]
    fn outer_spaces_and_then_quotes_are_taken_off_the_code() {
        assert_eq!(parse("Action: t\nAction Input: x = \"abc\""), code("t", "x = \"abc"));
        assert_eq!(parse("Action: t\nAction Input: x = \"abc\"\n"), code("t", "x = \"abc\"\n"));
        assert_eq!(parse("Action: t\nAction Input: \" x \" "), code("t", " x "));
        assert_eq!(parse("Action: t\nAction Input: \"\"\""), code("t", ""));
        assert_eq!(parse("Action: t\nAction Input:\n    x\n    y"), code("t", "x\n    y"));
        assert_eq!(parse("Action: t\nAction Input:"), code("t", ""));
    }

    #[test]
    fn hostile_replies_take_linear_time() {
        // A backtracking search needs the square of this.
        let many = "Action:\nAction".repeat(200_000);
        assert_eq!(parse(&many), Parsed::Neither);
        assert_eq!(parse(&format!("Action{}", " ".repeat(1_000_000))), Parsed::Neither);
    }
}
