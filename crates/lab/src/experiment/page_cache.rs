//! What of a volume goes through the page cache of Linux, and how far that reads ahead.

use super::trial::Setup;
use super::volume::Volume;
use crate::catalogue::{Cloud, Drive};
use crate::error::{Error, Result};
use crate::keys::{FromValue, Takes, Value};
use crate::workload::{Requests, Work};
use std::sync::Arc;

/// What of a trial's requests goes through the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCache {
    /// Reads.
    pub is_read: bool,
    /// Writes, which come from its write-back then.
    pub is_written: bool,
}

/// The same setup, told whether what `works` write and read comes from the page cache.
pub(super) fn cached(setup: Arc<Setup>, works: &[Work]) -> Arc<Setup> {
    let mut cached = works.iter().filter_map(Work::requests).filter(|work| !work.keys.direct);
    let is_written = cached.clone().any(Requests::writes);
    let page_cache = PageCache { is_written, is_read: cached.any(Requests::reads) };
    if page_cache == PageCache::default() {
        return setup;
    }
    let volume = Volume { page_cache, ..setup.volume.clone() };
    Arc::new(Setup { volume, ..Setup::clone(&setup) })
}

/// The bytes a second of cloud volumes, all of them together, up to which writes through the page cache are modelled. Beyond, the
/// processor decides, as it does on flash drives: one thread writes back, and pages have to be copied.
const REMOTE_BYTES_PER_S_MAX: f64 = 1e9;

impl PageCache {
    /// Whether what is written through it to a volume of such `drives` is modelled: disks, or cloud volumes whose limits are
    /// low enough that they decide.
    pub fn is_write_back_modelled<'d>(drives: impl Iterator<Item = Option<&'d Drive>>) -> bool {
        let mut remote_bytes_per_s = 0.0;
        let (mut turn, mut are_remote) = (true, true);
        for drive in drives {
            turn &= drive.is_none_or(Drive::is_rotational);
            let cloud = drive.and_then(|drive| drive.cloud().ok());
            are_remote &= cloud.is_some();
            remote_bytes_per_s += cloud.and_then(Cloud::bytes_per_s).unwrap_or(f64::INFINITY);
        }
        turn || are_remote && remote_bytes_per_s <= REMOTE_BYTES_PER_S_MAX
    }
}

/// How far Linux reads ahead of what is read in order; nothing where it is as it chooses by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadAhead(pub Option<u64>);

impl ReadAhead {
    /// What a key of it takes.
    pub const TAKES: Takes = Takes::Form {
        expects: "auto, or a size from 4KiB to 64MiB, as in \"4MiB\"",
        read: |text| ReadAhead::parse(text).map(|_| text.trim().to_string()),
    };

    fn parse(text: &str) -> Result<Self> {
        if text.trim() == "auto" {
            return Ok(ReadAhead(None));
        }
        let sectors = block::units::parse_sectors(text.trim()).ok();
        let fits = |sectors: &u64| sectors.is_multiple_of(8) && (8..=64 << 11).contains(sectors);
        sectors.filter(fits).map(|sectors| ReadAhead(Some(sectors))).ok_or_else(|| {
            Error::input(format!(
                "`{text}` is not a valid read-ahead; write `auto`, or a multiple of 4 KiB up to 64 MiB, as in `4MiB`"
            ))
        })
    }
}

impl FromValue for ReadAhead {
    fn from_value(value: &Value) -> Option<Self> {
        ReadAhead::parse(&value.to_string()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::drive;

    /// Disks, and cloud volumes as far as they decide; nothing where flash does.
    #[test]
    fn writes_are_modelled_where_the_volumes_decide() {
        let is_it = |name: &str, count: usize| {
            let drive = drive(name).unwrap();
            PageCache::is_write_back_modelled(std::iter::repeat_n(Some(&drive), count))
        };
        assert!(is_it("st18000nm000j", 24) && is_it("st1[size=500GiB]", 8) && is_it("gp3", 4));
        assert!(!is_it("980-pro-1tb", 4) && !is_it("io2[size=1TiB,iops=100000]", 1));
        assert!(!is_it("gp3", 8), "1049 MB/s");
        let (disk, volume) = (drive("st18000nm000j").unwrap(), drive("gp3").unwrap());
        let mixed = [Some(&disk), Some(&volume)];
        assert!(!PageCache::is_write_back_modelled(mixed.into_iter()));
    }
}
