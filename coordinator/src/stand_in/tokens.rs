//! The stand-in's own measure of text: four characters are a token. It never shrinks when text is added.

/// Tokens of a text.
pub(super) fn count(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

/// The part of `text` that has at most `limit` tokens, and whether something was cut.
pub(super) fn cut(text: &str, limit: u64) -> (&str, bool) {
    let limit = usize::try_from(limit.saturating_mul(4)).unwrap_or(usize::MAX);
    match text.char_indices().nth(limit) {
        None => (text, false),
        Some((at, _)) => (&text[..at], true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_grows_with_the_text_and_the_cut_keeps_to_it() {
        let text = "µ’ some text that is a little longer";
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        assert!(ends.windows(2).all(|pair| count(&text[..pair[0]]) <= count(&text[..pair[1]])));
        assert_eq!(count(""), 0);
        assert_eq!(cut(text, 2), ("µ’ some ", true));
        assert_eq!(cut("abcd", 1), ("abcd", false));
    }
}
