//! Hot blocks on flash: that requests wait for the units that hold them is the model's, and nobody measured it.

use crate::judge::answer::{Point, point};
use crate::stated::Stated;
use crate::tables::percent;
use store::Manifest;
use store::record::Record;

/// From such a share of a request's time on, the wait for hot units decides much.
const MUCH: f64 = 0.25;

/// The doubt about requests of which some blocks are asked for more often than others and that wait much for units of flash.
pub(crate) fn doubt(manifest: &Manifest, records: &[Record]) -> Option<Point> {
    let settings = manifest.settings();
    let is_hot = |record: &&Record| {
        let access = Stated::new(&record.at, &record.workload, &settings).own("access");
        access.is_some_and(|access| access.starts_with("zipf"))
    };
    let hot = records.iter().filter(|_| manifest.modelled()).filter(is_hot);
    let shares = hot.filter_map(|record| {
        Some(record.sample("unit_wait_ms")? / record.sample("latency_mean_ms")?)
    });
    let most = shares
        .filter(|share| *share >= MUCH)
        .fold(None, |most: Option<f64>, share| Some(most.map_or(share, |most| most.max(share))))?;
    let text = format!(
        "with hot blocks (`access`) requests wait up to {} of their time for the flash units that hold these: a drive that keeps them in \
         its memory, or the page cache, is faster, and nobody measured how much; ask without `access`, too",
        percent(most)
    );
    Some(point("doubt", text))
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    /// A quarter of the even rate was the answer, without a word.
    #[test]
    fn waits_for_hot_blocks_are_doubted() {
        let is_doubted = |access: &str| {
            let (manifest, records) = modelled(&format!(
                "[volume]\ndrives = '4x980-pro-1tb'\nlevel = ['md-stripe', 'md-raid10']\n\
                 [workload.a]\nkind = 'random'\nblock = '4KiB'\ndepth = 64\naccess = '{access}'\n"
            ));
            let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
            verdict.points.iter().any(|point| point.text.starts_with("with hot blocks"))
        };
        assert!(is_doubted("zipf:1.2"));
        assert!(!is_doubted("zipf:0.9") && !is_doubted("uniform"));
    }
}
