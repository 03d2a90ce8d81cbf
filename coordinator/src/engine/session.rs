//! A lease request that waits for work.

use std::time::Duration;

use super::{Leases, Reply};
use crate::scheduler::SessionId;

/// A long poll.
pub(super) struct Parked {
    pub(super) session: SessionId,
    pub(super) free: u32,
    /// Answered empty at this monotonic time.
    pub(super) until: Duration,
    pub(super) reply: Reply<Leases>,
}
