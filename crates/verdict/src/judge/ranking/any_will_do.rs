//! Choices that make no difference beside those that do: with the best of the others, each of their values ties.

use crate::judge::{Ranked, Standing, Verdict};
use crate::tables::listed;
use serde_json::{Map, Value as Json};
use store::record::short_key;

type At = Map<String, Json>;

/// Choices of speed alone: a level, a bitmap or a file system is another risk, whatever it does in time.
const OF_SPEED: [&str; 5] = [
    "volume.interleave",
    "volume.stripe_cache",
    "volume.read_ahead",
    "volume.scheduler",
    "volume.nr_requests",
];

/// The choices any value of which will do: all layouts that have the best's values otherwise tie with it and hold as much. None
/// where that is so of all layouts, as then there is no best.
pub(crate) fn any_will_do(verdict: &Verdict) -> Vec<String> {
    let Some((best, others)) = verdict.ranked.split_first() else { return Vec::new() };
    let left_out = || verdict.left_out.iter().map(|out| &out.at);
    let mut free: Vec<String> = Vec::new();
    for path in best.at.keys().filter(|path| OF_SPEED.contains(&path.as_str())) {
        free.push(path.clone());
        let agrees = |at: &At| is_the_same_but_for(&free, at, &best.at);
        let mut alike = others.iter().filter(|other| agrees(&other.at));
        let varies = alike.clone().any(|other| other.at.get(path) != best.at.get(path));
        if !varies || !alike.all(|other| is_as_good(other, best)) || left_out().any(agrees) {
            free.pop();
        }
    }
    let matters = others.iter().any(|other| !is_the_same_but_for(&free, &other.at, &best.at));
    if matters { free } else { Vec::new() }
}

/// Whether it ties with the best and holds as much: chunks leave something over at the end.
fn is_as_good(other: &Ranked, best: &Ranked) -> bool {
    let holds = |of: &Ranked| of.facts.usable_bytes.unwrap_or(0) as f64;
    let (held, most) = (holds(other), holds(best));
    other.standing == Standing::Tie && (held - most).abs() <= 0.01 * most
}

/// Whether two layouts have the same values, whatever those of the `free` choices.
pub(crate) fn is_the_same_but_for(free: &[String], a: &At, b: &At) -> bool {
    let paths = a.keys().chain(b.keys());
    paths.filter(|path| !free.contains(path)).all(|path| a.get(path) == b.get(path))
}

impl Verdict {
    /// Whether two layouts are the same in all that makes a difference.
    pub fn is_the_same(&self, a: &At, b: &At) -> bool {
        is_the_same_but_for(&self.any_will_do, a, b)
    }

    /// Whether it is a choice that makes a difference.
    pub(crate) fn matters(&self, path: &String) -> bool {
        !self.any_will_do.contains(path) && !self.given.contains(path)
    }

    /// A layout's name by the choices that make a difference.
    pub fn of_what_matters(&self, layout: &Ranked) -> String {
        if self.any_will_do.is_empty() {
            return layout.label.clone();
        }
        let matters = layout.at.iter().filter(|(path, _)| self.matters(path));
        self.factors.label(&matters.map(|(path, value)| (path.clone(), value.clone())).collect())
    }

    /// That the other choices make none.
    pub(crate) fn of_the_rest(&self) -> String {
        let named: Vec<String> =
            self.any_will_do.iter().map(|path| self.values_tried(path)).collect();
        let kinds = self.kinds();
        match named.as_slice() {
            [] => String::new(),
            // Of another level the same choice may make one.
            _ if !self.ranked.iter().all(|ranked| kinds.stands_as_one(&ranked.at)) => {
                format!(" With that, no reliable difference by {}: keep yours.", listed(&named))
            }
            _ => format!(" No reliable difference by {}: keep yours.", listed(&named)),
        }
    }

    /// `interleave (4KiB to 4MiB)`: the values that were tried with the best of the other choices.
    fn values_tried(&self, path: &str) -> String {
        let best = self.ranked.first().map(|best| &best.at);
        let alike =
            self.ranked.iter().filter(|of| best.is_some_and(|at| self.is_the_same(&of.at, at)));
        format!("{} ({})", short_key(path), self.values(path, alike.map(|of| &of.at)))
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    const CHUNKS: &str = "interleave = ['4KiB', '64KiB', '512KiB', '4MiB']";

    fn judged(volume: &str, workloads: &str) -> Verdict {
        let (manifest, records) = modelled(&format!(
            "[host]\nname = 'linux-6.1'\n[drive]\nwrite_cache = false\n\
             [volume]\ndrives = '4xst16000nm001g'\n{volume}\n{workloads}\n"
        ));
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap()
    }

    fn random(name: &str, op: &str) -> String {
        format!("[workload.{name}]\nkind = 'random'\nop = '{op}'\nblock = '4KiB'\ndepth = 8\n")
    }

    /// Small random writes do not care for the chunk, and the first by luck is no advice.
    #[test]
    fn a_chunk_that_makes_no_difference_is_not_chosen() {
        let levels = format!("level = ['md-raid10', 'md-raid5']\n{CHUNKS}");
        for workloads in [random("w", "write"), random("w", "write") + &random("r", "read")] {
            let verdict = judged(&levels, &workloads);
            let answer = &verdict.answer;
            assert_eq!(verdict.any_will_do, ["volume.interleave"], "{answer}");
            assert!(answer.starts_with("Use level md-raid10: "), "{answer}");
            let rest =
                " No reliable difference by interleave (8 (4 KiB) to 8192 (4 MiB)): keep yours.";
            assert!(answer.ends_with(rest), "{answer}");
            let line = |about: &str| verdict.points.iter().find(|point| point.about == about);
            assert!(line("tied").is_none() && line("settings").is_none(), "{:?}", verdict.points);
            assert!(line("next best").unwrap().text.starts_with("md-raid5, "));
        }
    }

    /// A bitmap that costs reads nothing is not waved through: without one a crash costs hours.
    #[test]
    fn a_choice_of_risk_is_never_free() {
        let verdict = judged(
            "level = ['md-raid10', 'md-raid5']\nbitmap = ['none', 'internal']\ninterleave = '64KiB'",
            &(random("r", "read") + &random("w", "write")),
        );
        assert_eq!(verdict.any_will_do, Vec::<String>::new(), "{}", verdict.answer);
    }

    /// On a stripe 100 MB/s with either chunk, and on RAID 5 with the larger one 99.9 or `unsteady`, and 40 with the smaller.
    fn of_two_levels(is_unsteady: bool) -> Verdict {
        let (manifest, mut records) = modelled(
            "[volume]\ndrives = '4xwd740gd'\nlevel = ['md-stripe', 'md-raid5']\ninterleave = ['64KiB', '512KiB']\n\
             [workload.w]\nkind = 'random'\ncount = 20\n[host]\nname = 'linux-6.1'\n",
        );
        for record in &mut records {
            let is_small = record.at["volume.interleave"] == 128;
            let is_stripe = record.at["volume.level"] == "md-stripe";
            let rate = if is_stripe {
                100.0
            } else if is_small {
                40.0
            } else {
                99.9
            };
            record.samples.insert("mb_per_s", rate);
            if is_unsteady && !is_stripe && !is_small {
                record.samples.insert("steady", 0.0);
            }
        }
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap()
    }

    fn line<'v>(verdict: &'v Verdict, about: &str) -> &'v str {
        let point = verdict.points.iter().find(|point| point.about == about);
        point.map_or("", |point| point.text.as_str())
    }

    /// With the best level any chunk will do, and with the next one does not: that is named by both, and is in one line alone.
    #[test]
    fn what_ties_with_one_chunk_is_not_called_tied_with_all() {
        let verdict = of_two_levels(false);
        let tied = "interleave 1024 (512 KiB), level md-raid5; keep yours if it is among them";
        assert_eq!(line(&verdict, "tied"), tied);
        let next = line(&verdict, "next best");
        assert!(next.starts_with("interleave 128 (64 KiB), level md-raid5, "), "{next}");
        let rest = " With that, no reliable difference by interleave (128 (64 KiB) and 1024 (512 KiB)): keep yours.";
        assert!(verdict.answer.ends_with(rest), "{}", verdict.answer);
    }

    /// Nothing is known of the other chunk of that level.
    #[test]
    fn what_is_behind_with_one_chunk_is_not_called_behind_with_those_that_were_left_out() {
        let verdict = of_two_levels(true);
        assert_eq!(verdict.any_will_do, ["volume.interleave"], "{}", verdict.answer);
        let next = line(&verdict, "next best");
        assert!(next.starts_with("interleave 128 (64 KiB), level md-raid5, "), "{next}");
    }

    /// From one to the other are those alone that nothing else lies between.
    #[test]
    fn values_from_one_to_another_are_all_that_were_tried_between() {
        let (manifest, records) = modelled(
            "[volume]\ndrives = '4xwd740gd'\nlevel = 'md-stripe'\ninterleave = ['4KiB', '8KiB', '16KiB', '32KiB', '64KiB']\n\
             [workload.w]\nkind = 'random'\ncount = 20\n[host]\nname = 'linux-6.1'\n",
        );
        let verdict = Verdict::new(&manifest, &records, &Wishes::default()).unwrap();
        let values = |but: u64| {
            let all = verdict.ranked.iter().map(|of| &of.at);
            verdict.values("volume.interleave", all.filter(|at| at["volume.interleave"] != but))
        };
        assert_eq!(values(0), "8 (4 KiB) to 128 (64 KiB)");
        assert_eq!(values(8), "16 (8 KiB) to 128 (64 KiB)");
        let listed = "8 (4 KiB), 16 (8 KiB), 64 (32 KiB) and 128 (64 KiB)";
        assert_eq!(values(32), listed);
    }

    /// Reads in order care for the chunk.
    #[test]
    fn a_chunk_that_makes_one_is_chosen() {
        let workload = "[workload.s]\nkind = 'sequential'\nblock = '1MiB'\ndepth = 1\n";
        let verdict = judged(&format!("level = ['md-raid10', 'md-raid5']\n{CHUNKS}"), workload);
        assert_eq!(verdict.any_will_do, Vec::<String>::new(), "{}", verdict.answer);
    }
}
