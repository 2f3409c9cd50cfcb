//! `iozone`: writes a file in order and reads it.

#[cfg(unix)]
use super::live_stage::LiveStage;
use super::stage::{Program, Stage, Toll, mb_per_s};
use super::{Build, Kind};
use crate::error::Result;
use crate::keys::{SIZE, keys, load};
use sim::fs::program::iozone;
use std::sync::Arc;

/// iozone's records, as in the published runs.
const RECORD_BYTES: u64 = 65_536;

keys! {
    /// The keys of `iozone`.
    struct Iozone {
        /// Size of the file
        size_sectors: u64 = load("size", SIZE).default("256MiB"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "iozone",
    about: "Writes and reads a file in order, in records of 64 KiB",
    keys: &[Iozone::KEYS],
    samples: &[
        "elapsed_s",
        "write_mb_per_s",
        "read_mb_per_s",
        "mb_per_s",
        "cpu_busy",
        "busiest_share",
    ],
    build: Build::Program(|keys, _| Ok(Arc::new(Iozone::read(keys)))),
};

impl Program for Iozone {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let bytes = self.size_sectors * block::SECTOR_BYTES;
        let files = on.session.files().clone();
        let write = iozone::write(files.clone(), "iozone.tmp", bytes, RECORD_BYTES);
        let ((), written) = on.only(write)?;
        let ((), read) = on.only(iozone::read(files, "iozone.tmp", RECORD_BYTES))?;
        Ok([written, read].map(|lap| mb_per_s(bytes, &lap)).to_vec())
    }

    fn live_samples(&self) -> &'static [&'static str] {
        &KIND.samples[1..3]
    }
    fn live_toll(&self) -> Option<Toll> {
        Some(Toll { bytes: 2 * self.size_sectors * block::SECTOR_BYTES, ..Toll::default() })
    }

    /// The file is read after it was mounted anew: from the members, and not from memory.
    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        let bytes = self.size_sectors * block::SECTOR_BYTES;
        let written =
            on.only(async |files| iozone::write(files, "iozone.tmp", bytes, RECORD_BYTES).await)?;
        on.empty_caches()?;
        let read = on.only(async |files| iozone::read(files, "iozone.tmp", RECORD_BYTES).await)?;
        Ok([written, read].map(|lap| bytes as f64 / 1e6 / lap.elapsed_s).to_vec())
    }
}
