//! The only reader of a clock. Everything that decides takes the time as an argument.

use std::time::Duration;

pub use jiff::Timestamp;
use tokio::time::Instant;

/// A source of time. Leases and timeouts use [`Clock::monotonic`]; wall time is only ever written down.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment of this process; never goes back, whatever happens to the wall clock.
    fn monotonic(&self) -> Duration;
    /// The wall clock, for records.
    fn wall(&self) -> Timestamp;
}

/// The machine's clocks. Monotonic time comes from tokio, so a paused or simulated runtime is followed.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time starts now.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn wall(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// The wall clock, where no [`Clock`] is at hand (records at the edges).
#[must_use]
pub fn wall() -> Timestamp {
    Timestamp::now()
}
