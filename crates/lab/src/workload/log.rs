//! `log`: a database's log: small appends to a preallocated file, each commit flushed before the next.

#[cfg(unix)]
use super::live_stage::LiveStage;
use super::requests::Sizes;
use super::stage::{Program, Stage, Toll};
use super::{Build, Kind};
use crate::error::{Error, Result};
use crate::keys::{SIZE, Section, Takes, keys, load};
use hdrhistogram::Histogram;
use rand_core::Rng as _;
use rand_pcg::Pcg64Mcg;
use sim::fs::{Files, FsError};
use std::sync::Arc;

const FILE: &str = "log";
/// What the file is preallocated in.
const FILL_BYTES: u64 = 65_536;

keys! {
    /// The keys of `log`.
    struct Log {
        /// Size of the file, which is written once beforehand; the log starts over at its end
        size_sectors: u64 = load("size", SIZE).default("256MiB"),
        /// Size of each append
        block_sectors: u64 = load("block", SIZE).default("4KiB"),
        /// Mixed sizes with their weights, as in `4KiB/60:64KiB/40`, instead of `block`
        sizes: Option<Sizes> = load("sizes", Sizes::TAKES),
        /// Appends per commit, which one flush makes durable together (group commit)
        appends_per_commit: u64 = load("appends_per_commit", Takes::Count(1, 65_536)).default("1"),
        /// Number of commits
        commits: u64 = load("commits", Takes::Count(1, 100_000_000)).default("1000"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "log",
    about: "Appends to a database's log: a preallocated file that is written in a circle, each commit \
            flushed (fsync) before the next",
    keys: &[Log::KEYS],
    samples: &[
        "commits_per_s",
        "commit_p50_ms",
        "commit_p99_ms",
        "elapsed_s",
        "mb_per_s",
        "cpu_busy",
        "busiest_share",
    ],
    build: Build::Program(|section, _| {
        let log = Log::read(section);
        log.check(section)?;
        Ok(Arc::new(log))
    }),
};

impl Log {
    /// Whether each append fits into the file.
    fn check(&self, section: &Section<'_>) -> Result<()> {
        let largest = self.weighted().into_iter().map(|(sectors, _)| sectors).max().unwrap_or(0);
        if largest <= self.size_sectors {
            return Ok(());
        }
        let key = if self.sizes.is_some() { "sizes" } else { "block" };
        Err(Error::input(format!(
            "`{}` of {largest} sectors does not fit into the {} of `{}`; take smaller appends or a larger \
             file",
            section.path(key),
            self.size_sectors,
            section.path("size")
        )))
    }

    /// Sizes of appends in sectors, with their weights.
    fn weighted(&self) -> Vec<(u64, u64)> {
        match &self.sizes {
            Some(Sizes(sizes)) => sizes.iter().map(|&(s, w)| (s.into(), w.into())).collect(),
            None => vec![(self.block_sectors, 1)],
        }
    }
}

/// Sizes of appends, drawn one after the other.
struct Draw {
    sizes: Vec<(u64, u64)>,
    random: Pcg64Mcg,
}

impl Draw {
    fn next_bytes(&mut self) -> u64 {
        let total: u64 = self.sizes.iter().map(|(_, weight)| weight).sum();
        let mut left = self.random.next_u64() % total;
        for (sectors, weight) in &self.sizes {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return sectors * block::SECTOR_BYTES,
            }
        }
        unreachable!("what is drawn is below the sum of the weights")
    }
}

impl Program for Log {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let bytes = self.size_sectors * block::SECTOR_BYTES;
        on.only(preallocate(on.session.files().clone(), bytes))?;
        let random = Pcg64Mcg::new(u128::from(on.seed) << 1 | 1);
        let draw = Draw { sizes: self.weighted(), random };
        let (latency_ns, lap) =
            on.only(append(on.session.files().clone(), self.clone(), draw, bytes))?;
        let ms = |quantile| latency_ns.value_at_quantile(quantile) as f64 / 1e6;
        Ok(vec![self.commits as f64 / lap.elapsed_s, ms(0.5), ms(0.99)])
    }

    fn live_samples(&self) -> &'static [&'static str] {
        &KIND.samples[..3]
    }
    fn live_toll(&self) -> Option<Toll> {
        let bytes = self.size_sectors * block::SECTOR_BYTES;
        Some(Toll { bytes, waits: self.commits, ..Toll::default() })
    }

    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        let bytes = self.size_sectors * block::SECTOR_BYTES;
        on.untimed(async |files| preallocate(files, bytes).await)?;
        let random = Pcg64Mcg::new(u128::from(on.seed) << 1 | 1);
        let draw = Draw { sizes: self.weighted(), random };
        let log = self.clone();
        let (latency_ns, lap) = on.value(async |files| append(files, log, draw, bytes).await)?;
        let ms = |quantile| latency_ns.value_at_quantile(quantile) as f64 / 1e6;
        Ok(vec![self.commits as f64 / lap.elapsed_s, ms(0.5), ms(0.99)])
    }
}

/// Writes the file once, as databases do so that a commit need not find room.
async fn preallocate<F: Files>(files: F, bytes: u64) -> std::result::Result<(), FsError> {
    let file = files.create(files.root(), FILE).await?;
    for offset in (0..bytes).step_by(FILL_BYTES as usize) {
        files.write(&file, offset, FILL_BYTES.min(bytes - offset)).await?;
    }
    files.fsync(&file).await?;
    files.close(file).await;
    files.sync().await
}

/// Makes all commits; gives their latencies in ns, each from its first append to the end of its flush.
async fn append<F: Files>(
    files: F,
    log: Log,
    mut draw: Draw,
    bytes: u64,
) -> std::result::Result<Histogram<u64>, FsError> {
    let mut latency_ns = Histogram::new(3).expect("three digits are within its range");
    let file = files.open(files.root(), FILE).await?;
    let mut offset = 0;
    for _ in 0..log.commits {
        let start_s = files.seconds();
        for _ in 0..log.appends_per_commit {
            let append = draw.next_bytes();
            if offset + append > bytes {
                offset = 0;
            }
            files.write(&file, offset, append).await?;
            offset += append;
        }
        files.fsync(&file).await?;
        latency_ns += ((files.seconds() - start_s) * 1e9).round() as u64;
    }
    files.close(file).await;
    Ok(latency_ns)
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};
    use crate::rig::{self, sim::Sim};
    use std::collections::BTreeMap;

    fn planned(keys: &str) -> Result<Plan, String> {
        let text = format!(
            "[volume]\ndrives = \"wd740gd:64MiB\"\nlevel = \"single\"\n[drive]\nwrite_cache = false\n\
             [fs]\nnewfs = \"netbsd2\"\n[workload.w]\nkind = \"log\"\nsize = \"1MiB\"\ncommits = 100\n{keys}"
        );
        let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap());
        plan.map_err(|error| error.to_string())
    }

    fn samples(keys: &str) -> BTreeMap<&'static str, f64> {
        let plan = planned(keys).unwrap();
        rig::run(&Sim, &plan.trials[0]).unwrap().samples.into_iter().collect()
    }

    /// A disk without a cache has a whole revolution between two commits in a row: 6 ms at 10,000 rpm.
    #[test]
    fn a_commit_waits_for_the_disk_and_a_group_shares_it() {
        let one = samples("");
        assert!(one["commit_p50_ms"] >= 3.0 && one["commit_p50_ms"] <= 30.0, "{one:?}");
        assert!(one["commit_p99_ms"] >= one["commit_p50_ms"], "{one:?}");
        assert!(
            (one["commits_per_s"] * one["commit_p50_ms"] / 1000.0 - 1.0).abs() < 0.5,
            "{one:?}"
        );
        let eight = samples("appends_per_commit = 8\n");
        assert!(eight["commits_per_s"] * 8.0 > 3.0 * one["commits_per_s"], "{one:?} {eight:?}");
    }

    /// 1000 appends of 64 KiB are 62 times the file: it stays as large as it is, and the volume holds it.
    #[test]
    fn the_log_starts_over_at_the_end_of_its_file() {
        let round = samples("block = \"64KiB\"\nappends_per_commit = 10\n");
        assert!(round["commits_per_s"] > 0.0);
        let mixed = samples("sizes = \"512B/9:1MiB/1\"\n");
        assert!(mixed["commit_p99_ms"] > 2.0 * mixed["commit_p50_ms"], "{mixed:?}");
    }

    #[test]
    fn an_append_that_does_not_fit_says_which_key() {
        let error = planned("block = \"2MiB\"\n").unwrap_err();
        assert!(error.contains("`workload.w.block` of 4096 sectors"), "{error}");
        let mixed = planned("sizes = \"4KiB/1:2MiB/1\"\n").unwrap_err();
        assert!(mixed.contains("`workload.w.sizes` of 4096 sectors"), "{mixed}");
    }
}
