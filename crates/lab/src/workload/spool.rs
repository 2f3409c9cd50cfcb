//! `spool`: a news spool, made in no time, then read cold by all readers at once.

#[cfg(unix)]
use super::live_stage::LiveStage;
use super::stage::{Program, Stage, Toll, failed};
use super::{Build, Kind};
use crate::error::{Error, Result};
use crate::keys::{Section, Takes, keys, load};
use sim::fs::program::spool::{self, SpoolSpec};
use std::rc::Rc;
use std::sync::Arc;

keys! {
    /// The keys of `spool`.
    struct Spool {
        /// Number of files
        files: u64 = load("files", Takes::Count(1, 10_000_000)).default("10000"),
        /// Number of directories
        directories: u64 = load("directories", Takes::Count(1, 10_000_000)).default("1000"),
        /// Number of readers
        readers: u64 = load("readers", Takes::Count(1, 4096)).default("30"),
        /// Files per reader; no file is read twice
        files_per_reader: u64 =
            load("files_per_reader", Takes::Count(1, 10_000_000)).default("1000"),
        /// Read in the order in which the files were made, and not as drawn
        sorted: bool = load("sorted", Takes::Switch).default("false"),
    }
}

pub(super) static KIND: Kind = Kind {
    name: "spool",
    about: "`readers` read articles anywhere in a news spool of `files` files in `directories`, made \
            beforehand in no time",
    keys: &[Spool::KEYS],
    samples: &[
        "elapsed_s",
        "files_per_s",
        "reads_per_file",
        "writes_per_file",
        "cpu_busy",
        "mb_per_s",
        "busiest_share",
    ],
    build: Build::Program(|section, _| {
        let spool = Spool::read(section);
        spool.check(section)?;
        Ok(Arc::new(spool))
    }),
};

impl Spool {
    fn spec(&self) -> SpoolSpec {
        SpoolSpec {
            files: self.files,
            directories: self.directories,
            readers: self.readers,
            files_per_reader: self.files_per_reader,
            sorted: self.sorted,
        }
    }

    /// Whether there is such a spool.
    fn check(&self, section: &Section<'_>) -> Result<()> {
        let Spool { files, directories, readers, files_per_reader, .. } = *self;
        let path = |key| section.path(key);
        if directories > files {
            return Err(Error::input(format!(
                "`{}` of {directories} is more than the {files} of `{}`, and each has at least one; take \
                 fewer",
                path("directories"),
                path("files")
            )));
        }
        if readers.saturating_mul(files_per_reader) > files {
            return Err(Error::input(format!(
                "`{}` of {readers} with `files_per_reader` of {files_per_reader} read more than the {files} \
                 of `{}`, and none is read twice; take fewer",
                path("readers"),
                path("files")
            )));
        }
        Ok(())
    }
}

impl Program for Spool {
    fn run(&self, on: &mut Stage<'_>) -> Result<Vec<f64>> {
        let spec = self.spec();
        let files = on.session.files().clone();
        let filled = files.at_once(|ffs| spool::fill(ffs, &spec)).map_err(failed)?;
        let directories: Rc<[_]> = filled.into();
        let reader = |list| spool::read(files.clone(), spec, Rc::clone(&directories), list);
        let lap = on.all(spec.lists(on.seed).into_iter().map(reader).collect())?;
        let read = (spec.readers * spec.files_per_reader) as f64;
        let writes = lap.traffic.writes + lap.traffic.daemon_writes;
        Ok(vec![read / lap.elapsed_s, lap.traffic.reads as f64 / read, writes as f64 / read])
    }

    fn live_samples(&self) -> &'static [&'static str] {
        &KIND.samples[1..4]
    }
    fn live_toll(&self) -> Option<Toll> {
        // Articles of 3.4 KB in the mean: written in order, read anywhere.
        let (bytes, calls) = (3400 * self.files, 4 * self.files);
        let waits = self.readers * self.files_per_reader;
        Some(Toll { bytes, waits, calls, ..Toll::default() })
    }

    /// The articles are written first, which is not timed, and read cold.
    #[cfg(unix)]
    fn run_live(&self, on: &mut LiveStage<'_>) -> Result<Vec<f64>> {
        let spec = self.spec();
        on.untimed(async |files| spool::write(files, &spec).await)?;
        on.empty_caches()?;
        let lap = on.side_by_side(
            spec.lists(on.seed),
            async |files| spool::open_directories(files, &spec).await.map(Rc::from),
            async |files, directories, list| spool::read(files, spec, directories, list).await,
        )?;
        let read = (spec.readers * spec.files_per_reader) as f64;
        let (reads, writes) = (lap.moved.reads as f64, lap.moved.writes as f64);
        Ok(vec![read / lap.elapsed_s, reads / read, writes / read])
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Plan};

    fn planned(text: &str) -> Result<(), String> {
        let text = format!(
            "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"4.4bsd\"\n[workload.w]\nkind = \"spool\"\n{text}"
        );
        let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap());
        plan.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_spool_that_cannot_be_says_which_key() {
        assert_eq!(planned("files = 30000"), Ok(()));
        let few = planned("files = 30000\nfiles_per_reader = 1001").unwrap_err();
        assert!(
            few.contains("`workload.w.readers` of 30 with `files_per_reader` of 1001"),
            "{few}"
        );
        let empty = planned("files = 100\ndirectories = 101\nreaders = 1").unwrap_err();
        assert!(empty.contains("`workload.w.directories` of 101 is more than the 100"), "{empty}");
    }
}
