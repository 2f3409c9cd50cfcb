//! The same small work on members, between trials: what takes longer each time is the machine's drift, and no layout's.

use crate::error::{Error, Result};
use rustix::fs::fdatasync;
use rustix::io::{pread, pwrite};
use std::fs::File;
use std::time::Instant;
use uring::Buffer;

/// What is read or written at a time.
const BLOCK_BYTES: usize = 256 << 10;
/// How many blocks of a member.
const BLOCKS: u64 = 64;
/// Coprime to their number: one after the other they lie far apart.
const STEP: u64 = 37;
/// Blocks begin at multiples of it, whatever the sectors of a member.
const ALIGNED_BYTES: u64 = 4096;

/// A member for it, open past the page cache.
pub(super) struct Ground<'a> {
    /// Its name, for messages.
    pub name: String,
    /// What it is accessed through.
    pub file: &'a File,
    /// Its size.
    pub bytes: u64,
    /// Whether it may be written.
    pub writes: bool,
}

/// Goes over the members one after the other, at the same places each time; how long that took, in s. None where one
/// is too small.
///
/// # Errors
///
/// Where a member cannot be read or written.
pub(super) fn run(members: &[Ground<'_>]) -> Result<Option<f64>> {
    if members.is_empty()
        || members.iter().any(|m| m.bytes < BLOCKS * ALIGNED_BYTES + BLOCK_BYTES as u64)
    {
        return Ok(None);
    }
    let mut buffer = Buffer::default();
    buffer.grow(BLOCK_BYTES);
    let start = Instant::now();
    for member in members {
        let failed = |error: rustix::io::Errno| {
            Error::failure(format!("{} fails: {error}; replace the disk", member.name))
        };
        if member.writes {
            for place in places(member.bytes) {
                pwrite(member.file, &buffer[..BLOCK_BYTES], place).map_err(failed)?;
            }
            fdatasync(member.file).map_err(failed)?;
        }
        for place in places(member.bytes) {
            pread(member.file, &mut buffer[..BLOCK_BYTES], place).map_err(failed)?;
        }
    }
    Ok(Some(start.elapsed().as_secs_f64()))
}

/// Where the blocks begin: all over the member, in an order that moves the heads of a disk.
fn places(bytes: u64) -> impl Iterator<Item = u64> {
    let span = (bytes - BLOCK_BYTES as u64) / BLOCKS / ALIGNED_BYTES * ALIGNED_BYTES;
    (0..BLOCKS).map(move |number| number * STEP % BLOCKS * span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_same_places_each_time_all_over_the_member() {
        let bytes = 1 << 30;
        let all: BTreeSet<u64> = places(bytes).collect();
        assert_eq!(all.len() as u64, BLOCKS);
        assert!(all.iter().all(|place| place.is_multiple_of(ALIGNED_BYTES)));
        let last = *all.last().unwrap();
        assert!(last + BLOCK_BYTES as u64 <= bytes && last > bytes / 10 * 9);
    }

    #[test]
    fn a_member_is_gone_over_and_its_size_stays() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4 << 20).unwrap();
        let ground = |writes| Ground { name: "a".into(), file: &file, bytes: 4 << 20, writes };
        assert!(run(&[ground(false)]).unwrap().unwrap() > 0.0);
        assert!(run(&[ground(true), ground(true)]).unwrap().unwrap() > 0.0);
        assert_eq!(file.metadata().unwrap().len(), 4 << 20);
        assert_eq!(run(&[Ground { bytes: 1 << 18, ..ground(false) }]).unwrap(), None);
        assert_eq!(run(&[]).unwrap(), None);
    }
}
