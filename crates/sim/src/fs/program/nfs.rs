//! An NFS server of version 2: a file comes in writes of 8 KB, and none is answered before it is on the
//! disk with all that leads to it: the block, the indirect block that names it, the inode.

use crate::fs::{Files, FsError};

/// The largest write that the protocol knows.
pub const WRITE_BYTES: u64 = 8192;

/// Takes a file of `bytes`, and answers each write when it is safe.
///
/// # Errors
///
/// As the calls.
pub async fn serve<F: Files>(files: F, bytes: u64) -> Result<(), FsError> {
    let file = files.create(files.root(), "nfs").await?;
    for offset in (0..bytes).step_by(WRITE_BYTES as usize) {
        files.write(&file, offset, WRITE_BYTES.min(bytes - offset)).await?;
        files.fsync(&file).await?;
    }
    files.close(file).await;
    Ok(())
}
