//! Each figure, from what was found.

use super::{From, Sheet};
use crate::data_sheet::PICKS_FROM_BYTES;
use crate::probe::result::{Found, Policy, Probed, ZoneFound};
use block::SECTOR_BYTES;
use std::fmt::Write as _;

/// Disks larger than this have a queue of their own, in sectors: 200 GB.
const QUEUES_FROM: u64 = 400_000_000;

/// All figures of `probed`.
pub(super) fn all(probed: &Probed, sheet: &mut Sheet) {
    let found = &probed.found;
    let of = |step: &str| format!("{} reads", probed.step(step).len());
    sheet.add("sectors", probed.sectors, From::Measured, "the device says so");
    if probed.unit_sectors > 1 {
        let bytes = u64::from(probed.unit_sectors) * SECTOR_BYTES;
        sheet.add("physical_sector_bytes", bytes, From::Measured, "the device says so");
    }
    let from = format!("one sector again and again: {}", of("revolution"));
    sheet.add("rpm", rpm(found.revolution_ns), From::Measured, from);
    platters(found, &of("zones"), sheet);
    times(found, probed.unit_sectors, &of("seeks"), sheet);
    buffer(found, &of("buffer"), sheet);
    writes(probed, sheet);
}

/// The shortest number of revolutions a minute that has the same revolution to the ns: 8,333,333 ns are 7200.
fn rpm(revolution_ns: f64) -> f64 {
    let ns = revolution_ns.round();
    let exact = 60e9 / ns;
    let rounded = (0..9).map(|digits| {
        let scale = 10_f64.powi(digits);
        (exact * scale).round() / scale
    });
    let same = |rpm: &f64| (60e9 / rpm).round().total_cmp(&ns).is_eq();
    rounded.into_iter().find(same).unwrap_or(exact)
}

fn platters(found: &Found, reads: &str, sheet: &mut Sheet) {
    let from = |what: &str| format!("{what}: {reads}");
    let Some(first) = found.zones.first() else { return };
    match first.heads {
        Some(heads) => {
            sheet.add("heads", heads, From::Measured, from("skews that repeat"));
        }
        None => {
            let note = "no skew differs from the others: tracks stand for cylinders";
            sheet.add("heads", 1, From::Estimate, note);
            sheet.missing.push("heads: every track counts as a cylinder".into());
        }
    }
    let full = u64::from(first.sectors_per_track) * u64::from(first.heads.unwrap_or(1));
    let spare = full - first.cylinder_sectors.min(full);
    if spare > 0 {
        let note = from("the last track of a cylinder is shorter");
        sheet.add("spare_per_cylinder", spare, From::Measured, note);
    }
    let reserved = reserved(first);
    if reserved > 0 {
        let note = from("a cylinder starts so far before sector 0");
        sheet.add("reserved_sectors", reserved, From::Measured, note);
    }
    let zones = zones(&found.zones);
    sheet.add("zones", zones, From::Measured, from("angles of sectors; borders to a cylinder"));
}

/// How far before sector 0 its cylinder starts. Cylinders of 40 of which one starts at 25: 15 before.
fn reserved(first: &ZoneFound) -> u64 {
    let after = (first.origin_lba - first.first_lba) % first.cylinder_sectors;
    (first.cylinder_sectors - after) % first.cylinder_sectors
}

fn zones(zones: &[ZoneFound]) -> String {
    let mut text = String::from("[");
    let mut next = 0;
    for (index, zone) in zones.iter().enumerate() {
        let before = if index == 0 { reserved(zone) } else { 0 };
        let sectors = before + zone.end_lba - zone.first_lba;
        let cylinders = sectors.div_ceil(zone.cylinder_sectors);
        let spare = cylinders * zone.cylinder_sectors - sectors;
        let _ = write!(
            text,
            "{{ first_cylinder = {next}, last_cylinder = {}, sectors_per_track = {}, track_skew = {}, \
             cylinder_skew = {}",
            next + cylinders - 1,
            zone.sectors_per_track,
            zone.track_skew_sectors,
            zone.cylinder_skew_sectors
        );
        if spare > 0 && index + 1 < zones.len() {
            let _ = write!(text, ", spare = {spare}");
        }
        text += " }, ";
        next += cylinders;
    }
    text.truncate(text.len().saturating_sub(2));
    text + "]"
}

/// The times of the arm and of the controller.
///
/// A read says how long it is from the command to the first sector, o + max(seek, settle), and never the parts. The
/// controller's part o is set to that of a hit, or to more if else a move to the next track or cylinder were longer than
/// the skew that is there for it: a drive that took 3.06 ms to the next cylinder, with a skew of 2.09, has an o of at
/// least 0.97. An error of o moves all seeks by as much the other way.
fn times(found: &Found, unit_sectors: u32, reads: &str, sheet: &mut Sheet) {
    let seeks = &found.seeks;
    // What is sent whole is sent after the last sector; else only that is.
    let sectors = if found.buffer.sends_whole == Some(true) { unit_sectors } else { 1 };
    let sends = found.buffer.bus_sector_ns.unwrap_or(0.0) * f64::from(sectors);
    let nearest = seeks.cylinders.first().map_or(seeks.track_ns, |&(_, ns)| ns);
    let least = nearest.min(seeks.track_ns) - sends;
    let [track_skew, cylinder_skew] = skews(found);
    let beyond_skew = nearest - sends - cylinder_skew;
    let overhead = found.buffer.hit_ns.max(beyond_skew).clamp(0.0, least.max(0.0));
    let moves = |ns: f64| ns - sends - overhead;
    let from = |what: &str| format!("{what}: {reads}");
    let note = "as a hit's, or so that skews cover the moves; reads show the sum only";
    sheet.add_ms("read_miss_overhead_ms", overhead, From::Computed, note);
    sheet
        .missing
        .push("how the time to reach a sector divides into controller, settling and seek".into());
    let note = from("the shortest time to any sector, but for the controller's");
    sheet.add_ms("command_settle_ms", least - overhead, From::Measured, note);
    match seeks.head_ns {
        Some(head_ns)
            if moves(head_ns) > 1.02 * (least - overhead) && moves(head_ns) < track_skew =>
        {
            sheet.add_ms(
                "head_switch_ms",
                moves(head_ns),
                From::Measured,
                from("another track of the cylinder"),
            );
        }
        _ => {
            let note = "hidden in settling, and within the track skew";
            sheet.add_ms("head_switch_ms", track_skew.min(least - overhead), From::Estimate, note);
            sheet.missing.push("head switch: no longer than settling".into());
        }
    }
    let (kept, left_out) = plausible(&seeks.cylinders);
    if !left_out.is_empty() {
        let which = left_out.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        sheet.missing.push(format!("seeks over {which} cylinders: far off those beside them"));
    }
    let points = kept
        .iter()
        .map(|&(distance, ns)| format!("[{distance}, {}]", (moves(ns).max(0.0)).round() / 1e6));
    let points = points.collect::<Vec<_>>().join(", ");
    sheet.add(
        "seek_points_ms",
        format!("[{points}]"),
        From::Measured,
        from("halved between caught and missed"),
    );
}

/// The points that an arm can have, and the distances of the others: a time that is a fifth off the line between its
/// neighbours, and not between them, was held up or came by luck.
///
/// 4 ms over 100 cylinders and 6 over 300: 5 over 200 is kept, and 3 is not.
fn plausible(points: &[(u64, f64)]) -> (Vec<(u64, f64)>, Vec<u64>) {
    let is_off = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| points.get(before));
        before.zip(points.get(at + 1)).is_some_and(|(&(near, near_ns), &(far, far_ns))| {
            let (distance, ns) = points[at];
            let share = (distance - near) as f64 / (far - near) as f64;
            let line = near_ns + (far_ns - near_ns) * share;
            (ns / line - 1.0).abs() > 0.2 && !(near_ns..=far_ns).contains(&ns)
        })
    };
    let (off, kept): (Vec<usize>, Vec<usize>) = (0..points.len()).partition(|&at| is_off(at));
    let kept = kept.into_iter().map(|at| points[at]).collect();
    (kept, off.into_iter().map(|at| points[at].0).collect())
}

/// The shortest skews from track to track and from cylinder to cylinder, less what their measurement may be off, in ns.
fn skews(found: &Found) -> [f64; 2] {
    let shortest = |sectors: &dyn Fn(&ZoneFound) -> u32| {
        let parts = found
            .zones
            .iter()
            .map(|zone| f64::from(sectors(zone)) / f64::from(zone.sectors_per_track));
        (parts.fold(1.0, f64::min) - 0.002) * found.revolution_ns
    };
    [shortest(&|zone| zone.track_skew_sectors), shortest(&|zone| zone.cylinder_skew_sectors)]
}

fn buffer(found: &Found, reads: &str, sheet: &mut Sheet) {
    let buffer = &found.buffer;
    let from = |what: &str| format!("{what}: {reads}");
    let measured = From::Measured;
    if buffer.segments == Some(0) {
        sheet.add_ms("read_hit_overhead_ms", buffer.hit_ns, From::Estimate, "no hit was seen");
        sheet.missing.push("hits: no read was answered by the buffer".into());
    } else {
        sheet.add_ms("read_hit_overhead_ms", buffer.hit_ns, measured, from("hits, short and long"));
    }
    match buffer.segments {
        Some(segments) => {
            sheet.add("buffer_segments", segments, measured, "reads elsewhere until a hit is none");
        }
        None => {
            sheet.add("buffer_segments", 512, From::Estimate, "at least so many");
            sheet.missing.push("segments: more than 512 reads are kept".into());
        }
    }
    sheet.add("segment_sectors", buffer.segment_sectors, measured, from("what is still held"));
    sheet.add(
        "read_ahead_sectors",
        buffer.read_ahead_sectors,
        measured,
        from("what is held beyond a read"),
    );
    let policy = match buffer.policy {
        Policy::Never | Policy::Beyond => "beyond",
        Policy::UntilFull => "until-full",
        Policy::SequentialTracks => "sequential-tracks",
        Policy::TrackEnd => "track-end",
        Policy::WholeTrack => "whole-track",
    };
    sheet.add(
        "read_ahead_policy",
        format!("{policy:?}"),
        measured,
        from("how that depends on the read"),
    );
    let keeps = if buffer.keeps_everything { "everything" } else { "ahead" };
    sheet.add("keeps", format!("{keeps:?}"), measured, "the same read again");
    sheet.add("zero_latency", buffer.zero_latency, measured, from("whole tracks"));
    match buffer.sends_whole {
        Some(whole) => {
            let word = if whole { "whole" } else { "streamed" };
            sheet.add("sending", format!("{word:?}"), measured, from("half tracks"));
        }
        None => sheet.missing.push("whether reads are sent whole: streamed".into()),
    }
    if let Some(sector_ns) = buffer.bus_sector_ns {
        let rate = (SECTOR_BYTES as f64 * 1e3 / sector_ns * 1e3).round() / 1e3;
        sheet.add("interface_mb_per_s", rate, measured, from("hits, short and long"));
    } else {
        let longest = found.zones.iter().map(|zone| zone.sectors_per_track).max().unwrap_or(1);
        let media = f64::from(longest) * SECTOR_BYTES as f64 * 1e3 / found.revolution_ns;
        let note = "no long hit: twice what passes the head";
        sheet.add("interface_mb_per_s", (2.0 * media).ceil(), From::Estimate, note);
        sheet.missing.push("the bus: no long hit".into());
    }
}

/// What reads say nothing of.
fn writes(probed: &Probed, sheet: &mut Sheet) {
    let buffer = &probed.found.buffer;
    let guess = From::Estimate;
    sheet.add_ms("write_overhead_ms", buffer.hit_ns, guess, "as a hit's; writes are not probed");
    sheet.add("write_settle_ms", 0, guess, "writes are not probed");
    sheet.add("write_cache", buffer.segment_sectors > 0, guess, "most drives come with it on");
    if probed.sectors >= QUEUES_FROM {
        sheet.add("queue_discipline", "\"sptf\"", guess, "drives of this size reorder");
        sheet.add("queue_depth", 32, guess, "NCQ");
        sheet.add("queue_ageing_us_per_ms", 50, guess, "of such drives in general");
    }
    if probed.sectors >= PICKS_FROM_BYTES / SECTOR_BYTES {
        sheet.add("destage_choices", 256, guess, "of such drives in general");
    }
    sheet.missing.push("writes, and the order of queued commands".into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_as_short_as_its_revolution_allows() {
        assert!((rpm(8_333_333.2) - 7200.0).abs() < 1e-9);
        assert!((rpm(5_973_121.0) - 10_045.0).abs() < 1e-9);
        assert!(((60e9 / rpm(8_333_000.0)).round() - 8_333_000.0).abs() < 0.5);
    }

    fn zone(first_lba: u64, end_lba: u64, origin_lba: u64) -> ZoneFound {
        ZoneFound {
            first_lba,
            end_lba,
            origin_lba,
            origin_angle_ns: 0.0,
            sectors_per_track: 10,
            heads: Some(4),
            cylinder_sectors: 40,
            track_skew_sectors: 1,
            cylinder_skew_sectors: 2,
        }
    }

    #[test]
    fn a_seek_that_no_arm_has_is_left_out() {
        let points = [(100, 4.0), (200, 3.0), (300, 6.0), (400, 7.0), (500, 12.0), (600, 8.5)];
        let (kept, left_out) = plausible(&points);
        assert_eq!(left_out, [200, 500]);
        assert_eq!(kept, [(100, 4.0), (300, 6.0), (400, 7.0), (600, 8.5)]);
    }

    #[test]
    fn cylinders_follow_from_sectors() {
        let all = [zone(0, 105, 25), zone(105, 185, 145)];
        assert_eq!(reserved(&all[0]), 15);
        let text = zones(&all);
        assert!(text.starts_with("[{ first_cylinder = 0, last_cylinder = 2,"), "{text}");
        assert!(text.contains("{ first_cylinder = 3, last_cylinder = 4,"), "{text}");
        assert!(!text.contains("spare"), "{text}");
        assert!(zones(&[zone(0, 100, 25), zone(100, 180, 140)]).contains("spare = 5"));
    }
}
