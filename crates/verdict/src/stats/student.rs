//! Student's t distribution (Student, The probable error of a mean, Biometrika 6, 1908).

/// Logarithm of the gamma function: Lanczos' approximation, g = 7, n = 9 (Godfrey's coefficients);
/// good to 15 digits for arguments above 0.5.
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let mut sum = 0.999_999_999_999_809_9;
    for (index, coefficient) in (1..).zip(COEFFICIENTS) {
        sum += coefficient / (x + f64::from(index));
    }
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The regularised incomplete beta function by its continued fraction (DLMF 8.17.22), evaluated by
/// Lentz's method.
fn beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(b, a, 1.0 - x);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut upper, mut lower) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = lower;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            lower = 1.0 / away_from_zero(1.0 + term * lower);
            upper = away_from_zero(1.0 + term / upper);
            fraction *= upper * lower;
        }
        if (fraction / before - 1.0).abs() < 1e-14 {
            break;
        }
    }
    (front.exp() * fraction / a).clamp(0.0, 1.0)
}

/// The chance of a t at least this far from 0 on either side, with this many degrees of freedom.
pub fn two_sided(t: f64, degrees: f64) -> f64 {
    beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// The t within which 95 % lie, with so many degrees of freedom.
pub fn t95(degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e4);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        // There is no number between them.
        if middle <= low || middle >= high {
            break;
        }
        if two_sided(middle, degrees) > 0.05 { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, expected) in
            [(1.0, 12.706), (2.0, 4.303), (5.0, 2.571), (30.0, 2.042), (1e6, 1.960)]
        {
            assert!((t95(degrees) - expected).abs() < 6e-4, "{degrees}: {}", t95(degrees));
        }
    }
}
