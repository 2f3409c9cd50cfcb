//! Rows of a CSV file with a header: fields by the names of their columns, errors by line.

use crate::error::{Error, Result};
use block::SECTOR_BYTES;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The largest request, in bytes: 1 GiB.
pub(super) const BYTES_MAX: u32 = 1 << 30;
/// The most requests of a process, and the most processes.
pub(super) const IN_FLIGHT_MAX: u32 = 65_535;

/// The names of the columns in the header of `text`; none where there is no such header.
pub(super) fn header(text: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map(|names| names.iter().map(|name| name.trim().into()));
    header.map(Iterator::collect).unwrap_or_default()
}

/// Whether `header` has all of these columns.
pub(super) fn has(header: &[String], needed: &[&str]) -> bool {
    present(header, needed) == needed.len()
}

/// How many of these columns `header` has.
pub(super) fn present(header: &[String], needed: &[&str]) -> usize {
    needed.iter().filter(|name| header.iter().any(|known| known == *name)).count()
}

/// Goes through the rows of `text`, of the file called `label`, whose header has the columns `needed` of such a `sort` of file.
///
/// # Errors
///
/// Where a column is missing, a line is no CSV, or `take` finds a field that it cannot use.
pub(super) fn each(
    label: &str,
    text: &str,
    (sort, needed): (&str, &[&str]),
    take: &mut dyn FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let columns = header(text);
    if let Some(missing) = needed.iter().find(|name| !has(&columns, &[name])) {
        let needed = needed.join(", ");
        let what = format!("there is no column `{missing}`; {sort} has {needed}");
        return Err(Error::input(format!("{label}:1: {what}")));
    }
    let columns: BTreeMap<&str, usize> =
        columns.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, |at| line_of(text, at));
            Error::input(format!("{label}:{line}: {error}"))
        })?;
        let line = record.position().map_or(1, |at| line_of(text, at));
        take(&Row { label, line, columns: &columns, record: &record })?;
    }
    Ok(())
}

/// The line of the record that is read from `at` on: behind empty lines, which are none.
fn line_of(text: &str, at: &csv::Position) -> u64 {
    let rest = text.as_bytes().get(at.byte() as usize..).unwrap_or_default();
    let empty = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    at.line() + empty.filter(|byte| **byte == b'\n').count() as u64
}

/// A row of a file.
pub(super) struct Row<'f> {
    label: &'f str,
    line: u64,
    columns: &'f BTreeMap<&'f str, usize>,
    record: &'f csv::StringRecord,
}

impl Row<'_> {
    /// An error in this row.
    pub(super) fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::input(format!("{}:{}: {what}", self.label, self.line))
    }

    /// What it has in a column; nothing where there is no such column.
    pub(super) fn text(&self, name: &str) -> &str {
        self.columns.get(name).and_then(|&at| self.record.get(at)).unwrap_or("").trim()
    }

    /// A number from 0 on, where there is one.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        number.map(Some).ok_or_else(|| self.wrong(format!("`{name}`: {text} is not a number")))
    }

    /// A number above 0.
    pub(super) fn need(&self, name: &str) -> Result<f64> {
        let found = self.number(name)?.filter(|number| *number > 0.0);
        found.ok_or_else(|| self.wrong(format!("`{name}` must be above 0")))
    }

    /// A whole number in this range.
    pub(super) fn whole(&self, name: &str, may_be: RangeInclusive<u32>) -> Result<u32> {
        let read = whole(self.need(name)?, self.text(name), may_be);
        read.map_err(|what| self.wrong(format!("`{name}`: {what}")))
    }

    /// The size of a request, in bytes or with a unit, as fio writes it.
    pub(super) fn request_bytes(&self, name: &str) -> Result<u32> {
        let text = self.text(name);
        if text.is_empty() || text.parse::<f64>().is_ok() {
            return self.whole(name, SECTOR_BYTES as u32..=BYTES_MAX);
        }
        size(text).map_err(|what| self.wrong(format!("`{name}`: {what}")))
    }
}

/// A number as a whole one in this range; `given` is how it is written.
fn whole(
    number: f64,
    given: &str,
    may_be: RangeInclusive<u32>,
) -> std::result::Result<u32, String> {
    let (least, most) = (*may_be.start(), *may_be.end());
    if number.fract() == 0.0 && (f64::from(least)..=f64::from(most)).contains(&number) {
        return Ok(number as u32);
    }
    Err(format!("{given} is not a whole number from {least} to {most}; correct it"))
}

/// A block size with a unit: `4k`, `128KiB`.
fn size(text: &str) -> std::result::Result<u32, String> {
    let bytes = block::units::parse_bytes(text).map_err(|error| error.to_string())?;
    whole(bytes as f64, text, SECTOR_BYTES as u32..=BYTES_MAX)
}
