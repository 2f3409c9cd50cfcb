//! `touch`: makes many empty files in one directory, touches them, removes them.

use super::stage::{Program, Stage, cpu_percent};
use super::{Build, Kind};
use crate::error::Result;
use crate::keys::{Takes, keys, load};
use sim::fs::program::touch;
use sim::fs::{Files, Lap};
use std::sync::Arc;

keys! {
    /// The keys of `touch`.
    struct Touch {
        /// Number of files
        files: u32 = load("files", Takes::Count(1, 10_000_000)).default("10000"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "touch",
    about: "Creates, touches and removes `files` files in one directory",
    keys: &[Touch::KEYS],
    samples: &[
        "elapsed_s",
        "touch_s",
        "touch_cpu",
        "touch_reads",
        "touch_writes",
        "retouch_s",
        "retouch_cpu",
        "retouch_reads",
        "retouch_writes",
        "unlink_s",
        "unlink_cpu",
        "unlink_reads",
        "unlink_writes",
        "mb_per_s",
        "cpu_busy",
        "busiest_share",
    ],
    build: Build::Program(|keys, _| Ok(Arc::new(Touch::read(keys)))),
};

impl Program for Touch {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let files = on.session.files().clone();
        let (directory, _) = on.only(async move { files.mkdir(files.root(), "d").await })?;
        let files = on.session.files().clone();
        let laps = [
            on.only(touch::touch_new(files.clone(), directory, self.files))?.1,
            on.only(touch::touch_again(files.clone(), directory, self.files))?.1,
            on.only(touch::remove(files, directory, self.files))?.1,
        ];
        let measured = |lap: Lap| {
            let traffic = lap.traffic;
            [lap.elapsed_s, cpu_percent(&lap), traffic.reads as f64, traffic.writes as f64]
        };
        Ok(laps.map(measured).concat())
    }
}
