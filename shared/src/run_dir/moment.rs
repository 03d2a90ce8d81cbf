//! How moments are written. All are UTC, so that what several hosts wrote can be compared.

use crate::time::Timestamp;

/// `2026-12-01T03:01:43+00:00`: the times of `run_info.json`.
#[must_use]
pub fn iso(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string()
}

/// `2026-12-01 03:01:42.706778`: the times of a trajectory, always with six digits.
#[must_use]
pub fn naive(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S.%6f").to_string()
}

/// Seconds since the epoch with microseconds: the times of progress files.
#[must_use]
pub fn epoch(at: Timestamp) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "microseconds since 1970 stay below 2^53 until the year 2255")]
    let microseconds = at.as_microsecond() as f64;
    microseconds / 1e6
}

/// Milliseconds with two decimals, as AgentCompass rounds them.
#[must_use]
pub fn milliseconds(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_agentcompass_forms() {
        let at: Timestamp = "2026-12-01T04:01:42.706778999+01:00".parse().unwrap();
        assert_eq!(iso(at), "2026-12-01T03:01:42+00:00");
        assert_eq!(naive(at), "2026-12-01 03:01:42.706778");
        assert_eq!(epoch("2026-12-01T03:01:42.640616Z".parse().unwrap()), 1_796_094_102.640_616);
        let whole: Timestamp = "2026-12-01T03:01:42Z".parse().unwrap();
        assert_eq!(naive(whole), "2026-12-01 03:01:42.000000");
        assert_eq!(milliseconds(61.318), 61.32);
    }
}
