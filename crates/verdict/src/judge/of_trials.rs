//! How the trials went, where that bears on the answer.

use super::Verdict;
use super::answer::{Point, point};
use super::{
    buffered, drift, failed, hot, late, narrower, of_bitmap, of_host, once, rebuild, refused,
    repaired, seeds, settled, unsteady,
};
use crate::early;
use store::record::Record;
use store::{Happened, Manifest};

impl Verdict {
    /// How the trials went, where that bears on the answer.
    pub(super) fn points_of_trials(
        &self,
        manifest: &Manifest,
        records: &[Record],
        happened: &Happened,
    ) -> Vec<Point> {
        let mut points = unsteady::told(manifest, records);
        let early = early::words(manifest, records).into_iter();
        points.extend(early.map(|text| point("ended early", text)));
        points.extend(late::told(&self.ranked, manifest, records));
        points.extend(late::apart(&self.ranked, manifest, records));
        points.extend(refused::told(&self.ranked, manifest, records));
        points.extend(of_host::told(&self.ranked, manifest, records));
        points.extend(of_bitmap::told(&self.ranked, manifest, records));
        points.extend(narrower::told(self, manifest, records));
        points.extend(rebuild::told(&self.ranked, manifest, records));
        points.extend(rebuild::doubt(manifest, records));
        points.extend(repaired::told(records));
        points.extend(hot::doubt(manifest, records));
        points.extend(once::told(self, manifest, records));
        points.extend(buffered::told(self, manifest, records));
        points.extend(once::in_step(self, manifest, records));
        points.extend(seeds::told(self, manifest, records));
        points.extend(once::unlike(self));
        points.extend(failed::told(&self.factors, happened));
        points.extend(settled::told(manifest, records));
        points.extend(drift::told(&self.ranked, happened));
        points.extend(drift::others(records));
        points.extend(drift::from_memory(records));
        points.extend(drift::state(manifest, happened));
        points.extend(drift::health(happened));
        let doubts = manifest.doubts.iter().cloned();
        points.extend(doubts.map(|doubt| point("doubt", doubt)));
        points
    }
}
