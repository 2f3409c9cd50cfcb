//! The zones, from the first sector to the last.
//!
//! Within a zone one cylinder is turned against the one before by the same angle. So a place belongs to the zone if a
//! cylinder further on the angle is that, and three further on three times that; where it is not, the zone has ended.
//! Doubled steps and halved ones lead to the track where it ends.

use super::reader::{AGAIN, Reader};
use super::result::ZoneFound;
use super::tracks::{Pattern, survey};
use crate::error::Result;

/// An angle of the same zone is off by less than this part of a revolution.
const ALIKE: f64 = 1.0 / 150.0;
/// Zones that a disk has at most.
const ZONES_MAX: usize = 500;
/// Cylinders from the first to the last place that are looked at for one.
const SPAN: u64 = 3;

/// All zones.
pub(super) fn find(reader: &mut Reader) -> Result<Vec<ZoneFound>> {
    reader.begin("zones");
    let mut zones: Vec<ZoneFound> = vec![];
    let mut border = 0;
    while border < reader.sectors {
        if zones.len() == ZONES_MAX {
            let what = format!("more than {ZONES_MAX} zones up to sector {border}: {AGAIN}");
            return Err(reader.failure(&what));
        }
        let heads = zones.first().and_then(|zone| zone.heads);
        let pattern = survey(reader, border, heads)?;
        let mut first_lba = if border == 0 { 0 } else { aligned(border, &pattern) };
        // So many cylinders sooner, more and more and then fewer.
        let mut sooner = 1;
        while first_lba > 0 && sooner > 0 {
            let last_of_them = first_lba.saturating_sub((sooner - 1) * pattern.cylinder);
            if starts_sooner(reader, last_of_them, &pattern)? {
                first_lba -= sooner * pattern.cylinder;
                sooner *= 2;
            } else {
                sooner /= 2;
            }
        }
        // What has hardly a cylinder is no zone, but a survey that something disturbed.
        let is_none = |zone: &ZoneFound| first_lba < zone.first_lba + SPAN * zone.cylinder_sectors;
        while zones.len() > 1 && zones.last().is_some_and(is_none) {
            zones.pop();
        }
        if let Some(before) = zones.last_mut() {
            before.end_lba = first_lba;
        }
        border = end(reader, &pattern)?;
        zones.push(zone(reader, first_lba, border, &pattern)?);
    }
    Ok(zones)
}

/// A zone, its skews in sectors. That of a cylinder is what is left of a cylinder's whole turn, so that they sum up to
/// that: 9 over 3 heads, of which two turn 2.2, are 2 + 2 + 5.
fn zone(reader: &mut Reader, first_lba: u64, end_lba: u64, pattern: &Pattern) -> Result<ZoneFound> {
    let track = pattern.track as f64;
    let sectors = |ns: f64| (reader.wrap(ns) / reader.turn * track).round() % track;
    let track_skew = sectors(pattern.track_skew);
    let tracks = f64::from(pattern.heads.unwrap_or(1) - 1);
    let cylinder_skew = (sectors(pattern.advance) - tracks * track_skew).rem_euclid(track);
    Ok(ZoneFound {
        first_lba,
        end_lba,
        origin_lba: pattern.origin,
        sectors_per_track: pattern.track as u32,
        heads: pattern.heads,
        cylinder_sectors: pattern.cylinder,
        track_skew_sectors: track_skew as u32,
        cylinder_skew_sectors: cylinder_skew as u32,
        origin_angle_ns: reader.angle(pattern.origin)?,
    })
}

/// Where the zone of `pattern` has ended for sure, at most a track late.
fn end(reader: &mut Reader, pattern: &Pattern) -> Result<u64> {
    let (unit, span) = (reader.unit, SPAN * pattern.cylinder);
    let last = (reader.sectors - unit).saturating_sub(span);
    let mut within = pattern.origin;
    let mut step = 4 * pattern.cylinder;
    let mut beyond = loop {
        let next = within + step;
        if next >= last {
            if within >= last || belongs(reader, last, pattern)? {
                return Ok(reader.sectors);
            }
            break last;
        }
        if !belongs(reader, next, pattern)? {
            break next;
        }
        within = next;
        step *= 2;
    };
    while beyond - within > pattern.track {
        let middle = within + (beyond - within) / unit / 2 * unit;
        if belongs(reader, middle, pattern)? {
            within = middle;
        } else {
            beyond = middle;
        }
    }
    // A few cylinders at the end are no zone of their own.
    let border = beyond + span + unit;
    Ok(if border + 8 * pattern.cylinder > reader.sectors { reader.sectors } else { border })
}

/// Whether `lba` and what lies up to three cylinders further are of the zone of `pattern`. One defect, or the spares of
/// some cylinders, are no border: a place that is not is tried again some cylinders before.
fn belongs(reader: &mut Reader, lba: u64, pattern: &Pattern) -> Result<bool> {
    for before in [0, 2, 4] {
        if fits(reader, lba.saturating_sub(before * pattern.cylinder), pattern)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn fits(reader: &mut Reader, lba: u64, pattern: &Pattern) -> Result<bool> {
    let at = reader.angle(lba)?;
    for cylinders in [1, SPAN] {
        let there = reader.angle(lba + cylinders * pattern.cylinder)?;
        let off = there - at - cylinders as f64 * pattern.advance;
        if reader.wrap_around(off).abs() > ALIKE * reader.turn {
            return Ok(false);
        }
    }
    // Other zones may turn as much over a cylinder, but not also over a part of a track, on one or on two.
    let part = pattern.track / 3 / reader.unit * reader.unit;
    let off = reader.angle(lba + part)? - at - part as f64 / pattern.track as f64 * reader.turn;
    let skews = [0.0, pattern.track_skew, pattern.cylinder_skew];
    Ok(skews.iter().any(|skew| reader.wrap_around(off - skew).abs() < ALIKE * reader.turn))
}

/// Whether the cylinder before `first_lba` is of the zone of `pattern`, too: angles across the border may fit the zone
/// before by chance, and hide where it ends.
fn starts_sooner(reader: &mut Reader, first_lba: u64, pattern: &Pattern) -> Result<bool> {
    let origin = reader.angle(pattern.origin)?;
    for part in [1, 3, 6] {
        let back = pattern.cylinder * part / 7 / reader.unit * reader.unit;
        let Some(lba) = first_lba.checked_sub(back) else { return Ok(false) };
        let off = reader.angle(lba)? - origin - pattern.turned(lba, reader.turn);
        if reader.wrap_around(off).abs() > ALIKE * reader.turn {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A border before or at `border`, give or take a track, at the last cylinder of the zone behind it that starts there.
///
/// Cylinders of 40 sectors of which one starts at 1000, and tracks of 10: a border up to 915 is at 920, one up to 905
/// at 880.
fn aligned(border: u64, behind: &Pattern) -> u64 {
    let back = behind.origin.saturating_sub(border + behind.track).div_ceil(behind.cylinder);
    behind.origin.saturating_sub(back * behind.cylinder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_moves_to_a_cylinder_near_it() {
        let behind = Pattern {
            origin: 1000,
            track: 10,
            heads: Some(4),
            cylinder: 40,
            track_skew: 0.0,
            cylinder_skew: 0.0,
            advance: 0.0,
        };
        assert_eq!(
            [1000, 995, 917, 915, 905].map(|at| aligned(at, &behind)),
            [1000, 1000, 920, 920, 880]
        );
    }
}
