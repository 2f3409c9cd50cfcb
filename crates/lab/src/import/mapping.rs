//! A CSV file and the small TOML file that says what its columns are, as in published/.

use super::given::{check_name, factor};
use super::{Row, Table, base};
use crate::error::{self, Error, Result, nearest};
use crate::experiment::factors_as_written;
use crate::keys::Written;
use crate::published::{Column, Mapping, shipped};
use crate::record::factor_value;
use crate::text::Source;
use csv::StringRecord;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use store::quantity::Quantity;
use store::{input, sample};

/// Reads a mapping file and the CSV file beside it.
///
/// # Errors
///
/// Where either cannot be read, or they do not fit; the message names file, line and column.
pub fn read_mapping(path: &Path) -> Result<Table> {
    let read = |path: &Path| {
        input::read_text(path, input::RESULTS_BYTES).map_err(|error| {
            Error::input(format!("cannot read {}: {error}; give a file of results", path.display()))
        })
    };
    mapped(&path.display().to_string(), &read(path)?, |csv| {
        let csv = path.with_file_name(csv);
        Ok((csv.display().to_string(), read(&csv)?))
    })
}

/// The table that the program brings along under this name, if there is one.
///
/// # Errors
///
/// Where it is damaged.
pub fn shipped_mapping(name: &str) -> Option<Result<Table>> {
    let text = shipped(&format!("{name}.toml"))?;
    Some(mapped(&format!("published/{name}.toml"), text, |csv| {
        Ok((format!("published/{csv}"), shipped(csv).unwrap_or_default().into()))
    }))
}

/// Reads the text of a mapping file, which `file` calls it in messages, and the CSV file that it names:
/// `read_csv` gives that one's name for messages and its text.
///
/// # Errors
///
/// Where either is damaged, or they do not fit.
pub fn mapped(
    file: &str,
    text: &str,
    read_csv: impl FnOnce(&str) -> Result<(String, String)>,
) -> Result<Table> {
    let mapping = parse_mapping(file, text)?;
    if !mapping.parts.is_empty() {
        return Err(Error::input(format!(
            "{file} consists of several tables; give some of {} instead",
            mapping.parts.join(" ")
        )));
    }
    empty(&mapping).map_err(|error| error.context(file))?;
    // Those that the program brings along keep the words of whoever published them.
    let is_shipped = shipped(base(file)) == Some(text);
    for path in mapping.factors.values().filter(|_| !is_shipped) {
        let (line, column) = error::place(text, text.find(&format!("\"{path}\"")).unwrap_or(0));
        check_name(path).map_err(|error| error.context(format!("{file}:{line}:{column}")))?;
    }
    let (csv, text) = read_csv(&mapping.csv)?;
    table(&mapping, &csv, &text, is_shipped)
}

fn parse_mapping(file: &str, text: &str) -> Result<Mapping> {
    Source { label: file, text }.deserialize("published/brownlee-2005.toml shows every key")
}

/// The rows of a CSV text in the terms of a mapping. The values of factors are held against their keys, unless the
/// program brings the table along.
pub(super) fn table(mapping: &Mapping, file: &str, text: &str, is_shipped: bool) -> Result<Table> {
    let source = Source { label: file, text };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| damaged(source, &error))?.clone();
    let position = |name: &str| {
        headers.iter().position(|header| header == name).ok_or_else(|| {
            let next = nearest(name, headers.iter()).map_or_else(
                || format!("it has {}", headers.iter().collect::<Vec<_>>().join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            source.wrong_at(1, 1, format!("there is no column `{name}`; {next}"))
        })
    };
    let mut factors: Vec<Factor<'_>> = Vec::new();
    for (name, path) in &mapping.factors {
        factors.push((position(name)?, path.as_str(), mapping.values.get(name)));
    }
    factors.sort_by_key(|(index, ..)| *index);
    let mut columns = Vec::new();
    for column in &mapping.column {
        columns.push((position(&column.csv)?, column, unit(column)?.1));
    }
    let note = if mapping.note.is_empty() { None } else { Some(position(&mapping.note)?) };
    let mut table = empty(mapping)?;
    // Sizes are shown in bytes where all were written so.
    let mut in_sectors = BTreeSet::new();
    for found in reader.records() {
        let found = found.map_err(|error| damaged(source, &error))?;
        let line = found.position().map_or(0, |position| position.line() as usize);
        check_length(source, &headers, &found, line)?;
        let field = |index: usize| field(&found, index);
        let place = |index: usize| place(&found, index);
        let note = note.map_or("", field);
        let at = cell(source, &headers, &factors, &found, (line, is_shipped), &mut in_sectors)?;
        let mut rows: Vec<Row> = Vec::new();
        for (index, column, factor) in &columns {
            let place = || place(*index);
            let Some(number) = number(source, field(*index), &column.csv, (line, &place))? else {
                let why = if note.is_empty() { "no number" } else { note };
                let column = &column.csv;
                table.warnings.push(format!(
                    "{file}:{line}:{}: `{column}` is empty ({why}) and was left out",
                    place()
                ));
                continue;
            };
            let sample = (column.sample.clone(), Json::from(number * factor));
            match rows.iter_mut().find(|row| row.workload == column.workload) {
                Some(row) => _ = row.samples.insert(sample.0, sample.1),
                None => rows.push(Row {
                    at: at.clone(),
                    workload: column.workload.clone(),
                    samples: Map::from_iter([sample]),
                    note: note.into(),
                    options: Map::new(),
                }),
            }
        }
        table.rows.extend(rows);
    }
    if !is_shipped {
        let is_in_bytes = |path: &str| !in_sectors.contains(path);
        table.factors = factors_as_written(mapping.factors.values(), is_in_bytes);
    }
    if table.rows.is_empty() {
        return Err(source.wrong_at(1, 1, "no number in any mapped column"));
    }
    Ok(table)
}

/// A field; a row that ends early is a row of empty fields.
fn field(found: &StringRecord, index: usize) -> &str {
    found.get(index).unwrap_or_default().trim()
}

/// The character that a field begins with, counted from 1.
fn place(found: &StringRecord, index: usize) -> usize {
    1 + (0..index).map(|index| field(found, index).chars().count() + 1).sum::<usize>()
}

/// A column of factors: where it stands, its key path, and what its words are called here.
type Factor<'a> = (usize, &'a str, Option<&'a BTreeMap<String, String>>);

/// The factors' values of a row. The paths of sizes that are not in bytes go to `in_sectors`.
fn cell(
    source: Source<'_>,
    headers: &StringRecord,
    factors: &[Factor<'_>],
    found: &StringRecord,
    (line, is_shipped): (usize, bool),
    in_sectors: &mut BTreeSet<String>,
) -> Result<Map<String, Json>> {
    let mut at = Map::new();
    for &(index, path, words) in factors {
        let word = field(found, index);
        let word = words.and_then(|words| words.get(word)).map_or(word, String::as_str);
        // An empty one is of no such layout, as the interleave of a single drive.
        let is_free = is_shipped || word.is_empty();
        let value = if is_free { Ok(factor_value(word)) } else { factor(path, word) };
        let value = value.map_err(|error| {
            let column = &headers[index];
            let next = format!("or translate it under [values.\"{column}\"]");
            let what = format!("column `{column}`: {error}; {next}");
            source.wrong_at(line, place(found, index), what)
        })?;
        if !word.is_empty() && !Written::Bare(word.into()).is_in_bytes() {
            in_sectors.insert(path.into());
        }
        at.insert(path.into(), value);
    }
    Ok(at)
}

/// The number in a field of `column`, whose line and character are `at`; none where it is empty.
fn number(
    source: Source<'_>,
    text: &str,
    column: &str,
    at: (usize, &dyn Fn() -> usize),
) -> Result<Option<f64>> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.map(Some).ok_or_else(|| {
        let what = format!("`{text}` in column `{column}` is not a number of 0 or more");
        source.wrong_at(at.0, at.1(), format!("{what}; correct it or leave it empty"))
    })
}

/// A field behind the last column would be dropped, and with a decimal comma it is half of a number.
fn check_length(
    source: Source<'_>,
    headers: &StringRecord,
    found: &StringRecord,
    line: usize,
) -> Result<()> {
    if found.iter().skip(headers.len()).all(|field| field.trim().is_empty()) {
        return Ok(());
    }
    let (fields, columns) = (found.len(), headers.len());
    let place = 1 + found.iter().take(columns).map(|f| f.chars().count() + 1).sum::<usize>();
    let what = format!("the row has {fields} fields, and the header {columns}");
    let next = "write decimals with a point, and quote a field that has a comma in it";
    Err(source.wrong_at(line, place, format!("{what}; {next}")))
}

/// The unit that a column is kept in, which is that of its sample, and what its numbers are multiplied by for that. Of
/// a sample that is not known it is the column's own.
fn unit(column: &Column) -> Result<(&str, f64)> {
    let Some(known) = sample::find(&column.sample) else { return Ok((&column.unit, 1.0)) };
    let factor = sample::conversion(&column.unit, known.unit).ok_or_else(|| {
        let theirs = if known.unit.is_empty() { "has no unit" } else { known.unit };
        let next = if column.unit == "KB/s" {
            "write `KiB/s` where that is 1024 bytes, `kB/s` where it is 1000"
        } else {
            "correct the unit, or name a sample of your own"
        };
        Error::input(format!(
            "column `{}`: `unit = \"{}\"` cannot be converted to that of the sample `{}` ({theirs}); {next}",
            column.csv, column.unit, column.sample
        ))
    })?;
    Ok((known.unit, factor))
}

/// What the mapping says of the whole table.
fn empty(mapping: &Mapping) -> Result<Table> {
    let quantity = |column: &Column| {
        let known = sample::find(&column.sample).map(|known| known.better);
        Ok(Quantity {
            workload: column.workload.clone(),
            sample: column.sample.clone(),
            unit: unit(column)?.0.into(),
            better: column.better.or(known).map_or_else(|| column.better(), Ok)?,
        })
    };
    let quantities: Result<Vec<Quantity>> = mapping.column.iter().map(quantity).collect();
    Ok(Table {
        name: mapping.name.clone(),
        source: mapping.source.clone(),
        rig: if mapping.published { "published".into() } else { "imported".into() },
        objective: mapping.objective.clone(),
        quantities: quantities?,
        ..Table::default()
    })
}

fn damaged(source: Source<'_>, error: &csv::Error) -> Error {
    let line = error.position().map_or(1, |position| position.line() as usize);
    source.wrong_at(line, 1, format!("not a CSV file: {error}"))
}
