//! Whether the layouts keep the rate that a workload asks for.

use super::Ranked;
use super::answer::{Point, point};
use super::layouts::split;
use crate::tables::figure;
use serde_json::{Map, Value as Json};
use store::Manifest;
use store::record::Record;

/// That the best does not keep a rate that was asked for, and what does.
pub(super) fn told(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let late_ms = |at: &Map<String, Json>| -> f64 {
        let own = records.iter().filter(|record| split(manifest, record).1 == *at);
        own.filter_map(|record| record.sample("late_max_ms")).fold(0.0, f64::max)
    };
    let (best, others) = ranked.split_first()?;
    let late = late_ms(&best.at);
    if late <= 0.0 {
        return None;
    }
    let late = if late < 1000.0 {
        format!("{} ms", figure(late))
    } else {
        format!("{} s", figure(late / 1000.0))
    };
    let text = match others.iter().find(|other| late_ms(&other.at) <= 0.0) {
        Some(other) => format!(
            "{} does not keep the rate asked for: requests are up to {late} late; {} keeps it",
            best.label, other.label
        ),
        None => format!(
            "no layout keeps the rate asked for: requests are up to {late} late on the best"
        ),
    };
    Some(point("too slow", text))
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    #[test]
    fn a_rate_that_is_not_kept_is_said() {
        let of = |rate: &str, of_best_alone: bool| -> Option<String> {
            let (manifest, mut records) = modelled(&format!(
                "[volume]\ndrives = '2xwd740gd'\nlevel = ['stripe', 'concat']\ninterleave = '64KiB'\n\
                 [workload.take]\nkind = 'sequential'\nop = 'read'\nblock = '1MiB'\nrate = '{rate}'\n\
                 depth = 4\ncount = 100\n"
            ));
            if of_best_alone {
                for record in records.iter_mut().filter(|of| of.at["volume.level"] == "concat") {
                    record.samples.insert("late_max_ms", 0.0);
                }
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.into_iter().find(|point| point.about == "too slow").map(|of| of.text)
        };
        assert_eq!(of("100MB/s", false), None);
        let none = of("2GB/s", false).unwrap();
        assert!(
            none.starts_with("no layout keeps the rate asked for: requests are up to"),
            "{none}"
        );
        let other = of("2GB/s", true).unwrap();
        assert!(
            other.contains("stripe does not keep") && other.ends_with("concat keeps it"),
            "{other}"
        );
    }
}
