//! `ileave export`.

use super::written::PARQUET;
use crate::flags::ExportFlags;
use lab::{Result, read_results};
use std::path::PathBuf;
use verdict::report::parquet;

/// Writes the trials of a results directory in a form that other programs read.
pub(crate) fn export(flags: &ExportFlags) -> Result<String> {
    let results = read_results(&flags.directory)?;
    let file = flags.out.clone().unwrap_or_else(|| {
        PathBuf::from(format!("{}.parquet", super::run::safe_name(&results.manifest.name)))
    });
    PARQUET.refuse_other_file(&file)?;
    PARQUET.write(&file, &parquet::trials(&results.manifest, &results.records)?)?;
    Ok(format!("{} trials: {}\n", results.records.len(), file.display()))
}
