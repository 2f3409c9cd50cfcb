//! What is said beforehand of direct writes to md's RAID 5 and 6 that one bio cannot hold.

use crate::experiment::{Plan, Trial};
use crate::workload::{Requests, Work};
use block::bios::ONE_BIO_SECTORS;

/// A warning where requests of several bios are written and no workload says by what they are sent, which decides: who sends by
/// libaio brings each request to its rows from start to end, and `io_uring` leaves them to four workers, which share the rows. Eight
/// ST18000NM000J as RAID 5 with chunks of 1 MiB, 4 MiB x 16: 651 MB/s by one, 480 by workers.
pub(crate) fn warning(origin: &str, plan: &Plan) -> Option<String> {
    let (trial, requests) = plan.trials.iter().find_map(|trial| Some((trial, unnamed(trial)?)))?;
    Some(format!(
        "{origin}: direct writes of more than 1 MiB to `{}`: these figures are for libaio; by io_uring the kernel may make a third less \
         (docs/md.md). To ask for that, set, for each workload of a group, `workload.{}.engine = \"io_uring\"`",
        trial.setup.volume.level, requests.name
    ))
}

/// The requests for which no engine is named, where it matters.
fn unnamed(trial: &Trial) -> Option<&Requests> {
    let volume = &trial.setup.volume;
    let level = &volume.level;
    let is_mds = level.has_stripe_cache() && level.is_run_by_md() && !level.is_run_by_dm();
    let is_large = |requests: &&Requests| {
        requests.takes_engine()
            && requests.writes()
            && requests.largest_sectors() > u64::from(ONE_BIO_SECTORS)
    };
    let matters = volume.is_on_linux && is_mds && trial.setup.engine.is_none();
    trial.works().filter_map(Work::requests).find(is_large).filter(|_| matters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::rig::Rig;
    use crate::rig::sim::Sim;

    fn said(level: &str, keys: &str) -> Option<String> {
        let text = format!(
            "[volume]\ndrives = '4xst18000nm000j'\nlevel = '{level}'\n[workload.w]\nkind = 'sequential'\n{keys}\n"
        );
        let experiment = Experiment::parse("x.toml", &text).unwrap();
        warning("x.toml", &Plan::on(&experiment, &Sim.capabilities()).unwrap())
    }

    #[test]
    fn large_writes_by_an_engine_that_is_not_named_are_said() {
        let told = said("md-raid6", "op = 'write'\nblock = '4MiB'").unwrap();
        assert!(
            told.contains("`md-raid6`") && told.contains("`workload.w.engine = \"io_uring\"`"),
            "{told}"
        );
        for (level, keys) in [
            ("md-raid6", "op = 'write'\nblock = '1MiB'"),
            ("md-raid6", "op = 'read'\nblock = '4MiB'"),
            ("md-raid6", "op = 'write'\nblock = '4MiB'\nengine = 'io_uring'"),
            ("md-raid6", "op = 'write'\nblock = '4MiB'\nengine = 'libaio'"),
            ("md-raid6", "op = 'write'\nblock = '4MiB'\ndirect = false"),
            ("md-raid10", "op = 'write'\nblock = '4MiB'"),
            ("lvm-raid5", "op = 'write'\nblock = '4MiB'"),
        ] {
            assert_eq!(said(level, keys), None, "{level} {keys}");
        }
    }

    /// Four workers share the rows of the cache: one thread that brings request after request makes more full rows.
    #[test]
    fn the_engine_decides_what_large_writes_make() {
        let rate = |engine: &str| {
            let text = format!(
                "run.repeats = 1\n[volume]\ndrives = '5xd3-s4610-480gb:8GiB'\nlevel = 'md-raid5'\ninterleave = '1MiB'\n\
                 [workload.w]\nkind = 'sequential'\nop = 'write'\nblock = '2MiB'\ndepth = 64\ncount = 400\n{engine}\n"
            );
            let experiment = Experiment::parse("x.toml", &text).unwrap();
            let ran = crate::run(&experiment, &Sim, crate::Keep::Nowhere, &mut |_| ()).unwrap();
            ran.records()[0].sample("mb_per_s").unwrap()
        };
        let [unnamed, by_libaio, by_workers] =
            ["", "engine = 'libaio'", "engine = 'io_uring'"].map(rate);
        assert!((unnamed / by_libaio - 1.0).abs() < 0.01, "{unnamed} {by_libaio}");
        assert!(by_workers < 0.92 * unnamed, "{by_workers} {unnamed}");
    }
}
