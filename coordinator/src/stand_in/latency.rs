//! How long an answer takes.

use std::time::Duration;

use serde::Deserialize;

use super::draw::Draw;

/// Nobody waits longer than this for the stand-in, whatever the tail of the distribution says.
const LONGEST: Duration = Duration::from_secs(3600);

/// A latency or a distribution of latencies, in milliseconds. In a script: `{"fixed": 20}`,
/// `{"uniform": [20, 200]}`, `{"lognormal": {"median": 800, "p95": 5000}}`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Latency {
    /// Always the same.
    Fixed(f64),
    /// Evenly between two bounds.
    Uniform(f64, f64),
    /// The usual shape of an endpoint: half the answers within `median`, one in twenty above `p95`.
    Lognormal {
        /// Half of the answers are faster.
        median: f64,
        /// 95 % of the answers are faster.
        p95: f64,
    },
}

impl Default for Latency {
    fn default() -> Self {
        Self::Fixed(0.0)
    }
}

impl Latency {
    /// Reads the command line's form: `50`, `20..200`, `lognormal:800,5000` (median and 95th percentile).
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let parsed = if let Some(parameters) = text.strip_prefix("lognormal:") {
            parameters
                .split_once(',')
                .and_then(|(median, p95)| Some(Self::Lognormal { median: number(median)?, p95: number(p95)? }))
        } else if let Some((low, high)) = text.split_once("..") {
            Some((number(low), number(high))).and_then(|(low, high)| Some(Self::Uniform(low?, high?)))
        } else {
            number(text).map(Self::Fixed)
        };
        let parsed = parsed.ok_or_else(|| {
            format!("`{text}` is no latency: give milliseconds as `50`, `20..200` or `lognormal:MEDIAN,P95`")
        })?;
        parsed.check()?;
        Ok(parsed)
    }

    /// Refuses what is no distribution.
    pub(super) fn check(self) -> Result<(), String> {
        let sound = |value: f64| value.is_finite() && value >= 0.0;
        match self {
            Self::Fixed(value) if sound(value) => Ok(()),
            Self::Uniform(low, high) if sound(low) && sound(high) && low <= high => Ok(()),
            Self::Lognormal { median, p95 } if sound(median) && sound(p95) && median > 0.0 && p95 >= median => Ok(()),
            Self::Fixed(_) => Err("a latency is a non-negative number of milliseconds".to_owned()),
            Self::Uniform(..) => Err("a uniform latency needs 0 <= low <= high".to_owned()),
            Self::Lognormal { .. } => Err("a lognormal latency needs 0 < median <= p95".to_owned()),
        }
    }

    pub(super) fn draw(self, draw: &mut Draw) -> Duration {
        let millis = match self {
            Self::Fixed(millis) => millis,
            Self::Uniform(low, high) => low + (high - low) * draw.unit(),
            Self::Lognormal { median, p95 } => {
                // The standard normal's 95th percentile is 1.6449; Box and Muller turn two uniforms into a normal.
                let sigma = (p95 / median).ln() / 1.644_853_626_951_472_2;
                let radius = (-2.0 * (1.0 - draw.unit()).ln()).sqrt();
                median * (sigma * radius * (std::f64::consts::TAU * draw.unit()).cos()).exp()
            }
        };
        Duration::try_from_secs_f64(millis / 1e3).unwrap_or(LONGEST).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_lines_forms_are_read_and_nonsense_is_refused() {
        assert_eq!(Latency::parse("50"), Ok(Latency::Fixed(50.0)));
        assert_eq!(Latency::parse("20..200"), Ok(Latency::Uniform(20.0, 200.0)));
        assert_eq!(Latency::parse("lognormal:800,5000"), Ok(Latency::Lognormal { median: 800.0, p95: 5000.0 }));
        for wrong in ["", "fast", "-1", "9..3", "nan", "lognormal:0,1", "lognormal:5", "lognormal:9,3"] {
            assert!(Latency::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_lognormal_has_its_median_and_95th_percentile() {
        let latency = Latency::Lognormal { median: 100.0, p95: 400.0 };
        let mut draw = Draw::new(9, "latency", b"");
        let mut millis: Vec<f64> = (0..4000).map(|_| latency.draw(&mut draw).as_secs_f64() * 1e3).collect();
        millis.sort_by(f64::total_cmp);
        assert!((85.0..115.0).contains(&millis[2000]), "{}", millis[2000]);
        assert!((330.0..480.0).contains(&millis[3800]), "{}", millis[3800]);
    }

    #[test]
    fn a_uniform_stays_within_its_bounds() {
        let mut draw = Draw::new(9, "latency", b"");
        for _ in 0..100 {
            let drawn = Latency::Uniform(20.0, 30.0).draw(&mut draw);
            assert!((Duration::from_millis(20)..=Duration::from_millis(30)).contains(&drawn));
        }
    }
}
