//! Other people's results, made into a results directory like any other.
//!
//! One file a format. A parser is a pure function from text to rows; whatever the text is, it gives
//! rows or an error that names the file, the line and the column, and never panics.

mod bonnie;
mod bonnie_csv;
mod csh_time;
mod dd;
mod fio;
mod given;
mod hyperfine;
mod hyperfine_csv;
mod iozone;
mod json;
mod mapping;
mod shell_time;
mod strangers;

pub(crate) use fio::samples as fio_samples;
pub use given::{Given, PathPattern};
pub use mapping::{mapped, read_mapping, shipped_mapping};

use crate::error::{Error, Result};
use crate::experiment::{factors, factors_as_written, stated_drives};
use crate::record::{Record, plain};
use crate::text::Source;
use flate2::bufread::MultiGzDecoder;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::Path;
use store::factor::{Factors, Written};
use store::quantity::Quantity;
use store::{FORMAT, Imported, Manifest, Store, input};

/// Results as they were read.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What they are called.
    pub name: String,
    /// Where they are from.
    pub source: String,
    /// `published` or `imported`.
    pub rig: String,
    /// What is to be minimised or maximised, in the words of `--objective`; empty for all workloads.
    pub objective: String,
    /// What the samples are, those that matter first.
    pub quantities: Vec<Quantity>,
    /// One for each trial.
    pub rows: Vec<Row>,
    /// What had to be left out, and why.
    pub warnings: Vec<String>,
    /// What is known of factors that are no keys of experiments.
    pub factors: Factors,
}

/// One trial of someone else's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The factors' values, by key path.
    pub at: Map<String, Json>,
    /// The workload.
    pub workload: String,
    /// Samples by name, the one that matters first.
    pub samples: Map<String, Json>,
    /// What was said about it.
    pub note: String,
    /// What becomes a factor where trials of the same workload differ in it, by key path.
    pub options: Map<String, Json>,
}

type Parser = fn(Source<'_>) -> Result<Table>;

/// A format that can be read.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name that `--as` takes.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Whether a text looks like it.
    looks: fn(&str) -> bool,
    parse: Parser,
}

/// All formats of single files, the telling ones first.
pub const FORMATS: &[Format] = &[
    Format { name: "fio", about: "fio JSON or JSON+", looks: fio::looks, parse: fio::parse },
    Format {
        name: "hyperfine",
        about: "hyperfine --export-json",
        looks: hyperfine::looks,
        parse: hyperfine::parse,
    },
    Format {
        name: "hyperfine-csv",
        about: "hyperfine --export-csv",
        looks: hyperfine_csv::looks,
        parse: hyperfine_csv::parse,
    },
    // In front of the table, below which bonnie++ writes it.
    Format {
        name: "bonnie-csv",
        about: "bonnie++ CSV, formats 1.03 and 1.96 to 1.98",
        looks: bonnie_csv::looks,
        parse: bonnie_csv::parse,
    },
    Format {
        name: "bonnie",
        about: "Bonnie 1.x or bonnie++ 1.03 table",
        looks: bonnie::looks,
        parse: bonnie::parse,
    },
    Format {
        name: "iozone",
        about: "iozone, version 2 or 3",
        looks: iozone::looks,
        parse: iozone::parse,
    },
    Format { name: "dd", about: "output of dd, GNU or BSD", looks: dd::looks, parse: dd::parse },
    Format {
        name: "time",
        about: "output of csh's time",
        looks: csh_time::looks,
        parse: csh_time::parse,
    },
    Format {
        name: "shell-time",
        about: "output of time: bash's, POSIX's, zsh's or GNU's",
        looks: shell_time::looks,
        parse: shell_time::parse,
    },
];

/// Reads `text`, which came from `file`, as the format of that name or as what it looks like.
///
/// # Errors
///
/// Where it is of no known format, or damaged.
pub fn parse(file: &str, text: &str, name: Option<&str>) -> Result<Table> {
    // Windows' programs write it in front.
    let text = text.strip_prefix(input::BYTE_ORDER_MARK).unwrap_or(text);
    let known = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let format = match name {
        Some(name) => FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
            Error::input(format!("`{name}` is not a format of results; there are {}", known()))
        })?,
        None => FORMATS.iter().find(|format| (format.looks)(text)).ok_or_else(|| {
            if let Some(stranger) = strangers::known(text) {
                return Error::input(format!("{file}: {stranger}"));
            }
            Error::input(format!(
                "{file} looks like none of {}; give its format with `--as`, or describe a CSV file in \
                 a TOML file like published/brownlee-2005.toml and import that",
                known()
            ))
        })?,
    };
    let mut table = (format.parse)(Source { label: file, text })?;
    if table.rows.is_empty() {
        let why = match (table.warnings.as_slice(), strangers::known(text)) {
            ([], Some(stranger)) => stranger,
            ([], None) => "was the output cut off?".into(),
            (warnings, _) => warnings.join("; "),
        };
        return Err(Error::input(format!(
            "{file}:1:1: no results found, reading it as {}; {why}",
            format.about
        )));
    }
    if table.name.is_empty() {
        table.name = stem(file);
    }
    table.source = format!("{}, {}", base(file), format.about);
    table.rig = "imported".into();
    table.fill_quantities();
    Ok(table)
}

/// The text of a file of results: packed by gzip, in UTF-16 as Windows' PowerShell writes it, or as it is.
///
/// # Errors
///
/// Where gzip's data are damaged, or come to more than `most_bytes`.
pub fn text_of(bytes: &[u8], most_bytes: u64) -> io::Result<String> {
    if bytes.starts_with(b"\x1f\x8b") {
        let mut plain = Vec::new();
        MultiGzDecoder::new(bytes).take(most_bytes.saturating_add(1)).read_to_end(&mut plain)?;
        if plain.len() as u64 > most_bytes {
            return Err(io::Error::other("it is too large when it is unpacked"));
        }
        return Ok(String::from_utf8_lossy(&plain).into_owned());
    }
    let units = |order: fn([u8; 2]) -> u16| {
        let pairs = bytes[2..].chunks_exact(2).map(|pair| order([pair[0], pair[1]]));
        char::decode_utf16(pairs)
            .map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    Ok(match bytes {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    })
}

/// One file's results, what the file is called, and the factors' values that were given with it.
#[derive(Clone, Debug, Default)]
pub struct FileTable {
    /// The file.
    pub file: String,
    /// Its results.
    pub table: Table,
    /// What was said of it.
    pub given: Given,
}

/// Several tables as one. Where nothing was said of the files, they are told apart by a factor `file`: their
/// names, or their paths where two have one name.
pub fn join(tables: Vec<FileTable>) -> Table {
    let several = tables.len() > 1 && tables.iter().all(|table| table.given.at.is_empty());
    let mut names: Vec<String> = tables.iter().map(|table| stem(&table.file)).collect();
    names.sort_unstable();
    let alike = names.windows(2).any(|pair| pair[0] == pair[1]);
    let mut joined = Table::default();
    let mut warned: Vec<(String, Warned)> = Vec::new();
    for FileTable { file, table, mut given } in tables {
        let Table { name, source, rig, objective, rows, warnings, quantities, factors } = table;
        if joined.rows.is_empty() {
            joined = Table { name, source, rig, objective, ..Table::default() };
        } else {
            joined.source = format!("{}; {source}", joined.source);
        }
        for quantity in quantities {
            if !joined.quantities.contains(&quantity) {
                joined.quantities.push(quantity);
            }
        }
        joined.factors.0.extend(factors.0);
        // Written in bytes, and read so, where all were.
        let in_bytes = |path: &str| given.in_bytes.contains(path);
        for (path, kind) in factors_as_written(given.at.keys(), in_bytes).0 {
            let known = joined.factors.0.entry(path).or_insert(kind);
            if known.written == Written::BytesOfSectors {
                *known = kind;
            }
        }
        warn_once(&mut warned, &file, warnings);
        if several {
            let name = if alike { file } else { stem(&file) };
            given.at.insert("file".into(), Json::from(name));
        }
        joined.rows.extend(rows.into_iter().map(|mut row| {
            row.at.extend(given.at.clone());
            row
        }));
    }
    joined.warnings = warned.into_iter().map(|(text, of)| of.told(&text)).collect();
    joined
}

/// What was said of files, and of which.
struct Warned {
    /// The warning as the first file has it.
    whole: String,
    first: String,
    files: BTreeSet<String>,
}

impl Warned {
    /// The warning in a line; `text` is without the file.
    fn told(self, text: &str) -> String {
        match self.files.len() {
            1 => self.whole,
            files => format!("{text} ({files} files, the first {})", self.first),
        }
    }
}

/// Adds what was said of `file`; what other files have, too, is counted there.
fn warn_once(warned: &mut Vec<(String, Warned)>, file: &str, warnings: Vec<String>) {
    for whole in warnings {
        let text = whole.strip_prefix(file).and_then(|rest| rest.strip_prefix(": "));
        let text = text.unwrap_or(&whole).to_string();
        match warned.iter_mut().find(|(known, _)| *known == text) {
            Some((_, known)) => {
                known.files.insert(file.into());
            }
            None => {
                let files = BTreeSet::from([file.to_string()]);
                warned.push((text, Warned { whole, first: file.into(), files }));
            }
        }
    }
}

impl Table {
    /// Names what each workload's samples are where nobody said so.
    fn fill_quantities(&mut self) {
        for row in &self.rows {
            for sample in row.samples.keys() {
                let known = |q: &Quantity| q.workload == row.workload && q.sample == *sample;
                if !self.quantities.iter().any(known) {
                    self.quantities.push(Quantity::named(&row.workload, sample));
                }
            }
        }
    }

    /// Takes out the options that do not tell trials of one workload apart, but for those `in_doubt`.
    fn keep_options(&mut self, in_doubt: impl Fn(&str) -> bool) {
        let mut seen: BTreeMap<(String, String), Vec<Json>> = BTreeMap::new();
        for row in &self.rows {
            for (path, value) in &row.options {
                let values = seen.entry((row.workload.clone(), path.clone())).or_default();
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
        }
        for row in &mut self.rows {
            let Row { workload, options, .. } = row;
            options.retain(|path, _| {
                in_doubt(path) || seen[&(workload.clone(), path.clone())].len() > 1
            });
        }
    }

    /// The manifest of the results, and the records. Trials of one cell are its repeats.
    pub fn into_records(mut self) -> (Manifest, Vec<Record>) {
        self.keep_options(|_| false);
        for row in &mut self.rows {
            for (path, value) in std::mem::take(&mut row.options) {
                row.at.entry(path).or_insert(value);
            }
        }
        let mut workloads: Vec<String> = Vec::new();
        for quantity in &self.quantities {
            let used = self.rows.iter().any(|row| row.workload == quantity.workload);
            if used && !workloads.contains(&quantity.workload) {
                workloads.push(quantity.workload.clone());
            }
        }
        let mut repeats: BTreeMap<(String, String), u64> = BTreeMap::new();
        let records: Vec<Record> = (0..)
            .zip(self.rows)
            .map(|(trial, row)| {
                let cell = (row.workload.clone(), Json::Object(row.at.clone()).to_string());
                let repeat = repeats.entry(cell).or_insert(0);
                let record = Record {
                    trial,
                    at: row.at,
                    workload: row.workload,
                    repeat: *repeat,
                    samples: row.samples.into(),
                    member_busy: Vec::new(),
                    requests: 0,
                    latency_hdr: String::new(),
                    series: None,
                    commands: Vec::new(),
                    curve: Vec::new(),
                    window: None,
                    note: row.note,
                };
                *repeat += 1;
                record
            })
            .collect();
        // What is known of a drive today is kept, as of one that is modelled.
        let lists = records.iter().filter_map(|record| record.at.get("volume.drives")).map(plain);
        let drives = stated_drives(lists);
        let Factors(mut known) = factors(records.iter().flat_map(|record| record.at.keys()));
        let is_used = |path: &String| records.iter().any(|record| record.at.contains_key(path));
        known.extend(self.factors.0.into_iter().filter(|(path, _)| is_used(path)));
        let manifest = Manifest {
            format: FORMAT,
            ileave: env!("CARGO_PKG_VERSION").into(),
            name: self.name,
            rig: self.rig,
            trials: records.len(),
            workloads,
            published: String::new(),
            experiment: String::new(),
            drives: drives.iter().map(|(name, drive)| (name.clone(), drive.into())).collect(),
            members: BTreeMap::new(),
            hosts: BTreeMap::new(),
            controllers: BTreeMap::new(),
            trees: BTreeMap::new(),
            traces: BTreeMap::new(),
            only_read: Vec::new(),
            factors: Factors(known),
            machine: std::collections::BTreeMap::new(),
            doubts: Vec::new(),
            fio: false,
            imported: Some(Imported {
                source: self.source,
                objective: self.objective,
                quantities: self.quantities,
            }),
        };
        (manifest, records)
    }

    /// Makes a results directory of it.
    ///
    /// # Errors
    ///
    /// Where the directory holds something or cannot be written.
    pub fn keep(self, directory: &Path) -> Result<(Manifest, Vec<Record>)> {
        let (manifest, records) = self.into_records();
        let mut store = Store::create(directory, &manifest)?;
        let finished: Vec<(Record, f64)> = records.into_iter().map(|r| (r, 0.0)).collect();
        store.append(&finished)?;
        Ok((manifest, finished.into_iter().map(|(record, _)| record).collect()))
    }
}

fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn stem(file: &str) -> String {
    let base = base(file);
    let base = base.strip_suffix(".gz").unwrap_or(base);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem).to_string()
}

/// A row of samples that are numbers.
fn row(workload: &str, at: Map<String, Json>, samples: &[(&str, f64)]) -> Row {
    Row {
        at,
        workload: workload.into(),
        samples: samples.iter().map(|&(name, value)| (name.into(), Json::from(value))).collect(),
        ..Row::default()
    }
}

#[cfg(test)]
mod tests;
