//! What the program that was imported says of the spread within a run.

use store::record::Record;

/// For each record whose rate over time is known: the standard deviation of that rate as a share of the mean, and
/// how many intervals it is from.
pub fn spreads(records: &[Record]) -> Vec<(f64, f64)> {
    let spread = |record: &Record| {
        let of = |name: &str| record.sample(name);
        let share = of("sd_mb_per_s")? / of("mb_per_s").filter(|rate| *rate > 0.0)?;
        Some((share, of("rates").filter(|rates| *rates >= 2.0)?))
    };
    records.iter().filter_map(spread).collect()
}
