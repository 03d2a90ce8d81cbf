//! Randomness that is a function of what it is for.

use sha2::{Digest as _, Sha256};

/// A digest of a request's content.
pub(super) type Digest = [u8; 16];

/// Digests `parts`; their boundaries count.
pub(super) fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut digest = Digest::default();
    digest.copy_from_slice(&hasher.finalize()[..16]);
    digest
}

/// Draws for one purpose: the same seed, purpose and content give the same sequence.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    key: Digest,
    count: u64,
}

impl Draw {
    pub(super) fn new(seed: u64, purpose: &str, content: &[u8]) -> Self {
        Self { key: digest([&seed.to_le_bytes()[..], purpose.as_bytes(), content]), count: 0 }
    }

    /// Uniform over all of `u64`.
    pub(super) fn bits(&mut self) -> u64 {
        let digest = digest([&self.key[..], &self.count.to_le_bytes()]);
        self.count += 1;
        u64::from_le_bytes(digest[..8].try_into().expect("a digest has 16 bytes"))
    }

    /// Uniform in 0 ≤ x < 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..n; 0 for n = 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// True with this probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_purpose_and_content_and_nothing_else() {
        let of = |seed, purpose, content: &[u8]| Draw::new(seed, purpose, content).bits();
        assert_eq!(of(1, "a", b"b"), of(1, "a", b"b"));
        assert_ne!(of(1, "a", b"b"), of(2, "a", b"b"));
        assert_ne!(of(1, "a", b"b"), of(1, "ab", b""));
        let mut draw = Draw::new(1, "a", b"b");
        assert_ne!(draw.bits(), draw.bits());
    }

    #[test]
    fn the_unit_draw_fills_its_interval_evenly() {
        let mut draw = Draw::new(3, "unit", b"");
        let draws: Vec<f64> = (0..4000).map(|_| draw.unit()).collect();
        assert!(draws.iter().all(|u| (0.0..1.0).contains(u)));
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((mean - 0.5).abs() < 0.03, "{mean}");
        assert_eq!(draw.below(0), 0);
        assert!((0..100).all(|_| draw.below(3) < 3));
    }
}
