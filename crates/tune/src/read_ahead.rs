//! How far Linux is to read ahead on the chosen layout, for what is read in order through the page cache.

use crate::pair::{Both, Pair};
use serde::Serialize;
use verdict::tables::listed;

/// Read-ahead, as Linux chooses it by itself and as it is tried.
pub(crate) const TRIED: [Both; 3] = [with("1MiB"), with("4MiB"), with("16MiB")];

const fn with(size: &'static str) -> Both {
    Both { key: "volume.read_ahead", values: ["auto", size] }
}

/// More times slower than this is too much for a program that reads alone.
const ALONE_TIMES: f64 = 1.1;

/// What is tried, for the work and for one program that reads alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Size {
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
    tried: Vec<Size>,
}

impl Size {
    fn hurts_one_alone(&self) -> bool {
        let times = |alone: &Pair| alone.times.is_none_or(|times| times > ALONE_TIMES);
        self.alone.as_ref().is_some_and(times)
    }
}

impl ReadAhead {
    /// What each size says, for the work and for one program alone.
    pub(crate) fn of(by_itself_kib: u64, pairs: Vec<Pair>, alone: Vec<Pair>) -> ReadAhead {
        let mut alone = alone.into_iter();
        let sizes = TRIED.iter().zip(pairs);
        let tried: Vec<Size> = sizes
            .map(|(both, pair)| Size { size: both.values[1], pair, alone: alone.next() })
            .collect();
        let gain = |of: &&Size| of.pair.gain().unwrap_or(0.0);
        let sound = tried.iter().filter(|of| of.pair.gain().is_some() && !of.hurts_one_alone());
        let take = sound.max_by(|a, b| gain(a).total_cmp(&gain(b))).map(|of| of.size);
        ReadAhead { take, by_itself_kib, tried }
    }

    /// The size to set, in KiB, where Linux takes another by itself.
    pub(crate) fn to_set_kib(&self) -> Option<u64> {
        block::units::parse_bytes(self.take?).ok().map(|bytes| bytes / 1024)
    }

    /// What to take, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let own = size(self.by_itself_kib);
        let sizes: Vec<String> = self.tried.iter().map(|of| of.size.to_string()).collect();
        let taken = self.tried.iter().find(|of| Some(of.size) == self.take);
        let hurting = self.tried.iter().find(|of| of.pair.gain().is_some() && of.hurts_one_alone());
        let text = match (taken, hurting) {
            (Some(Size { size, pair, .. }), _) => format!(
                "set {size} for the array: the {own} that Linux takes by itself is {}",
                pair.slower(pair.gain().unwrap_or(1.0))
            ),
            (None, Some(Size { size, pair, alone, .. })) => {
                let alone = alone.as_ref().and_then(|alone| Some(alone.slower(alone.times?)));
                format!(
                    "keep the {own} that Linux takes by itself: it is {} than {size}, with which one program that reads alone is {}",
                    pair.slower(pair.gain().unwrap_or(1.0)),
                    alone.unwrap_or_else(|| "not steady".into())
                )
            }
            (None, None) => format!(
                "keep the {own} that Linux takes by itself: {} gain no tenth",
                listed(&sizes)
            ),
        };
        ("read-ahead".into(), text)
    }
}

/// So many KiB, as they are written.
fn size(kib: u64) -> String {
    if kib.is_multiple_of(1024) { format!("{}MiB", kib / 1024) } else { format!("{kib}KiB") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::quantity::Better;

    fn pairs(times: [f64; 3]) -> Vec<Pair> {
        let of = |times| {
            let (better, unit) = (Better::Higher, "MB/s".to_string());
            Pair { times: Some(times), keeps_limits: true, error_percent: 3.0, better, unit }
        };
        times.map(of).to_vec()
    }

    #[test]
    fn the_best_that_hurts_nobody_is_set_where_it_gains_a_tenth() {
        let of = |times, alone| ReadAhead::of(768, pairs(times), pairs(alone));
        let even = [1.0; 3];
        let set = of([0.8, 0.5, 0.4], even);
        assert_eq!(set.to_set_kib(), Some(16 << 10));
        assert_eq!(
            set.line().1,
            "set 16MiB for the array: the 768KiB that Linux takes by itself is 2.5 times slower"
        );
        assert_eq!(of([0.8, 0.5, 0.4], [1.0, 1.02, 1.4]).to_set_kib(), Some(4 << 10));
        let kept = of([1.0, 0.95, 0.8], [1.0, 1.0, 2.0]);
        assert_eq!(kept.to_set_kib(), None);
        assert_eq!(
            kept.line().1,
            "keep the 768KiB that Linux takes by itself: it is 20 % slower than 16MiB, with which one program that \
             reads alone is 50 % slower"
        );
        assert_eq!(
            ReadAhead::of(3072, pairs([1.3, 1.0, 0.95]), Vec::new()).line().1,
            "keep the 3MiB that Linux takes by itself: 1MiB, 4MiB and 16MiB gain no tenth"
        );
    }
}
