//! How long to wait before trying again.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use sha2::{Digest as _, Sha256};

/// Doubling delays with jitter, for reconnecting: each is uniform in [b/2, b], b doubling from `least` to `most`.
#[derive(Clone, Debug)]
pub struct Backoff {
    least: Duration,
    most: Duration,
    tries: u32,
}

impl Backoff {
    /// Starts at `least`.
    #[must_use]
    pub fn new(least: Duration, most: Duration) -> Self {
        Self { least, most, tries: 0 }
    }

    /// The next delay.
    pub fn next_delay(&mut self) -> Duration {
        self.tries = self.tries.saturating_add(1);
        // The standard library's hash keys are random, which is all the randomness a jitter needs.
        let random = RandomState::new().hash_one(self.tries);
        upper_half(base(self.least, self.most, self.tries), random)
    }

    /// Starts again at `least`, after a success.
    pub fn reset(&mut self) {
        self.tries = 0;
    }
}

/// The delay before the n-th retry (from 1): uniform in [b/2, b] by a hash of `seed`, where b doubles from `least` to
/// `most`. The same seed gives the same delay, so a replayed decision is the same decision.
///
/// Source: AgentCompass 1.0.1, attempt retries (contract section 2.4).
#[must_use]
pub fn delay_before_retry(least: Duration, most: Duration, retry: u32, seed: &str) -> Duration {
    let digest = Sha256::digest(format!("{seed} {retry}"));
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    upper_half(base(least, most, retry), u64::from_le_bytes(bytes))
}

fn base(least: Duration, most: Duration, n: u32) -> Duration {
    let factor = 1u32.checked_shl(n.saturating_sub(1)).unwrap_or(u32::MAX);
    least.saturating_mul(factor).min(most)
}

fn upper_half(base: Duration, random: u64) -> Duration {
    #[allow(clippy::cast_precision_loss, reason = "a jitter needs no more than 53 bits")]
    let share = 0.5 + 0.5 * (random as f64 / u64::MAX as f64);
    base.mul_f64(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_to_the_cap_and_stay_in_their_upper_half() {
        let (least, most) = (Duration::from_secs(5), Duration::from_secs(60));
        for (retry, base) in [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (40, 60)] {
            for seed in ["a", "b", "c"] {
                let delay = delay_before_retry(least, most, retry, seed);
                assert!(delay >= Duration::from_secs(base) / 2 && delay <= Duration::from_secs(base), "{retry} {delay:?}");
                assert_eq!(delay, delay_before_retry(least, most, retry, seed));
            }
        }
        assert_ne!(delay_before_retry(least, most, 1, "a"), delay_before_retry(least, most, 1, "b"));
    }

    #[test]
    fn a_success_starts_again() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        for _ in 0..10 {
            assert!(backoff.next_delay() <= Duration::from_secs(1));
        }
        backoff.reset();
        assert!(backoff.next_delay() <= Duration::from_millis(100));
    }
}
