//! The news spool of a workload: made in no time, then read cold by all readers at once.

use super::failed;
use crate::error::{Error, Result};
use crate::experiment::{Trial, Work};
use sim::fs::Session;
use sim::fs::program::spool::{self, SpoolSpec};
use std::rc::Rc;

/// What the keys say.
fn spec(work: &Work) -> SpoolSpec {
    let files = &work.files;
    SpoolSpec {
        files: files.files,
        directories: files.directories,
        readers: files.readers,
        files_per_reader: files.files_per_reader,
        sorted: files.sorted,
    }
}

/// Whether there is such a spool.
pub(super) fn admit(work: &Work) -> Result<()> {
    let SpoolSpec { files, directories, readers, files_per_reader, .. } = spec(work);
    let name = &work.name;
    if directories > files {
        return Err(Error::input(format!(
            "`workload.{name}.directories` of {directories} is more than the {files} of \
             `workload.{name}.files`, and each has at least one; take fewer"
        )));
    }
    if readers.saturating_mul(files_per_reader) > files {
        return Err(Error::input(format!(
            "`workload.{name}.readers` of {readers} with `files_per_reader` of {files_per_reader} read \
             more than the {files} of `workload.{name}.files`, and none is read twice; take fewer"
        )));
    }
    Ok(())
}

pub(super) const SAMPLES: [&str; 4] =
    ["files_per_s", "reads_per_file", "writes_per_file", "cpu_busy"];

/// Runs it.
pub(super) fn run(session: &mut Session, trial: &Trial) -> Result<Vec<f64>> {
    let spec = spec(&trial.work);
    let filled = session.files().at_once(|ffs| spool::fill(ffs, &spec)).map_err(failed)?;
    let directories: Rc<[_]> = filled.into();
    let reader = |list| spool::read(session.files().clone(), spec, Rc::clone(&directories), list);
    let readers: Vec<_> = spec.lists(trial.seed).into_iter().map(reader).collect();
    let (results, lap) = session.run(readers);
    results.into_iter().collect::<std::result::Result<(), _>>().map_err(failed)?;
    let read = (spec.readers * spec.files_per_reader) as f64;
    let writes = lap.traffic.writes + lap.traffic.daemon_writes;
    Ok(vec![
        read / lap.elapsed_s,
        lap.traffic.reads as f64 / read,
        writes as f64 / read,
        lap.work_s / lap.elapsed_s,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    fn admitted(text: &str) -> std::result::Result<(), String> {
        let text = format!(
            "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"4.4bsd\"\n[workload.w]\nprogram = \
             \"spool\"\n{text}"
        );
        let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap();
        admit(&plan.trials[0].work).map_err(|error| error.to_string())
    }

    #[test]
    fn a_spool_that_cannot_be_says_which_key() {
        assert_eq!(admitted("files = 30000"), Ok(()));
        let few = admitted("files = 30000\nfiles_per_reader = 1001").unwrap_err();
        assert!(
            few.contains("`workload.w.readers` of 30 with `files_per_reader` of 1001"),
            "{few}"
        );
        let empty = admitted("files = 100\ndirectories = 101\nreaders = 1").unwrap_err();
        assert!(empty.contains("`workload.w.directories` of 101 is more than the 100"), "{empty}");
    }
}
