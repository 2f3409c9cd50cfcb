//! What follows from the figures of a measured drive where they do not say it.
//!
//! Each rule was held against the five drives with traces, one left out at a time; docs/drives.md has
//! the figures, and says which rules rest on one drive only.

use super::MeasuredDrive;

/// A figure that was not measured: its key, its value as TOML, and why.
pub(super) struct Conclusion {
    pub(super) key: &'static str,
    pub(super) value: String,
    pub(super) note: String,
}

/// What a command takes to settle, of the shortest seek: the rest of that is the arm's move.
const SETTLE_SHARE: f64 = 0.7;

/// The work before a write after a write, of that after a read.
const WRITE_AFTER_WRITE_SHARE: f64 = 0.9;

/// Up to which interface, in MB/s, what a sector took over the bus of the hosts that measured, in ms:
/// SCSI-2, where the HP C3323A's is known; Ultra and Ultra-2, the median of the four with a trace.
/// Of faster drives nothing is known.
const BUS_SECTOR_MS: [(u32, f64); 2] = [(20, 0.1455), (80, 0.1055)];

/// Seeks up to this, in cylinders, are mostly settling.
const SHORT_SEEK: f64 = 10.0;

fn conclusion(
    key: &'static str,
    value: impl std::fmt::Display,
    note: impl Into<String>,
) -> Conclusion {
    Conclusion { key, value: value.to_string(), note: note.into() }
}

/// A time in ms to the ns.
fn rounded_ms(ms: f64) -> f64 {
    (ms * 1e6).round() / 1e6
}

/// All that is concluded of `drive`.
pub(super) fn conclusions(drive: &MeasuredDrive) -> Vec<Conclusion> {
    let mut all = Vec::new();
    if let Some((distance, ms)) = drive.seeks().next().filter(|(far, _)| *far <= SHORT_SEEK) {
        let note = format!("{SETTLE_SHARE} of a seek over {distance} cylinder, {ms} ms");
        all.push(conclusion("command_settle_ms", rounded_ms(SETTLE_SHARE * ms), note));
    }
    read_ahead(drive, &mut all);
    let keeps_written = u32::from(drive.segments > 0.0);
    all.push(conclusion("written_segments", keeps_written, "what was written last is kept"));
    writes(drive, &mut all);
    buses(drive, &mut all);
    all
}

/// How far it reads on, when, and into how much.
fn read_ahead(drive: &MeasuredDrive, all: &mut Vec<Conclusion>) {
    let tracks = || drive.zones.iter().map(|zone| zone.spt);
    let shortest = tracks().fold(f64::MAX, f64::min);
    let segment = drive.segment_blks;
    let reads_on = drive.max_readahead_blks.unwrap_or(segment).min(segment);
    if reads_on > 0.0 && 2.0 * segment < shortest {
        let both = 2.0 * tracks().fold(0.0, f64::max);
        let found = format!("{segment} measured, after reads alone: less than half a track");
        all.push(conclusion("segment_sectors", both, format!("two tracks; {found}")));
        all.push(conclusion("read_ahead_sectors", both, "to the end of the next track"));
        let note = "what follows a read alone was not found in the buffer for half a track";
        all.push(conclusion("read_ahead_policy", "\"sequential-tracks\"", note));
        return;
    }
    if drive.max_readahead_blks.is_none_or(|blocks| blocks > segment) {
        all.push(conclusion("read_ahead_sectors", segment, "a whole segment"));
    }
}

/// How it takes writes, and, where it takes them straight to the medium, sends reads.
fn writes(drive: &MeasuredDrive, all: &mut Vec<Conclusion>) {
    let behind = drive.fast_write_level > 0.0;
    all.push(conclusion("write_cache", behind, "on where fast_write_level is 1 or 2"));
    if behind {
        let after_ms = rounded_ms(WRITE_AFTER_WRITE_SHARE * drive.write_miss_oh_ms);
        let note = format!("{WRITE_AFTER_WRITE_SHARE} of that after a read");
        all.push(conclusion("write_after_write_overhead_ms", after_ms, note));
        return;
    }
    for key in ["sending", "taking"] {
        let note = "a drive without write-behind does one thing at a time";
        all.push(conclusion(key, "\"whole\"", note));
    }
}

/// What its end of the bus can move, and what the bus moved where it was measured.
fn buses(drive: &MeasuredDrive, all: &mut Vec<Conclusion>) {
    if drive.interface_mb_per_s.is_some() {
        return;
    }
    let longest = drive.zones.iter().map(|zone| zone.spt).fold(0.0, f64::max);
    let interface = interface_mb_per_s(longest, drive.rpm);
    let note = "not measured; the slowest SCSI rate of at least twice the media rate";
    all.push(conclusion("interface_mb_per_s", interface, note));
    if drive.bulk_sector_xfer_ms.is_some_and(|sector_ms| sector_ms > 0.0) {
        return;
    }
    let known = BUS_SECTOR_MS.iter().find(|(fastest, _)| interface <= *fastest);
    if let Some((fastest, sector_ms)) = known {
        let rate = (512.0 / sector_ms).round() / 1e3;
        let note = format!(
            "not measured; {sector_ms} ms a sector, as where others of up to {fastest} MB/s were"
        );
        all.push(conclusion("measured_bus_mb_per_s", rate, note));
    }
}

/// A maker gives a drive an interface that does not hold it back: the slowest SCSI rate that is at
/// least twice as fast as the medium, whose longest track has so many sectors.
pub(super) fn interface_mb_per_s(longest_track: f64, rpm: f64) -> u32 {
    let fastest = longest_track * 512.0 * rpm / 60.0 / 1e6;
    let rates = [5, 10, 20, 40, 80, 160, 320, 640, 1200];
    rates.into_iter().find(|&rate| f64::from(rate) >= 2.0 * fastest).unwrap_or(2400)
}
