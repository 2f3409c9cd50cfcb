//! Cells that failed: their finished repeats say nothing of how the cell does, for they are those that went well.

use crate::judge::answer::{Point, point};
use std::borrow::Cow;
use store::factor::Factors;
use store::record::Record;
use store::{Failed, Happened};

/// The records of the cells that did not fail.
pub(crate) fn left<'a>(records: &'a [Record], happened: &Happened) -> Cow<'a, [Record]> {
    if happened.failed.is_empty() {
        return records.into();
    }
    let whole = |record: &&Record| !happened.has_failed(&record.workload, &record.at);
    records.iter().filter(whole).cloned().collect()
}

/// What failed, a line each.
pub(crate) fn told(factors: &Factors, happened: &Happened) -> Vec<Point> {
    let line = |failed: &Failed| {
        let at = match factors.label(&failed.at) {
            at if at.is_empty() => String::new(),
            at => format!(" at {at}"),
        };
        // What the kernel said last stands in the results.
        let words = failed.words.split(" (the kernel's last words").next().unwrap_or_default();
        point("failed", format!("`{}`{at} is left out: {words}", failed.workload))
    };
    happened.failed.iter().map(line).collect()
}
