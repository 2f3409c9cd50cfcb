//! Which trials are spared where they are long: many drives hold much in their caches, and a trial of writes goes on until it has
//! gone through them again and again.

use crate::front::worth::is_rebuilt_as_soon;
use crate::question::Question;
use crate::question::candidate::Candidate;
use crate::search::trials::{SHORT_ERROR, Tried, is_at};
use block::layout::Level;
use lab::Result;
use store::record::Record;

/// Of fewer drives a trial takes a second or two, and nothing is spared.
const MEMBERS_MIN: usize = 12;

/// A trial of so many commands takes seconds: 24 disks under `backup` take 200,000 to 400,000.
const COMMANDS_MIN: f64 = 100_000.0;

/// Changes what short trials say of each candidate, so that what cannot be chosen is not measured in full, and of each level of
/// arrays side by side what the front would show.
pub(crate) fn spare(
    question: &Question,
    candidates: &[Candidate],
    ranks: &mut [Option<f64>],
) -> Result<()> {
    if question.members() >= MEMBERS_MIN && !ranks.is_empty() {
        leave_out_beaten(question, candidates, ranks)?;
        nearest_first(candidates, ranks);
    }
    Ok(())
}

/// The best of a level's ranks.
fn best_of(level: Level, candidates: &[Candidate], ranks: &[Option<f64>]) -> Option<f64> {
    let of_level = candidates.iter().zip(ranks).filter(|(of, _)| of.level == level);
    of_level.filter_map(|(_, rank)| *rank).reduce(f64::max)
}

/// A level, the best of its ranks, how likely all is lost, and hours of a rebuild at worst.
type Known = (Level, f64, f64, f64);

/// Leaves out the levels that another is ahead of in short trials by more than those err, and that hold no more, survive no more,
/// risk no less and are rebuilt no sooner. They cannot be chosen, and the front has no place for them.
fn leave_out_beaten(
    question: &Question,
    candidates: &[Candidate],
    ranks: &mut [Option<f64>],
) -> Result<()> {
    let mut levels: Vec<Level> = candidates.iter().map(|of| of.level).collect();
    levels.dedup();
    let mut known: Vec<Known> = Vec::new();
    for level in levels {
        if let Some(best) = best_of(level, candidates, ranks) {
            let (risk, inputs) = question.risk(&level)?;
            known.push((level, best, risk.gone.middle, inputs.rebuild_h.range.high));
        }
    }
    let survived = |level: &Level| level.losses_survived(question.members());
    let beats = |(other, rank, gone, rebuild_h): &Known, own: &Known| {
        *rank > own.1 + SHORT_ERROR
            && *gone <= own.2
            && is_rebuilt_as_soon(Some(*rebuild_h), Some(own.3))
            && question.usable_bytes(other) >= question.usable_bytes(&own.0)
            && survived(other) >= survived(&own.0)
            && other.has_parity() <= own.0.has_parity()
    };
    for own in known.iter().filter(|own| known.iter().any(|other| beats(other, own))) {
        let of_level = candidates.iter().zip(ranks.iter_mut()).filter(|(of, _)| of.level == own.0);
        of_level.for_each(|(_, rank)| *rank = None);
    }
    Ok(())
}

/// Of arrays side by side puts the smallest chunk and cache first that short trials do not tell from the best of the level: md's own
/// stands first. The front shows what is nearest to that, and the answer keeps it.
fn nearest_first(candidates: &[Candidate], ranks: &mut [Option<f64>]) {
    for place in 0..ranks.len() {
        let level = candidates[place].level;
        let is_first = place == 0 || candidates[place - 1].level != level;
        let Some(best) = best_of(level, candidates, ranks) else { continue };
        if is_first && level.nested().is_some() {
            let is_even = |rank: &Option<f64>| rank.is_some_and(|own| own >= best - SHORT_ERROR);
            if let Some(nearest) = ranks[place..].iter_mut().find(|rank| is_even(rank)) {
                *nearest = Some(best);
            }
        }
    }
}

/// Whether a third seed of these layouts would part none of them: two say that the best is ahead of each by less than the model may
/// err, so that they are expected to tie.
pub(crate) fn are_seeds_idle(tried: &Tried<'_>, which: &[usize]) -> Result<bool> {
    let is_nested = |&place: &usize| tried.candidates[place].level.nested().is_some();
    if tried.question.members() < MEMBERS_MIN || !which.iter().any(is_nested) {
        return Ok(false);
    }
    let verdict = tried.verdict()?;
    let Some(best) = verdict.ranked.first() else { return Ok(false) };
    let is_idle = |&place: &usize| {
        let candidate = &tried.candidates[place];
        let ranked = verdict.ranked.iter().find(|ranked| is_at(candidate, &ranked.at));
        ranked.is_some_and(|ranked| {
            let ahead = verdict.better.ahead(best.value, ranked.value);
            ranked.trials > 1 && ahead <= verdict.noise.model_error.ln_1p()
        })
    };
    let mut own = which.iter().flat_map(|&place| tried.of(&tried.candidates[place]));
    Ok(best.trials > 1 && which.iter().all(is_idle) && own.all(|record| is_long(&record)))
}

/// Whether a trial took so long that it is not repeated in vain.
fn is_long(record: &Record) -> bool {
    let commands = record.sample("commands_per_request").unwrap_or(1.0);
    record.requests as f64 * commands >= COMMANDS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;
    use crate::search::remembered::Sim;

    fn ranked(drives: &str, of: impl Fn(&Candidate) -> f64) -> (Vec<Candidate>, Vec<Option<f64>>) {
        let asked = question(drives, "backup", 2);
        let (candidates, _) = asked.candidates().unwrap();
        let mut ranks: Vec<Option<f64>> = candidates.iter().map(|it| Some(of(it))).collect();
        spare(&asked, &candidates, &mut ranks).unwrap();
        (candidates, ranks)
    }

    /// Far copies with chunks of 16 KiB were measured for 11 s: no chunk of theirs could be chosen.
    #[test]
    fn a_level_that_another_beats_in_everything_is_not_measured() {
        let left = |drives: &str, far: f64| {
            let of = |it: &Candidate| if it.level.name == "md-raid10-f3" { far } else { 1.0 };
            let (candidates, ranks) = ranked(drives, of);
            let of_far =
                candidates.iter().zip(&ranks).filter(|(it, _)| it.level.name == "md-raid10-f3");
            let others =
                candidates.iter().zip(&ranks).filter(|(it, _)| it.level.name != "md-raid10-f3");
            assert!(others.clone().count() > 0 && others.clone().all(|(_, rank)| rank.is_some()));
            of_far.filter(|(_, rank)| rank.is_some()).count()
        };
        assert_eq!(left("24x ST18000NM000J", 0.8), 0);
        assert!(left("24x ST18000NM000J", 0.95) > 0, "short trials err by as much");
        assert!(left("8x ST18000NM000J", 0.8) > 0, "few drives have short trials");
    }

    /// The front shows what is nearest to md's own of what is as fast: 1 MiB with 4096 rows was measured for 34 s instead.
    #[test]
    fn of_arrays_side_by_side_the_nearest_to_the_default_is_measured_first() {
        let first = |own: f64, cached: f64| {
            let of = |it: &Candidate| match (it.chunk, it.cache) {
                _ if it.level.nested().is_none() => 0.9,
                ("512KiB", "256") => own,
                ("512KiB", _) => cached,
                _ => 1.0,
            };
            let (candidates, ranks) = ranked("24x ST18000NM000J", of);
            let best =
                ranks.iter().zip(&candidates).filter(|(_, it)| it.level.name == "md-raid60-4");
            let best = best.rev().max_by(|a, b| a.0.unwrap().total_cmp(&b.0.unwrap())).unwrap();
            (best.1.chunk, best.1.cache)
        };
        assert_eq!(first(0.95, 0.5), ("512KiB", "256"));
        assert_eq!(first(0.8, 0.95), ("512KiB", "4096"));
        assert_eq!(first(0.8, 0.8), ("1MiB", "256"));
    }

    /// A third seed is run where it may part two layouts, and where it costs nothing.
    #[test]
    fn what_ties_for_the_model_s_sake_has_two_seeds() {
        let asked = question("12x 980 pro 1tb", "vm", 2);
        let (candidates, _) = asked.candidates().unwrap();
        let nested: Vec<Candidate> =
            candidates.into_iter().filter(|it| it.level.nested().is_some()).take(2).collect();
        let watch = &mut |_| ();
        let mut tried = Tried::new(&asked, &nested, &Sim, watch).unwrap();
        tried.measure(&[0], 0).unwrap();
        let own = tried.records[0].clone();
        let mut of = |times: f64, seeds: u64, requests: u64| {
            let one = |place: usize, repeat: u64| {
                let mut record = own.clone();
                for (key, value) in nested[place].settings() {
                    if let Some(at) = record.at.get_mut(&key) {
                        *at = match block::units::parse_sectors(&value) {
                            Ok(sectors) if key.ends_with("interleave") => sectors.into(),
                            _ => value
                                .parse::<u64>()
                                .map_or_else(|_| value.clone().into(), Into::into),
                        };
                    }
                }
                record.repeat = repeat;
                record.requests = requests;
                let factor = if place == 1 { times } else { 1.0 } * (1.0 + 0.001 * repeat as f64);
                let names: Vec<String> =
                    own.samples.iter().map(|(name, _)| name.to_string()).collect();
                for name in names.iter().filter(|name| name.contains("per_s")) {
                    record.samples.insert(name.as_str(), factor * own.sample(name).unwrap());
                }
                record
            };
            tried.records = (0..2)
                .flat_map(|at| (0..seeds).map(move |seed| (at, seed)))
                .map(|(at, seed)| one(at, seed))
                .collect();
            are_seeds_idle(&tried, &[0, 1]).unwrap()
        };
        assert!(of(0.99, 2, 1_000_000));
        assert!(!of(0.99, 1, 1_000_000), "one seed says nothing of luck");
        assert!(!of(0.8, 2, 1_000_000), "more than the model errs");
        assert!(!of(0.99, 2, 10_000), "short trials cost little");
    }
}
