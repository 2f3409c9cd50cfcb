//! Whether what was measured once may be luck.

use super::Verdict;
use super::answer::{Point, point};
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

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

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
