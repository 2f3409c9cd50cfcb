//! From `DiskSim`'s parameters of a controller to ours: overheads, buffer, bus and policies.
//!
//! Rules are of parameters, never of a drive; docs/drives.md has what each is worth.

use super::layout::Layout;
use super::mechanics::Mechanics;
use super::params::Block;
use super::{COMPUTED, ESTIMATE, MEASURED, Sheet};
use crate::error::Result;

const TIME: [f64; 2] = [0.0, 100.0];
const FLAG: [f64; 2] = [-1.0, 1.0];

/// What a command takes to settle, of the shortest seek: the rest of that is the arm's move.
const SETTLE_SHARE: f64 = 0.7;

/// What a sector takes on a bus of 5 MB/s, in ms: SCSI's synchronous rate, where no bus was measured.
const SYNCHRONOUS_MS: f64 = 0.1024;

/// The same on one that is held for a whole transfer: the HP C3323A's.
const HELD_MS: f64 = 0.1455;

/// The most that a sector takes on a bus that was measured: the median of those measured on one host. The one drive
/// there that is said to take longer (0.134) does not, by its own hits and writes.
const BULK_MS_MAX: f64 = 0.1055;

/// Whether the water marks are shares of the request.
const BY_REQUEST: &str = "Set watermark by reqsize";

/// Whether a read has the bus to its end.
const HELD: &str = "Hold bus entire read xfer";

/// A time in ms to the ns.
fn rounded(ms: f64) -> f64 {
    (ms * 1e6).round() / 1e6
}

/// Writes the figures of the controller.
pub(super) fn policies(
    disk: &Block,
    layout: &Layout,
    mechanics: &Mechanics,
    sheet: &mut Sheet,
) -> Result<()> {
    settle(layout, mechanics, sheet);
    let behind = disk.count("Fast write level", 2)?;
    overheads(disk, behind > 0, sheet)?;
    buffer(disk, behind, layout, sheet)?;
    bus(disk, layout, mechanics, sheet)?;
    for name in ["Read", "Write"] {
        let name = format!("Immediate buffer {}", name.to_lowercase());
        if disk.number(&name, [0.0, 2.0])?.is_some_and(|level| level > 0.0) {
            sheet.leave_out(format!("{name}: with zero-latency access, reads and writes have it"));
        }
    }
    ignored(disk, sheet)
}

/// The next track is turned by what a head takes to settle on it, or more: no command settles for longer.
fn settle(layout: &Layout, mechanics: &Mechanics, sheet: &mut Sheet) {
    let share_ms = SETTLE_SHARE * mechanics.single_ms;
    let skew_ms = layout.track_skew_turns * 60e3 / mechanics.rpm;
    let note = if skew_ms < share_ms {
        "the track skew of the first zone".to_string()
    } else {
        format!("{SETTLE_SHARE} of a seek to the next cylinder")
    };
    sheet.add("command_settle_ms", rounded(share_ms.min(skew_ms)), ESTIMATE, &note);
}

/// The work on a command, by what it is and what was before.
fn overheads(disk: &Block, behind: bool, sheet: &mut Sheet) -> Result<()> {
    let scale = disk.number("Time scale for overheads", [0.0, 100.0])?.unwrap_or(1.0);
    let each = disk.number("Per-request overhead time", TIME)?.unwrap_or(0.0);
    let time = |name: &str| Ok(rounded(scale * (each + disk.need(name, TIME)?)));
    let [after_read, after_write] =
        [time("Read hit over. after read")?, time("Read hit over. after write")?];
    if behind && after_write > after_read {
        // Right after a read its sequencer answers; after a pause the firmware does, as after a write.
        let note = format!("that after a write; right after another hit it is {after_read}");
        sheet.add("read_hit_overhead_ms", after_write, COMPUTED, &note);
    } else {
        sheet.add("read_hit_overhead_ms", after_read, MEASURED, "");
        sheet.add("read_hit_after_write_overhead_ms", after_write, MEASURED, "");
    }
    for (key, name) in [
        ("read_miss_overhead_ms", "Read miss over. after read"),
        ("read_miss_after_write_overhead_ms", "Read miss over. after write"),
    ] {
        sheet.add(key, time(name)?, MEASURED, "");
    }
    let done = disk.number("Read completion overhead", TIME)?.unwrap_or(0.0);
    sheet.add("read_completion_ms", rounded(scale * done), MEASURED, "");
    // A write into the buffer is a hit in the manual's words: done before it is on the medium.
    let [kind, other] = if behind { ["hit", "miss"] } else { ["miss", "hit"] };
    let write = |kind: &str, before: &str| time(&format!("Write {kind} over. after {before}"));
    writes(behind, [write(kind, "read")?, write(kind, "write")?], sheet);
    for before in ["read", "write"] {
        let overhead_ms = write(other, before)?;
        if overhead_ms > 0.0 && overhead_ms.total_cmp(&write(kind, before)?).is_ne() {
            let when = if behind { "larger than the buffer" } else { "into the buffer" };
            sheet.leave_out(format!("Write {other} over. after {before}: of writes {when}"));
        }
    }
    Ok(())
}

/// The work on a write after a read and after a write.
fn writes(behind: bool, [after_read, after_write]: [f64; 2], sheet: &mut Sheet) {
    sheet.add("write_overhead_ms", after_read, MEASURED, "");
    if behind && after_write > after_read {
        let note =
            format!("that after a read; {after_write} right after a write, with the wait for it");
        sheet.add("write_after_write_overhead_ms", after_read, COMPUTED, &note);
    } else {
        sheet.add("write_after_write_overhead_ms", after_write, MEASURED, "");
    }
    if behind {
        let note = "as after a read: what was measured after a write was near it";
        sheet.add("write_other_zone_after_write_overhead_ms", after_read, COMPUTED, note);
    }
}

/// Segments, read-ahead and what is kept.
fn buffer(disk: &Block, behind: u64, layout: &Layout, sheet: &mut Sheet) -> Result<()> {
    let segments = disk.count("Number of buffer segments", 100_000)?;
    let segment = disk.count("Segment size (in blks)", 1 << 30)?;
    let caches = disk.number("Enable caching in buffer", [0.0, 2.0])?.unwrap_or(1.0) > 0.0;
    sheet.add("buffer_segments", if caches { segments } else { 0 }, MEASURED, "");
    let most = disk.count("Maximum read-ahead (blks)", 1 << 30)?.min(segment);
    let [longest, shortest] = layout.tracks;
    let level = disk.count("Buffer continuous read", 4)?;
    let (size, ahead, policy) = match level {
        0 => (segment, 0, "beyond"),
        1 => (segment, most, "track-end"),
        4 if 2 * segment < shortest => (2 * longest, 2 * longest, "sequential-tracks"),
        4 if segment <= longest => (segment, most, "whole-track"),
        3 | 4 if most == segment => (segment, most, "until-full"),
        _ => (segment, most, "beyond"),
    };
    if level == 2 {
        sheet.leave_out("Buffer continuous read = 2: read-ahead goes on after the cylinder's end");
    }
    sheet.add("segment_sectors", size, if size == segment { MEASURED } else { ESTIMATE }, "");
    sheet.add("read_ahead_sectors", ahead, if ahead == most { MEASURED } else { ESTIMATE }, "");
    sheet.add_word("read_ahead_policy", policy, &format!("Buffer continuous read = {level}"));
    if disk.number("Read-ahead over requested", FLAG)? == Some(1.0) {
        sheet.add_word("keeps", "ahead", "Read-ahead over requested = 1");
    }
    let written = disk.number("Allow read hits on write data", FLAG)?.unwrap_or(0.0) > 0.0;
    sheet.add("written_segments", u64::from(written), COMPUTED, "Allow read hits on write data");
    sheet.add("fast_write_level", behind, MEASURED, "");
    sheet.add("write_cache", behind > 0, COMPUTED, "on where fast_write_level is 1 or 2");
    if behind > 0 {
        sheet.add("write_buffer_sectors", segments.max(1) * segment, ESTIMATE, "all segments");
    }
    Ok(())
}

/// How data goes over the bus, and what it took where the drive was measured.
fn bus(disk: &Block, layout: &Layout, mechanics: &Mechanics, sheet: &mut Sheet) -> Result<()> {
    let by_request = disk.number(BY_REQUEST, FLAG)? == Some(1.0);
    let mut is_by_request = false;
    for (key, name) in [("sending", "High (read) water mark"), ("taking", "Low (write) water mark")]
    {
        let mark = disk.number(name, [0.0, 1.0])?.unwrap_or(0.0);
        if mark >= 1.0 && by_request {
            is_by_request = true;
            sheet.add_word(key, "whole", &format!("{name} = 1, of the request"));
        } else if mark > 0.0 {
            sheet.leave_out(format!("{name} = {mark}: sectors go as they come"));
        }
    }
    if by_request && !is_by_request {
        sheet.leave_out(format!("{BY_REQUEST} = 1: no water mark is of a whole request"));
    }
    let interface = crate::catalogue::import::conclusions::interface_mb_per_s(
        layout.tracks[0] as f64,
        mechanics.rpm,
    );
    let note = "not measured; the slowest SCSI rate of at least twice the media rate";
    sheet.add("interface_mb_per_s", interface, ESTIMATE, note);
    let bulk = disk.number("Bulk sector transfer time", TIME)?.unwrap_or(0.0);
    let is_held = disk.number(HELD, FLAG)? == Some(1.0);
    if is_held && bulk > 0.0 {
        sheet.leave_out(format!("{HELD} = 1: a sector takes its measured time on the bus"));
    }
    let (sector_ms, from, note) = if bulk > BULK_MS_MAX {
        (BULK_MS_MAX, ESTIMATE, format!("{bulk} ms a sector measured; the median of others:"))
    } else if bulk > 0.0 {
        (bulk, MEASURED, "measured:".into())
    } else if is_held {
        (HELD_MS, ESTIMATE, "not measured, and the bus is held:".into())
    } else {
        (SYNCHRONOUS_MS, ESTIMATE, "not measured; 5 MB/s:".into())
    };
    let rate = (512.0 / sector_ms).round() / 1e3;
    sheet.add("measured_bus_mb_per_s", rate, from, &format!("{note} {sector_ms} ms a sector"));
    Ok(())
}

/// Parameters that the model has in one state, or does without.
fn ignored(disk: &Block, sheet: &mut Sheet) -> Result<()> {
    for name in [
        "Hold bus entire write xfer",
        "Allow almost read hits",
        "Allow sneaky full read hits",
        "Allow sneaky partial read hits",
        "Allow sneaky intermediate read hits",
        "Allow write prebuffering",
        "Preseeking level",
        "Never disconnect",
        "Minimum read-ahead (blks)",
        "Disconnect write if seek",
        "Write completion overhead",
        "Data preparation overhead",
        "First reselect overhead",
        "Other reselect overhead",
        "Read disconnect afterread",
        "Read disconnect afterwrite",
        "Write disconnect overhead",
        "Extra write disconnect",
        "Extradisc command overhead",
        "Extradisc disconnect overhead",
        "Extradisc inter-disconnect delay",
        "Extradisc 2nd disconnect overhead",
        "Extradisc seek delta",
        "Minimum seek delay",
    ] {
        sheet.only(disk, name, 0.0)?;
    }
    for name in ["Combine seq writes", "Max queue length"] {
        sheet.only(disk, name, 1.0)?;
    }
    Ok(())
}
