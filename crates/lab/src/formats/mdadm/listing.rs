//! The form of mdadm's reports: `Key : value` lines, and a table of devices.

use crate::error::{Error, Result};
use crate::text::{Source, Word, shown, words};
use block::units::SECTOR_BYTES;
use std::ops::RangeInclusive;

/// A report of one array or one member.
#[derive(Debug, Default)]
pub(super) struct Report<'a> {
    /// What it is of: `/dev/md0:` stands in front.
    pub(super) device: Option<Word<'a>>,
    /// Its lines.
    entries: Vec<Entry<'a>>,
    /// The rows of its table of devices.
    pub(super) rows: Vec<Vec<Word<'a>>>,
}

/// A line `Key : value`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) line: usize,
    pub(super) key: &'a str,
    pub(super) value: &'a str,
}

impl<'a> Report<'a> {
    /// What it is of.
    pub(super) fn shown(&self) -> String {
        self.device.map_or_else(|| "one without a name".into(), |device| device.text.into())
    }

    /// The line of `key`, if there is one.
    pub(super) fn find(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The line of `key`, which must be there.
    pub(super) fn need(&self, source: Source<'_>, key: &str, example: &str) -> Result<&Entry<'a>> {
        self.find(key).ok_or_else(|| {
            let of = self.shown();
            source.wrong_file(format!(
                "`{key}` is missing in the report of {of}; give the whole report, with a line like \
                 `{example}`"
            ))
        })
    }
}

impl Entry<'_> {
    /// The value is at fault.
    pub(super) fn wrong(&self, source: Source<'_>, what: &str, known: &str) -> Error {
        let value = shown(self.value);
        source.wrong(self.line, format!("`{}`: {value} is {what}; known are {known}", self.key))
    }

    /// A whole number within `range`.
    pub(super) fn count(&self, source: Source<'_>, range: &RangeInclusive<u64>) -> Result<u64> {
        let text = self.value.split_whitespace().next().unwrap_or_default();
        Word { line: self.line, column: 1, text }.count(
            source,
            &format!("value of `{}`", self.key),
            range,
        )
    }

    /// A size: a number and its unit, or a number of `bare_sectors` each; then what it is for people,
    /// in parentheses.
    pub(super) fn size_sectors(&self, source: Source<'_>, bare_sectors: u64) -> Result<u64> {
        let text = self.value.split('(').next().unwrap_or_default().trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let sectors = match unit.trim() {
            "" => Some(bare_sectors * SECTOR_BYTES),
            "sectors" => Some(SECTOR_BYTES),
            "B" => Some(1),
            "K" | "KiB" | "k" => Some(1 << 10),
            "M" | "MiB" => Some(1 << 20),
            "G" | "GiB" => Some(1 << 30),
            _ => None,
        };
        let bytes = sectors.and_then(|each| number.parse::<u64>().ok()?.checked_mul(each));
        match bytes {
            Some(bytes) if bytes.is_multiple_of(SECTOR_BYTES) && bytes >> 60 == 0 => {
                Ok(bytes / SECTOR_BYTES)
            }
            _ => {
                let value = shown(self.value);
                let message = format!(
                    "`{}`: {value} is not a size; mdadm writes `64K` or `79872 sectors`",
                    self.key
                );
                Err(source.wrong(self.line, message))
            }
        }
    }
}

/// Cuts a file into its reports.
pub(super) fn reports(source: Source<'_>) -> Result<Vec<Report<'_>>> {
    let mut reports: Vec<Report<'_>> = Vec::new();
    let mut in_table = false;
    for (line, text) in source.lines() {
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.contains("mdadm") {
            continue;
        }
        if let Some(device) = device_line(trimmed) {
            let device = Some(Word { line, column: 1, text: device });
            reports.push(Report { device, ..Report::default() });
            in_table = false;
            continue;
        }
        if reports.is_empty() {
            reports.push(Report::default());
        }
        let report = reports.last_mut().expect("one was just pushed");
        let found = words(line, trimmed);
        if found.first().is_some_and(|word| word.text == "Number")
            && found.last().is_some_and(|word| word.text == "State")
        {
            in_table = true;
        } else if let Some((key, value)) = key_and_value(trimmed) {
            report.entries.push(Entry { line, key, value });
        } else if in_table {
            report.rows.push(found);
        } else {
            let message = format!(
                "{} is not a line of an mdadm report; those look like `Raid Level : raid5`",
                shown(trimmed)
            );
            return Err(source.wrong(line, message));
        }
    }
    Ok(reports)
}

/// `/dev/md0:`, alone in its line.
fn device_line(text: &str) -> Option<&str> {
    let device = text.strip_suffix(':')?;
    (!device.is_empty() && !device.contains(char::is_whitespace)).then_some(device)
}

fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(" :")?;
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic());
    is_key.then_some((key.trim_end(), value.trim()))
}
