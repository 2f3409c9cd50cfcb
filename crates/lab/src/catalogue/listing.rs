//! The catalogue as data to print.

use super::controller::ControllerFigures;
use super::drive::{CLASSES, DriveFigures};
use super::figure::{Figure, Kind, Value};
use super::host::HostFigures;
use super::sheet::Sheet;
use super::tree::TreeFigures;
use super::{Disk, Drive, Flash, Model, controller, drive, drive_names, host, tree};
use crate::error::{Error, Result};
use serde::Serialize;
use sim::drive::{Platters, mean_seek_ns, seek_table};
use std::fmt::Write;
use store::known::Cell;

/// A drive in a line, by its class.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Row {
    /// A disk.
    Disk(DiskRow),
    /// A flash drive.
    Flash(FlashRow),
}

impl Row {
    /// The line of `drive`.
    ///
    /// # Errors
    ///
    /// Where its figures make no drive.
    pub fn of(drive: &Drive) -> Result<Self> {
        match &drive.model {
            Model::Disk(disk) => DiskRow::of(drive, disk).map(Row::Disk),
            Model::Flash(flash) => Ok(Row::Flash(FlashRow::of(drive, flash))),
            Model::IdealDisk(_) | Model::IdealFlash(_) => {
                Err(Error::input(format!("{} is a model of no real drive", drive.name)))
            }
        }
    }

    /// The line of a disk, if it is one.
    pub fn disk(self) -> Option<DiskRow> {
        match self {
            Row::Disk(row) => Some(row),
            Row::Flash(_) => None,
        }
    }

    /// As text: what stands in each cell, and the cells.
    pub fn cells(&self) -> (&'static [&'static str], Vec<String>) {
        match self {
            Row::Disk(row) => (&DiskRow::HEADINGS, row.cells().into()),
            Row::Flash(row) => (&FlashRow::HEADINGS, row.cells().into()),
        }
    }
}

/// A flash drive in a line. Rates are the most that the drive does, without a host.
#[derive(Clone, Debug, Serialize)]
pub struct FlashRow {
    /// Its name in the catalogue.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// When it came to market.
    pub year: Option<u64>,
    /// Capacity, in 10^9 bytes.
    pub gigabytes: f64,
    /// How it was filled when it was measured.
    pub state: &'static str,
    /// The time of a read of 4 KiB alone, in us.
    pub read_alone_us: f64,
    /// Reads of 4 KiB, in thousands a second.
    pub kilo_reads_per_s: f64,
    /// Long reads, and writes that last as long as the SLC cache does, in MB/s.
    pub mb_per_s: [f64; 2],
}

impl FlashRow {
    const HEADINGS: [&'static str; 8] =
        ["name", "title", "year", "GB", "filled", "read us", "k reads/s", "read-write MB/s"];

    fn of(drive: &Drive, flash: &Flash) -> Self {
        let figures = &flash.figures;
        let table = &figures.read_alone_us;
        let alone = table.iter().find(|(bytes, _)| *bytes >= 4096).or(table.last());
        let units_us = figures.unit_read_us / f64::from(figures.units);
        let link_us = 4096.0 / figures.read_mb_per_s;
        let least_us = figures.read_command_us.max(units_us).max(link_us).max(1e-3);
        FlashRow {
            name: drive.name.clone(),
            title: drive.title.clone(),
            year: drive.figures.year,
            gigabytes: gigabytes(drive),
            state: figures.state.word(),
            read_alone_us: alone.map_or(0.0, |&(_, us)| us),
            kilo_reads_per_s: (1e4 / least_us).round() / 10.0,
            mb_per_s: [figures.read_mb_per_s, figures.drain_mb_per_s.min(figures.write_mb_per_s)],
        }
    }

    fn cells(&self) -> [String; 8] {
        let [read, write] = self.mb_per_s;
        [
            self.name.clone(),
            self.title.clone(),
            self.year.map(|year| year.to_string()).unwrap_or_default(),
            format!("{:.0}", self.gigabytes),
            self.state.into(),
            format!("{:.0}", self.read_alone_us),
            format!("{:.0}", self.kilo_reads_per_s),
            format!("{read:.0}-{write:.0}"),
        ]
    }
}

fn gigabytes(drive: &Drive) -> f64 {
    drive.sectors() as f64 * block::SECTOR_BYTES as f64 / 1e9
}

/// A disk in a line.
#[derive(Clone, Debug, Serialize)]
pub struct DiskRow {
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

impl DiskRow {
    const HEADINGS: [&'static str; 9] =
        ["name", "title", "year", "GB", "rpm", "heads", "media MB/s", "sustained MB/s", "seek ms"];

    fn cells(&self) -> [String; 9] {
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

    fn of(drive: &Drive, disk: &Disk) -> Result<Self> {
        let spec = disk.spec()?;
        let impossible = |error: &dyn std::fmt::Display| {
            Error::input(format!("{}: {error}; check these figures", drive.sheet.label))
        };
        let platters = Platters::new(&spec.platters).map_err(|error| impossible(&error))?;
        let seeks =
            seek_table(&spec.seek, platters.cylinders()).map_err(|error| impossible(&error))?;
        let in_mb = |(outer, inner): (f64, f64)| [outer / 1e6, inner / 1e6];
        Ok(DiskRow {
            name: drive.name.clone(),
            title: drive.title.clone(),
            year: drive.figures.year,
            gigabytes: gigabytes(drive),
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
    let mut description = stated(&drive.name, &drive.sheet);
    description.derived = match &drive.model {
        Model::Disk(disk) => of_disk(&drive, disk)?,
        Model::Flash(flash) => of_flash(&drive, flash),
        // Their figures are all that there is to know.
        Model::IdealDisk(_) | Model::IdealFlash(_) => vec![],
    };
    Ok(description)
}

fn of_flash(drive: &Drive, flash: &Flash) -> Vec<Derived> {
    let FlashRow { gigabytes, kilo_reads_per_s, .. } = FlashRow::of(drive, flash);
    let figures = &flash.figures;
    let steady = figures.slc_full_mb_per_s.unwrap_or(figures.drain_mb_per_s);
    [
        ("capacity", gigabytes, "GB"),
        ("reads_4k_max", kilo_reads_per_s * 1e3, "1/s"),
        ("units_read_max", f64::from(figures.units) / figures.unit_read_us.max(1e-3) * 1e6, "1/s"),
        ("random_writes_steady", steady / figures.write_amplification, "MB/s"),
    ]
    .map(|(key, value, unit)| Derived { key, value, unit })
    .into()
}

fn of_disk(drive: &Drive, disk: &Disk) -> Result<Vec<Derived>> {
    let DiskRow { gigabytes, cylinders, media_mb_per_s, sustained_mb_per_s, seek_mean_ms, .. } =
        DiskRow::of(drive, disk)?;
    let spec = disk.spec()?.platters;
    let revolution_ms = spec.revolution_ns as f64 / 1e6;
    let outer = &spec.zones[0];
    let skew_ms = |slots: u32| revolution_ms * f64::from(slots) / f64::from(outer.slots_per_track);
    Ok([
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
    .into())
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
