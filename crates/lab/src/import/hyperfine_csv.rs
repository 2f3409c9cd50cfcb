//! What `hyperfine --export-csv` writes: of every command the mean of its runs, and no run.

use super::{Table, row};
use crate::error::Result;
use crate::record::factor_value;
use crate::text::{Source, Word};
use serde_json::{Map, Value as Json};

/// The headings in front of the parameters.
const HEADINGS: &str = "command,mean,stddev,median,user,system,min,max";
/// What stands in front of a parameter's name.
const PARAMETER: &str = "parameter_";

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    text.starts_with(HEADINGS)
}

/// A row for each command, with the mean of its runs; its parameters are factors, and otherwise the command is.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    let mut reader = csv::Reader::from_reader(source.text.as_bytes());
    let wrong = |error: &csv::Error| {
        let line = error.position().map_or(1, |position| position.line() as usize);
        source.wrong_at(line, 1, format!("not hyperfine's CSV: {error}; use --export-json"))
    };
    let headings = reader.headers().map_err(|error| wrong(&error))?.clone();
    let parameters: Vec<(usize, &str)> = headings
        .iter()
        .enumerate()
        .filter_map(|(index, heading)| Some((index, heading.strip_prefix(PARAMETER)?)))
        .collect();
    for found in reader.records() {
        let found = found.map_err(|error| wrong(&error))?;
        let line = found.position().map_or(1, |position| position.line() as usize);
        let field = |index: usize| found.get(index).unwrap_or_default();
        let seconds = |heading: &str| {
            let index = headings.iter().position(|other| other == heading).unwrap_or(usize::MAX);
            let column = 1 + found.iter().take(index).map(|f| f.chars().count() + 1).sum::<usize>();
            source.number(Word { line, column, text: field(index) })
        };
        let samples = [
            ("elapsed_s", seconds("mean")?),
            ("user_s", seconds("user")?),
            ("system_s", seconds("system")?),
        ];
        let of_parameters = parameters.iter();
        let mut at: Map<String, Json> = of_parameters
            .map(|&(index, name)| (name.to_string(), factor_value(field(index))))
            .collect();
        if at.is_empty() {
            at.insert("command".into(), Json::from(field(0)));
        }
        table.rows.push(row("command", at, &samples));
    }
    if !table.rows.is_empty() {
        table.warnings.push(format!(
            "{}: only the mean of each command is there; hyperfine --export-json has each run, and so the noise and what \
             failed",
            source.label
        ));
    }
    Ok(table)
}
