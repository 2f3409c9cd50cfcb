//! How long a failed member takes to be restored while the load goes on.

use super::Ranked;
use super::answer::{Point, point};
use super::layouts::split;
use crate::tables::listed;
use store::Manifest;
use store::record::Record;

/// What each ranked layout needs at the pace of its trials, the best first; nothing where none is restored.
pub(super) fn told(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let with_label: Vec<String> = ranked
        .iter()
        .filter_map(|layout| {
            let own = records.iter().filter(|record| split(manifest, record).1 == layout.at);
            let hours: Vec<f64> = own.filter_map(hours).collect();
            let least = hours.iter().copied().reduce(f64::min)?;
            let most = hours.into_iter().reduce(f64::max)?;
            let words = if in_words(least) == in_words(most) {
                in_words(most)
            } else {
                format!("{} to {}", in_words(least), in_words(most))
            };
            Some(if layout.label.is_empty() {
                words
            } else {
                format!("{words} with {}", layout.label)
            })
        })
        .take(TOLD)
        .collect();
    (!with_label.is_empty()).then(|| {
        let text = format!(
            "if this load goes on, restoring the failed member takes {}; until then the volume survives one failure less",
            listed(&with_label)
        );
        point("rebuild", text)
    })
}

/// So many layouts are told of.
const TOLD: usize = 3;

/// A trial that takes less than this restores too few pieces to say at which pace.
const LEAST_S: f64 = 10.0;

/// Hours to restore all of a member at the pace of a trial, which has restored a share of it when its load ends. A fiftieth
/// in two hours: 100 h.
fn hours(record: &Record) -> Option<f64> {
    let share = record.sample("rebuilt_share").filter(|&share| share > 0.0 && share < 1.0)?;
    let took_s = record.sample("elapsed_s")? + record.sample("warm_up_s").unwrap_or(0.0);
    (took_s >= LEAST_S).then_some(took_s / share / 3600.0)
}

fn in_words(hours: f64) -> String {
    if hours < 1.0 {
        format!("{:.0} min", (60.0 * hours).max(1.0))
    } else if hours < 72.0 {
        format!("{hours:.0} h")
    } else {
        format!("{:.0} days", hours / 24.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    /// 512 MB at 2 MB/s take 4.3 min; with nothing to restore nothing is said.
    #[test]
    fn a_rebuild_under_load_is_timed() {
        let said = |rebuild: &str, count: u32| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '4xwd740gd:1000000'\nlevel = ['raid5', 'raid10']\ninterleave = '64KiB'\nfailed = '1'\n{rebuild}\n\
                 [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = {count}\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let point = verdict.points.into_iter().find(|point| point.about == "rebuild");
            point.map(|point| point.text)
        };
        let text = said("rebuild = '2MB/s'", 3000).unwrap();
        assert!(text.contains("takes 4 min with level "), "{text}");
        assert_eq!(said("", 3000), None);
        assert_eq!(said("rebuild = '2MB/s'", 50), None, "half a second says nothing");
    }

    #[test]
    fn times_are_said_in_what_people_count_in() {
        assert_eq!([0.5, 30.0, 100.0].map(super::in_words), ["30 min", "30 h", "4 days"]);
    }
}
