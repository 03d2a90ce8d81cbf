//! Python's idea of white space, digits and printable characters, where it differs from Rust's.
//!
//! Python's `str` follows the Unicode database its interpreter was built with: 13.0 in 3.9 and 3.10, 14.0 in 3.11,
//! 15.0 in 3.12, 15.1 in 3.13. Upstream's results were made with 3.11, so characters that came after 14.0 count as
//! unassigned here. White space is the same in all five versions.

mod later;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Whether `str.isspace()` and the regular expression `\s` hold for `c`.
///
/// Differs from [`char::is_whitespace`] in U+001C to U+001F, which Python counts as white space (bidirectional type
/// B or S). U+180E, U+200B and U+FEFF are no white space in either.
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Whether the regular expression `\d` holds for `c`: general category Nd. Superscripts and fractions are not digits.
#[must_use]
pub fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { category(c) == GeneralCategory::DecimalNumber }
}

/// The value of a decimal digit of any script, as `int()` and `float()` read it.
#[must_use]
pub fn digit_value(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    if !is_digit(c) {
        return None;
    }
    // Unicode guarantees that decimal digits come in runs of ten, zero first; two runs may touch.
    let before =
        (1..=u32::from(c)).take_while(|back| char::from_u32(u32::from(c) - back).is_some_and(is_digit)).count();
    u32::try_from(before).ok().map(|before| before % 10)
}

/// Whether `str.isprintable()` holds for `c`: not Cc, Cf, Cs, Co, Cn, Zl, Zp, nor Zs other than the space.
#[must_use]
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    !matches!(
        category(c),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
    )
}

/// `text.strip()`.
#[must_use]
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `text.strip(chars)`: removes any run of the given characters from both ends.
#[must_use]
pub fn strip_chars<'a>(text: &'a str, chars: &str) -> &'a str {
    text.trim_matches(|c| chars.contains(c))
}

fn category(c: char) -> GeneralCategory {
    if later::came_after_14(c) { GeneralCategory::Unassigned } else { get_general_category(c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_pythons() {
        let spaces: Vec<u32> = (0..=0x10_ffff).filter(|&n| char::from_u32(n).is_some_and(is_space)).collect();
        let mut expected: Vec<u32> = (0x9..=0xd).chain(0x1c..=0x20).collect();
        expected.extend([0x85, 0xa0, 0x1680]);
        expected.extend(0x2000..=0x200a);
        expected.extend([0x2028, 0x2029, 0x202f, 0x205f, 0x3000]);
        assert_eq!(spaces, expected);
    }

    #[test]
    fn digits_are_nd() {
        for c in ['0', '9', '\u{661}', '\u{ff15}', '\u{1d7d8}'] {
            assert!(is_digit(c), "{c:?}");
        }
        for c in ['a', '\u{b2}', '\u{2460}', '\u{bd}', '\u{3007}', '\u{16d70}'] {
            assert!(!is_digit(c), "{c:?}");
        }
        // 660 digits in Unicode 14, in sixty-six runs of ten.
        assert_eq!((0..=0x10_ffff).filter(|&n| char::from_u32(n).is_some_and(is_digit)).count(), 660);
    }

    #[test]
    fn digits_have_values_in_every_script() {
        assert_eq!(digit_value('7'), Some(7));
        assert_eq!(digit_value('\u{663}'), Some(3));
        // Mathematical digits: five runs of ten that touch.
        assert_eq!(digit_value('\u{1d7ce}'), Some(0));
        assert_eq!(digit_value('\u{1d7d8}'), Some(0));
        assert_eq!(digit_value('\u{1d7ff}'), Some(9));
        assert_eq!(digit_value('\u{b2}'), None);
        assert_eq!(digit_value('x'), None);
    }

    #[test]
    fn printable_is_pythons() {
        for c in ['a', ' ', '\u{b5}', '\u{2019}', '\u{1f600}'] {
            assert!(is_printable(c), "{c:?}");
        }
        for c in ['\n', '\u{7f}', '\u{85}', '\u{a0}', '\u{ad}', '\u{200b}', '\u{2028}', '\u{e000}', '\u{378}'] {
            assert!(!is_printable(c), "{c:?}");
        }
        // 969596 unprintable code points in Python 3.11, 2048 of them surrogates.
        let unprintable = (0..=0x10_ffff).filter_map(char::from_u32).filter(|&c| !is_printable(c)).count();
        assert_eq!(unprintable, 969_596 - 2048);
    }

    #[test]
    fn the_crate_has_the_tables_that_the_exceptions_were_made_for() {
        assert_eq!(unicode_general_category::UNICODE_VERSION, (16, 0, 0), "renew pystr/later.rs");
    }

    #[test]
    fn strip_takes_runs_from_both_ends() {
        assert_eq!(strip("\u{1c}\n a b\u{3000}\u{85}"), "a b");
        assert_eq!(strip("\u{200b}a\u{180e}"), "\u{200b}a\u{180e}");
        assert_eq!(strip(" \t"), "");
        assert_eq!(strip_chars("```json{}\n```", "```json"), "{}\n");
        assert_eq!(strip_chars("null", "```json"), "ull");
        assert_eq!(strip_chars("", "x"), "");
    }
}
