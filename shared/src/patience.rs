//! Waiting between tries of something that has to succeed in the end: a lost connection, a full disk.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use crate::backoff::Backoff;

/// Doubling delays with random jitter, so that many who lost the same thing do not all come back at once.
#[derive(Clone, Debug)]
pub struct Patience {
    backoff: Backoff,
    tries: u32,
}

impl Patience {
    /// Bounds from `least` doubling to `most`.
    #[must_use]
    pub const fn new(least: Duration, most: Duration) -> Self {
        Self { backoff: Backoff::new(least, most), tries: 0 }
    }

    /// How long to wait before the next try: in the upper half of a bound that doubles.
    pub fn next_delay(&mut self) -> Duration {
        self.tries = self.tries.saturating_add(1);
        // The keys of the standard library's hash are random, which is all the randomness a jitter needs.
        self.backoff.delay(self.tries, RandomState::new().hash_one(self.tries))
    }

    /// It succeeded: the next trouble begins with a short delay again.
    pub fn reset(&mut self) {
        self.tries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_to_the_longest_and_start_again_after_a_success() {
        let mut patience = Patience::new(Duration::from_millis(100), Duration::from_secs(1));
        let delays: Vec<Duration> = (0..10).map(|_| patience.next_delay()).collect();
        assert!(delays[0] <= Duration::from_millis(100));
        assert!(delays[9] >= Duration::from_millis(500) && delays[9] <= Duration::from_secs(1));
        patience.reset();
        assert!(patience.next_delay() <= Duration::from_millis(100));
    }
}
