//! A CSV file and the small TOML file that says what its columns are, as in published/.

use super::{Row, Table};
use crate::error::{Error, Result, nearest};
use crate::published::{Column, Mapping, shipped};
use crate::record::factor_value;
use crate::text::Source;
use csv::StringRecord;
use serde_json::{Map, Value as Json};
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
    let (csv, text) = read_csv(&mapping.csv)?;
    table(&mapping, &csv, &text)
}

fn parse_mapping(file: &str, text: &str) -> Result<Mapping> {
    Source { label: file, text }.deserialize("published/brownlee-2005.toml shows every key")
}

/// The rows of a CSV text in the terms of a mapping.
pub(super) fn table(mapping: &Mapping, file: &str, text: &str) -> Result<Table> {
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
    let mut factors = Vec::new();
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
    for found in reader.records() {
        let found = found.map_err(|error| damaged(source, &error))?;
        let line = found.position().map_or(0, |position| position.line() as usize);
        check_length(source, &headers, &found, line)?;
        // A row that ends early is a row of empty fields.
        let field = |index: usize| found.get(index).unwrap_or_default().trim();
        let note = note.map_or("", field);
        let mut at = Map::new();
        for (index, path, words) in &factors {
            let word = field(*index);
            let word = words.and_then(|words| words.get(word)).map_or(word, String::as_str);
            at.insert((*path).into(), factor_value(word));
        }
        let mut rows: Vec<Row> = Vec::new();
        for (index, column, factor) in &columns {
            let place = || 1 + (0..*index).map(|i| field(i).chars().count() + 1).sum::<usize>();
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
    if table.rows.is_empty() {
        return Err(source.wrong_at(1, 1, "no number in any mapped column"));
    }
    Ok(table)
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
