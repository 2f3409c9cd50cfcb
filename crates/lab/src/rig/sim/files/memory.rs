//! A file is written, read and written over, each time with nothing left to write from before.

use super::{cpu_percent, only};
use crate::error::{Error, Result};
use crate::experiment::Trial;
use sim::fs::program::{iozone, memory};
use sim::fs::{Files, Lap, Session};

const FILE: &str = "file";

/// Whether there is a rate to find.
pub(super) fn admit(trial: &Trial) -> Result<()> {
    let costs = &trial.setup.host.files.costs;
    if costs.write_ns_per_kib == 0 || costs.read_ns_per_kib == 0 {
        return Err(Error::input(format!(
            "`workload.{}.program` = memory asks how fast a file is copied, and `host.name` = {} takes no \
             time for it; name a host with `file_read_us_per_kib` and `file_write_us_per_kib`",
            trial.work.name, trial.setup.host.name
        )));
    }
    Ok(())
}

pub(super) const SAMPLES: [&str; 6] =
    ["write_mb_per_s", "write_cpu", "read_mb_per_s", "read_cpu", "rewrite_mb_per_s", "rewrite_cpu"];

/// Runs it.
pub(super) fn run(session: &mut Session, trial: &Trial) -> Result<Vec<f64>> {
    let bytes = trial.work.files.bytes;
    let record = trial.work.block_sectors * block::SECTOR_BYTES;
    let write = |session: &Session| memory::write(session.files().clone(), FILE, bytes, record);
    let measured = |lap: Lap| [bytes as f64 / 1e6 / lap.elapsed_s, cpu_percent(&lap)];
    let first = write(session);
    let written = measured(only(session.run([first]))?.1);
    settle(session)?;
    let read = iozone::read(session.files().clone(), FILE, record);
    let read = measured(only(session.run([read]))?.1);
    settle(session)?;
    let again = write(session);
    let rewritten = measured(only(session.run([again]))?.1);
    Ok([written, read, rewritten].concat())
}

/// Writes what is left, as sync(8) does.
fn settle(session: &mut Session) -> Result<()> {
    let files = session.files().clone();
    only(session.run([async move { files.sync().await }])).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    #[test]
    fn a_host_that_copies_in_no_time_has_no_rate() {
        let text = "[volume]\ndrives = \"wd740gd\"\n[fs]\nnewfs = \"4.4bsd\"\n[workload.w]\nprogram = \
                    \"memory\"";
        let plan = Plan::new(&Experiment::parse("some.toml", text).unwrap()).unwrap();
        let error = admit(&plan.trials[0]).unwrap_err().to_string();
        assert!(error.contains("`host.name` = ideal takes no time"), "{error}");
    }
}
