//! Workloads with loads and conditions under which too few layouts were steady to compare any: they rank nothing, where others do.

use crate::judge::layouts::{Layouts, Places, Unsteady, split};
use crate::unsteady;
use std::collections::{BTreeMap, BTreeSet};
use store::Manifest;
use store::record::Record;

/// How the trials went under one workload, load and condition.
#[derive(Default)]
struct Under {
    /// Of each layout, the repeats that were steady less those that were not.
    left: BTreeMap<usize, i64>,
    /// The layouts where more came than was done: that is known of them.
    overloaded: BTreeSet<usize>,
    is_any_steady: bool,
    is_any_unsteady: bool,
}

impl Under {
    /// The layouts at least half of whose repeats were steady.
    fn steady(&self) -> impl Iterator<Item = usize> {
        self.left.iter().filter(|(_, left)| **left >= 0).map(|(layout, _)| *layout)
    }

    /// Whether layouts can be compared under it: one is steady, and another, too, or known to be overloaded.
    fn ranks(&self) -> bool {
        let known: BTreeSet<usize> = self.steady().chain(self.overloaded.iter().copied()).collect();
        self.steady().next().is_some() && known.len() > 1
    }
}

impl Layouts {
    /// Leaves out what ranks nothing beside what does, with its samples: a workload that is steady nowhere, or on one layout alone,
    /// says nothing against the layouts that others rank. Where nothing ranks, what has no steady trial.
    pub(in crate::judge) fn silence(
        &mut self,
        places: &mut Places,
        manifest: &Manifest,
        records: &[&Record],
        unsteady: &mut Vec<Unsteady>,
    ) {
        let under = self.under_each(places, manifest, records);
        let any_ranks = under.values().any(Under::ranks);
        let any_steady = under.values().any(|of| of.is_any_steady);
        let is_silent = |of: &Under| {
            let ranks_nothing = if any_ranks {
                !of.ranks()
            } else {
                any_steady && !of.is_any_steady && of.overloaded.is_empty()
            };
            of.is_any_unsteady && ranks_nothing
        };
        self.silent = under
            .iter()
            .filter(|(_, of)| is_silent(of))
            .map(|(name, of)| (name.clone(), of.steady().count()))
            .collect();
        // A layout that does not keep up under it is known not to, whatever it ranks.
        unsteady.retain(|of| !self.silent.contains_key(&of.under));
        let mut quantities: BTreeSet<usize> = BTreeSet::new();
        for record in records {
            let (given, _) = split(manifest, record);
            if self.silent.contains_key(&self.named_under(&record.workload, &given)) {
                let samples = self.samples(places, manifest, record, &given);
                quantities.extend(samples.into_iter().map(|(quantity, ..)| quantity));
            }
        }
        for layout in &mut self.layouts {
            layout.samples.leave_out(&quantities);
        }
    }

    fn under_each(
        &mut self,
        places: &mut Places,
        manifest: &Manifest,
        records: &[&Record],
    ) -> BTreeMap<String, Under> {
        let mut all: BTreeMap<String, Under> = BTreeMap::new();
        for record in records {
            let (given, at) = split(manifest, record);
            let layout = self.layout(places, at);
            let of = all.entry(self.named_under(&record.workload, &given)).or_default();
            if !unsteady::is_left_out(manifest, record) {
                *of.left.entry(layout).or_default() += 1;
                of.is_any_steady = true;
            } else if record.is_overloaded() {
                of.overloaded.insert(layout);
            } else {
                *of.left.entry(layout).or_default() -= 1;
                of.is_any_unsteady = true;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};
    use store::record::Record;

    /// Three levels under a steady workload `a` and another, `b`, of which the trials that `is_unsteady` were not; `is_there` says which
    /// ran at all.
    fn judged(
        is_unsteady: impl Fn(&str, &Record) -> bool,
        is_there: impl Fn(&str, &Record) -> bool,
    ) -> Verdict {
        of_trials(is_unsteady, |_, _| false, is_there)
    }

    /// The same of all; those that `is_overloaded` had more than they did.
    fn judged_with(
        is_unsteady: impl Fn(&str, &Record) -> bool,
        is_overloaded: impl Fn(&str, &Record) -> bool,
    ) -> Verdict {
        of_trials(is_unsteady, is_overloaded, |_, _| true)
    }

    fn of_trials(
        is_unsteady: impl Fn(&str, &Record) -> bool,
        is_overloaded: impl Fn(&str, &Record) -> bool,
        is_there: impl Fn(&str, &Record) -> bool,
    ) -> Verdict {
        let (manifest, mut records) = modelled(
            "[run]\nrepeats = 3\n[volume]\ndrives = '4xwd740gd'\nlevel = ['md-raid5', 'md-raid10', 'md-stripe']\ninterleave = '64KiB'\n\
             [workload.a]\nkind = 'random'\ncount = 20\n[workload.b]\nkind = 'random'\nop = 'write'\ncount = 20\n",
        );
        let level = |of: &Record| of.at["volume.level"].as_str().unwrap().to_string();
        records.retain(|of| is_there(&level(of), of));
        for record in &mut records {
            let rate = match (record.workload.as_str(), level(record).as_str()) {
                ("a", "md-raid10") | ("b", "md-stripe") => 200.0,
                _ => 100.0,
            };
            record.samples.insert("mb_per_s", rate + record.repeat as f64 / 100.0);
            record.samples.insert("steady", 1.0);
            if is_unsteady(&level(record), record) {
                record.samples.insert("mb_per_s", 900.0);
                record.samples.insert("steady", 0.0);
            }
            if is_overloaded(&level(record), record) {
                record.samples.insert("overloaded", 1.0);
            }
        }
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap()
    }

    fn line<'v>(verdict: &'v Verdict, about: &str) -> &'v str {
        let point = verdict.points.iter().find(|point| point.about == about);
        point.map_or("", |point| point.text.as_str())
    }

    /// It was recommended: what is known against it went with what is not known of the others.
    #[test]
    fn a_layout_that_does_not_keep_up_stays_left_out() {
        let verdict = judged(|_, of| of.workload == "b", |_, _| true);
        assert!(verdict.answer.contains("md-raid10"), "{}", verdict.answer);
        let overloaded = judged_with(
            |_, of| of.workload == "b",
            |level, of| of.workload == "b" && level == "md-raid10",
        );
        assert!(!overloaded.answer.starts_with("Use level md-raid10"), "{}", overloaded.answer);
    }

    /// One trial of `b` in three was steady: "No answer: no layout was in a steady state", and so much for `a`.
    #[test]
    fn what_can_be_judged_is_answered_beside_what_cannot() {
        let verdict = judged(|_, of| of.workload == "b" && of.repeat > 0, |_, _| true);
        assert!(
            verdict.answer.starts_with("Use level md-raid10: fastest for a."),
            "{}",
            verdict.answer
        );
        let rest = "No layout was steady under b: that ranks nothing.";
        assert!(verdict.answer.ends_with(rest), "{}", verdict.answer);
        assert_eq!((verdict.ranked.len(), verdict.situations.len()), (3, 1));
        let why = line(&verdict, "not steady");
        assert!(why.starts_with("6 of 18 trials, all of b: "), "{why}");
        assert!(why.contains("Leave out `count`"), "{why}");
    }

    /// One layout alone was steady, and was the only one ranked: "No answer yet", beside what it risks and what is safer.
    #[test]
    fn one_layout_that_was_steady_is_compared_with_none() {
        let on_one = |level: &str, of: &Record| {
            of.workload == "b" && (level != "md-stripe" || of.repeat == 2)
        };
        let verdict = judged(on_one, |_, _| true);
        let rest = "Only one layout was steady under b: that ranks nothing.";
        assert!(verdict.answer.ends_with(rest), "{}", verdict.answer);
        assert!(
            verdict.answer.starts_with("Use level md-raid10: fastest for a."),
            "{}",
            verdict.answer
        );
        // What was measured of it is in no rank: by `b` the stripe would be second to none.
        assert!(verdict.ranked[1].behind > 1.9, "{:?}", verdict.ranked);
        assert!(line(&verdict, "risk").contains("survives any one disk failure"));
    }

    /// One alone was steady, of all workloads: it is not chosen, and nobody asks what it risks.
    #[test]
    fn who_is_not_chosen_has_no_risk() {
        let verdict = judged(|level, _| level != "md-stripe", |_, of| of.workload == "a");
        assert!(verdict.answer.starts_with("No answer yet: only level md-stripe"), "{verdict:?}");
        let abouts = ["risk", "safe choice", "settings"];
        assert!(abouts.iter().all(|about| line(&verdict, about).is_empty()), "{verdict:?}");
    }

    /// Two that were steady are compared: what is left out may be better, and is no choice.
    #[test]
    fn what_ranks_two_layouts_is_kept() {
        let on_two = |level: &str, of: &Record| of.workload == "b" && level == "md-raid5";
        let verdict = judged(on_two, |_, _| true);
        assert_eq!((verdict.ranked.len(), verdict.situations.len()), (2, 2));
        assert!(verdict.answer.ends_with(" 1 of 3 layouts were not steady and may be better."));
    }

    /// No layout ran both workloads, and one was not steady: that was "no layout was in a steady state", above the risks of another.
    #[test]
    fn the_best_of_each_is_told_where_one_layout_was_not_steady() {
        let verdict = judged(
            |level, of| of.workload == "a" && level == "md-stripe",
            |level, of| of.workload == "a" || level == "md-stripe",
        );
        assert!(verdict.answer.ends_with("Below is the best for each."), "{}", verdict.answer);
        let best = line(&verdict, "for a");
        assert!(best.starts_with("md-raid10: 200"), "{:?}", verdict.points);
        assert!(line(&verdict, "risk").starts_with("md-raid10: "), "{:?}", verdict.points);
    }
}
