//! `ileave import`.

use super::run::{free_directory, warn};
use super::{print_json, run_text};
use crate::flags::ImportFlags;
use lab::import::{self, FileTable, PathPattern, Table};
use lab::{Error, Result};
use std::fmt::Write as _;
use std::path::Path;
use store::input;
use verdict::report::{json, reasons};
use verdict::{Verdict, Wishes};

/// Makes a results directory from results of other programs.
pub(crate) fn import(flags: &ImportFlags) -> Result<String> {
    let table = import::join(tables(flags)?);
    let warnings = table.warnings.clone();
    let directory = flags.out.clone().unwrap_or_else(|| free_directory(&table.name));
    let (manifest, records) = table.keep(&directory)?;
    let verdict = Verdict::new(&manifest, &records, &Wishes::default())?;
    if flags.json {
        for warning in &warnings {
            warn(warning);
        }
        let why = reasons(&manifest, &records, &verdict);
        let run = json::run(records.iter().map(|record| (record, None)), &why);
        return Ok(print_json(&json::with_verdict(run, &verdict)));
    }
    let mut output = run_text(&manifest, &records, &verdict)?;
    for warning in warnings {
        write!(output, "\nwarning: {warning}").expect("a string grows");
    }
    writeln!(output, "\nResults: {}", directory.display()).expect("a string grows");
    Ok(output)
}

/// The files' tables, each with the factors that were given with it.
fn tables(flags: &ImportFlags) -> Result<Vec<FileTable>> {
    if let Some(factor) = flags.files.behind.first() {
        return Err(Error::input(format!(
            "`--factor {factor}` has no file behind it; put it in front of the files that it is for"
        )));
    }
    let pattern = flags.factor_from.as_deref().map(PathPattern::read).transpose()?;
    let mut tables: Vec<FileTable> = Vec::new();
    for (file, factors) in &flags.files.files {
        let name = file.display().to_string();
        let given = pattern.as_ref().map(|pattern| pattern.factors(&name)).transpose()?;
        let mut given = given.unwrap_or_default();
        for factor in factors {
            given.set(factor).map_err(|error| error.context("--factor"))?;
        }
        tables.push(FileTable { table: read(file, flags.format.as_deref())?, file: name, given });
    }
    check_all_given(&tables)?;
    Ok(tables)
}

/// Whether each factor has a value for every file.
fn check_all_given(tables: &[FileTable]) -> Result<()> {
    for path in tables.iter().flat_map(|table| table.given.at.keys()) {
        if let Some(without) = tables.iter().find(|table| !table.given.at.contains_key(path)) {
            return Err(Error::input(format!(
                "{} has no value of `{path}`, as other files have; put `--factor {path}=VALUE` in front of it",
                without.file
            )));
        }
    }
    Ok(())
}

fn read(file: &Path, format: Option<&str>) -> Result<Table> {
    if file.extension().is_some_and(|extension| extension == "toml") && format.is_none() {
        return import::read_mapping(file);
    }
    let shipped = file.to_str().filter(|_| !file.exists()).and_then(import::shipped_mapping);
    if let Some(table) = shipped {
        return table;
    }
    let bytes = input::read_bytes(file, input::RESULTS_BYTES);
    let text = bytes.and_then(|bytes| import::text_of(&bytes, input::RESULTS_BYTES));
    let text = text.map_err(|error| {
        Error::input(format!(
            "cannot read {}: {error}; give a file of results, a mapping file, or the name of a published \
             table",
            file.display()
        ))
    })?;
    import::parse(&file.display().to_string(), &text, format)
}
