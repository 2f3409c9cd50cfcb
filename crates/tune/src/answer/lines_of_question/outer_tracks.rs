//! How much of the rate at the beginning of disks is left at their end.

use crate::question::Question;
use block::layout::{Level, Spread};
use lab::catalogue::Drive;

/// What is said of a stream on disks whose inner tracks are slower, of a layout of this level. Far copies are read from the outer
/// part of each disk alone; writes go to all parts.
pub(super) fn outer_tracks(question: &Question, level: &Level) -> Option<String> {
    let drive = &question.drives.drive;
    if !drive.is_rotational() || !question.is_one_stream() {
        return None;
    }
    let is_outer_part = level.spread() == Some(Spread::Far) && !question.writes();
    let parts = if is_outer_part { level.losses_survived(question.members()) + 1 } else { 1 };
    let share = match parts {
        1 => rate_at_end(drive)?,
        _ => rate_at_end_of_part(drive, parts as u64)?,
    };
    let read =
        if parts > 1 { ", as far copies are read from the outer part of each disk" } else { "" };
    (share < 0.9).then(|| {
        format!(
            "this is the rate of the outer tracks, where the volume begins; at its end disks transfer {:.0} % of that{read}",
            100.0 * share
        )
    })
}

/// What a disk transfers at its end, as a share of what it does at its beginning.
fn rate_at_end(drive: &Drive) -> Option<f64> {
    let slowest = drive.slowest_bytes_per_s().ok()?;
    let inner = slowest.iter().find(|(figure, _)| *figure == "rpm")?.1 as f64;
    Some(inner / drive.limits().ok()?.media_bytes_per_s)
}

/// The same at the end of the first of so many equal parts.
fn rate_at_end_of_part(drive: &Drive, parts: u64) -> Option<f64> {
    let platters = drive.disk().ok()?.spec().ok()?.platters;
    let zones = platters.zones.iter().map(|zone| {
        let slots = u64::from(zone.slots_per_track);
        let cylinders = u64::from(zone.last_cylinder - zone.first_cylinder + 1);
        (slots, cylinders * u64::from(platters.heads) * slots)
    });
    let outer = zones.clone().next()?.0 as f64;
    let end = drive.sectors() / parts;
    let mut before = 0;
    for (slots, sectors) in zones {
        before += sectors;
        if before >= end {
            return Some(slots as f64 / outer);
        }
    }
    None
}
