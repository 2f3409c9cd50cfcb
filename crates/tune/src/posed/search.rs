//! The search among an experiment's layouts: all of them, or a race.

use super::Posed;
use crate::clock::For;
use crate::pick::first_by_fewer_trials;
use crate::search::{Effort, race};
use crate::space::{Open, Space};
use lab::Result;
use store::factor::Role;
use store::record::Record;
use verdict::Verdict;

/// Up to so many layouts are all measured, each as often as the experiment says.
const EFFORT: Effort = Effort { exhaustive: 16, seeds: 1, near: 0.0, at_least: 1 };

/// Of work on files that no experiment says how often to repeat, what is near the best is tried with further seeds, and some
/// of the next: where several programs wait for one journal, a tenth is luck, and on drives that take one command a half.
const OF_FILES: Effort = Effort { seeds: 3, near: 0.5, at_least: 3, ..EFFORT };

impl Posed {
    pub(crate) fn effort(&self) -> Effort {
        if self.question.is_some() { OF_FILES } else { EFFORT }
    }
}

/// Measures what decides; gives that, and how many cells it took.
pub(crate) fn measured(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    watch: &mut dyn FnMut(usize),
) -> Result<(Vec<Record>, usize)> {
    let mut records = posed.known.clone();
    records.retain(|record| space.holds(record));
    let known = space.known(&records);
    let mut measured = 0;
    let effort = effort(posed, space, &known);
    race(&space.places, None, effort, &mut |which, seed| {
        let missing: Vec<usize> =
            which.iter().copied().filter(|place| !known.contains(place)).collect();
        let ran = in_time(space, &missing, open, seed)?;
        measured += ran.0;
        watch(measured);
        records.extend(ran.1);
        if records.is_empty() && space.clock.is_over() {
            return space.clock.nothing_measured();
        }
        let verdict = Verdict::new(&space.manifest, &records, &posed.wishes)?;
        Ok::<_, lab::Error>(which.iter().map(|&place| score(&verdict, space, place)).collect())
    })?;
    // A race has two runners; how far the figure of one alone is luck is to be said, too.
    let further = 1..if space.layouts.len() == 1 { effort.seeds } else { 1 };
    for seed in further {
        let (count, ran) = in_time(space, &[0], open, seed)?;
        records.extend(ran);
        measured += count;
    }
    measured += even_out(posed, space, open, &mut records)?;
    Ok((records, measured))
}

/// Layouts at most that are first by fewer trials than others have, one after the other.
const FIRST_MAX: usize = 4;

/// Measures what is first with as many seeds as any other has; how many trials that took. With one seed for all there is nothing to do.
fn even_out(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    records: &mut Vec<Record>,
) -> Result<usize> {
    let mut measured = 0;
    for _ in 0..if posed.effort().seeds > 1 { FIRST_MAX } else { 0 } {
        let verdict = Verdict::new(&space.manifest, records, &posed.wishes)?;
        let Some((first, most)) = first_by_fewer_trials(&verdict) else { break };
        let Some(place) = space.place(&first.at) else { break };
        let before = measured;
        for seed in 0..most as u64 {
            measured += measure_missing(space, open, (place, seed), records)?;
        }
        if measured == before {
            break;
        }
    }
    Ok(measured)
}

/// Measures the layout at a place with a seed, where no record is of that; how many trials that took.
pub(crate) fn measure_missing(
    space: &Space,
    open: &Open<'_>,
    (place, seed): (usize, u64),
    records: &mut Vec<Record>,
) -> Result<usize> {
    let at = &space.layouts[place];
    let repeat = seed * space.experiment.run().repeats;
    if records.iter().any(|of| of.repeat == repeat && space.at_of(of) == *at) {
        return Ok(0);
    }
    let (count, ran) = in_time(space, &[place], open, seed)?;
    records.extend(ran);
    Ok(count)
}

/// Measures the layouts at `which`, without a limit all at once; with one as many at a time as the rig has lanes, as long as there is
/// time. How many that were, and what they measured.
fn in_time(
    space: &Space,
    which: &[usize],
    open: &Open<'_>,
    seed: u64,
) -> Result<(usize, Vec<Record>)> {
    if !space.clock.limits_all() {
        return Ok((which.len(), space.measure(which, open, seed)?));
    }
    let lanes = open(&space.experiment)?.capabilities().lanes.max(1);
    let parts: Vec<&[usize]> = which.chunks(lanes).collect();
    let (mut count, mut records) = (0, Vec::new());
    for part in parts {
        if space.clock.is_over() {
            space.clock.leave_out(For::Choice, part.len());
            continue;
        }
        count += part.len();
        records.extend(space.measure(part, open, seed)?);
    }
    Ok((count, records))
}

/// Layouts are left out of the search only where one figure of each alone says how good it is: under several workloads,
/// loads or conditions it depends on the others.
fn effort(posed: &Posed, space: &Space, known: &[usize]) -> Effort {
    let is_stated = !posed.wishes.objectives.is_empty() || space.manifest.objective().is_some();
    let is_alone = space.manifest.factors.0.values().all(|kind| kind.role == Role::Choice);
    let is_known = known.len() == space.layouts.len();
    let may_race = is_stated && is_alone && !is_known;
    let effort = posed.effort();
    Effort { exhaustive: if may_race { effort.exhaustive } else { usize::MAX }, ..effort }
}

fn score(verdict: &Verdict, space: &Space, place: usize) -> Option<f64> {
    let ranked = verdict.ranked.iter().find(|ranked| ranked.at == space.layouts[place])?;
    Some(verdict.better.ahead(ranked.value, 1.0))
}
