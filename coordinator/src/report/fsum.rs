//! Sums without rounding error, as Python's `math.fsum`.

/// The sum of `values`, rounded once. Finite values whose sum is within range are assumed.
///
/// Shewchuk's algorithm with the final half-even correction of CPython's `math_fsum` (J. R. Shewchuk, "Adaptive Precision
/// Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997; Raymond Hettinger's recipe).
#[must_use]
pub fn fsum(values: impl IntoIterator<Item = f64>) -> f64 {
    // Non-overlapping partial sums in increasing magnitude; together they are the exact sum so far.
    let mut partials: Vec<f64> = Vec::new();
    for value in values {
        let mut x = value;
        let mut kept = 0;
        for index in 0..partials.len() {
            let mut y = partials[index];
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        partials.truncate(kept);
        // As in Python, zeros leave no trace: the sum of negative zeros is 0.0.
        if x != 0.0 {
            partials.push(x);
        }
    }
    let Some(mut high) = partials.pop() else { return 0.0 };
    let mut low = 0.0;
    while let Some(y) = partials.pop() {
        let x = high;
        high = x + y;
        low = y - (high - x);
        if low != 0.0 {
            break;
        }
    }
    // The rest decides a tie: without it 1e-16 + 1 + 1e16 would be rounded to even too early.
    if let Some(&next) = partials.last()
        && ((low < 0.0 && next < 0.0) || (low > 0.0 && next > 0.0))
    {
        let y = low * 2.0;
        let x = high + y;
        if y == x - high {
            high = x;
        }
    }
    high
}

/// AgentCompass's mean: the exact sum of `value / n`. `None` of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "counts of tasks stay far below 2^52")]
    let n = values.len() as f64;
    (!values.is_empty()).then(|| fsum(values.iter().map(|value| value / n)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sums_equal_pythons() {
        // Expected values printed by CPython 3.12.1's math.fsum.
        let cases: [(&[f64], f64); 7] = [
            (&[], 0.0),
            (&[0.1; 10], 1.0),
            (&[1e16, 1.0, 1e-16], 1e16 + 2.0),
            (&[1e100, 1.0, -1e100, 1e-100, 1e50, -1.0, -1e50], 1e-100),
            (&[1.0, f64::EPSILON / 2.0, f64::EPSILON / 4.0], 1.000_000_000_000_000_2),
            (&[-0.0], 0.0),
            (&[0.333, 0.333, 0.333, 1e-17], 0.999_000_000_000_000_1),
        ];
        for (values, expected) in cases {
            assert_eq!(fsum(values.iter().copied()).to_bits(), expected.to_bits(), "{values:?}");
        }
    }

    #[test]
    fn means_divide_before_they_sum() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 0.0, 0.0]), Some(0.333_333_333_333_333_3));
        assert_eq!(mean(&[0.1, 0.2, 0.3]), Some(0.199_999_999_999_999_98));
    }

    proptest! {
        /// Multiples of 2^-30 below 2^20 add up exactly in an i128 of those units.
        #[test]
        fn the_sum_is_the_exact_sum_rounded_once(units in prop::collection::vec(-(1_i64 << 50)..(1_i64 << 50), 0..200)) {
            #[allow(clippy::cast_precision_loss, reason = "units fit 2^50; the total is rounded once, as it should")]
            let values: Vec<f64> = units.iter().map(|unit| *unit as f64 / f64::from(1 << 30)).collect();
            let total: i128 = units.iter().map(|unit| i128::from(*unit)).sum();
            #[allow(clippy::cast_precision_loss, reason = "this rounding is the expected one")]
            let expected = total as f64 / f64::from(1 << 30);
            prop_assert_eq!(fsum(values.iter().copied()), expected);
            let mut reversed = values;
            reversed.reverse();
            prop_assert_eq!(fsum(reversed), expected);
        }
    }
}
