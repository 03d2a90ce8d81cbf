//! Student's t distribution.

/// The t for which a fraction `level` of the distribution with `freedom` degrees of freedom lies in [-t, t]; `None` for
/// a level outside (0, 1) or without a degree of freedom. Accurate to about ten digits.
#[must_use]
pub fn critical(level: f64, freedom: f64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0 && freedom >= 1.0) {
        return None;
    }
    // P(|T| > t) falls from 1 to 0; bisection needs no care about shapes.
    let (mut low, mut high) = (0.0, 2.0);
    while two_sided(high, freedom) > 1.0 - level {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, freedom) > 1.0 - level {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

/// P(|T| > t): the regularised incomplete beta function I_x(v/2, 1/2) at x = v / (v + t^2)
/// (Abramowitz and Stegun, 26.7.1).
#[must_use]
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// I_x(a, b) by its continued fraction (Abramowitz and Stegun, 26.5.8) in Lentz's form.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges quickly on the near side of the mean; the other side follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let tiny = 1e-300;
    let guarded = |value: f64| if value.abs() < tiny { tiny } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guarded(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..1000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guarded(1.0 + even * d);
        c = guarded(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guarded(1.0 + odd * d);
        c = guarded(1.0 + odd / c);
        let step = d * c;
        fraction *= step;
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// The logarithm of the gamma function for positive arguments, by Lanczos's approximation (g = 7, nine terms).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let base = x + 7.5;
    let mut sum = TERMS[0];
    let mut position = 0.0;
    for term in &TERMS[1..] {
        position += 1.0;
        sum += term / (x + position);
    }
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * base.ln() - base + sum.ln()
}
