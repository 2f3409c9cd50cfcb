//! What a layout is worth beside others: which of them stand on the front.

use crate::front::is_more_room;
use crate::pick::EVEN_RISK;
use block::layout::Spread;
use store::quantity::Better;
use verdict::Verdict;
use verdict::judge::{Ranked, pareto};

/// What a layout is worth: the columns of the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worth<'v> {
    /// What was measured of it.
    pub(crate) ranked: &'v Ranked,
    pub(crate) room: u64,
    pub(crate) survives: usize,
    pub(crate) gone: f64,
    /// Whether a crash can tear a stripe.
    pub(crate) may_be_torn: bool,
    /// Whether a crash loses nothing that was acknowledged.
    pub(crate) is_kept: bool,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) spread: Option<Spread>,
    pub(crate) is_answer: bool,
}

impl Worth<'_> {
    /// The places of those that no other beats, and none that is no worse otherwise ties with.
    pub(crate) fn front(all: &[Worth<'_>], verdict: &Verdict) -> Vec<usize> {
        let figures = all.iter().map(|of| {
            // Counted from 1: the distance of two figures is that of their logarithms.
            let torn = 1.0 + f64::from(u8::from(of.may_be_torn));
            [of.ranked.value, of.room as f64, 1.0 + of.survives as f64, of.gone, torn]
        });
        let figures: Vec<[f64; 5]> = figures.collect();
        let lower = [Better::Lower; 2];
        let ways = [&[verdict.better, Better::Higher, Better::Higher][..], &lower].concat();
        let places = Worth::untied(all, verdict);
        let left: Vec<&[f64]> = places.iter().map(|&place| &figures[place][..]).collect();
        pareto::front(&left, &ways).into_iter().map(|place| places[place]).collect()
    }

    /// The places of those that none ties with which is to be built rather.
    pub(crate) fn untied(all: &[Worth<'_>], verdict: &Verdict) -> Vec<usize> {
        let mut places: Vec<usize> = (0..all.len()).collect();
        let is_even = |own: &Worth<'_>, other: &Worth<'_>| {
            verdict.difference(own.ranked, other.ranked).is_tie()
        };
        // What is left out takes nothing else with it.
        for place in (0..all.len()).rev() {
            let own = &all[place];
            let is_beaten = |&other: &usize| {
                other != place && all[other].replaces(own) && is_even(own, &all[other])
            };
            if !own.is_answer && places.iter().any(is_beaten) {
                places.retain(|&other| other != place);
            }
        }
        places
    }

    /// Whether it is to be built rather than one that is as fast: it is no worse in anything, and cannot be torn where that one
    /// can, or has its copies where others have them, too.
    fn replaces(&self, other: &Worth<'_>) -> bool {
        // A mirror is near copies over as many members.
        let rank = |of: &Worth<'_>| match of.spread {
            Some(Spread::Near) => Some(0),
            Some(Spread::Offset) => Some(1),
            Some(Spread::Far) => Some(2),
            None => (of.survives > 0 && !of.may_be_torn).then_some(0),
        };
        let is_plainer = rank(self).zip(rank(other)).is_some_and(|(own, other)| own < other);
        let is_whole = !self.may_be_torn && other.may_be_torn;
        let is_as_safe = self.gone <= other.gone * EVEN_RISK;
        self.is_no_worse(other) && is_as_safe && (is_plainer || is_whole)
    }

    /// Whether it holds and survives as much, costs no more, and a crash does no more to it. What does not fill the last stripe of a volume
    /// makes no room.
    pub(crate) fn is_no_worse(&self, other: &Worth<'_>) -> bool {
        !is_more_room(other.room, self.room)
            && self.survives >= other.survives
            && self.is_kept >= other.is_kept
            && self.may_be_torn <= other.may_be_torn
            && costs_no_more(self.cost_usd, other.cost_usd)
    }
}

/// Whether it costs no more, where both prices are known.
fn costs_no_more(own: Option<f64>, other: Option<f64>) -> bool {
    own.zip(other).is_none_or(|(own, other)| own <= other)
}
