//! The catalogue as data to print.

use super::controller::ControllerFigures;
use super::drive::{CLASSES, DriveFigures};
use super::figure::{Figure, Kind, Value};
use super::host::{EngineFigures, HostFigures};
use super::sheet::Sheet;
use super::tree::TreeFigures;
use super::{DRIVES, controller, drive, drive_names, host, tree};
use crate::error::Result;
use serde::Serialize;
use std::fmt::Write;
use store::known::Cell;

/// A drive in a line: what its class finds worth a column.
#[derive(Clone, Debug)]
pub struct Row {
    /// What stands in each cell.
    pub headings: &'static [&'static str],
    /// The cells.
    pub cells: Vec<String>,
    data: serde_json::Value,
}

impl Row {
    /// The line with these cells, and what it is as data.
    pub(super) fn new<const N: usize>(
        headings: &'static [&'static str; N],
        cells: [String; N],
        data: &impl Serialize,
    ) -> Self {
        let data = serde_json::to_value(data).expect("a line is plain data");
        Row { headings, cells: cells.into(), data }
    }
}

impl Serialize for Row {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        self.data.serialize(to)
    }
}

/// Every real drive of the catalogue in a line, in the order of their names.
///
/// # Errors
///
/// Where a file of the catalogue is at fault, which would be ours.
pub fn list() -> Result<Vec<Row>> {
    let drives = drive_names().into_iter().map(drive).collect::<Result<Vec<_>>>()?;
    drives.iter().filter_map(|drive| drive.row().transpose()).collect()
}

/// The lines of the drives that have every word of `text` in one of their names, or as their class or size: `exos`,
/// `samsung 2tb`, `smr`.
///
/// # Errors
///
/// Where a file of the catalogue is at fault, which would be ours.
pub fn list_like(text: &str) -> Result<Vec<Row>> {
    let drives = DRIVES.like(text)?.into_iter().map(drive).collect::<Result<Vec<_>>>()?;
    drives.iter().filter_map(|drive| drive.row().transpose()).collect()
}

/// Whether `text` is a class of drives, as `flash`: then all of them are meant, and no drive with that word in its name.
#[must_use]
pub fn is_class(text: &str) -> bool {
    CLASSES.iter().any(|class| class.name == text)
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

impl Derived {
    /// Figures that follow from others: key, value and unit.
    pub(super) fn of<const N: usize>(list: [(&'static str, f64, &'static str); N]) -> Vec<Self> {
        list.map(|(key, value, unit)| Derived { key, value, unit }).into()
    }
}

/// All that is known of the drive called `name`.
///
/// # Errors
///
/// Where there is no such drive, or its file is at fault.
pub fn describe(name: &str) -> Result<Description> {
    let drive = drive(name)?;
    let mut description = stated(&drive.name, &drive.sheet);
    description.derived = drive.derived()?;
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
    description.derived = Derived::of([
        ("files", figures.files as f64, ""),
        ("directories", figures.directories as f64, ""),
        ("depth_mean", figures.depth_mean, ""),
        ("depth_max", f64::from(figures.depth_max), ""),
        ("bytes", figures.bytes as f64 / MIB, "MiB"),
        ("large_bytes", figures.large_bytes as f64 / MIB, "MiB"),
    ]);
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

/// The figures that a kind of file of the catalogue may state.
#[derive(Clone, Debug, Serialize)]
pub struct FigureTable {
    /// The word by which it is asked for: `drive`, a class of drives, `host`, `controller` or `tree`.
    pub name: &'static str,
    /// What it lists.
    pub title: &'static str,
    /// In the order of the documentation.
    pub figures: Vec<FigureRow>,
}

/// A figure, as it is listed.
#[derive(Clone, Debug, Serialize)]
pub struct FigureRow {
    /// Its key in a file.
    pub key: &'static str,
    /// Its unit; empty for counts and words.
    pub unit: &'static str,
    /// What may stand there, for people.
    pub takes: String,
    /// What it says.
    pub help: &'static str,
    /// What holds when it is left out, for people.
    pub left_out: String,
}

/// The figures of every kind of file.
pub fn figure_tables() -> Vec<FigureTable> {
    let mut tables = vec![("drive", "Figures of every drive", DriveFigures::FIGURES)];
    tables.extend(CLASSES.iter().map(|class| (class.name, class.title, class.figures)));
    tables.extend([
        ("host", "Figures of a host", HostFigures::FIGURES),
        ("engines", "Figures of the engines of a host", EngineFigures::FIGURES),
        ("controller", "Figures of a RAID controller", ControllerFigures::FIGURES),
        ("tree", "Figures of a tree", TreeFigures::FIGURES),
    ]);
    let row = |figure: &Figure| FigureRow {
        key: figure.key,
        unit: figure.unit,
        takes: figure.shape.to_string(),
        help: figure.meaning,
        left_out: figure.left_out.to_string(),
    };
    let table = |(name, title, figures): (_, _, &[Figure])| FigureTable {
        name,
        title,
        figures: figures.iter().map(row).collect(),
    };
    tables.into_iter().map(table).collect()
}

/// The tables of figures in `docs/catalogue.md`.
pub fn tables() -> String {
    let mut text = String::new();
    for FigureTable { title, figures, .. } in figure_tables() {
        let _ = writeln!(text, "## {title}\n\n| key | unit | may be | meaning | left out |");
        let _ = writeln!(text, "|---|---|---|---|---|");
        for FigureRow { key, unit, help, takes, left_out } in figures {
            let left_out = if left_out == "required" { "**required**".into() } else { left_out };
            let _ = writeln!(text, "| `{key}` | {unit} | {takes} | {help} | {left_out} |");
        }
        text.push('\n');
    }
    text
}
