//! Random input by seed.

use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

/// `DIFFERENTIAL_CASES`, or 2000.
pub(crate) fn count() -> usize {
    std::env::var("DIFFERENTIAL_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// [`count`] values of `strategy`, the same for the same `DIFFERENTIAL_SEED`.
pub(crate) fn generate<S: Strategy>(what: &str, strategy: &S) -> Vec<S::Value> {
    let seed: u64 = std::env::var("DIFFERENTIAL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    println!("{what}: {} cases, DIFFERENTIAL_SEED={seed}", count());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..count()).map(|_| strategy.new_tree(&mut runner).expect("nothing is filtered out").current()).collect()
}

/// A character: often one that some rule is about, else any of Unicode.
pub(crate) fn character() -> impl Strategy<Value = char> {
    prop_oneof![
        4 => prop::sample::select(SPECIAL.chars().collect::<Vec<_>>()),
        2 => prop::char::range(' ', '~'),
        1 => prop::char::range('\0', '\u{ff}'),
        2 => prop::char::range('\0', '\u{2fff}'),
        2 => any::<char>(),
    ]
}

/// A text of such characters.
pub(crate) fn text(length: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(character(), length).prop_map(|characters| characters.into_iter().collect())
}

/// Quotes, backslash, every kind of white space and some that only look like it, digits of several scripts.
const SPECIAL: &str = "\"'\\`json \t\n\u{b}\u{c}\r\u{1c}\u{1d}\u{1e}\u{1f}\u{85}\u{a0}\u{ad}\u{1680}\u{180e}\u{2000}\
                       \u{200a}\u{200b}\u{2028}\u{2029}\u{202f}\u{205f}\u{2060}\u{3000}\u{feff}\u{fffd}\u{ffff}\
                       0123456789\u{661}\u{966}\u{ff11}\u{b2}\u{bd}\u{1d7d8}";
