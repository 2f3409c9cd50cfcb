//! What of a volume goes through the page cache of Linux, and how far that reads ahead.

use crate::error::{Error, Result};
use crate::keys::{FromValue, Takes, Value};

/// What of a trial's requests goes through the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCache {
    /// Reads.
    pub is_read: bool,
    /// Writes, which come from its write-back then.
    pub is_written: bool,
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
                "`{text}` is no read-ahead; write `auto`, or a multiple of 4 KiB up to 64 MiB, as in `4MiB`"
            ))
        })
    }
}

impl FromValue for ReadAhead {
    fn from_value(value: &Value) -> Option<Self> {
        ReadAhead::parse(&value.to_string()).ok()
    }
}
