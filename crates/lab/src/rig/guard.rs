//! The guard: what a disk or an image is, by whatever name, and whether anybody would miss it.
//!
//! ```text
//! system      where the kernel says what there is: its own trees, or recorded ones
//! device      one block device: its partitions, its disk, what is built on it and what it is built on
//! in_use      what uses it now: nothing lifts that
//! signatures  what stands on it: `--destroy` lifts that, for the one device that it names
//! identity    the names and serial numbers by which a person means one device
//! ```

mod device;
mod identity;
mod in_use;
mod signatures;
mod system;

pub use device::Number;
pub use identity::{is_meant, is_number_meant};
pub use in_use::{same_file, users_of_device, users_of_file};
pub use signatures::{Signature, find as find_signatures};
pub use system::System;

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Everything that speaks against writing to a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What uses it, in words. Nothing lifts it.
    pub users: Vec<String>,
    /// What stands on it, and on its partitions. Only its owner's word lifts it.
    pub signatures: Vec<Signature>,
}

/// Looks at the device or image at `path`, which it only reads.
///
/// # Errors
///
/// Where it is neither, or cannot be read.
pub fn look(system: &System, path: &Path) -> Result<Findings> {
    let failed =
        |error| Error::input(format!("{}: {error}; run as a user who may read it", path.display()));
    let metadata = fs::metadata(path).map_err(failed)?;
    let kind = metadata.file_type();
    if !kind.is_block_device() && !kind.is_file() {
        return Err(Error::input(format!(
            "{} is neither a file nor a block device; name image files or disks",
            path.display()
        )));
    }
    let users = if kind.is_file() {
        users_of_file(system, path)
    } else {
        users_of_device(system, Number::new(metadata.rdev()), Some(path))
    };
    if !users.is_empty() {
        // What may not be written anyway need not be read.
        return Ok(Findings { users, ..Findings::default() });
    }
    let mut file = File::open(path).map_err(failed)?;
    let bytes = file.seek(SeekFrom::End(0)).map_err(failed)?;
    let signatures = find_signatures(&file, bytes).map_err(failed)?;
    Ok(Findings { users, signatures })
}

/// Whether what is at `path` may be lost: nobody uses it, and `destroy` names it.
///
/// # Errors
///
/// Why it may not; the message says what was found and what to do.
pub fn check(system: &System, path: &Path, destroy: &[String]) -> Result<()> {
    let Findings { users, signatures } = look(system, path)?;
    let name = path.display();
    if !users.is_empty() {
        return Err(Error::input(format!(
            "{name} is in use: {}; nothing was written. Take another disk",
            users.join("; ")
        )));
    }
    if is_meant(system, path, destroy) {
        return Ok(());
    }
    let signs: Vec<String> = signatures.iter().map(Signature::words).collect();
    let holds = if signs.is_empty() {
        "would lose all its data".to_string()
    } else {
        format!("holds {}", signs.join(", "))
    };
    Err(Error::input(format!(
        "{name} {holds}; nothing was written. If that is meant, give `--destroy={name}`"
    )))
}
