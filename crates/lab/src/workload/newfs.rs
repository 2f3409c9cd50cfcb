//! `newfs`: makes the file system.

use super::stage::{Program, Stage};
use super::{Build, Kind};
use crate::error::Result;
use sim::fs::program::newfs;
use std::sync::Arc;

/// It has no keys of its own.
#[derive(Debug)]
struct Newfs;

pub(super) static KIND: Kind = Kind {
    name: "newfs",
    about: "Makes a file system (newfs, mkfs)",
    keys: &[],
    samples: &["elapsed_s", "newfs_s", "writes", "mb_per_s", "cpu_busy", "busiest_share"],
    build: Build::Program(|_, _| Ok(Arc::new(Newfs))),
};

impl Program for Newfs {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let ((), lap) = on.only(newfs::newfs(on.session.files().clone()))?;
        Ok(vec![lap.elapsed_s, lap.traffic.writes as f64])
    }
}
