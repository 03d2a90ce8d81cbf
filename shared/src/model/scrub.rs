//! Text from a server made fit to be shown and stored: bounded, and without the credential.

use std::borrow::Cow;

use super::secret::Secret;

/// What stands in for a credential.
const MASK: &str = "********";
/// Shorter credentials are placeholders (`x`, `EMPTY`); masking every `x` would only make a text unreadable.
const SHORTEST: usize = 6;

/// `text` without the credential, wherever a server echoes it.
pub(super) fn secret(text: &str, key: &Secret) -> String {
    if key.expose().len() < SHORTEST { text.to_owned() } else { text.replace(key.expose(), MASK) }
}

/// A body without the credential. Masked before anything is cut out of it, lest half a credential remain at a cut.
pub(super) fn body<'a>(body: &'a [u8], key: &Secret) -> Cow<'a, [u8]> {
    let needle = key.expose().as_bytes();
    let occurs = needle.len() >= SHORTEST && body.windows(needle.len()).any(|window| window == needle);
    if !occurs {
        return Cow::Borrowed(body);
    }
    Cow::Owned(secret(&String::from_utf8_lossy(body), key).into_bytes())
}

/// At most `bytes` bytes of `text`, cut between characters.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// `text` on one line, at most `characters` long; what was cut is shown by an ellipsis.
pub(super) fn line(text: &str, characters: usize) -> String {
    // A few bytes a character are enough to read; what follows would be cut anyway.
    let text = cut(text, characters.saturating_mul(8));
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let line = text.chars().map(visible).collect::<String>();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(characters) {
        None => line,
        Some((end, _)) => format!("{}...", &line[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_masked_and_a_placeholder_is_not() {
        assert_eq!(secret("key sk-abcdef is bad", &Secret::new("sk-abcdef")), "key ******** is bad");
        assert_eq!(secret("an x in text", &Secret::new("x")), "an x in text");
        assert_eq!(secret("text", &Secret::default()), "text");
        assert_eq!(&*body(b"\xff sk-abcdef", &Secret::new("sk-abcdef")), "\u{fffd} ********".as_bytes());
        assert!(matches!(body(b"\xff", &Secret::new("sk-abcdef")), Cow::Borrowed(b"\xff")));
    }

    #[test]
    fn lines_are_single_and_bounded() {
        assert_eq!(line("a\n\tb\u{0}c ", 10), "a b c");
        assert_eq!(line("abcdef", 3), "abc...");
        assert_eq!(line(&"µ".repeat(9000), 4), "µµµµ...");
        assert_eq!(cut("aµ", 2), "a");
    }
}
