//! A file that is written and read while memory lasts. Where memory ends, the rates fall from those of
//! copying to those of the disk.

use super::iozone::write_records;
use crate::fs::{Files, FsError};

/// Writes a file of `bytes` in records of `record_bytes`, and does not wait for the disk. Overwrites
/// the file where it exists.
///
/// # Errors
///
/// As the calls.
pub async fn write<F: Files>(
    files: F,
    name: &'static str,
    bytes: u64,
    record_bytes: u64,
) -> Result<(), FsError> {
    let file = match files.open(files.root(), name).await {
        Ok(file) => file,
        Err(_) => files.create(files.root(), name).await?,
    };
    write_records(&files, &file, bytes, record_bytes).await?;
    files.close(file).await;
    Ok(())
}
