//! `memory`: a file is written, read and written over, each time with nothing left to write from before.

use super::stage::{Program, Stage, cpu_percent, mb_per_s};
use super::{Build, Kind};
use crate::catalogue::Host;
use crate::error::{Error, Result};
use crate::keys::{SIZE, keys, load};
use sim::fs::program::{iozone, memory};
use sim::fs::{Files as _, Lap};
use std::sync::Arc;

const FILE: &str = "file";

keys! {
    /// The keys of `memory`.
    struct Memory {
        /// Size of the file
        size_sectors: u64 = load("size", SIZE).default("256MiB"),
        /// Size of each record
        block_sectors: u64 = load("block", SIZE).default("64KiB"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "memory",
    about: "Writes, reads and overwrites a file in memory, without waiting for the disk",
    keys: &[Memory::KEYS],
    samples: &[
        "write_mb_per_s",
        "write_cpu",
        "read_mb_per_s",
        "read_cpu",
        "rewrite_mb_per_s",
        "rewrite_cpu",
        "elapsed_s",
        "mb_per_s",
        "cpu_busy",
        "busiest_share",
    ],
    build: Build::Program(|keys, _| Ok(Arc::new(Memory::read(keys)))),
};

impl Program for Memory {
    /// Whether there is a rate to find.
    fn admit(&self, path: &str, host: &Host) -> Result<()> {
        let costs = &host.files.costs;
        if costs.write_ns_per_kib == 0 || costs.read_ns_per_kib == 0 {
            return Err(Error::input(format!(
                "`{path}.kind` = memory measures how fast memory is copied, but `host.name` = {} takes no \
                 time for it; name a host with `file_read_us_per_kib` and `file_write_us_per_kib`",
                host.name
            )));
        }
        Ok(())
    }

    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let [bytes, record] =
            [self.size_sectors, self.block_sectors].map(|sectors| sectors * block::SECTOR_BYTES);
        let files = on.session.files().clone();
        let write = || memory::write(files.clone(), FILE, bytes, record);
        let measured = |lap: Lap| [mb_per_s(bytes, &lap), cpu_percent(&lap)];
        let written = measured(on.only(write())?.1);
        settle(on)?;
        let read = measured(on.only(iozone::read(files.clone(), FILE, record))?.1);
        settle(on)?;
        let rewritten = measured(on.only(write())?.1);
        Ok([written, read, rewritten].concat())
    }
}

/// Writes what is left, as sync(8) does.
fn settle(on: &mut Stage<'_>) -> Result<()> {
    let files = on.session.files().clone();
    on.only(async move { files.sync().await }).map(drop)
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};
    use crate::workload::Work;

    #[test]
    fn a_host_that_copies_in_no_time_has_no_rate() {
        let text = "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"4.4bsd\"\n[workload.w]\nkind = \
                    \"memory\"";
        let plan = Plan::new(&Experiment::parse("some.toml", text).unwrap()).unwrap();
        let trial = &plan.trials[0];
        let Work::Program { program, .. } = &trial.work else { panic!("it uses files") };
        let error = program.admit("workload.w", &trial.setup.host).unwrap_err().to_string();
        assert!(error.contains("`host.name` = ideal takes no time"), "{error}");
    }
}
