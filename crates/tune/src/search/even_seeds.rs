//! As many seeds for what is first as for any other: one lucky seed chooses nothing.

use crate::search::layouts::At;
use lab::Result;
use verdict::Verdict;
use verdict::judge::Ranked;

/// Layouts that run with one seed after the other.
pub(crate) trait Seeds {
    /// What was measured so far says.
    fn verdict(&self) -> Result<Verdict>;

    /// The place of a layout.
    fn place(&self, at: &At) -> Option<usize>;

    /// Measures the layout at a place with a seed, where that has not run; how many trials that took.
    fn measure_missing(&mut self, place: usize, seed: u64) -> Result<usize>;
}

/// Measures what is first with as many seeds as any other has, one layout after the other; what all of it says then, and how many
/// trials that took. Where there is no more time, what is first may have fewer all the same.
///
/// Differences are those of medians over unlike numbers of seeds, and what is first by one of them may owe that to the seed. Nothing
/// else has to be evened out. Trials of the same seed share some of its luck, so that intervals which take them as independent are too
/// wide, and never too narrow; and fewer trials make them wider still.
pub(crate) fn even_out(seeds: &mut dyn Seeds) -> Result<(Verdict, usize)> {
    let mut measured = 0;
    loop {
        let verdict = seeds.verdict()?;
        let first = first_by_fewer_trials(&verdict);
        let first = first.and_then(|(first, most)| Some((seeds.place(&first.at)?, most)));
        let Some((place, most)) = first else { return Ok((verdict, measured)) };
        let before = measured;
        for seed in 0..most as u64 {
            measured += seeds.measure_missing(place, seed)?;
        }
        if measured == before {
            return Ok((verdict, measured));
        }
    }
}

/// What is ranked first on fewer trials than others have, and how many they have: a lucky seed alone may have put it there.
pub(crate) fn first_by_fewer_trials(verdict: &Verdict) -> Option<(&Ranked, usize)> {
    let first = verdict.ranked.first()?;
    let most = verdict.ranked.iter().map(|of| of.trials).max()?;
    (first.trials < most).then_some((first, most))
}
