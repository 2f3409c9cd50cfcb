//! Reading the lines of a results directory, each checked.

use super::{Attempt, MANIFEST};
use crate::error::{Error, Result};
use crate::input;
use crate::manifest::Manifest;
use crate::quantity::{Better, Quantity};
use crate::record::Record;
use serde_json::error::Category;
use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

/// The finished trials, in plan order. A last line without its end is left out.
pub(super) fn read_records(path: &Path, manifest: &Manifest) -> Result<Vec<Record>> {
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let mut records = Vec::new();
    let mut wrong = None;
    let mut lines = 0;
    let read = input::read_lines(path, input::RESULTS_BYTES, |block| {
        if wrong.is_some() {
            return;
        }
        for record in parse_records(&whole_lines(block).collect::<Vec<_>>(), manifest) {
            lines += 1;
            let record = record.and_then(|record| match seen.insert(record.trial, lines) {
                None => Ok(record),
                Some(first) => Err(Wrong::Twice { trial: record.trial, first }),
            });
            match record {
                Ok(record) => records.push(record),
                Err(of) => return wrong = Some((lines, of)),
            }
        }
    });
    read.map_err(|error| {
        let next = "where it is gone, `ileave run … --resume` runs the trials again";
        Error::failure(format!("cannot read {}: {error}; {next}", path.display()))
    })?;
    if let Some((line, wrong)) = wrong {
        return Err(wrong.at(path, line, "to have that trial run again by `--resume`"));
    }
    records.shrink_to_fit();
    records.sort_by_key(|record: &Record| record.trial);
    Ok(records)
}

/// Lines that a processor reads at a time, at least.
const LINES_MIN: usize = 1000;

/// The records of lines, in their order: a sweep has 100,000, which every processor takes a share of.
fn parse_records(lines: &[&[u8]], manifest: &Manifest) -> Vec<std::result::Result<Record, Wrong>> {
    let parse = |line: &&[u8]| {
        let record = serde_json::from_slice(line);
        let record = record.map_err(|error| Wrong::of(&error, manifest.format))?;
        check_record(record, manifest).map_err(Wrong::Damaged)
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let share = lines.len().div_ceil(processors).max(LINES_MIN);
    thread::scope(|scope| {
        let shares: Vec<_> = lines
            .chunks(share)
            .map(|lines| scope.spawn(move || lines.iter().map(parse).collect::<Vec<_>>()))
            .collect();
        shares.into_iter().flat_map(|share| share.join().expect("no line panics")).collect()
    })
}

/// Checks what a record says of itself.
fn check_record(record: Record, manifest: &Manifest) -> std::result::Result<Record, String> {
    if record.trial >= manifest.trials {
        return Err(format!("the plan has no trial {}", record.trial));
    }
    if !manifest.workloads.contains(&record.workload) {
        return Err(format!("the experiment has no workload `{}`", record.workload));
    }
    for (name, value) in record.samples.iter() {
        // Older results have a share of nothing, as of no commands, as null.
        let is_diagnosis = || Quantity::named(&record.workload, name).better == Better::Neither;
        if value.is_some_and(|number| number.is_finite() && number >= 0.0)
            || (value.is_none() && is_diagnosis())
        {
            continue;
        }
        let value = record.samples.text(name);
        return Err(format!("`{name}` is {value}, not a number of 0 or more"));
    }
    // Imported results keep no latencies.
    if record.latency_hdr.is_empty() && manifest.imported.is_some() {
        return Ok(record);
    }
    match record.latencies() {
        Ok(_) => Ok(record),
        Err(error) => Err(error.to_string()),
    }
}

/// The lines of a file that have their end.
fn whole_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    text[..end].split_inclusive(|&byte| byte == b'\n').map(|line| &line[..line.len() - 1])
}

/// What is wrong with a line.
enum Wrong {
    /// It is not what anybody wrote.
    Damaged(String),
    /// It is of a trial that another line has, too.
    Twice { trial: usize, first: usize },
    /// It is whole, and not of the format that the manifest states.
    OtherShape { format: u64, what: String },
}

impl Wrong {
    /// Why a line could not be read, in a directory of this format.
    fn of(error: &serde_json::Error, format: u64) -> Self {
        let what = error.to_string();
        if error.classify() != Category::Data {
            return Wrong::Damaged(what);
        }
        // Which fields there are helps nobody who has not written the line.
        let what = what.split(", expected one of ").next().unwrap_or(&what).to_string();
        Wrong::OtherShape { format, what }
    }

    /// The error; `next` is what taking the line out is good for.
    fn at(&self, path: &Path, line: usize, next: &str) -> Error {
        let at = path.display();
        Error::failure(match self {
            Wrong::Damaged(what) => {
                format!("{at}:{line} is damaged: {what}; take the line out {next}")
            }
            Wrong::Twice { trial, first } => format!(
                "{at}:{line} is damaged: trial {trial} is here a second time, first in line {first}; remove one of the two lines"
            ),
            Wrong::OtherShape { format, what } => format!(
                "{at}:{line} is not of format {format}, which the {MANIFEST} beside it states: {what}; read it with the ileave \
                 that wrote the line, or take the line out {next}"
            ),
        })
    }
}

/// The wall-clock facts; none where there is no such file.
pub(super) fn read_attempts(path: &Path) -> Result<Vec<Attempt>> {
    let text = match input::read_bytes(path, input::RESULTS_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::failure(format!("{}: {error}", path.display()))),
    };
    let attempt = |(number, line)| {
        serde_json::from_slice(line).map_err(|error| {
            let next = "to go on; it says only when a trial ran, and no result is lost with it";
            Wrong::Damaged(error.to_string()).at(path, number, next)
        })
    };
    (1..).zip(whole_lines(&text)).map(attempt).collect()
}
