//! What a write-intent bitmap costs the chosen layout. It is no layout to choose among: it is slower or even, and
//! what it buys, a short resync after a crash, is no speed.

use crate::commands::Remembered;
use crate::danger::Resync;
use crate::pair::{Both, Pair};
use lab::experiment::Volume;
use serde::{Serialize, Serializer};

/// Without one and with one.
pub(crate) const BOTH: Both = Both { key: "volume.bitmap", values: ["none", "internal"] };

/// Up to so many times better without one, the commands build one: hours of resync are worth more, and the trials'
/// own intervals are not much narrower. A rate with one is nine tenths then: 10 % slower.
const CHEAP_TIMES: f64 = 1.0 / 0.9;

/// From so many times on writes go to ever other parts, each of which has its bit set first.
const MANY_PARTS_TIMES: f64 = 2.0;

/// What is said there: bits of 64 MiB that are set once stay set for seconds, and slow work comes back to them later than that.
const MANY_PARTS: &str = ", for writes at random over the whole volume; work that never pauses and keeps to some tens \
                          of GiB pays next to nothing, slower work there pays in its p99";

/// What is said of a resync that takes that long because md counts the whole array.
const OF_ARRAY: &str = " (md counts its limit of 205 MB/s over the whole RAID 10; raise `sync_speed_max` to shorten it)";

/// Less than this is nothing.
const NOTHING_TIMES: f64 = 1.01;

/// The chosen layout with a bitmap, beside itself without one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bitmap {
    /// How many times better the layout is without; whether what must hold does with one.
    #[serde(flatten)]
    pair: Pair,
    /// Whether writes go all over the volume at random.
    #[serde(skip)]
    is_all_over: bool,
    /// Whether the work only reads, which sets no bit and waits for none: nothing is measured then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_reads: bool,
    /// What a crash costs without a bitmap; of it the hours are written.
    #[serde(rename = "resync_h", serialize_with = "hours_of")]
    resync: Resync,
}

/// Whether there is one to have, and what it costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Asked {
    /// None.
    #[default]
    Not,
    /// What is to be measured.
    Measured,
    /// Nothing, for the work only reads.
    Free,
}

impl Asked {
    /// Of a volume whose level may have one and that keeps nothing else of the kind.
    pub(crate) fn of(volume: &Volume, writes: bool) -> Asked {
        let may = volume.level.has_bitmap() && volume.controller.is_none() && !volume.has_ppl;
        match (may, writes) {
            (false, _) => Asked::Not,
            (true, true) => Asked::Measured,
            (true, false) => Asked::Free,
        }
    }
}

impl Bitmap {
    /// What a layout of such a level without and with one says.
    pub(crate) fn of(pair: Pair, is_all_over: bool, resync: Resync) -> Bitmap {
        Bitmap { pair, is_all_over, only_reads: false, resync }
    }

    /// What work that only reads says.
    pub(crate) fn of_reads(resync: Resync) -> Bitmap {
        Bitmap { pair: Pair::unmeasured(), is_all_over: false, only_reads: true, resync }
    }

    /// Whether to build with one: what it costs is next to nothing beside what it spares.
    fn is_cheap(&self) -> bool {
        let is_little = self.pair.times.is_some_and(|times| times <= CHEAP_TIMES);
        self.only_reads || is_little && self.pair.keeps_limits && !self.pair.is_unsure()
    }

    /// What md is to remember of writes.
    pub(crate) fn remembered(&self) -> Remembered {
        if self.is_cheap() { Remembered::Parts } else { Remembered::Nothing }
    }

    /// What the work would have of one that is not built, where that is known.
    pub(crate) fn instead(&self) -> Option<String> {
        self.pair.times.filter(|_| !self.is_cheap() && !self.pair.is_unsure())?;
        Some(if self.pair.keeps_limits {
            format!("this work is {}{}", self.price(), self.many_parts())
        } else {
            "`--subject-to` does not hold".into()
        })
    }

    /// What it costs and what it spares, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let took = hours(self.resync.hours);
        let why = if self.resync.is_of_array { OF_ARRAY } else { "" };
        let resync = format!("a crash costs a full resync, {took} idle{why}");
        let by_default = "mdadm before 2025 adds one by default";
        let text = match self.pair.times {
            None if self.only_reads => {
                format!("take a write-intent bitmap: it costs reads nothing; without one {resync}")
            }
            None => format!(
                "the cost of a write-intent bitmap is unknown: {}; without one {resync}",
                self.pair.unknown()
            ),
            Some(_) if !self.pair.keeps_limits => format!(
                "`--subject-to` does not hold with a write-intent bitmap; without one {resync}; {by_default}"
            ),
            Some(_) if self.pair.is_unsure() => {
                format!("what a write-intent bitmap costs is not sure; without one {resync}")
            }
            Some(_) if self.is_cheap() => {
                format!("take a write-intent bitmap: {}; without one {resync}", self.price())
            }
            Some(_) => format!(
                "a write-intent bitmap makes it {}{}; without one {resync}; {by_default}",
                self.price(),
                self.many_parts(),
            ),
        };
        let doubts = self.pair.doubts.iter().map(|doubt| format!("; {doubt}"));
        let text = doubts.fold(text, |text, doubt| text + &doubt);
        ("bitmap".into(), text + &self.pair.cut())
    }

    /// Of what writes that cost is, where it is much.
    fn many_parts(&self) -> &'static str {
        let is_much = self.pair.times.is_some_and(|times| times > MANY_PARTS_TIMES);
        if is_much && self.is_all_over { MANY_PARTS } else { "" }
    }

    /// What it costs, in words.
    fn price(&self) -> String {
        let times = self.pair.times.unwrap_or(1.0);
        let unsure = self.pair.error_percent;
        if times < NOTHING_TIMES && unsure > 100.0 * (CHEAP_TIMES - 1.0) {
            return format!(
                "no cost that shows in these trials, which are unsure by {unsure:.0} %"
            );
        }
        if times < NOTHING_TIMES {
            return "no measurable cost here".into();
        }
        let slower = self.pair.slower(times);
        if self.pair.is_within_error(times) {
            return format!("{slower}, which is within the error of these trials");
        }
        slower
    }
}

fn hours_of<S: Serializer>(resync: &Resync, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_f64(resync.hours)
}

/// So many hours, or minutes where it is less than two.
pub(crate) fn hours(hours: f64) -> String {
    if hours < 2.0 { format!("{:.0} min", 60.0 * hours) } else { format!("{} h", tenths(hours)) }
}

/// A number of hours; below ten its tenths count.
pub(crate) fn tenths(hours: f64) -> String {
    if hours < 9.95 { format!("{hours:.1}") } else { format!("{hours:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap(times: Option<f64>) -> Bitmap {
        let pair = Pair { times, ..Pair::of_test(1.0, 2.0) };
        Bitmap {
            pair,
            is_all_over: true,
            only_reads: false,
            resync: Resync { hours: 24.8, is_of_array: false },
        }
    }

    #[test]
    fn short_times_have_tenths_or_minutes() {
        let said = [0.75, 1.49, 1.999, 2.04, 9.94, 9.96, 24.8].map(hours);
        assert_eq!(said, ["45 min", "89 min", "120 min", "2.0 h", "9.9 h", "10 h", "25 h"]);
    }

    /// One lucky seed builds none, and its error is not known.
    #[test]
    fn one_seed_says_nothing_sure_of_a_bitmap() {
        let of = |times: f64| {
            let pair = Pair { is_cut: true, ..Pair::of_test(times, 0.0) };
            Bitmap { pair, ..bitmap(None) }
        };
        assert_eq!(bitmap(Some(1.0)).remembered(), Remembered::Parts);
        assert_eq!(of(1.0).remembered(), Remembered::Nothing);
        let said = "what a write-intent bitmap costs is not sure; without one a crash costs a full resync, 25 h idle";
        for times in [1.0, 1.5] {
            assert_eq!(
                of(times).line().1,
                format!("{said} (with one seed: there was no time for more)")
            );
            assert_eq!(of(times).instead(), None);
        }
    }

    #[test]
    fn the_cost_stands_beside_what_it_spares() {
        let of = bitmap;
        let spared = "a crash costs a full resync, 25 h idle";
        let rest = format!("without one {spared}; mdadm before 2025 adds one by default");
        let line = |costs_times| of(costs_times).line().1;
        // At most a tenth of the rate is cheap, as docs/tune.md says.
        assert!(line(Some(1.11)).starts_with("take a write-intent bitmap"), "{}", line(Some(1.11)));
        assert_eq!(line(Some(1.5)), format!("a write-intent bitmap makes it 33 % slower; {rest}"));
        assert_eq!(
            line(Some(60.0)),
            format!(
                "a write-intent bitmap makes it about 60 times slower, for writes at random over the whole volume; work that never \
                 pauses and keeps to some tens of GiB pays next to nothing, slower work there pays in its p99; {rest}"
            )
        );
        let mut unsure = of(Some(0.98));
        unsure.pair.error_percent = 83.2;
        assert!(
            unsure
                .line()
                .1
                .contains("no cost that shows in these trials, which are unsure by 83 %")
        );
        let in_order = Bitmap { is_all_over: false, ..of(Some(60.0)) };
        assert!(in_order.line().1.contains("about 60 times slower; without one"));
        assert_eq!(
            line(Some(1.04)),
            format!("take a write-intent bitmap: 4 % slower; without one {spared}")
        );
        let mut vague = of(Some(1.04));
        vague.pair.error_percent = 10.0;
        assert_eq!(
            vague.line().1,
            format!(
                "take a write-intent bitmap: 4 % slower, which is within the error of these trials; without one {spared}"
            )
        );
        let mut dear = of(Some(1.2));
        dear.pair.error_percent = 25.0;
        assert_eq!(
            dear.line().1,
            format!(
                "a write-intent bitmap makes it 17 % slower, which is within the error of these trials; {rest}"
            )
        );
        // A trial's noise may have it faster.
        assert_eq!(
            line(Some(0.99)),
            format!("take a write-intent bitmap: no measurable cost here; without one {spared}")
        );
        assert!(line(None).starts_with("the cost of a write-intent bitmap is unknown"));
        let mut limited = of(Some(1.0));
        limited.pair.keeps_limits = false;
        assert!(
            limited.line().1.starts_with("`--subject-to` does not hold with a write-intent bitmap")
        );
        assert!(!limited.is_cheap());
        assert_eq!(limited.instead().as_deref(), Some("`--subject-to` does not hold"));
        // What the verdict on layouts calls even is not cheap for that: a layout with a bitmap errs as it does without.
        let is_cheap = |costs_times| of(costs_times).is_cheap();
        assert_eq!([Some(1.2), Some(1.04), None].map(is_cheap), [false, true, false]);
    }

    #[test]
    fn the_limit_that_makes_it_long_is_named() {
        let resync = Resync { hours: 97.7, is_of_array: true };
        assert_eq!(
            Bitmap::of_reads(resync).line().1,
            "take a write-intent bitmap: it costs reads nothing; without one a crash costs a full resync, 98 h idle (md counts \
             its limit of 205 MB/s over the whole RAID 10; raise `sync_speed_max` to shorten it)"
        );
    }

    /// The commands repeat what was measured of this work.
    #[test]
    fn what_is_not_built_says_what_it_would_cost_this_work() {
        let in_order = |times| Bitmap { is_all_over: false, ..bitmap(times) }.instead();
        assert_eq!(in_order(Some(1.2)).as_deref(), Some("this work is 17 % slower"));
        assert_eq!([in_order(Some(1.04)), in_order(None)], [None, None]);
        let all_over = bitmap(Some(60.0)).instead().unwrap();
        assert!(all_over.starts_with("this work is about 60 times slower, for writes at random"));
    }

    #[test]
    fn what_nobody_measured_and_what_failed_is_said() {
        let mut assumed = bitmap(Some(1.5));
        assumed.pair.doubts = vec!["nobody measured it".into()];
        assert!(assumed.line().1.ends_with("by default; nobody measured it"));
        let failed = Bitmap { pair: Pair::failed("the guest ended".into()), ..assumed };
        assert_eq!(
            failed.line().1,
            "the cost of a write-intent bitmap is unknown: a trial failed: the guest ended; without one a crash costs a \
             full resync, 25 h idle"
        );
        assert!(!failed.is_cheap());
    }
}
