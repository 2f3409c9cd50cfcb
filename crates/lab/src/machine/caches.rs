//! The write caches of a machine: what takes writes before they are on a medium.

use crate::error::Result;
use crate::experiment::{Member, Setup};

/// For how many bytes there is room in the drives' write caches, those of a log among them, and in a RAID controller's
/// memory.
///
/// # Errors
///
/// Where a drive is no drive.
pub fn write_cache_bytes(setup: &Setup) -> Result<u64> {
    let mut sectors = setup.volume.controller.as_ref().map_or(0, |of| of.memory_sectors);
    for member in setup.members() {
        if let Member::Modelled { drive, .. } = member {
            sectors += drive.limits()?.write_cache_sectors;
        }
    }
    Ok(sectors.saturating_mul(block::SECTOR_BYTES))
}
