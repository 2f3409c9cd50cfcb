//! SLC caches of flash that fill and empty by turns: a trial goes on until it may have seen some of them.

use crate::catalogue::Model;
use crate::experiment::{Member, Trial};
use crate::workload::Work;
use sim::Batches;

/// So many turns a trial lasts at least: one that ends while the cache has room says nothing of the time after.
const TURNS: u64 = 4;

/// Whether `trial` lasted so long, if it writes to such a drive.
pub(super) fn are_seen(trial: &Trial, batches: &Batches) -> bool {
    let drives = trial.setup.members().filter_map(Member::drive);
    let turn_ns = drives.filter_map(|drive| match &drive.model {
        Model::Flash(flash) => flash.turn_ns(),
        _ => None,
    });
    let needed_ns = TURNS * turn_ns.max().unwrap_or(0);
    batches.closed_ns() >= needed_ns || !trial.works().any(Work::writes)
}
