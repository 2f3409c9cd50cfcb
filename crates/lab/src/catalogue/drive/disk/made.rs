//! Models of disks, kept for the trials that ask for them again.

use crate::catalogue::kept::Kept;
use sim::drive::{DriveError, DriveModel, DriveSpec};

static KEPT: Kept<DriveSpec, DriveModel> = Kept::new();

/// The model of `spec`. To sum up the seeks of a large disk takes longer than many a trial: `ileave tune` spent a third
/// of its time on it.
pub(super) fn model(spec: &DriveSpec) -> Result<DriveModel, DriveError> {
    KEPT.get(spec.clone(), DriveModel::new)
}
