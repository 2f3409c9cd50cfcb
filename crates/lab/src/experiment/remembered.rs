//! What md and LVM remember of writes, so that a crash costs no full resync: a bitmap, or a partial parity log.

use super::VolumeKeys;
use crate::error::{Error, Result};
use crate::keys::{FromValue, Takes, Value};

/// What a bit of LVM's bitmap stands for where nothing is asked for (`raid_region_size` of lvm.conf).
pub const REGION_SECTORS: u64 = 2 << 11;

/// The least that lvcreate takes, a page.
const PAGE_SECTORS: u64 = 8;

/// The most that a bit of mdadm's may stand for: it counts a chunk's bytes in an `int`.
const CHUNK_SECTORS_MAX: u64 = 1 << 21;

/// Whether mdadm is to make a write-intent bitmap, and what a bit of it is to stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteIntents {
    /// None.
    #[default]
    Nothing,
    /// One with the chunk that mdadm chooses.
    Internal,
    /// One with so many sectors a bit (`mdadm --bitmap-chunk`).
    Chunk(u64),
}

impl WriteIntents {
    /// What a key of it takes.
    pub const TAKES: Takes = Takes::Form {
        expects: "none, internal, or what a bit stands for, a power of two from 4KiB to 1GiB",
        // One size is one text, however it was written.
        read: |text| {
            let is = WriteIntents::parse(text)?;
            Ok(match is {
                WriteIntents::Chunk(sectors) => {
                    block::units::format_bytes(sectors * block::SECTOR_BYTES)
                }
                WriteIntents::Nothing | WriteIntents::Internal => text.trim().to_string(),
            })
        },
    };

    fn parse(text: &str) -> Result<Self> {
        match text.trim() {
            "none" => return Ok(WriteIntents::Nothing),
            "internal" => return Ok(WriteIntents::Internal),
            _ => {}
        }
        let sectors = block::units::parse_sectors(text.trim()).ok();
        let fits = |sectors: &u64| {
            sectors.is_power_of_two() && (PAGE_SECTORS..=CHUNK_SECTORS_MAX).contains(sectors)
        };
        sectors.filter(fits).map(WriteIntents::Chunk).ok_or_else(|| {
            Error::input(format!(
                "`{text}` is not a valid bitmap; write `none`, `internal`, or what a bit stands for, a power of two from 4 KiB to 1 GiB, \
                 as in `1GiB`"
            ))
        })
    }
}

impl FromValue for WriteIntents {
    fn from_value(value: &Value) -> Option<Self> {
        WriteIntents::parse(&value.to_string()).ok()
    }
}

impl VolumeKeys {
    /// Whether there is a write-intent bitmap of mdadm's.
    ///
    /// # Errors
    ///
    /// Where the level has none; the message names the key.
    pub(super) fn has_bitmap(&self, origin: &str) -> Result<bool> {
        let is_kept = self.bitmap != WriteIntents::Nothing;
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

    /// What a bit of mdadm's or LVM's bitmap is to stand for; `None` for its default.
    ///
    /// # Errors
    ///
    /// Where LVM keeps none for the level, or takes no such size; the message names the key.
    pub(super) fn region_sectors(&self, origin: &str) -> Result<Option<u64>> {
        let own = match self.bitmap {
            WriteIntents::Chunk(sectors) => Some(sectors),
            _ => None,
        };
        let Some(sectors) = self.region_sectors else { return Ok(own) };
        let asked = block::units::format_bytes(sectors * block::SECTOR_BYTES);
        let said = format!("{origin}: `volume.region_size` of {asked}");
        if !self.level.has_bitmap_of_lvm() {
            return Err(Error::input(format!(
                "{said}: only LVM's levels with redundancy have one, and `volume.level` = {} has none; leave it out, or take \
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
        if self.ppl && self.bitmap != WriteIntents::Nothing {
            return Err(Error::input(format!(
                "{origin}: `volume.ppl` and `volume.bitmap`: md keeps one of them; leave one out"
            )));
        }
        Ok(self.ppl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Written;

    /// 1g and 1GiB were two layouts, which were compared with each other.
    #[test]
    fn a_size_is_one_however_it_is_written() {
        let read = |text: &str| {
            let written = Written::Text(text.into());
            WriteIntents::TAKES.read(&written).map(|value| value.to_string())
        };
        for text in ["1GiB", "1g", "1024MiB", "2097152"] {
            assert_eq!(read(text).unwrap(), read("1GiB").unwrap(), "{text}");
        }
        assert_eq!(read("1g").unwrap(), "1GiB");
        assert_eq!(read("internal").unwrap(), "internal");
        assert!(read("3MiB").is_err());
    }
}
