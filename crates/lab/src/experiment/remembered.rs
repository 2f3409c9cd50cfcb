//! What md and LVM remember of writes, so that a crash costs no full resync: a bitmap, or a partial parity log.

use super::VolumeKeys;
use crate::error::{Error, Result};

/// What a bit of LVM's bitmap stands for where nothing is asked for (`raid_region_size` of lvm.conf).
pub const REGION_SECTORS: u64 = 2 << 11;

/// The least that lvcreate takes, a page.
const PAGE_SECTORS: u64 = 8;

impl VolumeKeys {
    /// Whether there is a write-intent bitmap of mdadm's.
    ///
    /// # Errors
    ///
    /// Where the level has none; the message names the key.
    pub(super) fn has_bitmap(&self, origin: &str) -> Result<bool> {
        let is_kept = self.bitmap == "internal";
        if is_kept && !self.level.has_bitmap() {
            let instead = if self.level.has_bitmap_of_lvm() {
                "LVM keeps its own, always; leave it out, or set `volume.region_size`"
            } else {
                "leave it out, or take md-mirror, md-raid5, md-raid6 or md-raid10"
            };
            return Err(Error::input(format!(
                "{origin}: `volume.bitmap`: `volume.level` = {} has no write-intent bitmap of mdadm's; {instead}",
                self.level
            )));
        }
        Ok(is_kept)
    }

    /// What a bit of LVM's bitmap is to stand for; `None` for its default.
    ///
    /// # Errors
    ///
    /// Where LVM keeps none for the level, or takes no such size; the message names the key.
    pub(super) fn region_sectors(&self, origin: &str) -> Result<Option<u64>> {
        let Some(sectors) = self.region_sectors else { return Ok(None) };
        let asked = block::units::format_bytes(sectors * block::SECTOR_BYTES);
        let said = format!("{origin}: `volume.region_size` of {asked}");
        if !self.level.has_bitmap_of_lvm() {
            return Err(Error::input(format!(
                "{said}: it is of LVM's levels with redundancy, not of `volume.level` = {}; leave it out, or take \
                 lvm-mirror, lvm-raid5 or lvm-raid10",
                self.level
            )));
        }
        if !sectors.is_power_of_two() || sectors < PAGE_SECTORS {
            return Err(Error::input(format!(
                "{said}: LVM takes powers of two from 4 KiB on; take 64MiB"
            )));
        }
        Ok(Some(sectors))
    }

    /// Whether there is a partial parity log.
    ///
    /// # Errors
    ///
    /// Where the level has none, or a bitmap is asked for, too; the message names the key.
    pub(super) fn has_ppl(&self, origin: &str) -> Result<bool> {
        if self.ppl && !self.level.has_ppl() {
            return Err(Error::input(format!(
                "{origin}: `volume.ppl`: `volume.level` = {} keeps no partial parity log; leave it out, or take md-raid5",
                self.level
            )));
        }
        if self.ppl && self.bitmap == "internal" {
            return Err(Error::input(format!(
                "{origin}: `volume.ppl` and `volume.bitmap`: md keeps one of them; leave one out"
            )));
        }
        Ok(self.ppl)
    }
}
