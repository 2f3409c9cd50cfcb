//! Choices that make no difference beside those that do: with the best of the others, each of their values ties.

use super::{Ranked, Standing, Verdict};
use crate::cells::compare;
use crate::tables::listed;
use serde_json::{Map, Value as Json};
use store::record::short_key;

type At = Map<String, Json>;

/// The choices any value of which will do: all layouts that have the best's values otherwise tie with it, hold as much and lose no
/// more. None where that is so of all layouts, as then there is no best.
pub(super) fn any_will_do(verdict: &Verdict) -> Vec<String> {
    let Some((best, others)) = verdict.ranked.split_first() else { return Vec::new() };
    let left_out = || verdict.left_out.iter().map(|out| &out.at);
    let mut free: Vec<String> = Vec::new();
    for path in best.at.keys() {
        free.push(path.clone());
        let agrees = |at: &At| is_the_same_but_for(&free, at, &best.at);
        let mut alike = others.iter().filter(|other| agrees(&other.at)).peekable();
        let varies = alike.clone().any(|other| other.at.get(path) != best.at.get(path));
        if !varies || !alike.all(|other| is_as_good(other, best)) || left_out().any(agrees) {
            free.pop();
        }
    }
    let matters = others.iter().any(|other| !is_the_same_but_for(&free, &other.at, &best.at));
    if matters { free } else { Vec::new() }
}

/// Whether it ties with the best, holds as much and loses no more.
fn is_as_good(other: &Ranked, best: &Ranked) -> bool {
    let (its, bests) = (&other.facts, &best.facts);
    let holds = |bytes: Option<u64>| bytes.unwrap_or(0) as f64;
    let (held, most) = (holds(its.usable_bytes), holds(bests.usable_bytes));
    other.standing == Standing::Tie
        && its.losses_survived == bests.losses_survived
        && its.lost_by_crash == bests.lost_by_crash
        // Chunks leave something over at the end.
        && (held - most).abs() <= 0.01 * most
}

/// Whether two layouts have the same values, whatever those of the `free` choices.
fn is_the_same_but_for(free: &[String], a: &At, b: &At) -> bool {
    let paths = a.keys().chain(b.keys());
    paths.filter(|path| !free.contains(path)).all(|path| a.get(path) == b.get(path))
}

impl Verdict {
    /// Whether two layouts are the same in all that makes a difference.
    pub(super) fn is_the_same(&self, a: &At, b: &At) -> bool {
        is_the_same_but_for(&self.any_will_do, a, b)
    }

    /// A layout's name by the choices that make a difference.
    pub(super) fn of_what_matters(&self, layout: &Ranked) -> String {
        if self.any_will_do.is_empty() {
            return layout.label.clone();
        }
        let matters = layout.at.iter().filter(|(path, _)| !self.any_will_do.contains(path));
        self.factors.label(&matters.map(|(path, value)| (path.clone(), value.clone())).collect())
    }

    /// That the other choices make none.
    pub(super) fn of_the_rest(&self) -> String {
        let named: Vec<String> =
            self.any_will_do.iter().map(|path| self.values_tried(path)).collect();
        match named.as_slice() {
            [] => String::new(),
            _ => format!(" No reliable difference by {}: keep yours.", listed(&named)),
        }
    }

    /// `interleave (4KiB to 4MiB)`, or the values where they are few.
    fn values_tried(&self, path: &str) -> String {
        const NAMED: usize = 3;
        let mut values: Vec<&Json> = Vec::new();
        for value in self.ranked.iter().filter_map(|ranked| ranked.at.get(path)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values.sort_by(|a, b| compare(a, b));
        let shown: Vec<String> =
            values.iter().map(|value| self.factors.shown(path, value)).collect();
        let text = match shown.as_slice() {
            [first, .., last] if shown.len() > NAMED => format!("{first} to {last}"),
            _ => listed(&shown),
        };
        format!("{} ({text})", short_key(path))
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::{Verdict, Wishes};

    fn judged(levels: &str, op: &str) -> Verdict {
        let (manifest, records) = modelled(&format!(
            "[volume]\ndrives = '4xst16000nm001g'\nlevel = {levels}\ninterleave = ['4KiB', '64KiB', '512KiB', '4MiB']\n\
             [host]\nname = 'linux-6.1'\n[drive]\nwrite_cache = false\n[workload.w]\nkind = 'random'\n\
             block = '4KiB'\ndepth = 8\nop = '{op}'\n"
        ));
        Verdict::new(&manifest, &records, &Wishes::default()).unwrap()
    }

    /// Small random writes do not care for the chunk, and the first by luck is no advice.
    #[test]
    fn a_chunk_that_makes_no_difference_is_not_chosen() {
        let verdict = judged("['md-raid10', 'md-raid5']", "write");
        assert_eq!(verdict.any_will_do, ["volume.interleave"], "{}", verdict.answer);
        let answer = &verdict.answer;
        assert!(answer.starts_with("Use level md-raid10: w "), "{answer}");
        let rest = " No reliable difference by interleave (8 to 8192): keep yours.";
        assert!(answer.ends_with(rest), "{answer}");
        let about = |about: &str| verdict.points.iter().any(|point| point.about == about);
        assert!(about("next best") && !about("tied") && !about("settings"), "{:?}", verdict.points);
    }

    /// A level that is as fast is another risk and another size, and is named as before.
    #[test]
    fn a_level_that_ties_is_not_waved_through() {
        let verdict = judged("['md-raid0', 'md-raid10']", "read");
        assert!(!verdict.any_will_do.contains(&"volume.level".to_string()), "{}", verdict.answer);
    }
}
