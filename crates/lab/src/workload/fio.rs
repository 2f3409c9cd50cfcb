//! `fio`: raw and mixed I/O on a file, by fio itself. The job is written from the keys and kept with the result. On
//! real disks only.

#[cfg(unix)]
use super::live_stage::LiveStage;
use super::stage::{Program, Stage, Toll};
use super::{Build, Kind};
use crate::catalogue::Host;
use crate::error::{Error, Result};
use crate::import::fio_samples;
use crate::keys::{SIZE, Takes, YEAR_NS, keys, load, words};
#[cfg(unix)]
use crate::rig::site::Step;
use block::SECTOR_BYTES;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

keys! {
    /// The keys of `fio`.
    struct Fio {
        /// fio's rw
        pattern: Pattern = load("pattern", Pattern::TAKES).default("randrw"),
        /// Percentage of reads where the pattern mixes them
        reads_percent: Option<u32> = load("reads_percent", Takes::Count(0, 100)),
        /// Size of each request
        block_sectors: u64 = load("block", SIZE).default("4KiB"),
        /// Size of each job's file
        size_sectors: u64 = load("size", SIZE).default("256MiB"),
        /// Identical jobs side by side
        jobs: u64 = load("jobs", Takes::Count(1, 4096)).default("1"),
        /// Requests in flight per job
        depth: u64 = load("depth", Takes::Count(1, 65_536)).default("1"),
        /// Time limit [default: none, each file once]
        runtime_ns: Option<u64> = load("runtime", Takes::Time(1, YEAR_NS)),
    }
}

words! {
    /// What fio does with a file.
    pub enum Pattern {
        /// Reads in order.
        Read = "read",
        /// Writes in order.
        Write = "write",
        /// Reads at random.
        RandRead = "randread",
        /// Writes at random.
        RandWrite = "randwrite",
        /// Both, in order.
        ReadWrite = "rw",
        /// Both, at random.
        RandReadWrite = "randrw",
    }
}

impl Pattern {
    fn is_random(self) -> bool {
        matches!(self, Pattern::RandRead | Pattern::RandWrite | Pattern::RandReadWrite)
    }
}

pub(super) static KIND: Kind = Kind {
    name: "fio",
    about: "Runs fio on files, direct, in the pattern and with the load that the keys say; on real systems only",
    keys: &[Fio::KEYS],
    samples: &[
        "requests_per_s",
        "latency_mean_ms",
        "latency_max_ms",
        "elapsed_s",
        "mb_per_s",
        "cpu_busy",
        "busiest_share",
    ],
    build: Build::Program(|section, _| Ok(Arc::new(Fio::read(section)))),
};

/// How much longer than its runtime fio may take: it lays out its files first.
const MORE: Duration = Duration::from_secs(900);

impl Fio {
    /// The job file. fio's test of the processor's own clock spins, which virtual time never ends; the kernel's clock
    /// is asked instead.
    fn job(&self, directory: &str, seed: u64) -> String {
        let bytes = |sectors: u64| sectors * SECTOR_BYTES;
        let mut job = format!(
            "[global]\nioengine=libaio\ndirect=1\ndirectory={directory}\nrandseed={seed}\ngroup_reporting=1\n\
             clocksource=clock_gettime\nend_fsync=1\n\n[ileave]\nrw={}\nbs={}\nsize={}\nnumjobs={}\niodepth={}\n",
            self.pattern.word(),
            bytes(self.block_sectors),
            bytes(self.size_sectors),
            self.jobs,
            self.depth
        );
        // A string takes whatever is written.
        if let Some(percent) = self.reads_percent {
            let _ = writeln!(job, "rwmixread={percent}");
        }
        if let Some(runtime_ns) = self.runtime_ns {
            let _ = writeln!(job, "runtime={}us\ntime_based=1", (runtime_ns / 1000).max(1));
        }
        job
    }
}

impl Program for Fio {
    fn admit(&self, path: &str, _: &Host) -> Result<()> {
        Err(Error::input(format!(
            "`{path}` is run by fio; measure it with `--on disks` or `--on kernel`"
        )))
    }

    fn run(&self, _: &mut Stage<'_>) -> Result<Vec<f64>> {
        Err(Error::input("fio has no model; measure it with `--on disks` or `--on kernel`"))
    }

    fn live_samples(&self) -> &'static [&'static str] {
        &["requests_per_s", "latency_mean_ms", "latency_max_ms"]
    }

    fn live_program(&self) -> Option<(&'static str, &'static str)> {
        Some(("fio", "fio"))
    }
    fn live_toll(&self) -> Option<Toll> {
        let bytes = self.size_sectors * SECTOR_BYTES * self.jobs;
        let once = Toll { bytes, ..Toll::default() };
        Some(match self.runtime_ns {
            // The files are laid out first.
            Some(runtime_ns) => Toll { seconds: runtime_ns as f64 / 1e9, ..once },
            None if self.pattern.is_random() => {
                Toll { waits: bytes / (self.block_sectors * SECTOR_BYTES), ..once }
            }
            None => once,
        })
    }

    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        let job = self.job(&on.mount_point().display().to_string(), on.seed % (1 << 31));
        let limit = MORE + Duration::from_nanos(self.runtime_ns.unwrap_or(0));
        let file = on.write("job.fio", &job)?;
        on.keep("job.fio", job);
        let words = ["fio", "--output-format=json+", &file];
        let ran = on.command(&Step::new(words).within(limit))?;
        let samples = fio_samples(&ran.output)?;
        on.keep("fio.json", ran.output);
        let value = |name: &str| {
            samples.get(name).and_then(serde_json::Value::as_f64).ok_or_else(|| {
                Error::failure(format!("fio's output has no {name}; see the kept fio.json"))
            })
        };
        self.live_samples().iter().map(|name| value(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Section;
    use std::collections::BTreeMap;

    #[test]
    fn a_job_says_what_the_keys_say() {
        let none = BTreeMap::new();
        let fio = Fio { jobs: 2, reads_percent: Some(70), ..Fio::read(&Section::new(&none, "w")) };
        assert_eq!(
            fio.job("/mnt", 7),
            "[global]\nioengine=libaio\ndirect=1\ndirectory=/mnt\nrandseed=7\ngroup_reporting=1\n\
             clocksource=clock_gettime\nend_fsync=1\n\n[ileave]\nrw=randrw\nbs=4096\nsize=268435456\nnumjobs=2\niodepth=1\nrwmixread=70\n"
        );
        let timed = Fio { runtime_ns: Some(2_000_000_000), ..fio };
        assert!(timed.job("/mnt", 7).ends_with("runtime=2000000us\ntime_based=1\n"));
    }
}
