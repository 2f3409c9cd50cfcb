//! Programs that use files, each written once, as straight-line code against [`crate::fs::Files`].

pub mod bonnie;
pub mod fsck;
pub mod iozone;
pub mod mail;
pub mod memory;
pub mod modelled;
pub mod newfs;
pub mod nfs;
pub mod pipe;
pub mod spool;
pub mod touch;
pub mod tree;

use crate::fs::{Files, FsError};

/// Reads a file from its start to its end, `bytes` at a time; the last read is short.
///
/// # Errors
///
/// As read(2).
async fn read_to_end<F: Files>(files: &F, file: &F::File, bytes: u64) -> Result<(), FsError> {
    let mut offset = 0;
    loop {
        let read = files.read(file, offset, bytes).await?;
        offset += read;
        if read < bytes {
            return Ok(());
        }
    }
}
