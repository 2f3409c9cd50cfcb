//! SLC caches whose cliff is known: what an answer about writes says of them.

use super::unmeasured_drives::only_reads;
use crate::judge::answer::{Point, point};
use store::Manifest;

/// One line for each drive that has one, where something is written.
pub(crate) fn told(manifest: &Manifest) -> Vec<Point> {
    let writes = !only_reads(manifest);
    let drives = manifest.drives.iter().filter(|_| writes && manifest.modelled());
    let told = drives.filter_map(|(name, drive)| {
        let slc = drive.slc.as_ref()?;
        let text = format!(
            "{name} writes {:.0} MB/s into its SLC cache of {:.1} GB, {:.0} once that is full, and {:.0} over all of it: work without an \
             end is measured at the sustained rate; a job (`amount`, `count`, `runtime`) begins with room for {:.1} GB on each, so a \
             longer one may be slower",
            slc.mb_per_s, slc.gb, slc.full_mb_per_s, slc.lasting_mb_per_s, slc.left_gb
        );
        Some(point("state", text))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    /// 3274 MB/s was the answer, which lasted for two seconds.
    #[test]
    fn what_lasts_past_an_slc_cache_is_measured_and_said() {
        let said = |op: &str, keys: &str| {
            let (mut manifest, records) = modelled(&format!(
                "[volume]\ndrives = '2xsabrent-rocket-4-plus-2tb'\nlevel = ['md-stripe', 'md-mirror']\n\
                 [workload.a]\nkind = 'sequential'\nop = '{op}'\nblock = '1MiB'\ndepth = 8\n{keys}"
            ));
            manifest.only_read.extend((op == "read").then(|| "a".to_string()));
            let rates = records.iter().map(|record| record.sample("mb_per_s").unwrap());
            let best = rates.fold(0.0, f64::max);
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            let mut points = verdict.points.into_iter();
            let line =
                points.find(|point| point.text.contains("into its SLC cache of 18.3 GB, 147"));
            (best, line.is_some())
        };
        let (lasting, line) = said("write", "");
        // Eight minutes of it are 933 MB/s.
        assert!((lasting / 933.0 - 1.0).abs() < 0.05 && line, "{lasting}");
        let (job, line) = said("write", "amount = '1GiB'\n");
        assert!(job > 3000.0 && line, "{job}");
        assert!(!said("read", "").1);
    }
}
