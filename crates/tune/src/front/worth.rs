//! What a layout is worth beside others: which of them stand on the front.

use crate::danger::EVEN_RISK;
use crate::question::capacity::is_more_room;
use block::layout::Spread;
use store::quantity::Better;
use verdict::Verdict;
use verdict::judge::Ranked;
use verdict::judge::ranking::pareto;

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
    /// Hours of a rebuild at worst, under load; nothing where none is possible.
    pub(crate) rebuild_h: Option<f64>,
    pub(crate) spread: Option<Spread>,
    pub(crate) is_answer: bool,
}

impl Worth<'_> {
    /// The places of those that no other beats, and none that is no worse otherwise ties with.
    pub(crate) fn front(all: &[Worth<'_>], verdict: &Verdict) -> Vec<usize> {
        let figures = all.iter().map(|of| {
            // Counted from 1: the distance of two figures is that of their logarithms.
            let torn = 1.0 + f64::from(u8::from(of.may_be_torn));
            let rebuild_h = of.rebuild_h.map_or(f64::MAX, |own| of_even_ones(own, all));
            [of.ranked.value, of.room as f64, 1.0 + of.survives as f64, of.gone, torn, rebuild_h]
        });
        let figures: Vec<[f64; 6]> = figures.collect();
        let lower = [Better::Lower; 3];
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

    /// Whether it holds and survives as much, costs no more, is rebuilt as soon, and a crash does no more to it. What does not fill the
    /// last stripe of a volume makes no room.
    pub(crate) fn is_no_worse(&self, other: &Worth<'_>) -> bool {
        !is_more_room(other.room, self.room)
            && self.survives >= other.survives
            && self.is_kept >= other.is_kept
            && self.may_be_torn <= other.may_be_torn
            && costs_no_more(self.cost_usd, other.cost_usd)
            && is_rebuilt_as_soon(self.rebuild_h, other.rebuild_h)
    }
}

/// Rebuilds that take up to so many times as long are as long: how long one takes under load is known within a factor of five.
const EVEN_REBUILD: f64 = 1.25;

/// Whether hours of rebuilds, at worst, differ by more than that.
pub(crate) fn rebuilds_differ(hours: impl Iterator<Item = f64> + Clone) -> bool {
    let least = hours.clone().fold(f64::INFINITY, f64::min);
    hours.into_iter().any(|own| own > least * EVEN_REBUILD)
}

/// Whether one is rebuilt as soon as another, with hours at worst; nothing can be restored after what has none.
pub(crate) fn is_rebuilt_as_soon(own: Option<f64>, other: Option<f64>) -> bool {
    let hours = |of: Option<f64>| of.unwrap_or(f64::INFINITY);
    hours(own) <= hours(other) * EVEN_REBUILD
}

/// The shortest hours among `all` beside which so many are as long, so that such are one figure.
fn of_even_ones(hours: f64, all: &[Worth<'_>]) -> f64 {
    let even = all.iter().filter_map(|of| of.rebuild_h).filter(|of| hours <= of * EVEN_REBUILD);
    even.fold(hours, f64::min)
}

/// Whether it costs no more, where both prices are known.
fn costs_no_more(own: Option<f64>, other: Option<f64>) -> bool {
    own.zip(other).is_none_or(|(own, other)| own <= other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::trials::tests::verdict_of;

    /// The front knew nothing of how long a rebuild takes: of a limit that copies do not reach only `--subject-to` did.
    #[test]
    fn what_is_rebuilt_much_sooner_is_not_beaten() {
        let verdict = verdict_of("4x 980 pro 1tb", "vm", "md-raid10");
        let fast = verdict.ranked[0].clone();
        let mut slow = fast.clone();
        slow.value *= 0.5;
        let of = |ranked, rebuild_h| Worth {
            ranked,
            room: 1,
            survives: 1,
            gone: 0.001,
            may_be_torn: false,
            is_kept: true,
            cost_usd: None,
            rebuild_h,
            spread: None,
            is_answer: false,
        };
        let front = |hours: [Option<f64>; 2]| {
            Worth::front(&[of(&fast, hours[0]), of(&slow, hours[1])], &verdict)
        };
        assert_eq!(front([Some(100.0), Some(20.0)]), [0, 1]);
        // A range of hours is wide: a tenth less is nothing to choose by.
        assert_eq!(front([Some(22.0), Some(20.0)]), [0]);
        assert_eq!(front([Some(20.0), Some(100.0)]), [0]);
        assert_eq!(front([None, Some(100.0)]), [0, 1], "what cannot be rebuilt takes for ever");
        assert_eq!(front([None, None]), [0]);
        let [own, other] = [of(&fast, Some(100.0)), of(&slow, Some(20.0))];
        assert!(!own.is_no_worse(&other) && other.is_no_worse(&own));
        assert!(of(&fast, Some(22.0)).is_no_worse(&other));
    }
}
