//! From the figures of a disk to its platters.

use super::{Disk, DiskFigures};
use crate::catalogue::figure::ZoneRow;
use crate::catalogue::sheet::{either, ms_as_ns, wrong};
use crate::error::Result;
use block::SECTOR_BYTES;
use sim::Nanos;
use sim::drive::{PlatterSpec, SeekSpec, Zone};

/// Zones of a drive whose zone map is not known. Enough that the rate falls in small steps.
pub(crate) const ZONES_BY_DEFAULT: u64 = 16;

/// The platters of `disk`, skewed so that a switch costs no extra revolution.
pub(super) fn platters(disk: &Disk, seek: &SeekSpec) -> Result<PlatterSpec> {
    let figures = &disk.figures;
    let revolution_ns = (60e9 / figures.rpm).round() as u64;
    let skews = Skews::of(figures, seek);
    let zone = |row: ZoneRow| Zone {
        first_cylinder: row.first_cylinder,
        last_cylinder: row.last_cylinder,
        slots_per_track: row.sectors_per_track,
        track_skew_slots: row.track_skew.unwrap_or_else(|| {
            slots_covering(skews.track_ns, row.sectors_per_track, revolution_ns)
        }),
        cylinder_skew_slots: row.cylinder_skew.unwrap_or_else(|| {
            slots_covering(skews.cylinder_ns, row.sectors_per_track, revolution_ns)
        }),
        spare_slots: row.spare.unwrap_or(0),
        offset_slots: row.offset.unwrap_or(0),
    };
    check_physical(disk)?;
    Ok(PlatterSpec {
        sectors: disk.sectors,
        heads: figures.heads,
        revolution_ns,
        zones: zone_rows(disk)?.into_iter().map(zone).collect(),
        spare_slots_per_track: figures.spare_per_track,
        spare_slots_per_cylinder: figures.spare_per_cylinder,
        spare_range_cylinders: figures.spare_range_cylinders,
        reserved_slots: figures.reserved_sectors,
        slipped: figures.slipped_sectors.clone().unwrap_or_default(),
    })
}

/// Sectors of 512 bytes in one on the medium.
pub(super) fn physical_sectors(figures: &DiskFigures) -> u64 {
    figures.physical_sector_bytes / SECTOR_BYTES
}

/// A sector on the medium is made of whole ones of 512 bytes, and neither a track nor the drive ends
/// within one.
fn check_physical(disk: &Disk) -> Result<()> {
    const KEY: &str = "physical_sector_bytes";
    let figures = &disk.figures;
    let bytes = figures.physical_sector_bytes;
    if !bytes.is_multiple_of(SECTOR_BYTES) {
        return Err(wrong(
            &disk.label,
            KEY,
            format!("{bytes}: write a multiple of {SECTOR_BYTES}"),
        ));
    }
    let physical = physical_sectors(figures);
    let check = |key: &str, sectors: u64| {
        if sectors.is_multiple_of(physical) {
            return Ok(());
        }
        let why = format!("{sectors}: with `{KEY} = {bytes}` it must be a multiple of {physical}");
        Err(wrong(&disk.label, key, why))
    };
    check("sectors", disk.sectors)?;
    check("outer_sectors_per_track", figures.outer_sectors_per_track.unwrap_or(0))?;
    check("inner_sectors_per_track", figures.inner_sectors_per_track.unwrap_or(0))?;
    check("spare_per_track", figures.spare_per_track.into())?;
    check("spare_per_cylinder", figures.spare_per_cylinder.into())?;
    check("reserved_sectors", figures.reserved_sectors)?;
    let mut zones = figures.zones.iter().flatten();
    zones.try_for_each(|row| check("zones", row.sectors_per_track.into()))
}

/// The skews of zones that do not give them, in ns.
struct Skews {
    track_ns: Nanos,
    cylinder_ns: Nanos,
}

impl Skews {
    /// As given, or long enough that the next track can even be written without a lost turn.
    fn of(figures: &DiskFigures, seek: &SeekSpec) -> Self {
        let settle_ns = ms_as_ns(figures.write_settle_ms.max(0.0));
        let single_ns = match seek {
            SeekSpec::Points(points) => points.first().map_or(0, |&(_, ns)| ns),
            SeekSpec::Typical { single_ns, .. } => *single_ns,
        };
        let or_switch =
            |given_ms: Option<f64>, switch_ns| given_ms.map_or(switch_ns + settle_ns, ms_as_ns);
        Skews {
            track_ns: or_switch(figures.track_skew_ms, ms_as_ns(figures.head_switch_ms)),
            cylinder_ns: or_switch(figures.cylinder_skew_ms, single_ns),
        }
    }
}

/// The fewest slots that take at least `time_ns` to pass: 1.0 ms of an 8.333 ms turn of 100 slots is
/// 12.0 slots, so 13, because the start of a slot is rounded down to a whole ns and 12 may be just
/// too few.
fn slots_covering(time_ns: Nanos, slots: u32, revolution_ns: Nanos) -> u32 {
    if time_ns == 0 {
        return 0;
    }
    ((time_ns + 2) * u64::from(slots)).div_ceil(revolution_ns) as u32
}

fn zone_rows(disk: &Disk) -> Result<Vec<ZoneRow>> {
    let (figures, label) = (&disk.figures, &disk.label);
    let graded =
        [figures.cylinders, figures.outer_sectors_per_track, figures.inner_sectors_per_track];
    let zones = ("zones", figures.zones.is_some());
    let others = [
        ("cylinders", graded[0].is_some()),
        ("outer_sectors_per_track", graded[1].is_some()),
        ("inner_sectors_per_track", graded[2].is_some()),
    ];
    either(label, zones, &others)?;
    if let Some(rows) = &figures.zones {
        either(label, zones, &[("zone_count", figures.zone_count.is_some())])?;
        return Ok(rows.clone());
    }
    let [cylinders, outer, inner] = graded.map(|figure| figure.unwrap_or(1));
    let by_default = if outer == inner { 1 } else { ZONES_BY_DEFAULT.min(cylinders) };
    let zones = figures.zone_count.unwrap_or(by_default);
    if zones > cylinders {
        return Err(wrong(label, "zone_count", "more zones than cylinders; write fewer"));
    }
    let physical = physical_sectors(figures) as f64;
    let row = |zone: u64| {
        let inwards = if zones == 1 { 0.0 } else { zone as f64 / (zones - 1) as f64 };
        let track = outer as f64 + (inner as f64 - outer as f64) * inwards;
        ZoneRow {
            first_cylinder: (zone * cylinders / zones) as u32,
            last_cylinder: ((zone + 1) * cylinders / zones - 1) as u32,
            sectors_per_track: ((track / physical).round() * physical) as u32,
            track_skew: None,
            cylinder_skew: None,
            spare: None,
            offset: None,
        }
    };
    Ok((0..zones).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_cover_the_time() {
        assert_eq!(slots_covering(1_000_000, 100, 8_333_333), 13);
        assert_eq!(slots_covering(1_000_000, 100, 8_000_000), 13);
        assert_eq!(slots_covering(1_040_000, 100, 8_000_000), 14);
        assert_eq!(slots_covering(1_039_990, 100, 8_000_000), 13);
        assert_eq!(slots_covering(0, 100, 8_000_000), 0);
    }
}
