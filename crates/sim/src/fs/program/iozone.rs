//! iozone: writes a file in order, and reads it.

use crate::fs::{Files, FsError};

/// Writes a file of `bytes` in records of `record_bytes`, and waits until it is on the disk.
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
    let file = files.create(files.root(), name).await?;
    write_records(&files, &file, bytes, record_bytes).await?;
    files.fsync(&file).await?;
    files.close(file).await;
    Ok(())
}

/// Writes the first `bytes` of a file, a record at a time.
pub(super) async fn write_records<F: Files>(
    files: &F,
    file: &F::File,
    bytes: u64,
    record_bytes: u64,
) -> Result<(), FsError> {
    let mut offset = 0;
    while offset < bytes {
        files.write(file, offset, record_bytes.min(bytes - offset)).await?;
        offset += record_bytes;
    }
    Ok(())
}

/// Reads a file in records of `record_bytes`, to its end.
///
/// # Errors
///
/// As the calls.
pub async fn read<F: Files>(
    files: F,
    name: &'static str,
    record_bytes: u64,
) -> Result<(), FsError> {
    let file = files.open(files.root(), name).await?;
    let mut offset = 0;
    loop {
        let there = files.read(&file, offset, record_bytes).await?;
        if there == 0 {
            break;
        }
        offset += there;
    }
    files.close(file).await;
    Ok(())
}
