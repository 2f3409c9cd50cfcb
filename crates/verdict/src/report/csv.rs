//! What `--csv` prints: a line for each trial, a column for each factor and sample.

use super::columns::names;
use store::error::{Error, Result};
use store::record::{Record, plain};

/// The trials as CSV.
///
/// # Errors
///
/// Where a text cannot be written as CSV.
pub fn trials(records: &[Record]) -> Result<String> {
    let paths = names(records, |record| record.at.keys().map(String::as_str));
    let samples = names(records, |record| record.samples.names());
    let mut writer = csv::Writer::from_writer(Vec::new());
    let fixed = ["workload", "repeat"];
    let columns = paths.iter().chain(&samples).copied();
    let header: Vec<&str> = fixed.into_iter().chain(columns).chain(["note"]).collect();
    writer.write_record(header).map_err(Error::failure)?;
    for record in records {
        let mut row = vec![record.workload.clone(), record.repeat.to_string()];
        row.extend(paths.iter().map(|path| record.at.get(*path).map(plain).unwrap_or_default()));
        row.extend(samples.iter().map(|s| record.samples.text(s)));
        row.push(record.note.clone());
        writer.write_record(row).map_err(Error::failure)?;
    }
    let bytes = writer.into_inner().map_err(Error::failure)?;
    String::from_utf8(bytes).map_err(Error::failure)
}
