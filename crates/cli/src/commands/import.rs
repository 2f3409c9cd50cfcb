//! `ileave import`.

use super::run::{free_directory, warn};
use super::{print_json, reasons, run_text};
use crate::flags::ImportFlags;
use lab::import::{self, Table};
use lab::{Error, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use verdict::report::json;
use verdict::{Verdict, Wishes};

/// Makes a results directory from results of other programs.
pub(crate) fn import(flags: &ImportFlags) -> Result<String> {
    let mut tables = Vec::new();
    for file in &flags.files {
        tables.push((file.display().to_string(), read(file, flags.format.as_deref())?));
    }
    let table = import::join(tables);
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

fn read(file: &Path, format: Option<&str>) -> Result<Table> {
    if file.extension().is_some_and(|extension| extension == "toml") && format.is_none() {
        return import::read_mapping(file);
    }
    let shipped = file.to_str().filter(|_| !file.exists()).and_then(import::shipped_mapping);
    if let Some(table) = shipped {
        return table;
    }
    let bytes = fs::read(file).map_err(|error| {
        Error::input(format!(
            "cannot read {}: {error}; give a file of results, a mapping file, or the name of a published \
             table",
            file.display()
        ))
    })?;
    import::parse(&file.display().to_string(), &String::from_utf8_lossy(&bytes), format)
}
