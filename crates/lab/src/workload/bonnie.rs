//! `bonnie`: the six tests of that name.

use super::stage::{Program, Stage, cpu_percent};
use super::{Build, Kind};
use crate::error::Result;
use crate::keys::{SIZE, keys, load};
use sim::fs::Lap;
use sim::fs::program::bonnie;
use std::sync::Arc;

keys! {
    /// The keys of `bonnie`.
    struct Bonnie {
        /// Size of the file
        size_sectors: u64 = load("size", SIZE).default("256MiB"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "bonnie",
    about: "Bonnie's six tests of one file: putc, rewrite, write, getc, read, seeks",
    keys: &[Bonnie::KEYS],
    samples: &[
        "elapsed_s",
        "putc_kib_per_s",
        "putc_cpu",
        "rewrite_kib_per_s",
        "rewrite_cpu",
        "write_kib_per_s",
        "write_cpu",
        "getc_kib_per_s",
        "getc_cpu",
        "read_kib_per_s",
        "read_cpu",
        "seeks_per_s",
        "seeks_cpu",
        "mb_per_s",
        "cpu_busy",
        "busiest_share",
    ],
    build: Build::Program(|keys, _| Ok(Arc::new(Bonnie::read(keys)))),
};

impl Program for Bonnie {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let bytes = self.size_sectors * block::SECTOR_BYTES;
        let kib = bytes as f64 / 1024.0;
        let files = on.session.files().clone();
        let tickets = bonnie::Tickets::new(on.seed);
        let seekers: Vec<_> = (0..bonnie::SEEKERS)
            .map(|_| bonnie::seek(files.clone(), bytes, tickets.clone()))
            .collect();
        let measured = |lap: Lap, done: f64| [done / lap.elapsed_s, cpu_percent(&lap)];
        let put = bonnie::put_chars(files.clone(), bytes, on.host.stdio_write_ns_per_kib);
        let get = bonnie::get_chars(files.clone(), bytes, on.host.stdio_read_ns_per_kib);
        let tests = [
            measured(on.only(put)?.1, kib),
            measured(on.only(bonnie::rewrite(files.clone(), bytes))?.1, kib),
            measured(on.only(bonnie::write_blocks(files.clone(), bytes))?.1, kib),
            measured(on.only(get)?.1, kib),
            measured(on.only(bonnie::read_blocks(files, bytes))?.1, kib),
            measured(on.all(seekers)?, bonnie::seeks() as f64),
        ];
        Ok(tests.concat())
    }
}
