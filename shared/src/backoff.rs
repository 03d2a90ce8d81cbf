//! Delays between tries: doubling, bounded, spread by a seed instead of a random source, so that whoever decides stays
//! pure and a replay decides the same.
//!
//! The rule is AgentCompass's: the bound b starts at the smallest delay, doubles with each retry up to the largest,
//! and the delay lies uniformly in [b/2, b].

use std::time::Duration;

use sha2::{Digest, Sha256};

/// A delay of more than this is no delay but a mistake in the configuration; longer ones are cut to it.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Smallest and largest bound of a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    min: Duration,
    max: Duration,
}

/// Why two numbers are no backoff.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("a delay of {0} seconds is not possible; give a positive number")]
pub struct Error(f64);

impl Backoff {
    /// Bounds from `min` doubling to `max`. Where `max` is smaller, it counts from the first delay on.
    #[must_use]
    pub const fn new(min: Duration, max: Duration) -> Self {
        Self { min, max }
    }

    /// The same from seconds, as in `execution.retry_min_delay_seconds` and `retry_max_delay_seconds`.
    ///
    /// # Errors
    /// A number that is not positive and finite.
    pub fn from_seconds(min: f64, max: f64) -> Result<Self, Error> {
        let length = |seconds: f64| {
            if seconds.is_finite() && seconds > 0.0 {
                Ok(Duration::try_from_secs_f64(seconds).map_or(LONGEST, |length| length.min(LONGEST)))
            } else {
                Err(Error(seconds))
            }
        };
        Ok(Self { min: length(min)?, max: length(max)? })
    }

    /// The bound of the delay before retry `retry`, counted from 1.
    #[must_use]
    pub fn bound(&self, retry: u32) -> Duration {
        // 2^31 times any delay is beyond every sensible largest one.
        let doublings = retry.saturating_sub(1).min(31);
        self.min.saturating_mul(1 << doublings).min(self.max)
    }

    /// The delay before retry `retry`, counted from 1: in [b/2, b], spread by `seed`.
    #[must_use]
    pub fn delay(&self, retry: u32, seed: u64) -> Duration {
        let bound = self.bound(retry).as_nanos();
        let half = bound / 2;
        let nanos = half + (((bound - half) * u128::from(seed)) >> 64);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// A seed out of what tells one delay from another; equal parts, equal seed, on every machine and in every version.
#[must_use]
pub fn seed<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bounds_double_up_to_the_largest() {
        let backoff = Backoff::from_seconds(5.0, 60.0).unwrap();
        let bounds: Vec<u64> = (1..=6).map(|retry| backoff.bound(retry).as_secs()).collect();
        assert_eq!(bounds, [5, 10, 20, 40, 60, 60]);
        assert_eq!(backoff.bound(u32::MAX).as_secs(), 60);
        assert_eq!(Backoff::from_seconds(9.0, 3.0).unwrap().bound(1).as_secs(), 3);
    }

    #[test]
    fn ends_of_the_seed_are_ends_of_the_interval() {
        let backoff = Backoff::from_seconds(5.0, 60.0).unwrap();
        assert_eq!(backoff.delay(1, 0), Duration::from_millis(2500));
        let longest = backoff.delay(1, u64::MAX);
        assert!(longest > Duration::from_millis(4999) && longest <= Duration::from_secs(5), "{longest:?}");
    }

    #[test]
    fn nonsense_is_refused_and_the_absurd_is_cut() {
        for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Backoff::from_seconds(seconds, 60.0).is_err(), "{seconds}");
            assert!(Backoff::from_seconds(5.0, seconds).is_err(), "{seconds}");
        }
        assert_eq!(Backoff::from_seconds(1e300, 1e300).unwrap().bound(9), LONGEST);
    }

    #[test]
    fn seeds_tell_parts_apart() {
        assert_eq!(seed(["run", "task"]), seed(["run", "task"]));
        assert_ne!(seed(["run", "task"]), seed(["runt", "ask"]));
        // Pinned, so that a change of the hash is noticed.
        assert_eq!(seed(["a"]), 17_750_275_526_127_346_094);
    }

    proptest! {
        #[test]
        fn delays_lie_in_the_interval(retry in 1u32..100, seed: u64, min in 0.001f64..100.0, max in 0.001f64..1000.0) {
            let backoff = Backoff::from_seconds(min, max).unwrap();
            let (bound, delay) = (backoff.bound(retry), backoff.delay(retry, seed));
            prop_assert!(delay >= bound / 2 && delay <= bound);
        }
    }

    #[test]
    fn delays_are_spread_evenly() {
        let backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(2));
        let mut tenths = [0u32; 10];
        for number in 0..10_000 {
            let delay = backoff.delay(1, seed(["run", &number.to_string()]));
            tenths[((delay.as_secs_f64() - 1.0) * 10.0).min(9.0) as usize] += 1;
        }
        assert!(tenths.iter().all(|count| (800..1200).contains(count)), "{tenths:?}");
    }
}
