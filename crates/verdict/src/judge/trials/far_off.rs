//! Layouts that were not steady, and are still so far from the best of those that were that it says something of them.

use crate::judge::asked::aim::aims;
use crate::judge::asked::constraints::failing;
use crate::judge::layouts::facts::Facts;
use crate::judge::layouts::{sorted_words, split};
use crate::judge::{Layouts, LeftOut, Verdict, Wishes};
use crate::stats::median;
use crate::unsteady::{is_left_out, kept_share};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use store::Manifest;
use store::error::Result;
use store::expression::Constraint;
use store::quantity::Better;
use store::record::Record;

/// How far off a layout that was not steady is from the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Off {
    /// So far ahead of it that it stays ahead, whatever its rate comes to.
    Ahead,
    /// So far behind.
    Behind,
    /// Either may be better, or nothing is known.
    #[default]
    Open,
}

impl Verdict {
    /// Finds how far off layouts are that were not steady, with their trials as they were measured.
    pub(in crate::judge) fn find_far_off(
        &mut self,
        manifest: &Manifest,
        records: &[Record],
        wishes: &Wishes,
    ) -> Result<()> {
        let is_asked = |out: &&LeftOut| out.is_unsteady && !out.is_overloaded;
        let Some(best) = self.ranked.first().map(|best| sorted_words(&best.at)) else {
            return Ok(());
        };
        if self.better == Better::Neither || !self.left_out.iter().any(|out| is_asked(&out)) {
            return Ok(());
        }
        let mut kept: BTreeMap<String, Option<f64>> = BTreeMap::new();
        let mut taken = records.to_vec();
        for record in taken.iter_mut().filter(|record| is_left_out(manifest, record)) {
            if record.is_overloaded() {
                continue;
            }
            let share = kept_share(record, self.better);
            let least = kept.entry(sorted_words(&split(manifest, record).1)).or_insert(Some(1.0));
            *least = least.zip(share).map(|(least, share)| least.min(share));
            record.samples.insert("steady", 1.0);
        }
        let layouts = Layouts::new(manifest, &taken);
        let aim = aims(manifest, &layouts, wishes)?.swap_remove(0);
        let scores = aim.scores(layouts.layouts.len());
        let values: BTreeMap<String, Vec<f64>> = layouts
            .layouts
            .iter()
            .zip(&scores)
            .map(|(layout, scores)| (sorted_words(&layout.at), scores.values().copied().collect()))
            .collect();
        let Some(best) = values.get(&best) else { return Ok(()) };
        let may = may_be_chosen(manifest, &layouts, wishes)?;
        let better = self.better;
        for out in self.left_out.iter_mut().filter(|out| out.is_unsteady && !out.is_overloaded) {
            let words = sorted_words(&out.at);
            if !may.contains(&words) {
                continue;
            }
            if let (Some(own), Some(kept)) = (values.get(&words), kept.get(&words)) {
                out.off = off(own, *kept, best, better);
                out.measured = median(own);
            }
        }
        Ok(())
    }
}

/// The layouts that do what is asked of them besides being fast, by their words.
fn may_be_chosen(
    manifest: &Manifest,
    layouts: &Layouts,
    wishes: &Wishes,
) -> Result<BTreeSet<String>> {
    let settings = manifest.settings();
    let constraints: Result<Vec<Constraint>> =
        wishes.subject_to.iter().map(|text| Constraint::parse(text)).collect();
    let failing = failing(layouts, &constraints?)?;
    let is_safe = |layout| Facts::new(manifest, &settings, layout).unsafe_because().is_empty();
    let all = layouts.layouts.iter().zip(failing);
    let may =
        all.filter(|(layout, failing)| failing.is_empty() && (!wishes.safe || is_safe(layout)));
    Ok(may.map(|(layout, _)| sorted_words(&layout.at)).collect())
}

/// How far off `own` values are, of which the share `kept` lasts at least, from `best`, repeat by repeat.
fn off(own: &[f64], kept: Option<f64>, best: &[f64], better: Better) -> Off {
    let ends = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // The worst first.
        if better == Better::Lower { [most, least] } else { [least, most] }
    };
    let ahead = |value: f64, other: f64| better.ahead(value, other) > 0.0;
    let ([own_worst, own_best], [best_worst, best_best]) = (ends(own), ends(best));
    let Some(kept) = kept else { return Off::Open };
    let [at_worst, at_best] = if better == Better::Lower {
        [own_worst / kept, own_best * kept]
    } else {
        [own_worst * kept, own_best / kept]
    };
    if ahead(at_worst, best_best) {
        Off::Ahead
    } else if ahead(best_worst, at_best) {
        Off::Behind
    } else {
        Off::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::modelled;

    /// Three levels over the same drives, of which RAID 0 is the fastest and is not steady: `faster` times as fast as it was, and
    /// with so much of what was written only in caches.
    fn answer(faster: f64, cached: Option<f64>) -> String {
        answer_to(faster, cached, &Wishes::default())
    }

    fn answer_to(faster: f64, cached: Option<f64>, wishes: &Wishes) -> String {
        let (manifest, mut records) = modelled(
            "[run]\nrepeats = 3\n[volume]\ndrives = '4xwd740gd'\nlevel = ['md-stripe', 'md-raid5', 'md-raid10']\ninterleave = '64KiB'\n\
             [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 300\n",
        );
        for record in records.iter_mut().filter(|record| record.at["volume.level"] == "md-stripe") {
            record.samples.insert("steady", 0.0);
            record.samples.insert("interval_percent", 5.0);
            record.samples.insert("cached_share", cached.unwrap_or(0.0));
            let rate = record.sample("mb_per_s").unwrap();
            record.samples.insert("mb_per_s", faster * rate);
            record.samples.insert("latency_p99_ms", 5000.0);
        }
        Verdict::new(&manifest, &records, wishes).unwrap().answer
    }

    /// The kernel measured RAID 6 at 378 to 387 MB/s and called it not steady: "Use md-raid10-f2: 147 MB/s" was the answer.
    #[test]
    fn a_layout_far_ahead_that_was_not_steady_leaves_no_answer() {
        let far = answer(10.0, None);
        assert!(far.starts_with("No answer yet: level md-raid"), "{far}");
        assert!(far.contains("is the best steady layout"), "{far}");
        assert!(far.contains("but level md-stripe reached "), "{far}");
        let near = answer(1.0, None);
        assert!(!near.starts_with("No answer yet"), "{near}");
        assert!(near.contains("not steady") || near.contains("Nothing is said"), "{near}");
        // 95 % of ten times as much was in caches.
        let lent = answer(10.0, Some(0.95));
        assert!(!lent.contains("md-stripe reached"), "{lent}");
        assert!(answer(10.0, Some(0.3)).contains("md-stripe reached"));
    }

    /// It was the fastest, with a p99 of five seconds.
    #[test]
    fn a_layout_that_may_not_be_chosen_takes_no_answer_away() {
        let asked = |text: &str| Wishes { subject_to: vec![text.into()], ..Wishes::default() };
        let said = |text| answer_to(10.0, None, &asked(text));
        assert!(said("p99 <= 10s").contains("md-stripe reached"));
        let kept = said("p99 <= 1s");
        assert!(!kept.contains("md-stripe reached"), "{kept}");
    }

    #[test]
    fn how_far_off_is_by_the_worst_and_the_best_repeat() {
        let higher = |own: [f64; 2], kept| off(&own, kept, &[100.0, 110.0], Better::Higher);
        assert_eq!(higher([230.0, 300.0], Some(0.5)), Off::Ahead);
        assert_eq!(higher([210.0, 300.0], Some(0.5)), Off::Open, "105 is below 110");
        assert_eq!(higher([230.0, 300.0], None), Off::Open);
        assert_eq!(higher([30.0, 49.0], Some(0.5)), Off::Behind);
        assert_eq!(higher([30.0, 51.0], Some(0.5)), Off::Open);
        let lower = |own: [f64; 2]| off(&own, Some(0.5), &[10.0, 11.0], Better::Lower);
        assert_eq!([lower([3.0, 4.9]), lower([3.0, 5.1])], [Off::Ahead, Off::Open]);
        assert_eq!([lower([23.0, 30.0]), lower([21.0, 30.0])], [Off::Behind, Off::Open]);
    }
}
