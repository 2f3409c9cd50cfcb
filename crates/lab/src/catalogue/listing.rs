//! The catalogue as data to print.

use super::controller::ControllerFigures;
use super::drive::{CLASSES, DriveFigures};
use super::figure::{Figure, Kind, Value};
use super::host::HostFigures;
use super::sheet::Sheet;
use super::tree::TreeFigures;
use super::{Drive, controller, drive, drive_names, host, tree};
use crate::error::{Error, Result};
use serde::Serialize;
use sim::drive::{Platters, mean_seek_ns, seek_table};
use std::fmt::Write;
use store::known::Cell;

/// A drive in a line.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name in the catalogue.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Year of introduction.
    pub year: Option<u64>,
    /// Capacity, in 10^9 bytes.
    pub gigabytes: f64,
    /// Rotational speed, in rpm.
    pub rpm: f64,
    /// Recording surfaces.
    pub heads: u64,
    /// Cylinders.
    pub cylinders: u32,
    /// The rate at which sectors pass the head, outermost and innermost zone, in MB/s.
    pub media_mb_per_s: [f64; 2],
    /// The rate of long transfers, switches counted, outermost and innermost zone, in MB/s.
    pub sustained_mb_per_s: [f64; 2],
    /// The mean seek over random requests, in ms.
    pub seek_mean_ms: f64,
}

impl Row {
    /// What stands in each cell.
    pub const HEADINGS: [&'static str; 9] =
        ["name", "title", "year", "GB", "rpm", "heads", "media MB/s", "sustained MB/s", "seek ms"];

    /// As text, a cell for each heading.
    pub fn cells(&self) -> [String; 9] {
        let pair = |[outer, inner]: [f64; 2]| format!("{outer:.1}-{inner:.1}");
        [
            self.name.clone(),
            self.title.clone(),
            self.year.map(|year| year.to_string()).unwrap_or_default(),
            format!("{:.2}", self.gigabytes),
            format!("{:.0}", self.rpm),
            self.heads.to_string(),
            pair(self.media_mb_per_s),
            pair(self.sustained_mb_per_s),
            format!("{:.1}", self.seek_mean_ms),
        ]
    }

    /// The line of `drive`.
    ///
    /// # Errors
    ///
    /// Where its figures make no drive.
    pub fn of(drive: &Drive) -> Result<Self> {
        let disk = drive.disk()?;
        let spec = disk.spec()?;
        let impossible = |error: &dyn std::fmt::Display| {
            Error::input(format!("{}: {error}; check these figures", drive.sheet.label))
        };
        let platters = Platters::new(&spec.platters).map_err(|error| impossible(&error))?;
        let seeks =
            seek_table(&spec.seek, platters.cylinders()).map_err(|error| impossible(&error))?;
        let in_mb = |(outer, inner): (f64, f64)| [outer / 1e6, inner / 1e6];
        Ok(Row {
            name: drive.name.clone(),
            title: drive.title.clone(),
            year: drive.figures.year,
            gigabytes: drive.sectors() as f64 * block::SECTOR_BYTES as f64 / 1e9,
            rpm: disk.figures.rpm,
            heads: u64::from(spec.platters.heads),
            cylinders: platters.cylinders(),
            media_mb_per_s: in_mb(platters.media_rates()),
            sustained_mb_per_s: in_mb(platters.sustained_rates()),
            seek_mean_ms: mean_seek_ns(&seeks) / 1e6,
        })
    }
}

/// Every real drive of the catalogue in a line, in the order of their names.
///
/// # Errors
///
/// Where a file of the catalogue is at fault, which would be ours.
pub fn list() -> Result<Vec<Row>> {
    let drives = drive_names().into_iter().map(drive).collect::<Result<Vec<_>>>()?;
    drives.iter().filter(|drive| !drive.is_ideal()).map(Row::of).collect()
}

/// All that is known of a drive, a host, a RAID controller or a tree.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Its name in the catalogue.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Other names it is found by.
    pub also: Vec<String>,
    /// What to know before trusting it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// A hash of its file.
    pub digest: String,
    /// Its figures.
    pub figures: Vec<Stated>,
    /// What follows from them.
    pub derived: Vec<Derived>,
}

/// A figure, as its file states it.
#[derive(Clone, Debug, Serialize)]
pub struct Stated {
    /// Its key.
    pub key: &'static str,
    /// What it is.
    pub value: Value,
    /// What it is counted in.
    pub unit: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// How it came about.
    pub kind: Kind,
    /// The full citation of its source.
    pub source: String,
    /// How it was computed, or what else to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What it was fitted to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fitted_to: Vec<Cell>,
}

/// A figure that follows from those in the file.
#[derive(Clone, Debug, Serialize)]
pub struct Derived {
    /// Its key.
    pub key: &'static str,
    /// What it is.
    pub value: f64,
    /// What it is counted in.
    pub unit: &'static str,
}

/// All that is known of the drive called `name`.
///
/// # Errors
///
/// Where there is no such drive, or its file is at fault.
pub fn describe(name: &str) -> Result<Description> {
    let drive = drive(name)?;
    if drive.is_ideal() {
        // Its figures are all that there is to know.
        return Ok(stated(&drive.name, &drive.sheet));
    }
    let Row { gigabytes, cylinders, media_mb_per_s, sustained_mb_per_s, seek_mean_ms, .. } =
        Row::of(&drive)?;
    let spec = drive.disk()?.spec()?.platters;
    let revolution_ms = spec.revolution_ns as f64 / 1e6;
    let outer = &spec.zones[0];
    let skew_ms = |slots: u32| revolution_ms * f64::from(slots) / f64::from(outer.slots_per_track);
    let mut description = stated(&drive.name, &drive.sheet);
    description.derived = [
        ("capacity", gigabytes, "GB"),
        ("cylinders", f64::from(cylinders), ""),
        ("media_rate_outer", media_mb_per_s[0], "MB/s"),
        ("media_rate_inner", media_mb_per_s[1], "MB/s"),
        ("sustained_rate_outer", sustained_mb_per_s[0], "MB/s"),
        ("sustained_rate_inner", sustained_mb_per_s[1], "MB/s"),
        ("seek_mean", seek_mean_ms, "ms"),
        ("rotation_mean", revolution_ms / 2.0, "ms"),
        ("track_skew_outer", skew_ms(outer.track_skew_slots), "ms"),
        ("cylinder_skew_outer", skew_ms(outer.cylinder_skew_slots), "ms"),
    ]
    .map(|(key, value, unit)| Derived { key, value, unit })
    .into();
    Ok(description)
}

/// All that is known of the host called `name`.
///
/// # Errors
///
/// Where there is no such host, or its file is at fault.
pub fn describe_host(name: &str) -> Result<Description> {
    let host = host(name)?;
    Ok(stated(&host.name, &host.sheet))
}

/// All figures of the tree called `name`, or of a listing.
///
/// # Errors
///
/// Where there is no such tree, or its file is at fault.
pub fn describe_tree(name: &str) -> Result<Description> {
    let tree = tree(name)?;
    let mut description = match &tree.sheet {
        Some(sheet) => stated(&tree.name, sheet),
        None => Description {
            name: tree.name.clone(),
            title: tree.title.clone(),
            also: vec![],
            note: Some(tree.notes.join("\n")).filter(|notes| !notes.is_empty()),
            digest: tree.digest.clone(),
            figures: vec![],
            derived: vec![],
        },
    };
    let figures = tree.tree.figures();
    description.derived = [
        ("files", figures.files as f64, ""),
        ("directories", figures.directories as f64, ""),
        ("depth_mean", figures.depth_mean, ""),
        ("depth_max", f64::from(figures.depth_max), ""),
        ("bytes", figures.bytes as f64 / MIB, "MiB"),
        ("large_bytes", figures.large_bytes as f64 / MIB, "MiB"),
    ]
    .map(|(key, value, unit)| Derived { key, value, unit })
    .into();
    Ok(description)
}

const MIB: f64 = 1_048_576.0;

/// All that is known of the RAID controller called `name`.
///
/// # Errors
///
/// Where there is no such controller, or its file is at fault.
pub fn describe_controller(name: &str) -> Result<Description> {
    let found = controller(name)?;
    Ok(stated(&found.name, &found.sheet))
}

fn stated(name: &str, sheet: &Sheet) -> Description {
    let citation = |key: &str| {
        let source = sheet.sources.iter().find(|(name, _)| name == key);
        source.map(|(_, citation)| citation.clone()).unwrap_or_default()
    };
    let figures = sheet.figures.iter().map(|(figure, cited)| Stated {
        key: figure.key,
        value: cited.value.clone(),
        unit: figure.unit,
        meaning: figure.meaning,
        kind: cited.kind,
        source: citation(&cited.source),
        note: cited.note.clone(),
        fitted_to: cited.fitted_to.clone(),
    });
    Description {
        name: name.into(),
        title: sheet.title.clone(),
        also: sheet.also.clone(),
        note: sheet.note.clone(),
        digest: sheet.digest.clone(),
        figures: figures.collect(),
        derived: vec![],
    }
}

/// The tables of figures in `docs/catalogue.md`.
pub fn tables() -> String {
    let mut text = String::new();
    let mut tables = vec![("Figures of every drive", DriveFigures::FIGURES)];
    tables.extend(CLASSES.iter().map(|class| (class.title, class.figures)));
    tables.extend([
        ("Figures of a host", HostFigures::FIGURES),
        ("Figures of a RAID controller", ControllerFigures::FIGURES),
        ("Figures of a tree", TreeFigures::FIGURES),
    ]);
    for (title, figures) in tables {
        let _ = writeln!(text, "## {title}\n\n| key | unit | may be | meaning | left out |");
        let _ = writeln!(text, "|---|---|---|---|---|");
        for Figure { key, unit, meaning, shape, left_out } in figures {
            let _ = writeln!(text, "| `{key}` | {unit} | {shape} | {meaning} | {left_out} |");
        }
        text.push('\n');
    }
    text
}
