//! Drives as work without an end meets them: at what lasts.

use super::trial::Setup;
use super::volume::Member;
use crate::catalogue::Drive;
use crate::workload::{Requests, Work};
use std::sync::Arc;

/// The same setup with drives as work without an end meets them: it asks what lasts. A job asks how long it takes from its
/// beginning.
pub(super) fn lasting(setup: Arc<Setup>, works: &[Work]) -> Arc<Setup> {
    let is_job = works.iter().any(|work| work.requests().is_none_or(Requests::ends));
    if is_job || !setup.members().filter_map(Member::drive).any(|drive| drive.lasting().is_some()) {
        return setup;
    }
    // Members of one model go on sharing it.
    let mut known: Vec<(Arc<Drive>, Arc<Drive>)> = Vec::new();
    let mut setup = Setup::clone(&setup);
    let Setup { volume, log, .. } = &mut setup;
    let members = volume.members.iter_mut().chain(log.iter_mut().flat_map(|log| &mut log.members));
    for member in members {
        let Member::Modelled { drive, .. } = member else { continue };
        if let Some((_, lasting)) = known.iter().find(|(of, _)| Arc::ptr_eq(of, drive)) {
            *drive = Arc::clone(lasting);
            continue;
        }
        let lasting = drive.lasting().map_or_else(|| Arc::clone(drive), Arc::new);
        known.push((Arc::clone(drive), Arc::clone(&lasting)));
        *drive = lasting;
    }
    Arc::new(setup)
}
