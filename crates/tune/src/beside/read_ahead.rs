//! How far Linux is to read ahead on the chosen layout, for what is read in order through the page cache.

use crate::beside::pair::{Both, Pair};
use lab::experiment::Volume;
use serde::Serialize;

/// The key.
pub(crate) const KEY: &str = "volume.read_ahead";

/// Read-ahead, as Linux chooses it by itself and as it is tried, and the disks with data that it takes.
const TRIED: [(Both, usize); 3] = [(with("1MiB"), 1), (with("4MiB"), 4), (with("16MiB"), 4)];

/// What is tried on `volume`: up to 4 MiB for each disk with data.
pub(crate) fn tried(volume: &Volume) -> impl Iterator<Item = Both> {
    let stripe = volume.level.stripe_chunks(volume.members.len());
    let by_itself = lab::machine::read_ahead_sectors(volume);
    let is_another = move |size: &str| block::units::parse_sectors(size) != Ok(by_itself);
    let fits = move |(both, disks): &(Both, usize)| *disks <= stripe && is_another(both.values[1]);
    TRIED.into_iter().filter(fits).map(|(both, _)| both)
}

const fn with(size: &'static str) -> Both {
    Both { key: KEY, values: ["auto", size] }
}

/// Less is not worth a setting: the model is up to 9 % off (docs/md.md).
const WORTH_TIMES: f64 = 1.15;

/// Gains that differ by no more are as good as equal.
const ALIKE_TIMES: f64 = 1.05;

/// More times slower than this is too much for a program that reads alone.
const ALONE_TIMES: f64 = 1.1;

/// What is tried, for the work and for one program that reads alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Other {
    /// The read-ahead.
    size: &'static str,
    /// How many times better the layout is with what Linux takes by itself.
    #[serde(flatten)]
    pair: Pair,
    /// The same for one program alone; none where the work is one.
    alone: Option<Pair>,
}

/// The chosen layout with several sizes of read-ahead, beside itself with what Linux takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadAhead {
    /// The size to set; null where what Linux takes is as good.
    take: Option<&'static str>,
    /// What Linux takes by itself, in KiB.
    by_itself_kib: u64,
    /// What was tried.
    tried: Vec<Other>,
}

impl Other {
    /// How many times better it is, where that is worth a setting.
    fn gain(&self) -> Option<f64> {
        self.pair.gain().filter(|gain| *gain > WORTH_TIMES)
    }

    fn hurts_one_alone(&self) -> bool {
        let hurts =
            |alone: &Pair| alone.is_unsure() || alone.times.is_none_or(|times| times > ALONE_TIMES);
        self.alone.as_ref().is_some_and(hurts)
    }
}

impl ReadAhead {
    /// What each size says, for the work and for one program alone.
    pub(crate) fn of(
        by_itself_kib: u64,
        tried: impl Iterator<Item = Both>,
        pairs: Vec<Pair>,
        alone: Vec<Pair>,
    ) -> ReadAhead {
        let mut alone = alone.into_iter();
        let sizes = tried.zip(pairs);
        let tried: Vec<Other> = sizes
            .map(|(both, pair)| Other { size: both.values[1], pair, alone: alone.next() })
            .collect();
        let gain = |of: &&Other| of.gain().unwrap_or(0.0);
        let sound = tried.iter().filter(|of| of.gain().is_some() && !of.hurts_one_alone());
        let most = sound.clone().map(|of| gain(&of)).fold(0.0, f64::max);
        // The smallest of those that are about equal takes least memory.
        let mut close = sound.filter(|of| gain(of) * ALIKE_TIMES >= most);
        let take = close.next().map(|of| of.size);
        ReadAhead { take, by_itself_kib, tried }
    }

    /// Whether any was tried.
    pub(crate) fn is_tried(&self) -> bool {
        !self.tried.is_empty()
    }

    /// The size to set, in KiB, where Linux takes another by itself.
    pub(crate) fn to_set_kib(&self) -> Option<u64> {
        block::units::parse_bytes(self.take?).ok().map(|bytes| bytes / 1024)
    }

    /// What to take, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let own = size(self.by_itself_kib);
        let sizes: Vec<&str> = self.tried.iter().map(|of| of.size).collect();
        let taken = self.tried.iter().find(|of| Some(of.size) == self.take);
        let hurting = self.tried.iter().find(|of| of.gain().is_some() && of.hurts_one_alone());
        let text = match (taken, hurting) {
            (Some(Other { size, pair, .. }), _) => {
                let gain = pair.gain().unwrap_or(1.0);
                let slower = pair.slower(gain);
                format!("set {size} for the array: Linux's default, {own}, is {slower}")
            }
            (None, Some(Other { size, pair, alone, .. })) => {
                let of_alone = |alone: &Pair| match (alone.times, &alone.failed) {
                    (Some(_), _) if alone.is_unsure() => "perhaps slower".into(),
                    (Some(times), _) => alone.slower(times),
                    (None, Some(_)) => format!("of unknown speed: {}", alone.unknown()),
                    (None, None) => "not steady".into(),
                };
                format!(
                    "keep Linux's default, {own}: it is {} than {size}, but with {size} one program that reads alone is {}",
                    pair.slower(pair.gain().unwrap_or(1.0)),
                    alone.as_ref().map_or_else(|| "not steady".into(), of_alone)
                )
            }
            (None, None) => {
                let unknown = self.tried.iter().find(|of| of.pair.times.is_none());
                let why = match unknown {
                    Some(of) => {
                        format!(
                            "the effect of {} is unknown, because {}",
                            of.size,
                            of.pair.unknown()
                        )
                    }
                    None if self.tried.iter().any(|of| of.pair.is_unsure()) => {
                        format!("no reliable gain of 15 % with {}", one_of(&sizes))
                    }
                    None => format!("{} gains less than 15 %", one_of(&sizes)),
                };
                format!("keep Linux's default, {own}: {why}")
            }
        };
        let pairs = self.tried.iter().flat_map(|of| [Some(&of.pair), of.alone.as_ref()]);
        let cut = pairs.flatten().map(Pair::cut).find(|cut| !cut.is_empty());
        ("read-ahead".into(), text + &cut.unwrap_or_default())
    }
}

/// One of them: "1MiB, 4MiB or 16MiB".
fn one_of(sizes: &[&str]) -> String {
    match sizes {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => sizes.concat(),
    }
}

/// So many KiB, as they are written.
fn size(kib: u64) -> String {
    if kib.is_multiple_of(1024) { format!("{}MiB", kib / 1024) } else { format!("{kib}KiB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(times: [f64; 3]) -> Vec<Pair> {
        times.map(|times| Pair::of_test(times, 3.0)).to_vec()
    }

    #[test]
    fn the_best_that_hurts_nobody_is_set_where_it_gains_a_tenth() {
        let both = || TRIED.into_iter().map(|(both, _)| both);
        let of = |times, alone| ReadAhead::of(768, both(), pairs(times), pairs(alone));
        let set = of([0.8, 0.4, 0.6], [1.0; 3]);
        assert_eq!(set.to_set_kib(), Some(4 << 10));
        assert_eq!(
            set.line().1,
            "set 4MiB for the array: Linux's default, 768KiB, is 2.5 times slower"
        );
        // Of two that gain alike the smaller is set.
        assert_eq!(of([0.8, 0.4, 0.39], [1.0; 3]).to_set_kib(), Some(4 << 10));
        assert_eq!(of([0.8, 0.4, 0.3], [1.0; 3]).to_set_kib(), Some(16 << 10));
        assert_eq!(of([0.8, 0.4, 0.3], [1.02, 1.4, 1.5]).to_set_kib(), Some(1 << 10));
        let kept = of([0.95, 0.8, 1.0], [1.0, 2.0, 1.0]);
        assert_eq!(kept.to_set_kib(), None);
        assert_eq!(
            kept.line().1,
            "keep Linux's default, 768KiB: it is 20 % slower than 4MiB, but with 4MiB one program that reads \
             alone is 50 % slower"
        );
        let why = "there was no time for it (`--time-limit 60s`)";
        let no_time = vec![Pair::failed(why.into()); 3];
        let line = ReadAhead::of(768, both(), pairs([0.95, 0.8, 1.0]), no_time).line().1;
        assert!(line.ends_with(&format!("reads alone is of unknown speed: {why}")), "{line}");
        // One seed says nothing sure of one program, whatever it says.
        let cut = |times: [f64; 3]| -> Vec<Pair> {
            pairs(times).into_iter().map(|pair| Pair { is_cut: true, ..pair }).collect()
        };
        let unsure = ReadAhead::of(768, both(), pairs([0.8, 0.4, 0.6]), cut([1.0; 3]));
        assert_eq!(unsure.to_set_kib(), None);
        let line = unsure.line().1;
        let end = "reads alone is perhaps slower (with one seed: there was no time for more)";
        assert!(line.ends_with(end), "{line}");
        let none = ReadAhead::of(768, both(), cut([0.5; 3]), Vec::new()).line().1;
        assert!(none.contains("no reliable gain of 15 % with 1MiB, 4MiB or 16MiB"), "{none}");
        assert_eq!(
            ReadAhead::of(3072, both(), pairs([1.3, 0.95, 0.9]), Vec::new()).line().1,
            "keep Linux's default, 3MiB: 1MiB, 4MiB or 16MiB gains less than 15 %"
        );
    }
}
