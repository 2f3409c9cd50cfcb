//! Which interleaves a system takes.

use crate::error::{Error, Result};
use block::layout::System;
use block::units::format_bytes;
use block::{Level, SECTOR_BYTES};

/// The least chunk of Linux's drivers, a page.
const PAGE_SECTORS: u64 = 8;
/// LVM's largest stripe: an extent.
const EXTENT_SECTORS: u64 = 4 << 11;

/// Why the system that a level is of does not take an interleave; nothing where it does.
///
/// ```text
/// md     multiples of 4 KiB; powers of two for all but RAID 0: 384 KiB for md-stripe, and not for md-raid5
/// LVM    powers of two from 4 KiB to 4 MiB
/// dm     multiples of 4 KiB
/// ```
pub(crate) fn refusal(level: Level, interleave_sectors: u64) -> Option<String> {
    if !level.interleaved() {
        return None;
    }
    let pages = interleave_sectors > 0 && interleave_sectors.is_multiple_of(PAGE_SECTORS);
    let is_power = interleave_sectors.is_power_of_two();
    let (is_taken, kind, taken) = match level.system() {
        Some(System::Lvm) => {
            let is_taken = pages && is_power && interleave_sectors <= EXTENT_SECTORS;
            (is_taken, "stripe", "LVM takes powers of two from 4 KiB to 4 MiB")
        }
        Some(System::Md) => {
            let taken = "md takes multiples of 4 KiB, and powers of two for RAID 4, 5, 6 and 10";
            (pages && (level.is_raid_0_of_md() || is_power), "chunk", taken)
        }
        Some(System::Dm) => (pages, "chunk", "the device mapper takes multiples of a page, 4 KiB"),
        Some(System::Ccd | System::Raidframe | System::Btrfs) | None => return None,
    };
    (!is_taken).then(|| {
        let asked =
            interleave_sectors.checked_mul(SECTOR_BYTES).map_or("that".into(), format_bytes);
        format!("{asked} is no {kind} for {level}: {taken}; take 64KiB")
    })
}

/// Whether the system that a level is of takes the interleave of an experiment.
///
/// # Errors
///
/// Where it does not; the message says what it takes.
pub fn check_interleave(level: Level, interleave_sectors: u64) -> Result<()> {
    match refusal(level, interleave_sectors) {
        Some(why) => Err(Error::input(format!("`volume.interleave`: {why}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_takes_its_own() {
        let is_taken = |level: &str, kib: u64| {
            let bytes = kib << 10;
            check_interleave(level.parse().unwrap(), bytes / SECTOR_BYTES).is_ok()
        };
        let of = |level| [0, 2, 4, 96, 384, 4096, 8192].map(|kib| is_taken(level, kib));
        assert_eq!(of("md-stripe"), [false, false, true, true, true, true, true]);
        for level in ["md-raid5", "md-raid6-left-asymmetric", "md-raid10-f2", "md-raid60-2"] {
            assert_eq!(of(level), [false, false, true, false, false, true, true], "{level}");
        }
        assert_eq!(of("lvm-raid10"), [false, false, true, false, false, true, false]);
        assert_eq!(of("dm-stripe"), [false, false, true, true, true, true, true]);
        // What is arithmetic alone takes all, and what has no interleave is not asked.
        assert!(is_taken("raid5", 2) && is_taken("md-mirror", 0) && is_taken("btrfs-raid10", 3));
    }
}
