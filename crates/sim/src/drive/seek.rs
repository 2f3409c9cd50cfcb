//! Seek time by distance.

use crate::Nanos;
use std::fmt;

/// What is known of a drive's seek times.
#[derive(Clone, Debug, PartialEq)]
pub enum SeekSpec {
    /// Measured points (cylinders, ns), joined by straight lines; constant beyond the last one.
    Points(Vec<(u32, Nanos)>),
    /// The three data-sheet figures: to the next cylinder, average, and full stroke.
    Typical {
        /// To the next cylinder, in ns.
        single_ns: Nanos,
        /// The mean over random requests, in ns.
        average_ns: Nanos,
        /// From the first cylinder to the last, in ns.
        full_ns: Nanos,
    },
}

/// Why the description of the seeks is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeekError {
    /// The points are not in ascending order of distance, or start at distance 0, or there is none.
    Points,
    /// The three figures are not in ascending order, or no rising curve passes through them.
    Typical,
}

impl fmt::Display for SeekError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeekError::Points => {
                write!(f, "the seek points must start at distance 1 or more and go up in distance")
            }
            SeekError::Typical => write!(
                f,
                "no rising seek curve has this single-cylinder, average and full-stroke time; check \
                 their order"
            ),
        }
    }
}

impl std::error::Error for SeekError {}

/// Seek time by distance, in ns; index 0 is 0.
///
/// # Errors
///
/// Where `spec` describes no seek curve.
pub fn seek_table(spec: &SeekSpec, cylinders: u32) -> Result<Vec<u32>, SeekError> {
    let table: Vec<u32> = match spec {
        SeekSpec::Points(points) => interpolated(points, cylinders)?,
        &SeekSpec::Typical { single_ns, average_ns, full_ns } => {
            typical([single_ns, average_ns, full_ns].map(|ns| ns as f64), cylinders)?
        }
    };
    Ok(table)
}

/// The mean seek over independent uniform start and end cylinders, in ns: distance d of N cylinders
/// has the probability 2 (N − d) / N², and 1/N for d = 0.
pub fn mean_seek_ns(table: &[u32]) -> f64 {
    let cylinders = table.len() as f64;
    let weighted: f64 = table
        .iter()
        .enumerate()
        .skip(1)
        .map(|(distance, &ns)| 2.0 * (cylinders - distance as f64) * f64::from(ns))
        .sum();
    weighted / (cylinders * cylinders)
}

fn interpolated(points: &[(u32, Nanos)], cylinders: u32) -> Result<Vec<u32>, SeekError> {
    let ascending = points.is_sorted_by(|a, b| a.0 < b.0);
    let fits = points.iter().all(|&(_, ns)| u32::try_from(ns).is_ok());
    let (Some(&first), true, true) = (points.first(), ascending, fits) else {
        return Err(SeekError::Points);
    };
    if first.0 == 0 {
        return Err(SeekError::Points);
    }
    let mut table = vec![first.1 as u32; cylinders.min(first.0.saturating_add(1)) as usize];
    if let Some(none) = table.first_mut() {
        *none = 0;
    }
    // Line by line: which of them a distance is on is asked once a line.
    for (&(d0, t0), &(d1, t1)) in points.iter().zip(&points[1..]) {
        let (start, rise, run) = (t0 as f64, t1 as f64 - t0 as f64, f64::from(d1 - d0));
        let at = |distance| rounded(start + f64::from(distance - d0) / run * rise);
        table.extend((d0 + 1..cylinders.min(d1.saturating_add(1))).map(at));
    }
    table.resize(cylinders as usize, points[points.len() - 1].1 as u32);
    Ok(table)
}

/// The nearest whole number of a positive one, halves upwards: `f64::round`, which is a call of the mathematical library
/// on processors without SSE 4.1, and so in every build for all of them.
fn rounded(positive: f64) -> u32 {
    let whole = positive as u32;
    if positive - f64::from(whole) >= 0.5 { whole.saturating_add(1) } else { whole }
}

/// The curve t(d) = a √(d − 1) + b (d − 1) + c of Lee and Katz (1991), its three constants chosen so
/// that t(1), t(N − 1) and the mean over random requests are exactly the three figures.
///
/// Their own closed form for a and b is an approximation for large N; here the mean is summed and the
/// two linear equations are solved. A negative a or b is accepted where the curve still rises, as for
/// drives whose curve is flat at the top.
fn typical([single, average, full]: [f64; 3], cylinders: u32) -> Result<Vec<u32>, SeekError> {
    if !(0.0 < single && single <= average && average <= full && full < f64::from(u32::MAX)) {
        return Err(SeekError::Typical);
    }
    if cylinders < 3 {
        return Ok((0..cylinders)
            .map(|distance| if distance == 0 { 0 } else { single as u32 })
            .collect());
    }
    let n = f64::from(cylinders);
    // A data sheet's average excludes requests that need no seek. The three sums are one pass: every command
    // that names a disk waits for this.
    let (mut moved, mut root, mut linear) = (0.0, 0.0, 0.0);
    for distance in 1..cylinders {
        let chance = 2.0 * (n - f64::from(distance)) / (n * n);
        let beyond = f64::from(distance - 1);
        moved += chance;
        root += chance * beyond.sqrt();
        linear += chance * beyond;
    }
    let (mean_root, mean_linear) = (root / moved, linear / moved);
    let (full_root, full_linear) = ((n - 2.0).sqrt(), n - 2.0);
    let determinant = mean_root * full_linear - full_root * mean_linear;
    let (rise_mean, rise_full) = (average - single, full - single);
    let a = (rise_mean * full_linear - rise_full * mean_linear) / determinant;
    let b = (mean_root * rise_full - full_root * rise_mean) / determinant;
    let time = |distance: u32| {
        let x = f64::from(distance - 1);
        a * x.sqrt() + b * x + single
    };
    let table: Vec<u32> =
        (0..cylinders).map(|d| if d == 0 { 0 } else { rounded(time(d)) }).collect();
    if table.is_sorted() { Ok(table) } else { Err(SeekError::Typical) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_joined_by_lines() {
        let spec = SeekSpec::Points(vec![(1, 1_000_000), (3, 2_000_000), (5, 2_500_000)]);
        let table = seek_table(&spec, 8).unwrap();
        let expected =
            [0, 1_000_000, 1_500_000, 2_000_000, 2_250_000, 2_500_000, 2_500_000, 2_500_000];
        assert_eq!(table, expected);
    }

    #[test]
    fn a_typical_curve_meets_its_three_figures() {
        for cylinders in [100, 2000, 80_000] {
            let spec = SeekSpec::Typical {
                single_ns: 1_000_000,
                average_ns: 8_000_000,
                full_ns: 18_000_000,
            };
            let table = seek_table(&spec, cylinders).unwrap();
            let moved = 1.0 - 1.0 / f64::from(cylinders);
            assert_eq!((table[0], table[1]), (0, 1_000_000));
            assert_eq!(table.last(), Some(&18_000_000));
            assert!((mean_seek_ns(&table) / moved - 8_000_000.0).abs() < 100.0);
        }
    }

    #[test]
    fn what_is_no_curve_is_an_error() {
        let points = |points: &[(u32, Nanos)]| seek_table(&SeekSpec::Points(points.into()), 10);
        assert_eq!(points(&[]), Err(SeekError::Points));
        assert_eq!(points(&[(0, 1)]), Err(SeekError::Points));
        assert_eq!(points(&[(2, 1), (2, 2)]), Err(SeekError::Points));
        let typical = |single_ns, average_ns, full_ns| {
            seek_table(&SeekSpec::Typical { single_ns, average_ns, full_ns }, 1000)
        };
        assert_eq!(typical(5_000_000, 1_000_000, 9_000_000), Err(SeekError::Typical));
        assert_eq!(typical(0, 1_000_000, 9_000_000), Err(SeekError::Typical));
        assert_eq!(typical(1_000_000, 8_990_000, 9_000_000), Err(SeekError::Typical));
    }
}
