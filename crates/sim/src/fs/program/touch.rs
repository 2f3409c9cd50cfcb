//! touch(1) and rm(1) over many names in one directory: every call is one or two small writes.

use crate::fs::{Files, FsError};

/// The names: 1, 2, 3 …
fn names(count: u32) -> impl Iterator<Item = String> {
    (1..=count).map(|number| number.to_string())
}

/// Touches `count` new names: looks for each, and makes it.
///
/// # Errors
///
/// As the calls.
pub async fn touch_new<F: Files>(
    files: F,
    directory: F::Directory,
    count: u32,
) -> Result<(), FsError> {
    for name in names(count) {
        if files.stat(directory, &name).await.is_err() {
            let file = files.create(directory, &name).await?;
            files.close(file).await;
        }
    }
    Ok(())
}

/// Touches them again: looks for each, and sets its times.
///
/// # Errors
///
/// As the calls.
pub async fn touch_again<F: Files>(
    files: F,
    directory: F::Directory,
    count: u32,
) -> Result<(), FsError> {
    for name in names(count) {
        files.stat(directory, &name).await?;
        files.utimes(directory, &name).await?;
    }
    Ok(())
}

/// Removes them, in the order in which they were made.
///
/// # Errors
///
/// As the calls.
pub async fn remove<F: Files>(
    files: F,
    directory: F::Directory,
    count: u32,
) -> Result<(), FsError> {
    for name in names(count) {
        files.stat(directory, &name).await?;
        files.unlink(directory, &name).await?;
    }
    Ok(())
}
