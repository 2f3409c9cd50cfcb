//! Whether what was measured once may be luck.

use super::Verdict;
use super::answer::{Point, point};
use super::of_host::ranked_alone;
use crate::stats::noise::NoiseSource;
use store::Manifest;
use store::record::Record;

/// That a real kernel ran each trial once, none of which says how sure it is: programs that wait for each other meet otherwise
/// with another seed. Mail delivered to ext4 by sixteen of them differs by a tenth, and before drives that take one command
/// by two times.
pub(super) fn told(verdict: &Verdict, manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let is_unsure = |record: &Record| record.sample("interval_percent").is_none();
    let ran_once = verdict.noise.source == NoiseSource::Unknown && verdict.ranked.len() > 1;
    (ran_once && manifest.host_is_real() && records.iter().any(is_unsure)).then(|| {
        let text = "each cell ran once, and how far repeats differ is not known: a difference may be luck; \
                    `--set run.repeats=3` shows it";
        point("repeats", text.into())
    })
}

/// Requests that wait so much of their time for the platters, and go nowhere else meanwhile, are in step with them.
const IN_STEP: f64 = 0.8;

/// So many repeats show what spindles do.
const REPEATS: u64 = 5;

/// That requests are in step with the platters, as one write in order after the other is: over several disks the rate hangs
/// on how their spindles stand to each other.
pub(super) fn in_step(verdict: &Verdict, manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let share =
        |record: &Record| Some(record.sample("rotation_ms")? / record.sample("latency_mean_ms")?);
    let has_several = |record: &&Record| record.member_busy.len() > 1;
    let mut own = ranked_alone(&verdict.ranked, manifest, records).filter(has_several);
    let is_in_step = own.any(|record| share(record).is_some_and(|share| share >= IN_STEP));
    let is_repeated = records.iter().any(|record| record.repeat + 1 >= REPEATS);
    (is_in_step && !is_repeated && verdict.ranked.len() > 1).then(|| {
        let text = "requests wait for the platters and for little else, so the rate of several disks hangs on how their spindles \
                    stand to each other: here that is luck, and on real disks it drifts; `run.repeats = 5` shows how far rates go";
        point("spindles", text.into())
    })
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    #[test]
    fn commits_in_step_with_the_platters_are_in_doubt() {
        let doubts = |kind: &str, repeats: u64| {
            let (manifest, records) = modelled(&format!(
                "[run]\nrepeats = {repeats}\n[volume]\ndrives = '4xst18000nm000j'\nlevel = 'md-raid10'\ninterleave = ['16KiB', '512KiB']\n\
                 [drive]\nwrite_cache = false\n[workload.log]\nkind = '{kind}'\nop = 'write'\nblock = '16KiB'\ncount = 100\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.iter().any(|point| point.about == "spindles")
        };
        assert!(doubts("sequential", 1));
        assert!(!doubts("random", 1) && !doubts("sequential", 5));
    }

    #[test]
    fn a_kernel_that_ran_once_may_be_lucky() {
        let doubts = |repeats: u64, kernel: bool, has_interval: bool| -> bool {
            let (mut manifest, mut records) = modelled(&format!(
                "[run]\nrepeats = {repeats}\n[volume]\ndrives = '2xwd740gd'\nlevel = ['stripe', 'concat']\n\
                 interleave = '64KiB'\n[workload.take]\nkind = 'random'\ncount = 100\n"
            ));
            if kernel {
                manifest.machine.insert("kernel".into(), "6.1".into());
            }
            for record in &mut records {
                let own = record.samples.iter().filter(|(name, _)| *name != "interval_percent");
                let own = own.filter_map(|(name, value)| Some((name.to_string(), value?)));
                record.samples = own.collect();
                if has_interval {
                    record.samples.insert("interval_percent", 1.0);
                }
            }
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.iter().any(|point| point.about == "repeats")
        };
        assert!(doubts(1, true, false));
        assert!(!doubts(2, true, false), "repeats say it");
        assert!(!doubts(1, false, false), "a model has no luck but its seed's");
        assert!(!doubts(1, true, true), "each says how sure it is");
    }
}
