//! When a request is sent again, and after how long. Pure: the caller brings the clock and the chance.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::time::Timestamp;

/// How a client repeats requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Requests sent again before giving up.
    pub max_retries: u32,
    /// The first delay; it doubles each time.
    pub base: Duration,
    /// The largest delay that doubling leads to.
    pub longest: Duration,
    /// The largest delay a server may ask for. A longer request is answered by waiting this long.
    pub longest_asked: Duration,
}

impl Default for Policy {
    /// Three retries, 0.5 s doubling to 8 s as in the OpenAI client, and up to 120 s where the server asks for it.
    fn default() -> Self {
        Self {
            max_retries: 3,
            base: Duration::from_millis(500),
            longest: Duration::from_secs(8),
            longest_asked: Duration::from_secs(120),
        }
    }
}

/// Jitter lengthens a delay by up to this share. It never shortens one: whoever asks for five seconds gets them, and
/// many clients that were refused together do not come back together.
const JITTER: f64 = 0.25;

impl Policy {
    /// The delay before retry number `retry` (from 0). `asked` is what the server asked for, `chance` is uniform in
    /// 0..1.
    #[must_use]
    pub fn delay(&self, retry: u32, asked: Option<Duration>, chance: f64) -> Duration {
        let doubled = self.base.saturating_mul(1u32.checked_shl(retry.min(20)).unwrap_or(u32::MAX)).min(self.longest);
        // A server that asks for zero seconds is not to be hammered.
        let delay = asked.filter(|asked| !asked.is_zero()).map_or(doubled, |asked| asked.min(self.longest_asked));
        delay + delay.mul_f64(JITTER * chance.clamp(0.0, 1.0))
    }
}

/// A number in 0..1 that differs from call to call.
#[must_use]
pub(super) fn chance() -> f64 {
    // Every `RandomState` has keys of its own; hashing nothing with them is a cheap source of chance.
    (RandomState::new().hash_one(()) >> 11) as f64 / (1u64 << 53) as f64
}

/// What the server asks for: `retry-after-ms`, or `Retry-After` as seconds or as an HTTP date. Anything else, and
/// negative numbers, count as nothing; a date in the past is zero.
#[must_use]
pub fn asked(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let number = |text: &str| {
        let number: f64 = text.trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    };
    // Far above any cap, and far below what a duration can hold.
    let seconds = |seconds: f64| Duration::from_secs_f64(seconds.min(1e9));
    let text = |name: &str| headers.get(name)?.to_str().ok();
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Some(seconds(millis / 1e3));
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Some(value) = number(value) {
        return Some(seconds(value));
    }
    let at = httpdate::parse_http_date(value.trim()).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let now = Duration::from_millis(u64::try_from(now.as_millisecond()).ok()?);
    Some(at.saturating_sub(now))
}

/// `x-should-retry`, by which OpenAI's servers overrule the status.
#[must_use]
pub(super) fn server_says(headers: &HeaderMap) -> Option<bool> {
    match headers.get("x-should-retry")?.to_str().ok()? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())])
    }

    fn ask(name: &'static str, value: &str) -> Option<f64> {
        let now: Timestamp = "2015-10-21T07:28:00Z".parse().unwrap();
        asked(&headers(name, value), now).map(|asked| asked.as_secs_f64())
    }

    #[test]
    fn what_a_server_asks_for_is_read_in_all_its_forms() {
        assert_eq!(ask("retry-after", "5"), Some(5.0));
        assert_eq!(ask("retry-after", " 0.5 "), Some(0.5));
        assert_eq!(ask("retry-after", "0"), Some(0.0));
        assert_eq!(ask("retry-after-ms", "20"), Some(0.02));
        assert_eq!(ask("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT"), Some(30.0));
        assert_eq!(ask("retry-after", "Wed, 21 Oct 2015 07:00:00 GMT"), Some(0.0));
        assert_eq!(ask("retry-after", "86400"), Some(86400.0));
        assert_eq!(ask("retry-after", "1e300"), Some(1e9));
        for garbage in ["", "soon", "-3", "nan", "inf", "Wed, 99 Oct", "5 seconds"] {
            assert_eq!(ask("retry-after", garbage), None, "{garbage}");
        }
        assert_eq!(asked(&HeaderMap::new(), Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn delays_double_up_to_their_bound() {
        let policy = Policy::default();
        let delays: Vec<f64> = (0..7).map(|retry| policy.delay(retry, None, 0.0).as_secs_f64()).collect();
        assert_eq!(delays, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]);
        assert_eq!(policy.delay(u32::MAX, None, 0.0), policy.longest);
    }

    #[test]
    fn a_server_is_never_asked_again_before_its_time() {
        let policy = Policy::default();
        for chance in [0.0, 0.3, 0.999, 7.0, -1.0] {
            let delay = policy.delay(0, Some(Duration::from_secs(5)), chance);
            assert!((5.0..=6.25).contains(&delay.as_secs_f64()), "{delay:?}");
        }
        assert_eq!(policy.delay(0, Some(Duration::from_secs(86_400)), 0.0), policy.longest_asked);
        assert_eq!(policy.delay(2, Some(Duration::ZERO), 0.0), Duration::from_secs(2));
    }

    #[test]
    fn chance_differs_from_call_to_call_and_stays_in_its_interval() {
        let chances: Vec<f64> = (0..50).map(|_| chance()).collect();
        assert!(chances.iter().all(|chance| (0.0..1.0).contains(chance)));
        assert!(chances.windows(2).any(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_server_may_overrule_the_status() {
        assert_eq!(server_says(&headers("x-should-retry", "true")), Some(true));
        assert_eq!(server_says(&headers("x-should-retry", "false")), Some(false));
        assert_eq!(server_says(&headers("x-should-retry", "maybe")), None);
    }
}
