//! Models of disks, kept for the trials that ask for them again.

use crate::catalogue::kept::Kept;
use sim::drive::{DriveError, DriveModel, DriveSpec, PlatterSpec, SeekSpec};

/// Those of the same platters and seeks share what takes long to make.
static KEPT: Kept<(PlatterSpec, SeekSpec), DriveModel> = Kept::new();

/// The model of `spec`. To sum up the seeks of a large disk takes longer than many a trial, and `ileave tune` tries many
/// disks that differ in something else.
pub(super) fn model(spec: &DriveSpec) -> Result<DriveModel, DriveError> {
    let key = (spec.platters.clone(), spec.seek.clone());
    KEPT.get(key, |_| DriveModel::new(spec))?.otherwise_as(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model made of another's tables is the one that is made anew.
    #[test]
    fn what_is_kept_is_as_if_made_anew() {
        let drive = crate::catalogue::drive("wd740gd").unwrap();
        let known = drive.disk().unwrap().spec().unwrap();
        let change = |change: fn(&mut DriveSpec)| {
            let mut spec = known.clone();
            change(&mut spec);
            spec
        };
        let changed = [
            known.clone(),
            change(|spec| spec.write_settle_ns += 1),
            change(|spec| spec.command_settle_ns += 1),
            change(|spec| spec.head_switch_ns += 1),
            change(|spec| spec.controller.zero_latency ^= true),
            change(|spec| spec.controller.write_buffer_sectors += 1),
            change(|spec| spec.seek = SeekSpec::Points(vec![(1, 1_000_000)])),
            change(|spec| spec.platters.revolution_ns += 1000),
            change(|spec| spec.controller.interface_bytes_per_s = 0),
        ];
        let words = changed.map(|spec| {
            let [kept, anew] = [model(&spec), DriveModel::new(&spec)];
            let [kept, anew] = [kept, anew].map(|model| format!("{model:?}"));
            assert!(kept == anew, "{spec:?}");
            kept
        });
        for (place, one) in words.iter().enumerate() {
            assert!(!words[..place].contains(one), "a change of {place} is seen");
        }
    }
}
