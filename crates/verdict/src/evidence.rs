//! What measurements say of the model's error, for that kind of work on that kind of system.
//!
//! A choice is decided by a difference between layouts, so what counts is whether the model has differences the right
//! way round. `data/` has every published or measured pair of layouts that differ in one thing, and ours beside it,
//! md's as cells; docs/verdict.md says how it is written. Nothing is assumed: where no pair is like the question, that
//! is said.

mod class;
mod closed;
mod latencies;
mod loads;
mod md;
mod pair;
mod said;
mod streams;

pub use pair::{Devices, HEADER, Pair, differences, kept, text};

use crate::stats::median;
use class::{Asked, asked};
use std::sync::LazyLock;
use store::Manifest;
use store::record::Record;

/// Pairs below this number hold a model in a few points only.
const FEW: usize = 20;

/// So many pairs, or fewer, are no evidence.
const HANDFUL: usize = 4;

/// What share of pairs must be the right way round for a difference of their size to count.
const RIGHT: f64 = 0.9;

/// Pairs within this factor of a difference are about as large.
const ABOUT: f64 = std::f64::consts::SQRT_2;

/// Every pair that is kept, of published tables and of cells on the real kernel.
static KEPT: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    [kept(), md::pairs(), latencies::all(), streams::all(), closed::all()].concat()
});

/// What is known of the model's error for one question.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    asked: Asked,
    /// For each pair how far ours are apart, as a logarithm, and whether they lie the right way round.
    pairs: Vec<(f64, bool)>,
    /// How far each of our values is off, as a logarithm.
    levels: Vec<f64>,
    /// Whether all of those were measured of a real kernel over modelled drives.
    is_levels_of_kernel: bool,
    /// Where no pair is like what is asked: those that are but for the devices; and of work on files those that are of any, and
    /// of each kind asked about those whatever they were chosen by.
    near: Vec<Vec<(f64, bool)>>,
    /// What drives err by, as a share: the least that any model of them may.
    drive_error: f64,
    /// Whether each drive was held to a trace of it.
    drives_held: bool,
    /// Whether flash is among those that were not.
    has_flash: bool,
}

impl Evidence {
    /// What holds the model for these results, judged by these `samples`. Of what no model made there is nothing to hold.
    pub fn of<'a>(
        manifest: &Manifest,
        records: impl IntoIterator<Item = &'a Record>,
        samples: &[&str],
    ) -> Self {
        if !manifest.modelled() {
            return Evidence::default();
        }
        let mut asked = asked(manifest, records, samples);
        // Cells and pairs are of other disks: what they say of a model says nothing of one of shingled disks.
        let is_shingled = manifest.has_shingled();
        // Asked once: there are thousands of pairs.
        let mut pairs = if is_shingled { Vec::new() } else { pairs_for(&asked) };
        // Cells that differ in one choice alone are closer to the question than drawn ones, where there are enough of them.
        if pairs.len() < FEW
            && let Some(drawn) = asked.as_closed_loops()
            && !is_shingled
        {
            let of_drawn = pairs_for(&drawn);
            // Where there are few of either, the more say more; a handful says nothing.
            if of_drawn.len() > pairs.len().max(HANDFUL) {
                (asked, pairs) = (drawn, of_drawn);
            }
        }
        let near = if pairs.is_empty() {
            [of_files(&asked), vec![on_other_devices(&asked)]].concat()
        } else {
            Vec::new()
        };
        // Those that were measured are of drives, whose times say nothing of a cloud's.
        let is_like =
            |pair: &&Pair| pair.is_level() && asked.is_of_class(pair) && asked.is_on_such(pair);
        let is_held = !is_shingled && !manifest.are_remote();
        let levels: Vec<&Pair> = KEPT.iter().filter(is_like).filter(|_| is_held).collect();
        Evidence {
            pairs,
            near,
            is_levels_of_kernel: !levels.is_empty()
                && levels.iter().all(|level| level.is_of_kernel()),
            levels: levels.iter().map(|level| (level.ours() - level.theirs()).abs()).collect(),
            drive_error: manifest.drive_error(),
            drives_held: manifest.drives_held(),
            has_flash: manifest.has_flash(),
            asked,
        }
    }

    /// What such a `sample` is held by, where it is how long requests take.
    pub fn of_time(sample: &str) -> Option<&'static str> {
        latencies::class([sample])
    }

    /// What a difference must exceed, as a share, so as not to be a tie; infinite where ours are no guide at any size.
    /// It is the size from which on at least nine pairs in ten are the right way round, whatever their size; of few
    /// pairs, the size of the largest that is not. It is never less than what the drives' own models err by. Where no pair
    /// compares such layouts, work on files is judged no finer than where some do.
    pub fn difference(&self) -> f64 {
        if self.asked.is_nothing() {
            return 0.0;
        }
        let all = self.near.iter().chain([&self.pairs]);
        let log = all.map(|pairs| counts_from(pairs)).fold(0.0, f64::max);
        let times_off = self.asked.times_off().map_or(0.0, |times| times - 1.0);
        log.exp_m1().max(self.drive_error).max(times_off)
    }

    /// Of the pairs that differ by about so much, which are right.
    fn about(&self, log: f64) -> Vec<bool> {
        about(&self.pairs, log)
    }

    /// What 95 in 100 of our values are off by at most, as a share; `None` where too few were held to say.
    pub fn level(&self) -> Option<f64> {
        if self.asked.is_drives_alone() && self.drives_held {
            return Some(self.drive_error);
        }
        let mut off = self.levels.clone();
        off.sort_by(f64::total_cmp);
        let place = (0.95 * off.len() as f64).ceil() as usize;
        (off.len() >= FEW).then(|| off[place.saturating_sub(1)].exp_m1())
    }

    /// What half of our values are off by at most, as a share.
    fn median_level(&self) -> Option<f64> {
        Some(median(&self.levels)?.exp_m1())
    }
}

/// The pairs that are of what is asked.
fn pairs_for(asked: &Asked) -> Vec<(f64, bool)> {
    let all: &[Pair] = if asked.is_one_system() { &KEPT } else { &[] };
    let answering = all.iter().filter(|pair| !pair.is_level() && asked.is_answered_by(pair));
    answering.filter(|pair| asked.is_on_such(pair)).map(size_and_side).collect()
}

/// The pairs that would be, were they measured on such devices. They test nothing here, and what nothing tests is judged no
/// finer than what they do.
fn on_other_devices(asked: &Asked) -> Vec<(f64, bool)> {
    let all: &[Pair] = if asked.is_one_system() { &KEPT } else { &[] };
    let answering = all.iter().filter(|pair| !pair.is_level() && asked.is_answered_by(pair));
    answering.filter(|pair| !asked.is_on_such(pair)).map(size_and_side).collect()
}

/// How far a pair of ours is apart, as a logarithm, and whether it lies the right way round.
fn size_and_side(pair: &Pair) -> (f64, bool) {
    (pair.ours().abs(), pair.is_right())
}

/// Pairs of work on files, where that is asked about: all of them, and those of each kind.
fn of_files(asked: &Asked) -> Vec<Vec<(f64, bool)>> {
    let pairs = || KEPT.iter().filter(|pair| !pair.is_level());
    let near = pairs().filter(|pair| asked.is_near(pair)).map(size_and_side).collect();
    let of_kind = asked.classes().map(|class| {
        pairs()
            .filter(|pair| pair.class == *class && asked.is_near(pair))
            .map(size_and_side)
            .collect()
    });
    [near].into_iter().chain(of_kind).collect()
}

/// From which difference on, as a logarithm, these pairs can be relied on.
fn counts_from(pairs: &[(f64, bool)]) -> f64 {
    if pairs.len() < FEW { largest_wrong(pairs) } else { sure_from(pairs) }
}

fn largest_wrong(pairs: &[(f64, bool)]) -> f64 {
    let wrong = pairs.iter().filter(|(_, right)| !right).map(|(log, _)| *log);
    wrong.fold(0.0, f64::max)
}

/// Downwards from the largest differences, as far as nine in ten of those of about one size are right.
fn sure_from(pairs: &[(f64, bool)]) -> f64 {
    let mut by_size = pairs.to_vec();
    by_size.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut right_before = vec![0];
    for (place, &(_, right)) in by_size.iter().enumerate() {
        right_before.push(right_before[place] + usize::from(right));
    }
    let mut from = f64::INFINITY;
    for &(size, _) in by_size.iter().rev() {
        if size <= 0.0 {
            break;
        }
        // Those within a factor lie side by side: to go through all pairs for each of them takes seconds.
        let apart = |pair: &(f64, bool)| (pair.0 / size).ln();
        let start = by_size.partition_point(|pair| apart(pair) < -ABOUT.ln());
        let end = by_size.partition_point(|pair| apart(pair) <= ABOUT.ln());
        let (right, all) = if end - start >= FEW {
            (right_before[end] - right_before[start], end - start)
        } else {
            let about = about(pairs, size);
            (about.iter().filter(|right| **right).count(), about.len())
        };
        if (right as f64) < RIGHT * all as f64 {
            break;
        }
        from = size;
    }
    from
}

/// Of the pairs that differ by about so much, which are right: those within a factor, or the nearest ones where these are few.
fn about(pairs: &[(f64, bool)], log: f64) -> Vec<bool> {
    let far = |size: f64| (size / log).ln().abs();
    let mut near: Vec<(f64, bool)> =
        pairs.iter().map(|&(size, right)| (far(size), right)).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let within = near.iter().filter(|(far, _)| *far <= ABOUT.ln()).count();
    near.truncate(within.max(FEW));
    near.into_iter().map(|(_, right)| right).collect()
}

#[cfg(test)]
mod tests;
