//! Which of layouts that are as good is the plainest: it has md's own stripe cache and chunk, or what is nearest to them. A cache is
//! to be set at each boot, a chunk once, so that the cache comes first.

use super::any_will_do::is_the_same_but_for;
use crate::judge::{Ranked, Standing, Verdict};
use std::cmp::Ordering;
use store::record::plain;

/// md's chunk (mdadm 3.1.1 and later), in sectors.
const CHUNK_SECTORS: f64 = 1024.0;
/// Rows of its stripe cache.
const CACHE_ROWS: f64 = 256.0;

const CHUNK: &str = "volume.interleave";
const CACHE: &str = "volume.stripe_cache";

/// How many times larger or smaller than md's own the cache and the chunk are, as logarithms.
fn apart(of: &Ranked) -> [f64; 2] {
    let number = |key: &str| of.at.get(key).and_then(|value| plain(value).parse::<f64>().ok());
    let times = |key, own: f64| number(key).map_or(0.0, |value| (value / own).ln().abs());
    [times(CACHE, CACHE_ROWS), times(CHUNK, CHUNK_SECTORS)]
}

fn order(one: &Ranked, other: &Ranked) -> Ordering {
    let ([cache, chunk], [other_cache, other_chunk]) = (apart(one), apart(other));
    cache.total_cmp(&other_cache).then(chunk.total_cmp(&other_chunk))
}

/// The nearest to md's own; of equals the first.
pub fn nearest_to_md<'v>(of: impl Iterator<Item = &'v Ranked>) -> Option<&'v Ranked> {
    of.min_by(|one, other| order(one, other))
}

impl Verdict {
    /// Where another than the best is nearer to md's own, of what ties with it and differs in chunk and stripe cache alone: the nearest.
    pub(crate) fn plainer_than_best(&self) -> Option<&Ranked> {
        let (best, others) = self.ranked.split_first()?;
        let free = [CHUNK, CACHE].map(String::from);
        let ties = others.iter().filter(|other| {
            other.standing == Standing::Tie && is_the_same_but_for(&free, &other.at, &best.at)
        });
        let nearest = nearest_to_md(ties).filter(|_| best.facts.is_of_md)?;
        (order(nearest, best) == Ordering::Less).then_some(nearest)
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};
    use store::record::Record;

    /// RAID 5 with three chunks at these rates, and a stripe that is slower.
    fn tied(level: &str, rates: [f64; 3]) -> String {
        let (manifest, mut records) = modelled(&format!(
            "[volume]\ndrives = '4xwd740gd'\nlevel = ['{level}', 'md-stripe']\ninterleave = ['64KiB', '256KiB', '1MiB']\n\
             [workload.w]\nkind = 'random'\ncount = 20\n[host]\nname = 'linux-6.1'\n"
        ));
        let rate = |of: &Record| {
            let place = [128, 512, 2048].iter().position(|at| of.at["volume.interleave"] == *at);
            if of.at["volume.level"] == "md-stripe" { 20.0 } else { rates[place.unwrap()] }
        };
        for of in &mut records {
            of.samples.insert("mb_per_s", rate(of));
        }
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let tied = verdict.points.iter().find(|point| point.about == "tied");
        tied.map_or_else(String::new, |point| point.text.clone())
    }

    /// `tune` names the chunk nearest to md's own, `run` the fastest: of a tie both say the same.
    #[test]
    fn of_what_ties_the_nearest_to_mds_default_is_named() {
        let said = tied("md-raid5", [101.0, 100.0, 60.0]);
        let rest = "; of the layouts that tie, interleave 512 (256 KiB), level md-raid5 is nearest to md's default";
        assert!(said.ends_with(rest), "{said}");
        let own = tied("md-raid5", [100.0, 101.0, 60.0]);
        assert!(own.ends_with("keep yours if it is among them"), "the best is the nearest: {own}");
        let behind = tied("md-raid5", [101.0, 60.0, 60.0]);
        assert!(behind.is_empty(), "{behind}");
        let of_ccd = tied("raid5", [101.0, 100.0, 60.0]);
        assert!(
            of_ccd.ends_with("keep yours if it is among them"),
            "md has no part in it: {of_ccd}"
        );
    }
}
