//! How the trials went, where that bears on the answer.

use super::Verdict;
use super::answer::{Point, point};
use super::drives::{hot_blocks, read_buffers, unequal_drives};
use super::host::{self, full_queues};
use super::loads::too_slow;
use super::risk::{bitmap, rebuild};
use super::trials::{
    enough_repeats, failed, luck, machine_drift, one_seed, repaired_sectors, unsteady,
};
use crate::early;
use store::record::Record;
use store::{Happened, Manifest};

impl Verdict {
    /// How the trials went, where that bears on the answer.
    pub(crate) fn points_of_trials(
        &self,
        manifest: &Manifest,
        records: &[Record],
        happened: &Happened,
    ) -> Vec<Point> {
        let mut points = unsteady::told(manifest, records);
        let early = early::words(manifest, records).into_iter();
        points.extend(early.map(|text| point("ended early", text)));
        points.extend(too_slow::told(&self.ranked, manifest, records));
        points.extend(too_slow::apart(&self.ranked, manifest, records));
        points.extend(full_queues::told(&self.ranked, manifest, records));
        points.extend(host::told(&self.ranked, manifest, records));
        points.extend(bitmap::told(&self.ranked, manifest, records));
        points.extend(unequal_drives::told(self, manifest, records));
        points.extend(rebuild::told(&self.ranked, manifest, records));
        points.extend(rebuild::doubt(manifest, records));
        points.extend(repaired_sectors::told(records));
        points.extend(hot_blocks::doubt(manifest, records));
        points.extend(luck::told(self, manifest, records));
        points.extend(read_buffers::told(self, manifest, records));
        points.extend(luck::in_step(self, manifest, records));
        points.extend(one_seed::told(self, manifest, records));
        points.extend(luck::unlike(self));
        points.extend(failed::told(&self.factors, happened));
        points.extend(enough_repeats::told(manifest, records));
        points.extend(machine_drift::told(&self.ranked, happened));
        points.extend(machine_drift::others(records));
        points.extend(machine_drift::from_memory(records));
        points.extend(machine_drift::state(manifest, happened));
        points.extend(machine_drift::health(happened));
        let doubts = manifest.doubts.iter().cloned();
        points.extend(doubts.map(|doubt| point("doubt", doubt)));
        points
    }
}
