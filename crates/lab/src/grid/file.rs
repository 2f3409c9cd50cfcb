//! The figures of a fitted drive, and its file.

use super::Cell;
use super::fit::{DATA_SHEET, Interface};
use crate::catalogue::{Draft, Kind};
use std::fmt::Display;

/// Where a figure of a fitted drive is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Cells of a grid.
    Cell,
    /// A data sheet.
    Sheet,
    /// Neither.
    Estimate,
}

/// The figures of a fitted drive, in the order of their making.
#[derive(Clone, Debug)]
pub struct Fitting {
    draft: Draft,
    /// Whether all that looks like a cell is from a data sheet.
    is_sheet: bool,
    /// What the cells do not say.
    pub missing: Vec<String>,
}

impl Fitting {
    pub(super) fn new(name: &str, used: &[Cell], sheet: Option<&str>) -> Self {
        let is_sheet = used.iter().all(|cell| cell.run == DATA_SHEET);
        let device = used.first().map_or("", |cell| cell.device.as_str());
        let mut runs: Vec<&str> = used.iter().map(|cell| cell.run.as_str()).collect();
        runs.sort_unstable();
        runs.dedup();
        let runs = runs.into_iter().filter(|run| !run.is_empty()).collect::<Vec<_>>().join("; ");
        let origin = if is_sheet {
            sheet.unwrap_or(DATA_SHEET).to_string()
        } else {
            format!("{} cells of {device}: {runs}", used.len())
        };
        let sources = vec![("measured", origin), ("guess", "our estimate".into())];
        let mut draft = Draft::new(name, sources);
        draft.class = Some("flash");
        Fitting { draft, is_sheet, missing: vec![] }
    }

    pub(super) fn add(&mut self, key: &'static str, value: impl Display, from: Source, note: &str) {
        let sheet = (Kind::Computed, "measured");
        let of_sheet = format!("data sheet: {note}");
        match from {
            Source::Cell if !self.is_sheet => {
                self.draft.add(key, value, (Kind::Adjusted, "measured"), note);
            }
            Source::Cell | Source::Sheet => self.draft.add(key, value, sheet, of_sheet),
            Source::Estimate => self.draft.add(key, value, (Kind::Estimate, "guess"), note),
        }
    }

    /// What answers about the drive are to say.
    pub(super) fn doubt(&mut self, doubt: Option<String>) {
        self.draft.doubt = doubt;
    }

    pub(super) fn miss(&mut self, what: &str) {
        self.missing.push(what.into());
    }

    /// Nothing is known of reads.
    pub(super) fn missing_reads(&mut self, interface: Interface) {
        self.miss("reads: no cell");
        let (command_us, guess) = interface.read_command_us();
        for (key, value) in [("read_command_us", command_us), ("read_alone_us", "[[4096, 80]]")] {
            if !self.has(key) {
                self.add(key, value, Source::Estimate, guess);
            }
        }
    }

    pub(super) fn units(
        &mut self,
        (unit_us, units): (f64, u32),
        spread_percent: f64,
        from: Source,
        note: &str,
    ) {
        self.add("units", units, from, note);
        self.add("unit_read_us", (unit_us * 100.0).round() / 100.0, from, note);
        self.add("unit_spread_percent", spread_percent.round(), from, note);
    }

    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.draft.value(key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    pub(super) fn sectors(&self) -> u64 {
        self.value("sectors").and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// The time of the smallest read alone, in us.
    pub(super) fn first_alone_us(&self) -> f64 {
        let table = self.value("read_alone_us").unwrap_or_default();
        let first = table.split(']').next().and_then(|row| row.rsplit(',').next());
        first.and_then(|text| text.trim().parse().ok()).unwrap_or(80.0)
    }

    /// Key, value and origin of each figure, for people.
    pub fn rows(&self) -> Vec<[String; 3]> {
        self.draft.rows()
    }
}

/// The drive file with these figures.
pub fn write(fitting: &Fitting) -> String {
    let missing = &fitting.missing;
    let mut draft = fitting.draft.clone();
    draft.note = (!missing.is_empty()).then(|| format!("Not known: {}.", missing.join("; ")));
    draft.text()
}
