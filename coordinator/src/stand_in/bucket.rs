//! A token bucket, the usual form of a requests-per-minute limit.

use std::time::Duration;

use super::script::RateLimit;

#[derive(Debug)]
pub(super) struct Bucket {
    per_second: f64,
    capacity: f64,
    tokens: f64,
    filled_at: Duration,
}

impl Bucket {
    /// A full bucket.
    pub(super) fn new(limit: RateLimit) -> Self {
        let capacity = f64::from(limit.burst.unwrap_or(1).max(1));
        let per_second = (limit.requests_per_minute / 60.0).max(f64::MIN_POSITIVE);
        Self { per_second, capacity, tokens: capacity, filled_at: Duration::ZERO }
    }

    /// Takes a token at `now`, or says how long until there is one. A clock that goes back adds nothing.
    pub(super) fn take(&mut self, now: Duration) -> Result<(), Duration> {
        let passed = now.saturating_sub(self.filled_at);
        self.filled_at = self.filled_at.max(now);
        self.tokens = (self.tokens + passed.as_secs_f64() * self.per_second).min(self.capacity);
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        let seconds = (1.0 - self.tokens) / self.per_second;
        Err(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }

    /// Whole tokens left.
    pub(super) fn left(&self) -> u64 {
        self.tokens as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_lets_the_rate_through_and_says_when_to_come_back() {
        let mut bucket = Bucket::new(RateLimit { requests_per_minute: 60.0, burst: Some(2) });
        let at = Duration::from_millis;
        assert_eq!(bucket.take(at(0)), Ok(()));
        assert_eq!(bucket.take(at(0)), Ok(()));
        assert_eq!(bucket.take(at(0)), Err(at(1000)));
        assert_eq!(bucket.take(at(250)), Err(at(750)));
        assert_eq!(bucket.take(at(1000)), Ok(()));
        // An hour of silence fills it to the brim, not beyond.
        let later = Duration::from_secs(3600);
        assert_eq!((bucket.take(later), bucket.take(later)), (Ok(()), Ok(())));
        assert!(bucket.take(later).is_err());
        assert_eq!(bucket.left(), 0);
    }
}
