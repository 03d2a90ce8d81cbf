//! The percentile bootstrap, with a fixed seed: the same data always give the same interval.

/// Resamples drawn.
pub const RESAMPLES: usize = 10_000;
/// Seed of every interval.
pub const SEED: u64 = 0x0024_1100_0640;

/// A confidence interval of the mean: whole groups are drawn with replacement, as many as there are, and the quantiles
/// of the resamples' means (linear between order statistics) are taken. `None` for fewer than two groups.
#[must_use]
pub fn interval(values: &[f64], clusters: &[Vec<usize>], level: f64) -> Option<(f64, f64)> {
    if clusters.len() < 2 {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "counts of tasks stay far below 2^52")]
    let groups: Vec<(f64, f64)> = clusters
        .iter()
        .map(|cluster| (cluster.iter().map(|index| values[*index]).sum(), cluster.len() as f64))
        .collect();
    let mut random = SplitMix64(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let (mut sum, mut count) = (0.0, 0.0);
            for _ in 0..groups.len() {
                let (group_sum, group_count) = groups[random.below(groups.len())];
                sum += group_sum;
                count += group_count;
            }
            sum / count
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    Some((quantile(&means, tail), quantile(&means, 1.0 - tail)))
}

/// Linear interpolation between order statistics (type 7 of Hyndman and Fan, NumPy's default).
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "ten thousand resamples")]
    let position = fraction * (sorted.len() - 1) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= position < length")]
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

/// Sebastiano Vigna's splitmix64: small, and the same in every version of every library.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, by the high half of a product; the bias is below bound / 2^64.
    fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next()) * bound as u128;
        #[allow(clippy::cast_possible_truncation, reason = "the high half is below `bound`")]
        let index = (product >> 64) as usize;
        index
    }
}
