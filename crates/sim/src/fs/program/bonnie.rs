//! Bonnie (T. Bray, 1990): one large file, written and read by character, by block and at random.

use crate::fs::{Files, FsError};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::cell::RefCell;
use std::rc::Rc;

/// The size of its reads and writes.
const CHUNK_BYTES: u64 = 16_384;
/// The size of stdio's reads and writes: a block of the file system.
const STDIO_BYTES: u64 = 8192;
/// Seeks, by all processes together.
const SEEKS: u64 = 4000;
/// Processes that seek.
pub const SEEKERS: u64 = 3;
/// One seek in this many writes back what it read.
const SEEKS_PER_WRITE: u64 = 10;

/// The file.
const NAME: &str = "Bonnie";

/// Writes the file by putc(3), which costs the program `work_ns_per_kib`.
///
/// # Errors
///
/// As the calls.
pub async fn put_chars<F: Files>(
    files: F,
    bytes: u64,
    work_ns_per_kib: u64,
) -> Result<(), FsError> {
    let file = files.create(files.root(), NAME).await?;
    for offset in (0..bytes).step_by(STDIO_BYTES as usize) {
        files.compute(STDIO_BYTES / 1024 * work_ns_per_kib).await;
        files.write(&file, offset, STDIO_BYTES).await?;
    }
    files.close(file).await;
    Ok(())
}

/// Reads each chunk, and writes it back where it was.
///
/// # Errors
///
/// As the calls.
pub async fn rewrite<F: Files>(files: F, bytes: u64) -> Result<(), FsError> {
    let file = files.open(files.root(), NAME).await?;
    for offset in (0..bytes).step_by(CHUNK_BYTES as usize) {
        files.read(&file, offset, CHUNK_BYTES).await?;
        files.write(&file, offset, CHUNK_BYTES).await?;
    }
    files.close(file).await;
    Ok(())
}

/// Rewrites the file, by chunks.
///
/// # Errors
///
/// As the calls.
pub async fn write_blocks<F: Files>(files: F, bytes: u64) -> Result<(), FsError> {
    files.unlink(files.root(), NAME).await?;
    let file = files.create(files.root(), NAME).await?;
    for offset in (0..bytes).step_by(CHUNK_BYTES as usize) {
        files.write(&file, offset, CHUNK_BYTES).await?;
    }
    files.close(file).await;
    Ok(())
}

/// Reads the file by getc(3), which costs the program `work_ns_per_kib`.
///
/// # Errors
///
/// As the calls.
pub async fn get_chars<F: Files>(
    files: F,
    bytes: u64,
    work_ns_per_kib: u64,
) -> Result<(), FsError> {
    let file = files.open(files.root(), NAME).await?;
    for offset in (0..bytes).step_by(STDIO_BYTES as usize) {
        files.read(&file, offset, STDIO_BYTES).await?;
        files.compute(STDIO_BYTES / 1024 * work_ns_per_kib).await;
    }
    files.close(file).await;
    Ok(())
}

/// Reads the file by chunks.
///
/// # Errors
///
/// As the calls.
pub async fn read_blocks<F: Files>(files: F, bytes: u64) -> Result<(), FsError> {
    let file = files.open(files.root(), NAME).await?;
    for offset in (0..bytes).step_by(CHUNK_BYTES as usize) {
        files.read(&file, offset, CHUNK_BYTES).await?;
    }
    files.close(file).await;
    Ok(())
}

/// The positions of the seeks: a pipe that all processes read from.
#[derive(Clone, Debug)]
pub struct Tickets(Rc<RefCell<(u64, Pcg64Mcg)>>);

impl Tickets {
    /// All of them, at positions derived from `seed`.
    pub fn new(seed: u64) -> Self {
        let random = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
        Tickets(Rc::new(RefCell::new((SEEKS, random))))
    }

    fn next(&self, chunks: u64) -> Option<u64> {
        let (left, random) = &mut *self.0.borrow_mut();
        *left = left.checked_sub(1)?;
        Some(random.next_u64() % chunks)
    }
}

/// One of the seeking processes: reads chunks at random, and writes some of them back.
///
/// # Errors
///
/// As the calls.
pub async fn seek<F: Files>(files: F, bytes: u64, tickets: Tickets) -> Result<(), FsError> {
    let file = files.open(files.root(), NAME).await?;
    let mut made = 0_u64;
    while let Some(chunk) = tickets.next(bytes / CHUNK_BYTES) {
        files.read(&file, chunk * CHUNK_BYTES, CHUNK_BYTES).await?;
        if made.is_multiple_of(SEEKS_PER_WRITE) {
            files.write(&file, chunk * CHUNK_BYTES, CHUNK_BYTES).await?;
        }
        made += 1;
    }
    files.close(file).await;
    Ok(())
}

/// The seeks of [`SEEKERS`] together.
pub fn seeks() -> u64 {
    SEEKS
}
