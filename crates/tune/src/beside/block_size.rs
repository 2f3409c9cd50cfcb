//! Which block size the file system of the chosen layout is to have. Only a real kernel is asked: no measurement tests
//! a model on differences between them.

use crate::beside::pair::{Both, Pair};
use crate::search::trials::Settings;
use block::units::parse_bytes;
use serde::Serialize;
use std::collections::BTreeMap;

/// The key.
pub(crate) const KEY: &str = "fs.block";

/// What mkfs takes by itself: a page, which is the most that Linux mounts on x86.
const DEFAULT: &str = "4KiB";

/// The blocks that are tried beside it.
pub(crate) const TRIED: [Both; 2] = [with("1KiB"), with("2KiB")];

/// The file systems that take them: a sector of btrfs is a page.
const TAKEN_BY: [&str; 2] = ["ext4", "xfs"];

const fn with(size: &'static str) -> Both {
    Both { key: KEY, values: [DEFAULT, size] }
}

/// Whether a file system of this kind takes other blocks.
pub(crate) fn are_taken_by(kind: &str) -> bool {
    TAKEN_BY.contains(&kind)
}

/// What is asked of block sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Nothing: there are no files, or the question names a size.
    #[default]
    Nothing,
    /// Nothing, for this reason.
    Not(&'static str),
    /// Which is best.
    Sizes,
}

/// What is said where only the model was asked.
pub(crate) const NOT_OF_THE_MODEL: &str = "only the default, 4KiB, was tried: no measurement tests the model on other sizes; `--on kernel` tries 1KiB \
                                           and 2KiB";

/// What is said where less than a sector would be written: such a drive reads the rest of it, and waits a revolution.
pub(crate) const BELOW_SECTORS: &str = "keep the default, 4KiB: smaller blocks are parts of these drives' sectors, which they read before they write";

/// What is said of flash drives, on which a processor that takes no time would decide.
pub(crate) const PROCESSOR: &str = "keep the default, 4KiB: others were not tried, as smaller blocks cost processor time, which is not counted";

/// What is said of room, which is not measured.
const ROOM: &str = "smaller blocks waste less room at the end of each file";

/// A block size that is tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Other {
    /// The size.
    size: &'static str,
    /// How many times better the layout is with the default.
    #[serde(flatten)]
    pair: Pair,
}

/// The chosen layout and file system with smaller blocks, beside itself with the default.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocks {
    /// The size to set; null where the default is as good.
    take: Option<&'static str>,
    /// What was tried.
    tried: Vec<Other>,
    /// What else was set meanwhile.
    with: BTreeMap<String, String>,
}

impl Other {
    /// Whether the trials cannot tell it from the default.
    fn makes_no_difference(&self) -> bool {
        let is_even = |times: f64| self.pair.is_within_error(times.max(1.0 / times));
        self.pair.keeps_limits && self.pair.times.is_some_and(is_even)
    }

    /// What it does beside the default, which is kept.
    fn kept(&self) -> String {
        let Other { size, pair } = self;
        match pair.times {
            None => format!("the effect of {size} is unknown, because {}", pair.unknown()),
            Some(_) if !pair.keeps_limits => format!("`--subject-to` does not hold with {size}"),
            Some(_) if self.makes_no_difference() => {
                format!("no reliable difference with {size}")
            }
            Some(times) if times > 1.0 => format!("{size} is {}", pair.slower(times)),
            Some(times) => format!(
                "{size} gains too little to set it ({DEFAULT} is {})",
                pair.slower(1.0 / times)
            ),
        }
    }

    /// What it does beside another size, which is set and gains so many times.
    fn beside(&self, set: &Other, gain: f64) -> Option<String> {
        let Other { size, pair } = self;
        let times = pair.times.filter(|_| self.size != set.size)? * gain;
        let error_percent = pair.error_percent + set.pair.error_percent;
        let is_behind = !pair.is_unsure() && (times - 1.0) * 100.0 > error_percent;
        Some(match pair.keeps_limits {
            false => format!("; `--subject-to` does not hold with {size}"),
            true if is_behind => format!("; {size} is {}", pair.slower(times)),
            true => format!("; no reliable difference with {size}"),
        })
    }
}

impl Blocks {
    /// What each size says, with these settings beside it.
    pub(crate) fn of(pairs: Vec<Pair>, with: Settings) -> Blocks {
        let sizes = TRIED.iter().map(|both| both.values[1]);
        let tried = sizes.zip(pairs).map(|(size, pair)| Other { size, pair });
        let tried: Vec<Other> = tried.collect();
        let gain = |of: &Other| of.pair.gain().unwrap_or(0.0);
        let gaining = || tried.iter().filter(|of| of.pair.gain().is_some());
        let best = gaining().max_by(|a, b| gain(a).total_cmp(&gain(b)));
        // Of what is even the largest is taken, which stands last: it has the least to keep account of.
        let is_even = |of: &&Other| {
            let unsure = best.map_or(0.0, |best| best.pair.error_percent + of.pair.error_percent);
            best.is_some_and(|best| (gain(best) / gain(of) - 1.0) * 100.0 <= unsure)
        };
        let take = gaining().rfind(is_even).map(|of| of.size);
        Blocks { take, tried, with: with.into_iter().collect() }
    }

    /// The block size to set, where mkfs takes another by itself.
    pub(crate) fn to_set_bytes(&self) -> Option<u64> {
        parse_bytes(self.take?).ok()
    }

    /// What to take, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let taken = self.tried.iter().find(|of| Some(of.size) == self.take);
        let taken = taken.and_then(|of| Some((of, of.pair.gain()?)));
        let text = match taken {
            Some((set, gain)) => {
                let others = self.tried.iter().filter_map(|of| of.beside(set, gain));
                format!(
                    "set {}: the default, {DEFAULT}, is {}{}; {ROOM}",
                    set.size,
                    set.pair.slower(gain),
                    others.collect::<String>()
                )
            }
            None => format!("keep the default, {DEFAULT}: {}; {ROOM}", self.kept()),
        };
        let cut = self.tried.iter().map(|of| of.pair.cut()).find(|cut| !cut.is_empty());
        ("blocks".into(), text + &cut.unwrap_or_default())
    }

    /// What the sizes do beside the default, which is kept; once, where they do the same.
    fn kept(&self) -> String {
        let sizes = || self.tried.iter().map(|of| of.size).collect::<Vec<_>>().join(" or ");
        let first = self.tried.first().map(|of| &of.pair).filter(|pair| pair.failed.is_some());
        match first.filter(|first| self.tried.iter().all(|of| of.pair.failed == first.failed)) {
            Some(first) => {
                format!("the effect of {} is unknown, because {}", sizes(), first.unknown())
            }
            None if self.tried.iter().all(Other::makes_no_difference) => {
                format!("no reliable difference with {}", sizes())
            }
            None => self.tried.iter().map(Other::kept).collect::<Vec<_>>().join("; "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(times: f64) -> Pair {
        Pair::of_test(times, 3.0)
    }

    fn of(times: [f64; 2]) -> Blocks {
        Blocks::of(times.map(pair).to_vec(), Settings::new())
    }

    #[test]
    fn the_default_is_kept_unless_another_gains_a_tenth() {
        let rest = "smaller blocks waste less room at the end of each file";
        for (times, said) in [
            ([1.25, 1.0 / 0.95], "1KiB is 20 % slower; 2KiB is 5 % slower"),
            ([1.02, 0.98], "no reliable difference with 1KiB or 2KiB"),
            (
                [1.25, 0.95],
                "1KiB is 20 % slower; 2KiB gains too little to set it (4KiB is 5 % slower)",
            ),
        ] {
            let kept = of(times);
            assert_eq!(kept.line().1, format!("keep the default, 4KiB: {said}; {rest}"));
            assert_eq!(kept.to_set_bytes(), None);
        }
        let set = of([0.8, 0.5]);
        assert_eq!(set.to_set_bytes(), Some(2048));
        assert_eq!(
            set.line().1,
            format!("set 2KiB: the default, 4KiB, is 50 % slower; 1KiB is 38 % slower; {rest}")
        );
        let first = of([0.5, 0.8]);
        assert_eq!(first.to_set_bytes(), Some(1024));
        assert!(first.line().1.contains("; 2KiB is 38 % slower; "), "{first:?}");
        let even = of([0.5, 0.51]);
        assert_eq!(even.to_set_bytes(), Some(2048));
        assert!(even.line().1.contains("; no reliable difference with 1KiB; "), "{even:?}");
    }

    /// Two seeds that are as far apart as the gain are no reason.
    #[test]
    fn what_is_not_sure_is_not_set() {
        let unsure = Pair { error_percent: 60.0, ..pair(0.7) };
        let unsettled = Pair { times: None, ..pair(1.0) };
        let limited = Pair { keeps_limits: false, ..pair(0.5) };
        let said = |pairs: [Pair; 2]| {
            let blocks = Blocks::of(pairs.to_vec(), Settings::new());
            assert_eq!(blocks.to_set_bytes(), None);
            blocks.line().1
        };
        let text = said([unsure, unsettled]);
        assert!(text.contains("no reliable difference with 1KiB; the effect of 2KiB is unknown"));
        let failed = || Pair::failed("mkfs.ext4 took longer".into());
        let text = "keep the default, 4KiB: the effect of 1KiB or 2KiB is unknown, because a trial failed: mkfs.ext4 took \
                    longer; smaller blocks waste less room at the end of each file";
        assert_eq!(said([failed(), failed()]), text);
        assert!(said([failed(), pair(1.5)]).contains("took longer; 2KiB is 33 % slower;"));
        assert!(said([limited, pair(1.5)]).contains("`--subject-to` does not hold with 1KiB"));
    }

    #[test]
    fn only_what_takes_other_blocks_is_asked() {
        assert!(are_taken_by("ext4") && are_taken_by("xfs") && !are_taken_by("btrfs"));
    }
}
