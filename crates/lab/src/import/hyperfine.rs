//! What `hyperfine --export-json` writes: every run of every command.

use super::{Row, Table, json, row};
use crate::error::Result;
use crate::record::factor_value;
use crate::text::Source;
use serde_json::{Map, Value as Json};

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"times\"") && text.contains("\"command\"")
}

/// A row for each run; the parameters of a command are its factors, and otherwise the command is.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let document = json::object(source)?;
    let missing = |what: &str, near: &str| {
        let (line, column) = json::place(source.text, near);
        source.wrong_at(line, column, what)
    };
    let results = document.get("results").and_then(Json::as_array).ok_or_else(|| {
        missing("there is no list `results`; was it written by hyperfine --export-json?", "{")
    })?;
    let mut rows: Vec<Row> = Vec::new();
    for result in results {
        let command = result.get("command").and_then(Json::as_str).unwrap_or("command");
        let times = result.get("times").and_then(Json::as_array).ok_or_else(|| {
            let what = format!("`{command}` has no list `times`; export it with --export-json");
            missing(&what, command)
        })?;
        let at = match result.get("parameters").and_then(Json::as_object) {
            Some(parameters) if !parameters.is_empty() => {
                parameters.iter().map(|(name, value)| (name.clone(), natural(value))).collect()
            }
            _ => Map::from_iter([("command".to_string(), Json::from(command))]),
        };
        for time in times {
            let seconds = time.as_f64().filter(|s| *s > 0.0).ok_or_else(|| {
                let what =
                    format!("`{time}` among the times of `{command}` is not a time in seconds");
                missing(&what, &time.to_string())
            })?;
            rows.push(row("command", at.clone(), &[("elapsed_s", seconds)]));
        }
    }
    Ok(Table { rows, ..Table::default() })
}

/// A parameter that reads as a whole number is one.
fn natural(value: &Json) -> Json {
    value.as_str().map_or_else(|| value.clone(), factor_value)
}
