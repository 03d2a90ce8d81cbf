//! How sure a mean is. Pure; every formula names its source.
//!
//! Sources: E. Miller, "Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations"
//! (arXiv 2411.00640), sections 2.1 (standard error of the mean by the central limit theorem) and 2.2 (questions that come
//! in groups); B. Efron and R. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13 (percentile interval).
//!
//! Tasks are seen as drawn from a larger population of such tasks. The numbers describe the **mean over evaluated tasks**,
//! whatever formula the headline uses.

pub mod bootstrap;
pub mod student;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::fsum::{fsum, mean};

/// Below this many observations the normal approximation is not trusted and the interval is bootstrapped.
pub const BOOTSTRAP_BELOW: usize = 60;
/// Confidence level of all intervals.
pub const LEVEL: f64 = 0.95;

/// One evaluated task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation<'a> {
    /// Its value.
    pub value: f64,
    /// Tasks of one group are not independent (they ask the same question). `None`: a group of its own.
    pub group: Option<&'a str>,
}

/// What is known about a mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Observations.
    pub n: usize,
    /// Their mean.
    pub mean: Option<f64>,
    /// Standard error of the mean as if all observations were independent; needs two of them.
    pub standard_error: Option<f64>,
    /// The same with observations of one group taken as dependent; only where a group has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clustered: Option<Clustered>,
    /// 95 % confidence interval of the mean; from the clustered error or by resampling groups where there are any.
    pub interval: Option<Interval>,
    /// `n` over the number of planned observations.
    pub coverage: Option<f64>,
    /// The mean if every planned observation that is missing were 0, and if it were 1; only where some are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
}

/// A standard error for grouped observations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clustered {
    /// Number of groups.
    pub clusters: usize,
    /// The standard error.
    pub standard_error: f64,
}

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Confidence level.
    pub level: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How it was made.
    pub method: Method,
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Mean and standard error with Student's t, n - 1 degrees of freedom.
    T,
    /// Mean and clustered standard error with Student's t, groups - 1 degrees of freedom.
    TClustered,
    /// Percentiles of the means of resamples.
    Bootstrap,
    /// Percentiles of the means of resampled groups.
    BootstrapClustered,
}

/// What missing observations leave open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// All missing ones 0.
    pub low: f64,
    /// All missing ones 1.
    pub high: f64,
}

/// Describes the mean of `observations`, of which there should have been `planned`.
#[must_use]
pub fn describe(observations: &[Observation<'_>], planned: usize) -> Statistics {
    let values: Vec<f64> = observations.iter().map(|observation| observation.value).collect();
    let clusters = clusters(observations);
    let grouped = clusters.len() < values.len();
    let standard_error = standard_error(&values);
    let clustered = grouped
        .then(|| clustered_standard_error(&values, &clusters))
        .flatten()
        .map(|standard_error| Clustered { clusters: clusters.len(), standard_error });
    Statistics {
        n: values.len(),
        mean: mean(&values),
        standard_error,
        clustered,
        interval: interval(&values, &clusters, standard_error, clustered),
        coverage: (planned > 0).then(|| ratio(values.len(), planned)),
        bounds: bounds(&values, planned),
    }
}

/// `sqrt(sum((s_i - mean)^2) / (n - 1) / n)`: equation 1 of arXiv 2411.00640.
#[must_use]
pub fn standard_error(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares = fsum(values.iter().map(|value| (value - centre).powi(2)));
    Some((squares / real(values.len() - 1) / real(values.len())).sqrt())
}

/// `sqrt(SE^2 + sum over groups of sum over i, j != i of (s_i - mean)(s_j - mean) / n^2)`: equation 4 of
/// arXiv 2411.00640. `clusters` holds the indices of each group's values.
#[must_use]
pub fn clustered_standard_error(values: &[f64], clusters: &[Vec<usize>]) -> Option<f64> {
    let independent = standard_error(values)?;
    let centre = mean(values)?;
    // The sum over pairs i != j of a group is the square of its sum less the sum of its squares.
    let cross = fsum(clusters.iter().flat_map(|cluster| {
        let sum = fsum(cluster.iter().map(|index| values[*index] - centre));
        let squares = fsum(cluster.iter().map(|index| (values[*index] - centre).powi(2)));
        [sum * sum, -squares]
    }));
    let variance = independent * independent + cross / real(values.len()).powi(2);
    Some(variance.max(0.0).sqrt())
}

/// The indices of each group's observations; groups in order of appearance.
fn clusters(observations: &[Observation<'_>]) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (index, observation) in observations.iter().enumerate() {
        let place = observation.group.map(|group| *known.entry(group).or_insert(clusters.len()));
        match place {
            Some(place) if place < clusters.len() => clusters[place].push(index),
            _ => clusters.push(vec![index]),
        }
    }
    clusters
}

fn interval(
    values: &[f64],
    clusters: &[Vec<usize>],
    standard_error: Option<f64>,
    clustered: Option<Clustered>,
) -> Option<Interval> {
    let centre = mean(values)?;
    let standard_error = standard_error?;
    let grouped = clustered.is_some();
    if values.len() < BOOTSTRAP_BELOW {
        let (low, high) = bootstrap::interval(values, clusters, LEVEL)?;
        let method = if grouped { Method::BootstrapClustered } else { Method::Bootstrap };
        return Some(Interval { level: LEVEL, low, high, method });
    }
    let (error, freedom, method) = match clustered {
        Some(clustered) => (clustered.standard_error, clustered.clusters - 1, Method::TClustered),
        None => (standard_error, values.len() - 1, Method::T),
    };
    let half = student::critical(LEVEL, real(freedom))? * error;
    Some(Interval { level: LEVEL, low: centre - half, high: centre + half, method })
}

fn bounds(values: &[f64], planned: usize) -> Option<Bounds> {
    let missing = planned.checked_sub(values.len()).filter(|missing| *missing > 0)?;
    let sum = fsum(values.iter().copied());
    Some(Bounds { low: sum / real(planned), high: (sum + real(missing)) / real(planned) })
}

fn ratio(part: usize, whole: usize) -> f64 {
    real(part) / real(whole)
}

#[allow(clippy::cast_precision_loss, reason = "counts of tasks stay far below 2^52")]
fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // Expected numbers: NumPy 2.4.6, SciPy 1.17.1, statsmodels 0.15.0 on the same data. Means and plain errors are
    // `numpy.mean` and `scipy.stats.sem`. The clustered error is made of `sem` and of statsmodels' cluster-robust error of
    // a regression on a constant (`OLS(y, 1).fit(cov_type="cluster", use_correction=False)`, 0.029281039887186375), whose
    // diagonal 1/n^2 * sum(e^2) is replaced by sem^2 as the paper has it. Quantiles are `scipy.stats.t.ppf`.

    fn value(index: usize) -> f64 {
        real(index * 37 % 101) / 100.0
    }

    fn near(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-12, "{actual} is not {expected}");
    }

    #[test]
    fn large_samples_have_students_interval() {
        let observations: Vec<Observation<'_>> =
            (0..80).map(|index| Observation { value: value(index), group: None }).collect();
        let statistics = describe(&observations, 80);
        near(statistics.mean.unwrap(), 0.50025);
        near(statistics.standard_error.unwrap(), 0.033_110_849_019_389_55);
        assert_eq!((statistics.clustered, statistics.bounds, statistics.coverage), (None, None, Some(1.0)));
        let interval = statistics.interval.unwrap();
        assert_eq!(interval.method, Method::T);
        near(interval.low, 0.434_344_503_608_458);
        near(interval.high, 0.566_155_496_391_542);
    }

    #[test]
    fn tasks_that_share_a_question_are_clustered() {
        let names: Vec<String> = (0..80).map(|index| if index < 40 { index / 2 } else { index }.to_string()).collect();
        let observations: Vec<Observation<'_>> =
            (0..80).map(|index| Observation { value: value(index), group: Some(names[index].as_str()) }).collect();
        let statistics = describe(&observations, 80);
        let clustered = statistics.clustered.unwrap();
        assert_eq!(clustered.clusters, 60);
        near(clustered.standard_error, 0.029_514_122_058_936_627);
        let interval = statistics.interval.unwrap();
        assert_eq!(interval.method, Method::TClustered);
        near(interval.low, 0.441_192_378_171_734_84);
        near(interval.high, 0.559_307_621_828_265_1);
    }

    #[test]
    fn small_samples_are_bootstrapped() {
        // The same algorithm (splitmix64 and NumPy's quantile) in Python gives 0.2675 and 0.6125, and with the first six in
        // pairs 0.2728065476190476 and 0.6036363636363636; SciPy's own percentile bootstrap with 200,000 resamples gives
        // 0.265 and 0.610, a cluster bootstrap in NumPy 0.2736 and 0.6042.
        let mut observations: Vec<Observation<'_>> =
            (0..12).map(|index| Observation { value: value(index), group: None }).collect();
        let statistics = describe(&observations, 12);
        near(statistics.mean.unwrap(), 0.435_833_333_333_333_35);
        near(statistics.standard_error.unwrap(), 0.092_519_108_045_502_44);
        let interval = statistics.interval.unwrap();
        assert_eq!(interval.method, Method::Bootstrap);
        near(interval.low, 0.2675);
        near(interval.high, 0.6125);
        for (index, name) in ["a", "a", "b", "b", "c", "c"].into_iter().enumerate() {
            observations[index].group = Some(name);
        }
        let interval = describe(&observations, 12).interval.unwrap();
        assert_eq!(interval.method, Method::BootstrapClustered);
        near(interval.low, 0.272_806_547_619_047_6);
        near(interval.high, 0.603_636_363_636_363_6);
    }

    #[test]
    fn what_is_missing_bounds_the_mean() {
        // 438 FATAL and one score of 1.0: coverage 1/439, bounds 0.2 % to 100 %.
        let one = describe(&[Observation { value: 1.0, group: None }], 439);
        assert_eq!((one.n, one.standard_error, one.interval), (1, None, None));
        near(one.coverage.unwrap(), 1.0 / 439.0);
        let bounds = one.bounds.unwrap();
        near(bounds.low, 1.0 / 439.0);
        near(bounds.high, 1.0);
        let none = describe(&[], 3);
        assert_eq!((none.mean, none.bounds), (None, Some(Bounds { low: 0.0, high: 1.0 })));
        assert_eq!(describe(&[], 0).coverage, None);
    }

    #[test]
    fn student_agrees_with_scipy() {
        let cases = [
            (1.0, 12.706_204_736_174_694, 63.656_741_162_871_526),
            (2.0, 4.302_652_729_749_462, 9.924_843_200_918_287),
            (5.0, 2.570_581_835_636_314_6, 4.032_142_983_555_228),
            (30.0, 2.042_272_456_301_237_8, 2.749_995_653_567_225_4),
            (238.0, 1.969_981_529_529_944_5, 2.596_643_941_117_624_5),
            (438.0, 1.965_394_871_828_966, 2.587_100_494_724_581_7),
            (10_000.0, 1.960_201_239_890_626, 2.576_321_046_668_528_2),
        ];
        for (freedom, at_95, at_99) in cases {
            let close = |level, expected: f64| {
                let actual = student::critical(level, freedom).unwrap();
                assert!((actual / expected - 1.0).abs() < 1e-9, "{freedom}: {actual} is not {expected}");
            };
            close(0.95, at_95);
            close(0.99, at_99);
        }
        near(student::two_sided(0.5, 1.0), 0.704_832_764_699_133_5);
        near(student::two_sided(2.0, 7.0), 0.085_619_328_562_976_05);
        assert!((student::two_sided(12.0, 200.0) / 2.422_136_005_246_625e-25 - 1.0).abs() < 1e-9);
        assert_eq!(student::critical(0.95, 0.0), None);
    }

    proptest! {
        #[test]
        fn intervals_hold_the_mean(values in prop::collection::vec(0.0..=1.0_f64, 2..100)) {
            let observations: Vec<Observation<'_>> =
                values.iter().map(|value| Observation { value: *value, group: None }).collect();
            let statistics = describe(&observations, values.len() + 5);
            let (mean, interval) = (statistics.mean.unwrap(), statistics.interval.unwrap());
            prop_assert!(interval.low <= mean + 1e-9 && mean <= interval.high + 1e-9);
            let bounds = statistics.bounds.unwrap();
            prop_assert!(bounds.low <= mean + 1e-9 && mean <= bounds.high + 1e-9);
        }
    }
}
