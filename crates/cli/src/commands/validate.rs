//! `ileave validate`.

use super::written::PAGE;
use super::{print, print_json, to_json};
use crate::flags::ValidateFlags;
use lab::validate;
use lab::{Error, Result};
use serde_json::{Value as Json, json};
use std::path::Path;
use verdict::report::{html, validation};
use verdict::validation::{Row, Validation};

/// Compares drive models with measured traces.
pub(crate) fn validate(flags: &ValidateFlags) -> Result<String> {
    if let Some(drive) = &flags.drive {
        return super::grid::validate(drive, flags);
    }
    let given = &flags.directory;
    if given.is_file() {
        return Err(Error::input(format!(
            "{} is a file, and traces are in a directory; a file of measurements is compared with a drive: add `--drive NAME`, of \
             `ileave drives` or a file",
            given.display()
        )));
    }
    if let Some(drives) = flags.drives.as_deref().filter(|drives| drives.is_dir()) {
        return each(drives, flags);
    }
    let played = validate::validate(&flags.directory, flags.drives.as_deref())?;
    let validations: Vec<Validation> = played.iter().map(Validation::new).collect();
    if flags.json {
        let rows: Vec<Row> = validations.iter().map(Validation::row).collect();
        return to_json(&rows);
    }
    shown(&validations, flags)
}

/// The same with a folder of drives: those that cannot be played are said, and the others are judged.
fn each(drives: &Path, flags: &ValidateFlags) -> Result<String> {
    let tried = validate::validate_each(&flags.directory, drives)?;
    let rows: Vec<_> = tried
        .iter()
        .map(|(name, played)| (name.as_str(), played.as_ref().map(Validation::new)))
        .collect();
    let refused = rows.iter().filter(|(_, row)| row.is_err()).count();
    let output = if flags.json {
        let rows = rows.iter().map(|(name, row)| match row {
            Ok(validation) => serde_json::to_value(validation.row()).map_err(Error::failure),
            Err(error) => Ok(json!({ "trace": name, "error": error.to_string() })),
        });
        print_json(&Json::from(rows.collect::<Result<Vec<Json>>>()?))
    } else {
        let errors = rows.iter().filter_map(|(name, row)| {
            row.as_ref().err().map(|error| format!("{name} was not played: {error}\n"))
        });
        let errors: String = errors.collect();
        let validations: Vec<Validation> =
            rows.into_iter().filter_map(|(_, row)| row.ok()).collect();
        let judged =
            if validations.is_empty() { String::new() } else { shown(&validations, flags)? };
        format!("{judged}{errors}")
    };
    if refused == 0 {
        return Ok(output);
    }
    print(&output)?;
    let all = tried.len();
    Err(Error::failure(format!("{refused} of {all} traces could not be replayed (reasons above)")))
}

/// The validations as text, and as a page if one was asked for.
fn shown(validations: &[Validation], flags: &ValidateFlags) -> Result<String> {
    if let Some(file) = &flags.html {
        PAGE.write(file, html::validated(validations).as_bytes())?;
        let text = validation::validations(validations);
        return Ok(format!("{text}\nPage: {}\n", file.display()));
    }
    Ok(validation::validations(validations))
}
