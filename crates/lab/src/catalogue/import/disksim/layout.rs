//! Where sectors are: zones, skews, spares and slips.

use super::params::Block;
use super::{COMPUTED, MEASURED, Sheet};
use crate::catalogue::figure::{CYLINDERS_MAX, SECTORS_PER_TRACK_MAX};
use crate::error::Result;
use std::fmt::Write as _;

/// More sectors than any drive has.
const SECTORS_MAX: u64 = 1 << 40;

/// What the other figures depend on.
pub(super) struct Layout {
    pub(super) cylinders: u64,
    /// Sectors on the longest and on the shortest track.
    pub(super) tracks: [u64; 2],
    /// How far the second track is turned against the first, in revolutions.
    pub(super) track_skew_turns: f64,
}

/// Where the spares are, by `DiskSim`'s number of the scheme.
enum Spares {
    None,
    Tracks,
    Cylinder,
    Track,
    Range(u64),
    Zone,
}

struct Zone {
    cylinders: [u64; 2],
    track: u64,
    skews: [u64; 2],
    offset: u64,
    /// Sectors before the first one.
    front: u64,
    spares: u64,
    slips: Vec<u64>,
}

/// Writes the figures of the layout.
pub(super) fn layout(model: &Block, sheet: &mut Sheet) -> Result<Layout> {
    const NAME: &str = "Layout Model";
    let layout = model.block(NAME)?;
    if layout.kind != "dm_layout_g1" {
        let message = format!("{} is not known; only dm_layout_g1 is", layout.kind);
        return Err(model.wrong_param(NAME, message));
    }
    let heads = at_least_one(model, "Number of data surfaces", 255)?;
    let cylinders = model.count("Number of cylinders", CYLINDERS_MAX)?;
    let stated = model.count("Block count", SECTORS_MAX)?;
    if layout.number("LBN-to-PBN mapping scheme", [0.0, 2.0])? != Some(0.0) {
        sheet.leave_out("LBN-to-PBN mapping scheme: every cylinder begins at head 0 here");
    }
    let (spares, takes_slips) = spares(layout, sheet)?;
    let in_turns = layout.word("Skew units") == Some("revolutions");
    let blocks = layout.blocks("Zones")?;
    let zones = blocks.iter().map(|zone| read_zone(zone, in_turns)).collect::<Result<Vec<_>>>()?;
    let (Some(first), Some(last)) = (zones.first(), zones.last()) else {
        return Err(layout.wrong_param("Zones", "a disk has at least one zone"));
    };
    for (index, zone) in blocks.iter().enumerate() {
        if !zone.numbers("defects")?.is_empty() {
            sheet
                .leave_out(format!("zone {index}: defects: remapped sectors stay where they were"));
        }
        for unused in zone.unused() {
            sheet.leave_out(format!("zone {index}: {unused}"));
        }
    }
    if cylinders <= last.cylinders[1] {
        let (last, needed) = (last.cylinders[1], last.cylinders[1] + 1);
        let message = format!(
            "{cylinders} cylinders, and the zones go up to cylinder {last}; write {needed} or more, or correct the zones"
        );
        return Err(model.wrong_param("Number of cylinders", message));
    }
    let sectors = write(&zones, heads, &spares, takes_slips, sheet);
    let note = match sectors {
        _ if sectors == stated => String::new(),
        _ => format!("what the zones hold without spares; Block count says {stated}"),
    };
    let kind = if sectors == stated { MEASURED } else { COMPUTED };
    let mut head = Sheet::default();
    head.add("sectors", sectors, kind, &note);
    head.add("heads", heads, MEASURED, "");
    sheet.text.insert_str(0, &head.text);
    for unused in layout.unused() {
        sheet.leave_out(unused);
    }
    let tracks = zones.iter().map(|zone| zone.track);
    Ok(Layout {
        cylinders,
        tracks: [tracks.clone().max().unwrap_or(0), tracks.min().unwrap_or(0)],
        track_skew_turns: first.skews[0] as f64 / first.track as f64,
    })
}

/// Where the spares are, and whether slips use them up.
fn spares(layout: &Block, sheet: &mut Sheet) -> Result<(Spares, bool)> {
    const NAME: &str = "Sparing scheme used";
    // Of the other schemes it changes nothing, and is named as unused.
    let range = || Ok(layout.count("Rangesize for sparing", CYLINDERS_MAX)?.max(1));
    let scheme = layout.count(NAME, 10)?;
    if let 5 | 6 = scheme {
        sheet.leave_out(format!("{NAME} = {scheme}: the spares are at each cylinder's end here"));
    }
    Ok(match scheme {
        0 | 7 => (Spares::None, false),
        1 => (Spares::Tracks, true),
        2 | 5 => (Spares::Cylinder, true),
        3 => (Spares::Track, true),
        4 | 6 => (Spares::Cylinder, false),
        8 => (Spares::Range(range()?), true),
        9 => (Spares::Zone, true),
        _ => (Spares::Zone, false),
    })
}

/// A whole number that is not zero.
fn at_least_one(block: &Block, name: &str, most: u64) -> Result<u64> {
    match block.count(name, most)? {
        0 => Err(block.wrong_param(name, "write at least 1")),
        number => Ok(number),
    }
}

fn read_zone(zone: &Block, in_turns: bool) -> Result<Zone> {
    let first = zone.count("First cylinder number", CYLINDERS_MAX - 1)?;
    let last = zone.count("Last cylinder number", CYLINDERS_MAX - 1)?;
    if last < first {
        return Err(zone.wrong_param("Last cylinder number", "it is before the first"));
    }
    let track = at_least_one(zone, "Blocks per track", SECTORS_PER_TRACK_MAX)?;
    let in_turns = zone.word("Skew units").map_or(in_turns, |units| units == "revolutions");
    let most = SECTORS_PER_TRACK_MAX as f64;
    let angle = |name| {
        let angle = zone.number(name, [0.0, most])?.unwrap_or(0.0);
        Ok(if in_turns { (angle * track as f64).round() as u64 } else { angle as u64 })
    };
    let slips = zone.numbers("slips")?;
    if let Some(slip) = slips.iter().find(|slip| !(0.0..SECTORS_MAX as f64).contains(*slip)) {
        return Err(zone.wrong_param("slips", format!("{slip} is not a sector")));
    }
    let mut slips: Vec<u64> = slips.into_iter().map(|slip| slip as u64).collect();
    slips.sort_unstable();
    slips.dedup();
    Ok(Zone {
        cylinders: [first, last],
        track,
        skews: [angle("Skew for track switch")?, angle("Skew for cylinder switch")?],
        offset: angle("Offset of first block")?,
        front: zone.count("Empty space at zone front", SECTORS_MAX)?,
        spares: zone.count("Number of spares", SECTORS_MAX)?,
        slips,
    })
}

impl Spares {
    /// The spares of a zone that are all over it, and those at its end.
    fn of(&self, zone: &Zone, heads: u64, takes_slips: bool) -> [u64; 2] {
        let count = zone.cylinders[1] + 1 - zone.cylinders[0];
        match self {
            Spares::None => [0, 0],
            Spares::Tracks => [0, zone.spares.saturating_mul(zone.track)],
            Spares::Cylinder => [zone.spares.saturating_mul(count), 0],
            Spares::Track => [zone.spares.saturating_mul(count * heads), 0],
            Spares::Range(range) => [zone.spares.saturating_mul(count / range), 0],
            // Slips that use up spares of the zone leave fewer of them.
            Spares::Zone if takes_slips => [0, zone.spares.saturating_sub(zone.slips.len() as u64)],
            Spares::Zone => [0, zone.spares],
        }
    }

    /// Writes spares that are the same all over the disk. Returns whether they are.
    fn write_each(&self, zones: &[Zone], heads: u64, sheet: &mut Sheet) -> bool {
        let track = zones.iter().map(|zone| zone.track).min().unwrap_or(1);
        let each = zones[0].spares.min(track * heads / 2);
        let same = zones.iter().all(|zone| zone.spares == each);
        match self {
            Spares::Cylinder if same => sheet.add("spare_per_cylinder", each, MEASURED, ""),
            Spares::Track if same && each < track => {
                sheet.add("spare_per_track", each, MEASURED, "");
            }
            Spares::Range(range) if same => {
                sheet.add("spare_per_cylinder", each, MEASURED, "of each range");
                sheet.add("spare_range_cylinders", range, MEASURED, "");
            }
            Spares::Cylinder | Spares::Track | Spares::Range(_) => {
                sheet.leave_out(
                    "Number of spares: not the same in all zones; here at each zone's end",
                );
                return false;
            }
            Spares::None | Spares::Tracks | Spares::Zone => {}
        }
        true
    }
}

/// Writes zones, spares and slips. Returns how many sectors they leave.
fn write(zones: &[Zone], heads: u64, spares: &Spares, takes_slips: bool, sheet: &mut Sheet) -> u64 {
    let same = spares.write_each(zones, heads, sheet);
    let moves_all = !takes_slips || matches!(spares, Spares::Zone);
    let (mut sectors, mut slipped) = (0, vec![]);
    sheet
        .tables
        .push_str("\n[figures.zones]\nkind = \"measured\"\nsource = \"disksim\"\nvalue = [\n");
    for (index, zone) in zones.iter().enumerate() {
        let [spread, at_end] = spares.of(zone, heads, takes_slips);
        let (spread, at_end) = if same { (spread, at_end) } else { (0, spread + at_end) };
        let slips = zone.slips.len();
        if !moves_all && slips > 0 {
            let what = "slips, each of which moves a few sectors, into spares near by";
            sheet.leave_out(format!("zone {index}: {slips} {what}"));
        }
        let cylinder = heads * zone.track;
        let front = if index == 0 { 0 } else { zone.front };
        if front % cylinder > 0 {
            let what = "in front of a zone, only whole cylinders are left out";
            sheet.leave_out(format!("zone {index}: Empty space at zone front = {front}: {what}"));
        }
        let cylinders = zone.cylinders[1] - zone.cylinders[0];
        let whole = (front / cylinder).min(cylinders);
        let usable =
            ((cylinders + 1 - whole) * cylinder).saturating_sub(spread.saturating_add(at_end));
        if moves_all {
            let there = zone.slips.iter().filter(|slip| **slip < usable);
            slipped.extend(there.map(|slip| sectors + slip));
        }
        sectors += usable;
        write_zone(zone, zone.cylinders[0] + whole, at_end, sheet);
    }
    sheet.tables.push_str("]\n");
    let lost = zones[0].front + slipped.len() as u64;
    if zones[0].front > 0 {
        sheet.add("reserved_sectors", zones[0].front, MEASURED, "before the first");
    }
    if !slipped.is_empty() {
        let all: Vec<String> = slipped.iter().map(u64::to_string).collect();
        sheet.add("slipped_sectors", format!("[{}]", all.join(", ")), MEASURED, "");
    }
    sectors.saturating_sub(lost)
}

fn write_zone(zone: &Zone, first_cylinder: u64, spare: u64, sheet: &mut Sheet) {
    let Zone { cylinders: [_, last], track, skews: [track_skew, cylinder_skew], offset, .. } = zone;
    let _ = write!(
        sheet.tables,
        "  {{ first_cylinder = {first_cylinder}, last_cylinder = {last}, sectors_per_track = {track}, \
         track_skew = {track_skew}, cylinder_skew = {cylinder_skew}"
    );
    for (key, value) in [("spare", spare), ("offset", *offset)] {
        if value > 0 {
            let _ = write!(sheet.tables, ", {key} = {value}");
        }
    }
    sheet.tables.push_str(" },\n");
}
