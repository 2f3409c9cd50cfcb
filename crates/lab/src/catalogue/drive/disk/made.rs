//! Models of disks, kept for the trials that ask for them again.

use sim::drive::{DriveError, DriveModel, DriveSpec};
use std::sync::{Mutex, PoisonError};

/// How many are kept. The tables of a disk of 18 TB take some megabytes.
const KEPT_MAX: usize = 8;

/// What was asked for last is the last.
static KEPT: Mutex<Vec<(DriveSpec, DriveModel)>> = Mutex::new(Vec::new());

/// The model of `spec`. To sum up the seeks of a large disk takes longer than many a trial: `ileave tune` spent a third
/// of its time on it.
pub(super) fn model(spec: &DriveSpec) -> Result<DriveModel, DriveError> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let found = match kept.iter().position(|(of, _)| of == spec) {
        Some(place) => kept.remove(place),
        None => (spec.clone(), DriveModel::new(spec)?),
    };
    if kept.len() == KEPT_MAX {
        kept.remove(0);
    }
    kept.push(found.clone());
    Ok(found.1)
}
