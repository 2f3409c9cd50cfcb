//! `strided`: one block after the other, with a gap after each.

use super::requests::{RequestKeys, Requests};
use super::{Build, Kind};
use crate::error::Result;
use crate::keys::{SIZE_OR_ZERO, Section, keys, load};
use sim::workload::Pattern;

keys! {
    /// What a strided workload has besides.
    struct StridedKeys {
        /// Gap after each block (FFS's rotational delay) [default: as large as a block]
        gap_sectors: Option<u64> = load("gap", SIZE_OR_ZERO),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "strided",
    about: "Sequential blocks with a gap after each",
    keys: &[RequestKeys::KEYS, StridedKeys::KEYS],
    samples: &[],
    build: Build::Requests(build),
};

fn build(name: &str, section: &Section<'_>) -> Result<Requests> {
    let mut requests = Requests::read(name, section, Pattern::Sequential, false)?;
    let gap_sectors = StridedKeys::read(section).gap_sectors;
    requests.pattern = Pattern::Strided(gap_sectors.unwrap_or(requests.keys.block_sectors));
    Ok(requests)
}
