//! Drives measured by others, as catalogue files.
//!
//! The format is that of the figures which `DIXtrac` and the University of Michigan measured for
//! `DiskSim`, gathered in one JSON file:
//!
//! ```text
//! { "source": "…", "drives": { "Seagate ST32171W Barracuda 4LP": {
//!     "rpm": 7200, "heads": 5, "sectors": 4110000, "head_switch_ms": 0.1, "write_settle_add_ms": 0,
//!     "segments": 3, "segment_blks": 281, "max_readahead_blks": 281, "fast_write_level": 1,
//!     "read_hit_oh_ms": 0.082, "read_miss_oh_ms": 0.61, "write_miss_oh_ms": 0.82,
//!     "zones": [{ "cyl0": 0, "cyl1": 1127, "spt": 186, "track_skew": 37, "cyl_skew": 52 }],
//!     "seek_ms": [[1, 1.943], [2, 1.956]] } } }
//! ```
//!
//! A drive may add `year`, `also`, `interface_mb_per_s` and `bulk_sector_xfer_ms`: what a sector took
//! over the bus of the host that measured, which says nothing of the drive. Other keys are passed over.
//!
//! What the measurements do not say follows from the drives for which there are traces as well
//! (docs/drives.md): a command settles for as long as a single-cylinder seek, writes are taken into the
//! buffer where `fast_write_level` is not 0, and the firmware makes the plainest choices.

use super::drive::Drive;
use crate::error::{Error, Result};
use serde::Deserialize;
use std::fmt::Write;

/// The source of figures whose file does not say who measured them.
fn unsaid() -> String {
    "measured by whoever made the imported file, which does not say".into()
}

#[derive(Deserialize)]
struct Measured {
    #[serde(default = "unsaid")]
    source: String,
    drives: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct MeasuredDrive {
    rpm: f64,
    heads: f64,
    sectors: f64,
    head_switch_ms: f64,
    write_settle_add_ms: f64,
    segments: f64,
    segment_blks: f64,
    max_readahead_blks: f64,
    fast_write_level: f64,
    read_hit_oh_ms: f64,
    read_miss_oh_ms: f64,
    write_miss_oh_ms: f64,
    zones: Vec<MeasuredZone>,
    seek_ms: Vec<(f64, f64)>,
    year: Option<f64>,
    #[serde(default)]
    also: Vec<String>,
    interface_mb_per_s: Option<f64>,
    bulk_sector_xfer_ms: Option<f64>,
}

#[derive(Deserialize)]
struct MeasuredZone {
    cyl0: f64,
    cyl1: f64,
    spt: f64,
    track_skew: f64,
    cyl_skew: f64,
}

/// Makes a catalogue file of each drive in `json`: its name, and its text.
///
/// # Errors
///
/// Where `json` is not in the format, or describes something that is no drive.
pub fn import(json: &str) -> Result<Vec<(String, String)>> {
    let measured: Measured = serde_json::from_str(json).map_err(|error| {
        let next = "`ileave drives import --help` says what it holds";
        Error::input(format!("no file of measured drives: {error}; {next}"))
    })?;
    let mut files: Vec<(String, String)> = vec![];
    for (title, value) in measured.drives {
        let drive: MeasuredDrive = serde_path_to_error::deserialize(value).map_err(|error| {
            let place = match error.path().to_string().as_str() {
                "." => String::new(),
                path => format!("`{path}`: "),
            };
            Error::input(format!("drive `{title}`: {place}{}", error.inner()))
        })?;
        let name = file_name(&title);
        if files.iter().any(|(other, _)| *other == name) {
            return Err(Error::input(format!("two drives would both be `{name}`; rename one")));
        }
        let text = write_file(&title, &measured.source, &drive);
        Drive::read(&name, &name, &text)
            .map_err(|error| error.context(format!("drive `{title}`")))?;
        files.push((name, text));
    }
    Ok(files)
}

/// The model number is the word with the most digits: `st32171w.toml`.
fn file_name(title: &str) -> String {
    let digits = |word: &&str| word.chars().filter(char::is_ascii_digit).count();
    let model = title.split_whitespace().rev().max_by_key(digits).unwrap_or("drive");
    let keep = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = model.to_ascii_lowercase().chars().map(keep).collect();
    format!("{}.toml", name.trim_matches('-'))
}

fn write_file(title: &str, source: &str, drive: &MeasuredDrive) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "name = {}", quoted(title));
    if !drive.also.is_empty() {
        let also: Vec<String> = drive.also.iter().map(|name| quoted(name)).collect();
        let _ = writeln!(text, "also = [{}]", also.join(", "));
    }
    if let Some(note) = note(drive) {
        let _ = writeln!(text, "note = \"\"\"\\\n{note}\"\"\"");
    }
    let _ = writeln!(text, "\n[sources]\nmeasured = {}", quoted(source));
    let _ = writeln!(text, "ileave = \"from the other figures of this file, when it was made\"");
    let _ = writeln!(text, "\n[figures]");
    write_mechanics(&mut text, drive);
    write_controller(&mut text, drive);
    write_zones(&mut text, &drive.zones);
    write_seeks(&mut text, &drive.seek_ms);
    text
}

/// What the sectors of the zones come to beside those that can be addressed; as TOML, on three lines.
fn note(drive: &MeasuredDrive) -> Option<String> {
    let in_zone = |zone: &MeasuredZone| (zone.cyl1 - zone.cyl0 + 1.0) * zone.spt * drive.heads;
    let more = drive.zones.iter().map(in_zone).sum::<f64>() - drive.sectors;
    let percent = 100.0 * more / drive.sectors;
    (more > 0.0).then(|| {
        format!(
            "The zones hold {more} sectors ({percent:.1} %) more than can be addressed: spares, \
             defects \\\nand cylinders kept by the drive. Which ones was not measured; here the \
             addressed sectors are \\\npacked from the outside, so rates fall off a little late."
        )
    })
}

fn measured(text: &mut String, key: &str, value: impl std::fmt::Display) {
    let _ =
        writeln!(text, "{key} = {{ value = {value}, kind = \"measured\", source = \"measured\" }}");
}

fn write_mechanics(text: &mut String, drive: &MeasuredDrive) {
    if let Some(year) = drive.year {
        measured(text, "year", year);
    }
    measured(text, "sectors", drive.sectors);
    measured(text, "rpm", drive.rpm);
    measured(text, "heads", drive.heads);
    measured(text, "head_switch_ms", drive.head_switch_ms);
    measured(text, "write_settle_ms", drive.write_settle_add_ms);
    if let Some((_, single_ms)) = drive.seek_ms.iter().find(|(distance, _)| *distance <= 1.0) {
        let _ = writeln!(
            text,
            "command_settle_ms = {{ value = {single_ms}, kind = \"computed\", source = \"ileave\", \
             note = \"a single-cylinder seek, as for the drives whose traces show it\" }}"
        );
    }
}

fn write_controller(text: &mut String, drive: &MeasuredDrive) {
    text.push('\n');
    measured(text, "read_hit_overhead_ms", drive.read_hit_oh_ms);
    measured(text, "read_miss_overhead_ms", drive.read_miss_oh_ms);
    measured(text, "write_overhead_ms", drive.write_miss_oh_ms);
    measured(text, "buffer_segments", drive.segments);
    measured(text, "segment_sectors", drive.segment_blks);
    measured(text, "read_ahead_sectors", drive.max_readahead_blks);
    measured(text, "fast_write_level", drive.fast_write_level);
    let _ = writeln!(
        text,
        "write_cache = {{ value = {}, kind = \"computed\", source = \"ileave\", \
         note = \"on where fast_write_level is 1 or 2\" }}",
        drive.fast_write_level > 0.0
    );
    if let Some(sector_ms) = drive.bulk_sector_xfer_ms.filter(|&sector_ms| sector_ms > 0.0) {
        let rate = (512.0 / sector_ms).round() / 1e3;
        let _ = writeln!(
            text,
            "measured_bus_mb_per_s = {{ value = {rate}, kind = \"measured\", source = \"measured\", \
             note = \"{sector_ms} ms a sector\" }}"
        );
    }
    if let Some(rate) = drive.interface_mb_per_s {
        return measured(text, "interface_mb_per_s", rate);
    }
    let _ = writeln!(
        text,
        "interface_mb_per_s = {{ value = {}, kind = \"estimate\", source = \"ileave\", \
         note = \"not measured; the slowest SCSI rate of at least twice the media rate\" }}",
        interface_mb_per_s(drive)
    );
}

/// A maker gives a drive an interface that does not hold it back: the slowest SCSI rate that is at
/// least twice as fast as the medium.
fn interface_mb_per_s(drive: &MeasuredDrive) -> u32 {
    let media = |zone: &MeasuredZone| zone.spt * 512.0 * drive.rpm / 60.0 / 1e6;
    let fastest = drive.zones.iter().map(media).fold(0.0, f64::max);
    let rates = [5, 10, 20, 40, 80, 160, 320, 640, 1200];
    rates.into_iter().find(|&rate| f64::from(rate) >= 2.0 * fastest).unwrap_or(2400)
}

fn write_zones(text: &mut String, zones: &[MeasuredZone]) {
    let _ =
        writeln!(text, "\n[figures.zones]\nkind = \"measured\"\nsource = \"measured\"\nvalue = [");
    for MeasuredZone { cyl0, cyl1, spt, track_skew, cyl_skew } in zones {
        let _ = writeln!(
            text,
            "  {{ first_cylinder = {cyl0}, last_cylinder = {cyl1}, sectors_per_track = {spt}, \
             track_skew = {track_skew}, cylinder_skew = {cyl_skew} }},"
        );
    }
    text.push_str("]\n");
}

fn write_seeks(text: &mut String, points: &[(f64, f64)]) {
    let _ = writeln!(
        text,
        "\n[figures.seek_points_ms]\nkind = \"measured\"\nsource = \"measured\"\nvalue = ["
    );
    for row in points.chunks(6) {
        let row: Vec<String> = row.iter().map(|(far, ms)| format!("[{far}, {ms}],")).collect();
        let _ = writeln!(text, "  {}", row.join(" "));
    }
    text.push_str("]\n");
}

/// `text` as TOML: JSON escapes a string in a way that TOML reads, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
