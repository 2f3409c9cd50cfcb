//! From the figures of a drive to its platters.

use super::figure::{Value, ZoneRow};
use super::sheet::{Sheet, either, wrong};
use crate::error::Result;
use block::SECTOR_BYTES;
use sim::Nanos;
use sim::drive::{PlatterSpec, SeekSpec, Zone};

/// Zones of a drive whose zone map is not known. Enough that the rate falls in small steps.
const ZONES_BY_DEFAULT: u64 = 16;

/// The platters that `sheet` describes, turned so that switching loses no extra turn.
pub(super) fn platters(sheet: &Sheet, seek: &SeekSpec) -> Result<PlatterSpec> {
    let rpm = sheet.number("rpm").unwrap_or(1.0);
    let revolution_ns = (60e9 / rpm).round() as u64;
    let skews = Skews::of(sheet, seek);
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
    check_physical(sheet)?;
    Ok(PlatterSpec {
        sectors: sheet.count("sectors").unwrap_or(0),
        heads: sheet.count("heads").unwrap_or(0) as u32,
        revolution_ns,
        zones: zone_rows(sheet)?.into_iter().map(zone).collect(),
        spare_slots_per_track: sheet.count("spare_per_track").unwrap_or(0) as u32,
        spare_slots_per_cylinder: sheet.count("spare_per_cylinder").unwrap_or(0) as u32,
        spare_range_cylinders: sheet.count("spare_range_cylinders").unwrap_or(1) as u32,
        reserved_slots: sheet.count("reserved_sectors").unwrap_or(0),
        slipped: vec![],
    })
}

/// Sectors of 512 bytes in one on the medium.
pub(super) fn physical_sectors(sheet: &Sheet) -> u64 {
    sheet.count("physical_sector_bytes").unwrap_or(SECTOR_BYTES) / SECTOR_BYTES
}

/// A sector on the medium is made of whole ones of 512 bytes, and neither a track nor the drive ends
/// within one.
fn check_physical(sheet: &Sheet) -> Result<()> {
    const KEY: &str = "physical_sector_bytes";
    const CUT_INTO: [&str; 6] = [
        "sectors",
        "outer_sectors_per_track",
        "inner_sectors_per_track",
        "spare_per_track",
        "spare_per_cylinder",
        "reserved_sectors",
    ];
    let bytes = sheet.count(KEY).unwrap_or(SECTOR_BYTES);
    if !bytes.is_multiple_of(SECTOR_BYTES) {
        return Err(wrong(sheet, KEY, format!("{bytes}: write a multiple of {SECTOR_BYTES}")));
    }
    let physical = physical_sectors(sheet);
    let check = |key: &str, sectors: u64| {
        if sectors.is_multiple_of(physical) {
            return Ok(());
        }
        let why = format!("{sectors}: with `{KEY} = {bytes}` it must be a multiple of {physical}");
        Err(wrong(sheet, key, why))
    };
    for key in CUT_INTO {
        check(key, sheet.count(key).unwrap_or(0))?;
    }
    match sheet.value("zones") {
        Some(Value::Zones(rows)) => {
            rows.iter().try_for_each(|row| check("zones", u64::from(row.sectors_per_track)))
        }
        _ => Ok(()),
    }
}

/// The skews of zones that do not give them, in ns.
struct Skews {
    track_ns: Nanos,
    cylinder_ns: Nanos,
}

impl Skews {
    /// As given, or long enough that the next track can even be written without a lost turn.
    fn of(sheet: &Sheet, seek: &SeekSpec) -> Self {
        let given = |key| sheet.cited(key).map(|_| sheet.ms_as_ns(key));
        let settle_ns = sheet.ms_as_ns("write_settle_ms");
        let single_ns = match seek {
            SeekSpec::Points(points) => points.first().map_or(0, |&(_, ns)| ns),
            SeekSpec::Typical { single_ns, .. } => *single_ns,
        };
        let head_switch_ns = sheet.ms_as_ns("head_switch_ms");
        Skews {
            track_ns: given("track_skew_ms").unwrap_or(head_switch_ns + settle_ns),
            cylinder_ns: given("cylinder_skew_ms").unwrap_or(single_ns + settle_ns),
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

fn zone_rows(sheet: &Sheet) -> Result<Vec<ZoneRow>> {
    const GRADED: [&str; 3] = ["cylinders", "outer_sectors_per_track", "inner_sectors_per_track"];
    either(sheet, "zones", &GRADED)?;
    if let Some(Value::Zones(rows)) = sheet.value("zones") {
        either(sheet, "zones", &["zone_count"])?;
        return Ok(rows.clone());
    }
    let [cylinders, outer, inner] = GRADED.map(|key| sheet.count(key).unwrap_or(1));
    let by_default = if outer == inner { 1 } else { ZONES_BY_DEFAULT.min(cylinders) };
    let zones = sheet.count("zone_count").unwrap_or(by_default);
    if zones > cylinders {
        return Err(wrong(sheet, "zone_count", "more zones than cylinders; write fewer"));
    }
    let physical = physical_sectors(sheet) as f64;
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
