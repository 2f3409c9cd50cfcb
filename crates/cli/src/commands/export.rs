//! `ileave export`.

use super::written::PARQUET;
use crate::flags::ExportFlags;
use lab::{Error, Result, read_results};
use std::path::PathBuf;
use verdict::report::parquet;

/// Writes the trials of a results directory in a form that other programs read.
pub(crate) fn export(flags: &ExportFlags) -> Result<String> {
    if let Some(second) = &flags.file {
        let (directory, file) = if second.is_dir() && !flags.directory.is_dir() {
            (second, &flags.directory)
        } else {
            (&flags.directory, second)
        };
        let [directory, file] = [directory, file].map(|path| path.display());
        return Err(Error::input(format!(
            "`--parquet` takes no file; write `ileave export {directory} --parquet --out {file}`"
        )));
    }
    let results = read_results(&flags.directory)?;
    let file = flags.out.clone().unwrap_or_else(|| {
        PathBuf::from(format!("{}.parquet", super::run::safe_name(&results.manifest.name)))
    });
    PARQUET.refuse_other_file(&file)?;
    PARQUET.write(&file, &parquet::trials(&results.manifest, &results.records)?)?;
    Ok(format!("{} trials: {}\n", results.records.len(), file.display()))
}
