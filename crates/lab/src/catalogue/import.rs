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
//! over the bus of the host that measured, which says nothing of the drive. `write_settle_add_ms`,
//! `max_readahead_blks` and skews may be left out or null. Other keys are ignored.
//!
//! What the measurements do not say is concluded from them, by rules that hold for the drives with
//! traces as well: [`conclusions`].

mod conclusions;
mod disksim;

use self::conclusions::{Conclusion, conclusions};
pub use self::disksim::{DiskSim, import_disksim, import_disksim_file};
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
    write_settle_add_ms: Option<f64>,
    segments: f64,
    segment_blks: f64,
    max_readahead_blks: Option<f64>,
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

impl MeasuredDrive {
    /// The measured seeks; one of no distance is none.
    fn seeks(&self) -> impl Iterator<Item = (f64, f64)> {
        self.seek_ms.iter().copied().filter(|(distance, _)| *distance != 0.0)
    }
}

#[derive(Deserialize)]
struct MeasuredZone {
    cyl0: f64,
    cyl1: f64,
    spt: f64,
    track_skew: Option<f64>,
    cyl_skew: Option<f64>,
}

/// The first line of a drive file that may be overwritten: nobody wrote it.
pub const MADE: &str = "# Made by ileave, which overwrites it when it makes it again.";

/// Makes a catalogue file of each drive in `json`: its name, and its text.
///
/// # Errors
///
/// Where `json` is not in the format, or no drive can be built from it.
pub fn import(json: &str) -> Result<Vec<(String, String)>> {
    let measured: Measured = serde_json::from_str(json).map_err(|error| {
        let next = "`ileave drives import --help` says what it holds";
        Error::input(format!("not a file of measured drives: {error}; {next}"))
    })?;
    let mut files: Vec<(String, String)> = vec![];
    for (title, value) in measured.drives {
        let drive: MeasuredDrive = serde_path_to_error::deserialize(value).map_err(|error| {
            let place = match error.path().to_string().as_str() {
                "." => String::new(),
                path => format!("`{path}`: "),
            };
            Error::input(format!("drive `{title}`: {place}{}", error.inner()))
                .followed_by("correct it; docs/catalogue.md says what a drive needs")
        })?;
        let name = file_name(&title);
        if files.iter().any(|(other, _)| *other == name) {
            return Err(Error::input(format!("two drives would both be `{name}`; rename one")));
        }
        let text = write_file(&title, &measured.source, &drive);
        Drive::read(&name, &name, &text)
            .map_err(|error| error.context(format!("drive `{title}`, as a catalogue file")))?;
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
    let concluded = conclusions(drive);
    write_controller(&mut text, drive, &concluded);
    write_conclusions(&mut text, &concluded);
    write_zones(&mut text, &drive.zones);
    write_seeks(&mut text, &drive.seeks().collect::<Vec<_>>());
    text
}

/// What the sectors of the zones come to beside those that can be addressed; as TOML, on three lines.
fn note(drive: &MeasuredDrive) -> Option<String> {
    let in_zone = |zone: &MeasuredZone| (zone.cyl1 - zone.cyl0 + 1.0) * zone.spt * drive.heads;
    let more = drive.zones.iter().map(in_zone).sum::<f64>() - drive.sectors;
    let percent = 100.0 * more / drive.sectors;
    (more > 0.0).then(|| {
        format!(
            "The zones hold {more} sectors ({percent:.1} %) more than the capacity: spares, \
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
    if let Some(settle_ms) = drive.write_settle_add_ms {
        measured(text, "write_settle_ms", settle_ms);
    }
}

fn write_controller(text: &mut String, drive: &MeasuredDrive, concluded: &[Conclusion]) {
    let is_open = |key: &str| concluded.iter().all(|conclusion| conclusion.key != key);
    text.push('\n');
    measured(text, "read_hit_overhead_ms", drive.read_hit_oh_ms);
    measured(text, "read_miss_overhead_ms", drive.read_miss_oh_ms);
    measured(text, "write_overhead_ms", drive.write_miss_oh_ms);
    measured(text, "buffer_segments", drive.segments);
    if is_open("segment_sectors") {
        measured(text, "segment_sectors", drive.segment_blks);
    }
    if let Some(sectors) = drive.max_readahead_blks.filter(|_| is_open("read_ahead_sectors")) {
        measured(text, "read_ahead_sectors", sectors);
    }
    measured(text, "fast_write_level", drive.fast_write_level);
    if let Some(sector_ms) = drive.bulk_sector_xfer_ms.filter(|&sector_ms| sector_ms > 0.0) {
        let rate = (512.0 / sector_ms).round() / 1e3;
        let _ = writeln!(
            text,
            "measured_bus_mb_per_s = {{ value = {rate}, kind = \"measured\", source = \"measured\", \
             note = \"{sector_ms} ms a sector\" }}"
        );
    }
    if let Some(rate) = drive.interface_mb_per_s {
        measured(text, "interface_mb_per_s", rate);
    }
}

fn write_conclusions(text: &mut String, concluded: &[Conclusion]) {
    text.push('\n');
    for Conclusion { key, value, note } in concluded {
        let _ = writeln!(
            text,
            "{key} = {{ value = {value}, kind = \"estimate\", source = \"ileave\", note = \"{note}\" }}"
        );
    }
}

fn write_zones(text: &mut String, zones: &[MeasuredZone]) {
    let _ =
        writeln!(text, "\n[figures.zones]\nkind = \"measured\"\nsource = \"measured\"\nvalue = [");
    for MeasuredZone { cyl0, cyl1, spt, track_skew, cyl_skew } in zones {
        let _ = write!(
            text,
            "  {{ first_cylinder = {cyl0}, last_cylinder = {cyl1}, sectors_per_track = {spt}"
        );
        for (key, skew) in [("track_skew", track_skew), ("cylinder_skew", cyl_skew)] {
            if let Some(skew) = skew {
                let _ = write!(text, ", {key} = {skew}");
            }
        }
        text.push_str(" },\n");
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
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
