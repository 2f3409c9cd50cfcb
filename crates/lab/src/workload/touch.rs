//! `touch`: makes many empty files in one directory, touches them, removes them.

#[cfg(unix)]
use super::live_stage::LiveStage;
use super::stage::{Program, Stage, Toll, cpu_percent};
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

    fn live_samples(&self) -> &'static [&'static str] {
        &KIND.samples[1..13]
    }
    fn live_toll(&self) -> Option<Toll> {
        Some(Toll { calls: 3 * u64::from(self.files), ..Toll::default() })
    }

    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        on.untimed(async |files| files.mkdir(files.root(), "d").await.map(drop))?;
        let (mut values, count) = (Vec::new(), self.files);
        for phase in 0..3 {
            let lap = on.only(async |files| {
                let directory = files.open_directory(files.root(), "d").await?;
                match phase {
                    0 => touch::touch_new(files, directory, count).await,
                    1 => touch::touch_again(files, directory, count).await,
                    _ => touch::remove(files, directory, count).await,
                }
            })?;
            let moved = lap.moved;
            let figures =
                [lap.elapsed_s, lap.cpu_percent(), moved.reads as f64, moved.writes as f64];
            values.extend(figures);
        }
        Ok(values)
    }
}
