//! An NFS version 2 server: a file arrives in writes of 8 KB. It answers a write only when the data is
//! on the disk with everything that leads to it: the block, the indirect block that points to it, the
//! inode.

use crate::fs::{Files, FsError};

/// The largest write of the protocol.
pub const WRITE_BYTES: u64 = 8192;

/// Receives a file of `bytes`, and answers each write when it is durable.
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
