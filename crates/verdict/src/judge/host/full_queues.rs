//! What the verdict says where more is in flight than the drives' queues hold, over md's parity.

use super::level_of;
use crate::judge::Ranked;
use crate::judge::answer::{Point, point};
use crate::tables::{listed, percent};
use std::collections::BTreeSet;
use store::Manifest;
use store::record::Record;

/// The sample that counts reads that found no place.
const REFUSED: &str = "refused_share";

/// So few, for each request, make no difference.
const FEW: f64 = 0.01;

/// Whether so many reads of a record found no place that layouts are not to be chosen by it.
pub fn is_refused(record: &Record) -> bool {
    record.sample(REFUSED).is_some_and(|share| share > FEW)
}

/// On which levels md reads again what found no place, and that latencies there are not those of all reads.
pub(crate) fn told(ranked: &[Ranked], manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let (mut levels, mut most) = (BTreeSet::new(), 0_f64);
    for record in records {
        if let Some(level) = level_of(ranked, manifest, record).filter(|_| is_refused(record)) {
            most = most.max(record.sample(REFUSED).unwrap_or(0.0));
            levels.insert(level.to_string());
        }
    }
    let levels: Vec<String> = levels.into_iter().collect();
    let text = format!(
        "on {} up to {} of the requests find no place in a drive's queue; md reads them again in rows of 4 KiB, the last first, so that \
         some wait for very long, and latencies are of those that came back: do not choose by them, and keep fewer in flight",
        listed(&levels),
        percent(most.min(1.0)),
    );
    (!levels.is_empty()).then(|| point("full queues", text))
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    #[test]
    fn levels_whose_reads_starve_are_named() {
        let with_depth = |depth: u32| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '4xwd740gd:4GiB'\nlevel = ['md-raid5', 'md-raid10']\n\
                 [workload.w]\nkind = 'random'\ndepth = {depth}\ncount = 300\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let point = verdict.points.into_iter().find(|point| point.about == "full queues");
            point.map(|point| point.text)
        };
        let said = with_depth(64).unwrap();
        assert!(said.starts_with("on md-raid5 up to "), "{said}");
        assert_eq!(with_depth(1), None);
    }
}
