//! newfs(8) and mkfs(8): one access to the raw device after the other.

use super::fsck::make_all;
use crate::fs::{FsError, Mounted};

/// Makes the file system: each access waits for the one before, and the device is closed at the end.
///
/// # Errors
///
/// Where the device fails.
pub async fn newfs(files: Mounted) -> Result<(), FsError> {
    let accesses = files.at_once(|fs| fs.make().collect());
    make_all(&files, accesses).await?;
    files.kernel().close().await
}
