//! What the verdict says where some of the time went into sectors that could not be read.

use crate::judge::answer::{Point, point};
use store::record::Record;

/// The sample that counts repairs.
const REPAIRS: &str = "repairs";

/// How many trials rewrote unreadable sectors: their times include that, and a healthy member is faster.
pub(crate) fn told(records: &[Record]) -> Option<Point> {
    let repairs: Vec<f64> = records.iter().filter_map(|record| record.sample(REPAIRS)).collect();
    let trials = repairs.iter().filter(|&&count| count > 0.0).count();
    let ranges: f64 = repairs.iter().sum();
    let (of, noun) = (records.len(), if ranges > 1.0 { "ranges" } else { "range" });
    let text = format!(
        "{trials} of {of} trials rewrote unreadable sectors ({ranges} {noun}), and their times include that; replace the \
         member and run again"
    );
    (trials > 0).then(|| point("repaired", text))
}
