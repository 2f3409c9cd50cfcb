//! What of the drives, and of the models of them, an answer rests on.

pub(crate) mod flash_rates;
pub(crate) mod hot_blocks;
pub(crate) mod read_buffers;
pub mod shingled_disks;
pub(crate) mod slc_cache;
pub(crate) mod state_of_drives;
pub(crate) mod unequal_drives;
pub(crate) mod unmeasured_drives;
pub(crate) mod unmeasured_sizes;

use super::Verdict;
use super::answer::Point;
use super::asked::aim::Aim;
use store::Manifest;
use store::known::KnownDrive;
use store::record::Record;

/// What is said of the drives' state, and of what nobody measured of them.
pub(super) fn told(
    verdict: &Verdict,
    aim: &Aim,
    manifest: &Manifest,
    records: &[Record],
) -> Vec<Point> {
    let mut points = state_of_drives::of(verdict, manifest);
    points.extend(unmeasured_drives::of_drives(aim, manifest, records));
    points.extend(unmeasured_sizes::told(verdict, aim, manifest, records));
    points
}

/// The drives of a record; where it names none of them, all that there are.
pub(super) fn of_record<'m>(
    manifest: &'m Manifest,
    record: &Record,
) -> impl Iterator<Item = &'m KnownDrive> {
    let drives = record.at.get("volume.drives").map(ToString::to_string).unwrap_or_default();
    let is_named = manifest.drives.keys().any(|name| drives.contains(name.as_str()));
    let its = move |name: &str| !is_named || drives.contains(name);
    manifest.drives.iter().filter(move |(name, _)| its(name)).map(|(_, drive)| drive)
}
