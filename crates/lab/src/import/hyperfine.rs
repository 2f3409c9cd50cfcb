//! What `hyperfine --export-json` writes: every run of every command.

use super::{Table, json, row};
use crate::error::{Error, Result};
use crate::record::factor_value;
use crate::text::Source;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// Whether it looks like it.
pub(super) fn looks(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"times\"") && text.contains("\"command\"")
}

/// A row for each run that did not fail; the parameters of a command are its factors, and otherwise the command is.
pub(super) fn parse(source: Source<'_>) -> Result<Table> {
    let mut table = Table::default();
    for document in json::objects(source)? {
        let results = document.get("results").and_then(Json::as_array).ok_or_else(|| {
            let what = "there is no list `results`; was it written by hyperfine --export-json?";
            missing(source, what, "{")
        })?;
        for result in results {
            add_result(source, result, &mut table)?;
        }
    }
    Ok(table)
}

fn missing(source: Source<'_>, what: &str, near: &str) -> Error {
    let (line, column) = json::place(source.text, near);
    source.wrong_at(line, column, what)
}

/// Adds a row for each run of a command.
fn add_result(source: Source<'_>, result: &Json, table: &mut Table) -> Result<()> {
    let command = result.get("command").and_then(Json::as_str).unwrap_or("command");
    let times = result.get("times").and_then(Json::as_array).ok_or_else(|| {
        let what = format!("`{command}` has no list `times`; export it with --export-json");
        missing(source, &what, command)
    })?;
    let at = match result.get("parameters").and_then(Json::as_object) {
        Some(parameters) if !parameters.is_empty() => {
            parameters.iter().map(|(name, value)| (name.clone(), natural(value))).collect()
        }
        _ => Map::from_iter([("command".to_string(), Json::from(command))]),
    };
    let failed = failed(result);
    if let Some(how) = failed.values().next() {
        table.warnings.push(format!(
            "{}: {} of {} runs of `{command}` failed ({how}) and were left out; correct the command, and run \
             hyperfine without --ignore-failure",
            source.label,
            failed.len(),
            times.len(),
        ));
    }
    for (_, time) in times.iter().enumerate().filter(|(run, _)| !failed.contains_key(run)) {
        let seconds = time.as_f64().filter(|s| *s > 0.0).ok_or_else(|| {
            let what = format!("`{time}` among the times of `{command}` is not a time in seconds");
            missing(source, &what, &time.to_string())
        })?;
        table.rows.push(row("command", at.clone(), &[("elapsed_s", seconds)]));
    }
    Ok(())
}

/// The runs that failed, by number, and how: their exit status is not 0, or a signal ended them.
fn failed(result: &Json) -> BTreeMap<usize, String> {
    let codes = result.get("exit_codes").and_then(Json::as_array);
    let failed = codes.into_iter().flatten().enumerate().filter_map(|(run, code)| match code {
        Json::Null => Some((run, "ended by a signal".into())),
        code if code.as_i64() == Some(0) => None,
        code => Some((run, format!("exit status {code}"))),
    });
    failed.collect()
}

/// A parameter that reads as a whole number is one.
fn natural(value: &Json) -> Json {
    value.as_str().map_or_else(|| value.clone(), factor_value)
}
