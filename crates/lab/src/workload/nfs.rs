//! `nfs`: takes a file as an NFS server of version 2 does, each write safe before the next.

#[cfg(unix)]
use super::live_stage::LiveStage;
use super::stage::{Program, Stage, Toll};
use super::{Build, Kind};
use crate::error::Result;
use crate::keys::{SIZE, keys, load};
use sim::fs::program::nfs;
use std::sync::Arc;

keys! {
    /// The keys of `nfs`.
    struct Nfs {
        /// Size of the file
        size_sectors: u64 = load("size", SIZE).default("256MiB"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "nfs",
    about: "Takes a file in writes of 8 KiB, each safe on the disk before the next, as an NFS server of \
            version 2 does",
    keys: &[Nfs::KEYS],
    samples: &["elapsed_s", "kib_per_s", "writes", "mb_per_s", "cpu_busy", "busiest_share"],
    build: Build::Program(|keys, _| Ok(Arc::new(Nfs::read(keys)))),
};

impl Program for Nfs {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let bytes = self.size_sectors * block::SECTOR_BYTES;
        let ((), lap) = on.only(nfs::serve(on.session.files().clone(), bytes))?;
        Ok(vec![bytes as f64 / 1024.0 / lap.elapsed_s, lap.traffic.writes as f64])
    }

    fn live_samples(&self) -> &'static [&'static str] {
        &KIND.samples[1..3]
    }
    fn live_toll(&self) -> Option<Toll> {
        let waits = self.size_sectors * block::SECTOR_BYTES / 8192;
        Some(Toll { waits, ..Toll::default() })
    }

    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        let bytes = self.size_sectors * block::SECTOR_BYTES;
        let lap = on.only(async |files| nfs::serve(files, bytes).await)?;
        Ok(vec![bytes as f64 / 1024.0 / lap.elapsed_s, lap.moved.writes as f64])
    }
}
