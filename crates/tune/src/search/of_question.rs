//! The search among a question's layouts: what is measured, and what of it to build.

use crate::front::row::FrontRow;
use crate::question::Question;
use crate::question::candidate::Candidate;
use crate::reasons::published_rules::of_question;
use crate::search::even_seeds::{Seeds, even_out};
use crate::search::layouts::At;
use crate::search::pick::{Picked, Why, is_alike, is_default, pick};
use crate::search::trials::{SETTLED_SEEDS, SHORT_ERROR, Tried, is_at};
use crate::search::{Effort, Prior, long_trials, race};
use crate::{beforehand, front};
use lab::{Error, Result};
use verdict::Verdict;
use verdict::judge::Ranked;

/// What is measured at once, and how often.
pub(crate) const EFFORT: Effort = Effort { exhaustive: 16, seeds: 3, near: 0.15, at_least: 1 };

/// Up to so many cells are all measured; of more, short trials say which.
const ALL_MAX: usize = 6;

/// Seeds of what may be chosen where rates hang on how spindles stand to each other: one layout then makes two or three rates, and
/// with ten seeds a choice still turned on which.
const SPINDLE_SEEDS: u64 = 20;

/// Layouts at most that are so, one after the other: what is reliably slower is kept no more, and the next may be.
const KEPT_MAX: usize = 4;

/// The place of the level in a candidate's places.
const LEVEL: usize = 0;

/// What a search found.
pub(crate) struct Searched {
    pub(crate) verdict: Verdict,
    /// What to build, and why.
    pub(crate) picked: Picked,
    /// Cells measured, each seed counted.
    pub(crate) count: usize,
}

/// Searches the candidates. What published rules name is measured too, and may be better than what short trials had put first.
pub(crate) fn search(
    tried: &mut Tried<'_>,
    candidates: &[Candidate],
    places: &[Vec<usize>],
) -> Result<Searched> {
    let (verdict, picked) = raced(tried, candidates, places).map_err(beforehand::with_names)?;
    let Some(picked) = picked else {
        return Err(nothing_found(&verdict, candidates));
    };
    let (best, _) = picked;
    let (_, more) = of_question::measured(tried, candidates, best)?;
    let (verdict, picked) = if more {
        let (verdict, settled) = settled(tried, candidates)?;
        (verdict, settled.unwrap_or(picked))
    } else {
        (verdict, picked)
    };
    if !measure_defaults_of_front(tried, &verdict, picked.0)? {
        return Ok(Searched { verdict, picked, count: tried.count });
    }
    // A default that was measured once may now be first.
    let (verdict, _) = even_out(tried)?;
    let picked = pick(candidates, tried.question, &verdict)?.unwrap_or(picked);
    Ok(Searched { verdict, picked, count: tried.count })
}

/// Measures the default of each other level on the front as often as its fastest, where short trials do not have it far behind:
/// there it is shown where nothing of its level is reliably better. Whether there were any.
fn measure_defaults_of_front(
    tried: &mut Tried<'_>,
    verdict: &Verdict,
    best: usize,
) -> Result<bool> {
    let candidates = tried.candidates;
    let rows = front::front(tried.question, verdict, &candidates[best], None)?;
    let levels = rows.iter().filter_map(FrontRow::level);
    let short = if tried.short.is_empty() { None } else { Some(tried.short_verdict()?) };
    let value = |place: usize| {
        let ranked = short.as_ref()?.ranked.iter();
        ranked.clone().find(|of| is_at(&candidates[place], &of.at)).map(|of| of.value)
    };
    let mut asked: Vec<(usize, usize)> = Vec::new();
    for level in levels.filter(|level| *level != candidates[best].level) {
        let place = |ranked: &Ranked| candidates.iter().position(|of| is_at(of, &ranked.at));
        let mut measured = verdict.ranked.iter().filter_map(|of| Some((place(of)?, of.trials)));
        let fastest = measured.find(|(place, _)| candidates[*place].level == level);
        let default = candidates.iter().position(|of| of.level == level && is_default(of));
        let (Some((fastest, trials)), Some(default)) = (fastest, default) else { continue };
        let behind = value(fastest).zip(value(default));
        let behind = behind.map_or(0.0, |(own, other)| verdict.better.ahead(own, other));
        if default != fastest && behind <= verdict.noise.half_width(trials, trials) + SHORT_ERROR {
            asked.push((default, trials));
        }
    }
    let before = tried.count;
    for (place, trials) in asked {
        for seed in 0..trials as u64 {
            measure_missing(tried, &[place], seed)?;
        }
    }
    Ok(tried.count > before)
}

/// Measures what decides, and says what to build; nothing where no candidate may be chosen.
pub(crate) fn raced(
    tried: &mut Tried<'_>,
    candidates: &[Candidate],
    places: &[Vec<usize>],
) -> Result<(Verdict, Option<Picked>)> {
    let question = tried.question;
    let mut ranks = if candidates.len() > ALL_MAX { tried.rank()? } else { Vec::new() };
    long_trials::spare(question, candidates, &mut ranks)?;
    let prior = (!ranks.is_empty()).then_some(Prior { scores: &ranks, kinds: LEVEL });
    race(places, prior, EFFORT, &mut |which, seed| {
        if seed > 1 && long_trials::are_seeds_idle(tried, which)? {
            return Ok(vec![None; which.len()]);
        }
        tried.measure(which, seed)
    })?;
    measure_default(tried, candidates, question)?;
    settled(tried, candidates)
}

/// What was measured, and what to build. What is kept although another layout is ahead by more than models err gets as many
/// seeds as that one, up to five: few trials make wide intervals, and a default with one would tie with what is 15 % faster.
fn settled(tried: &mut Tried<'_>, candidates: &[Candidate]) -> Result<(Verdict, Option<Picked>)> {
    let question = tried.question;
    let (mut verdict, _) = even_out(tried)?;
    let mut picked = pick(candidates, question, &verdict)?;
    for _ in 0..KEPT_MAX {
        let Some(both) = unsettled(candidates, &verdict, picked) else { break };
        for seed in 1..SETTLED_SEEDS {
            measure_missing(tried, &both, seed)?;
        }
        // A third that has fewer may now be first.
        (verdict, _) = even_out(tried)?;
        let next = pick(candidates, question, &verdict)?;
        if next == picked {
            break;
        }
        picked = next;
    }
    by_spindles(tried, verdict, picked)
}

impl Seeds for Tried<'_> {
    fn verdict(&self) -> Result<Verdict> {
        Tried::verdict(self)
    }

    fn place(&self, at: &At) -> Option<usize> {
        self.candidates.iter().position(|of| is_at(of, at))
    }

    fn measure_missing(&mut self, place: usize, seed: u64) -> Result<usize> {
        let before = self.count;
        measure_missing(self, &[place], seed)?;
        Ok(self.count - before)
    }
}

/// Measures what has not run with this seed.
fn measure_missing(tried: &mut Tried<'_>, places: &[usize], seed: u64) -> Result<()> {
    let is_missing = |&place: &usize| tried.of_seed(&tried.candidates[place], seed).is_empty();
    let missing: Vec<usize> = places.iter().copied().filter(is_missing).collect();
    if !missing.is_empty() {
        tried.measure(&missing, seed)?;
    }
    Ok(())
}

/// Where rates hang on how spindles stand, what may be chosen gets many seeds: what is picked, the fastest, the next of
/// another level, and md's own chunk.
fn by_spindles(
    tried: &mut Tried<'_>,
    mut verdict: Verdict,
    mut picked: Option<Picked>,
) -> Result<(Verdict, Option<Picked>)> {
    let candidates = tried.candidates;
    for _ in 0..KEPT_MAX {
        let hangs = verdict.points.iter().any(|point| point.about == "spindles");
        let (true, Some((best, _))) = (hangs, picked) else { break };
        let ranked = verdict.ranked.iter();
        let mut order =
            ranked.filter_map(|ranked| candidates.iter().position(|of| is_at(of, &ranked.at)));
        let measured: Vec<usize> = order.by_ref().collect();
        let of_another = |&place: &usize| candidates[place].level != candidates[best].level;
        let is_default = |&place: &usize| {
            is_default(&candidates[place])
                && is_alike(tried.question, &candidates[place].level, &candidates[best].level)
        };
        let mut contested: Vec<usize> =
            [best].into_iter().chain(measured.first().copied()).collect();
        contested.extend(measured.iter().copied().find(of_another));
        contested.extend(measured.iter().copied().filter(is_default));
        contested.sort_unstable();
        contested.dedup();
        let before = tried.count;
        for seed in 1..SPINDLE_SEEDS {
            measure_missing(tried, &contested, seed)?;
        }
        if tried.count == before {
            break;
        }
        (verdict, _) = even_out(tried)?;
        picked = pick(candidates, tried.question, &verdict)?;
    }
    Ok((verdict, picked))
}

/// What is kept for being a default, and the fastest, where that is ahead by more than the model's error.
fn unsettled(
    candidates: &[Candidate],
    verdict: &Verdict,
    picked: Option<Picked>,
) -> Option<[usize; 2]> {
    let (kept, _) = picked.filter(|(_, why)| {
        matches!(why, Why::Default | Why::DefaultOfSafest | Why::Nearest | Why::LessRisk)
    })?;
    let first = verdict.ranked.first()?;
    let fastest = candidates.iter().position(|of| is_at(of, &first.at))?;
    let own = verdict.ranked.iter().find(|ranked| is_at(&candidates[kept], &ranked.at))?;
    let ahead = verdict.better.ahead(first.value, own.value);
    (ahead > verdict.noise.model_error.ln_1p()).then_some([kept, fastest])
}

/// Why nothing is recommended; where a limit is not met, with what the nearest layout has.
fn nothing_found(verdict: &Verdict, candidates: &[Candidate]) -> Error {
    let is_why = |about: &str| ["limit", "not steady", "overloaded"].contains(&about);
    let limits = verdict.points.iter().filter(|point| is_why(&point.about));
    let lines =
        std::iter::once(verdict.answer.as_str()).chain(limits.map(|point| point.text.as_str()));
    let mut text = lines.collect::<Vec<&str>>().join("\n");
    for out in &verdict.left_out {
        if let Some(candidate) = candidates.iter().find(|of| is_at(of, &out.at)) {
            text = text.replace(&format!("({})", out.label), &format!("({})", candidate.name()));
        }
    }
    // It stands behind `error: `.
    let text = text.strip_prefix("No ").map_or(text.clone(), |rest| format!("no {rest}"));
    Error::failure(text)
}

/// Measures the default of each level that holds and survives as much as the best: it is kept where nothing is better. Where
/// only a rate counts, that of each level.
fn measure_default(
    tried: &mut Tried<'_>,
    candidates: &[Candidate],
    question: &Question,
) -> Result<()> {
    let verdict = tried.verdict()?;
    let is_measured = |of: &Candidate| verdict.ranked.iter().any(|ranked| is_at(of, &ranked.at));
    let best = verdict.ranked.first();
    let best = best.and_then(|best| candidates.iter().find(|of| is_at(of, &best.at)));
    let missing = (0..candidates.len()).filter(|&place| {
        let of = &candidates[place];
        is_default(of)
            && !is_measured(of)
            && best.is_some_and(|best| {
                question.is_unwaited() || is_alike(question, &of.level, &best.level)
            })
    });
    let missing: Vec<usize> = missing.collect();
    if !missing.is_empty() {
        tried.measure(&missing, 0)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;
    use crate::search::even_seeds::first_by_fewer_trials;
    use crate::search::remembered::Sim;

    /// It said twice that there is none, and called the nearest by its factors: a RAID 10 has no stripe cache.
    #[test]
    fn that_nothing_is_found_is_said_once() {
        let asked = Question {
            subject_to: vec!["vm >= 1000GB/s".into()],
            levels: vec!["md-raid10".into()],
            ..question("4x 980 pro 1tb", "vm", 1)
        };
        let (all, _) = asked.candidates().unwrap();
        let watch = &mut |_| ();
        let mut tried = Tried::new(&asked, &all[..1], &Sim, watch).unwrap();
        tried.measure(&[0], 0).unwrap();
        let said = nothing_found(&tried.verdict().unwrap(), &all).to_string();
        assert!(said.starts_with("no layout meets all that is asked of it"), "{said}");
        assert!(said.ends_with(&format!("({})", all[0].name())), "{said}");
        assert_eq!(said.matches("layout").count(), 1, "{said}");
    }

    /// The default and the fastest had five seeds each, and a third was first by the one that it had.
    #[test]
    fn the_last_word_is_over_as_many_seeds() {
        let asked =
            Question { levels: vec!["md-raid10".into()], ..question("4x 980 pro 1tb", "vm", 1) };
        let (all, _) = asked.candidates().unwrap();
        let default = all.iter().position(is_default).unwrap();
        let others = all.iter().enumerate().filter(|(place, _)| *place != default);
        let candidates: Vec<Candidate> = std::iter::once(&all[default])
            .chain(others.map(|(_, of)| of))
            .take(3)
            .cloned()
            .collect();
        let watch = &mut |_| ();
        let mut tried = Tried::new(&asked, &candidates, &Sim, watch).unwrap();
        tried.measure(&[0, 1, 2], 0).unwrap();
        let own = tried.of(&candidates[0])[0].clone();
        let metrics: Vec<String> = own.samples.iter().map(|(name, _)| name.to_string()).collect();
        for (place, times) in [(1, 1.14), (2, 1.13)] {
            let at = tried.records.iter().position(|of| is_at(&candidates[place], &of.at)).unwrap();
            for metric in metrics.iter().filter(|name| name.contains("per_s")) {
                let value = times * own.sample(metric).unwrap();
                tried.records[at].samples.insert(metric.as_str(), value);
            }
        }
        let before = tried.verdict().unwrap();
        let picked = pick(&candidates, &asked, &before).unwrap();
        assert!(unsettled(&candidates, &before, picked).is_some());
        let (verdict, _) = settled(&mut tried, &candidates).unwrap();
        assert!(first_by_fewer_trials(&verdict).is_none(), "{:?}", verdict.ranked);
    }
}
