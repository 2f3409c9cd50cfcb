//! What a write-intent bitmap costs the chosen layout. It is no layout to choose among: it is slower or even, and
//! what it buys, a short resync after a crash, is no speed.

use crate::beside::pair::{Both, Layout, Measured, Pair, Rate};
use crate::danger::Resync;
use crate::search::trials::Settings;
use crate::words::hours;
use block::units::parse_bytes;
use lab::experiment::{Trial, Volume};
use lab::workload::Requests;
use serde::{Serialize, Serializer};

/// What md remembers of writes, for a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remembered {
    /// Nothing.
    #[default]
    Nothing,
    /// Which parts were written to: a write-intent bitmap.
    Parts,
    /// The same, where a part has so many KiB.
    PartsOfKib(u64),
    /// What is torn: a partial parity log.
    Parity,
}

/// Without one and with one.
pub(crate) const BOTH: Both = Both { key: "volume.bitmap", values: ["none", "internal"] };

/// Without one and with one of parts as large as mdadm takes: fewer of them are marked.
const LARGE: Both = Both { key: BOTH.key, values: ["none", "1GiB"] };

/// What mdadm is told for these.
const LARGE_OPTION: &str = "`--bitmap-chunk=1G`";

/// Up to so many times better without one, the commands build one: hours of resync are worth more, and the trials'
/// own intervals are not much narrower. A rate with one is nine tenths then: 10 % slower.
const CHEAP_TIMES: f64 = 1.0 / 0.9;

/// Up to so many times they build one where the resync that it spares is long, or parity may be wrong until it is done.
const WORTH_TIMES: f64 = 2.0;

/// From so many hours on a resync is long.
const LONG_H: f64 = 2.0;

/// From so many times on writes go to ever other parts, each of which has its bit set first.
const MANY_PARTS_TIMES: f64 = 2.0;

/// What is said there: bits of 64 MiB that are set once stay set for seconds, and slow work comes back to them later than
/// that.
const MANY_PARTS: &str = ", for writes at random over the whole volume; work that never pauses and keeps to some tens \
                          of GiB pays next to nothing, slower work there pays in its p99";

/// What is said of a resync that takes that long because md counts the whole array.
const OF_ARRAY: &str = " (md counts its limit of 205 MB/s over the whole RAID 10; raise `sync_speed_max` to shorten it)";

/// Why it is said that none is built.
const BY_DEFAULT: &str = "mdadm before 2025 adds one by default";

/// Less than this is nothing.
const NOTHING_TIMES: f64 = 1.01;

/// The chosen layout with a bitmap, beside itself without one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bitmap {
    /// How many times better the layout is without; whether what must hold does with one.
    #[serde(flatten)]
    pair: Pair,
    /// The same of one of larger parts, where that was tried.
    #[serde(rename = "chunk_1gib", skip_serializing_if = "Option::is_none")]
    larger: Option<Pair>,
    /// Whether the work only reads, which sets no bit and waits for none: nothing is measured then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_reads: bool,
    #[serde(flatten)]
    spared: Spared,
}

/// What a bitmap spares, and of what work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Spared {
    /// What a crash costs without a bitmap; of it the hours are written.
    #[serde(rename = "resync_h", serialize_with = "hours_of")]
    resync: Resync,
    /// Whether parity may be wrong until then.
    #[serde(skip)]
    has_parity: bool,
    /// Whether writes go all over the volume at random.
    #[serde(skip)]
    is_all_over: bool,
    /// Whether all of the work has a rate to keep, so that longer latencies cost it nothing as long as it does.
    #[serde(skip)]
    is_paced: bool,
}

impl Spared {
    /// Of the layout that `trial` is of.
    pub(crate) fn of(trial: &Trial, resync: Resync) -> Spared {
        let is_paced =
            |work: &Requests| work.keys.bytes_per_s.is_some() && work.keys.flush_every.is_none();
        Spared {
            resync,
            has_parity: trial.setup.volume.level.has_parity(),
            is_all_over: trial.requests().any(Requests::are_all_over),
            is_paced: trial.requests().all(is_paced),
        }
    }

    /// Whether it is worth more than a little.
    fn is_much(&self) -> bool {
        self.has_parity || self.resync.hours >= LONG_H
    }
}

/// The bitmap that is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Nothing,
    /// With the chunk that mdadm chooses.
    Default,
    /// With larger parts.
    Larger,
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
    /// What a layout without and with one says.
    pub(crate) fn of(pair: Pair, spared: Spared) -> Bitmap {
        Bitmap { pair, larger: None, only_reads: false, spared }
    }

    /// What work that only reads says.
    pub(crate) fn of_reads(resync: Resync) -> Bitmap {
        let spared = Spared { resync, ..Spared::default() };
        Bitmap { pair: Pair::unmeasured(), larger: None, only_reads: true, spared }
    }

    /// The same with one of larger parts tried, too, where one of mdadm's own costs something.
    pub(crate) fn with_larger(self, layout: &dyn Layout, measured: &mut Measured) -> Bitmap {
        if self.is_own_taken() {
            return self;
        }
        let tried = Pair::measure(layout, &[LARGE], &Settings::new(), measured).into_iter();
        Bitmap { larger: tried.last().filter(is_known), ..self }
    }

    /// Whether what one costs is next to nothing beside what it spares.
    fn is_cheap(&self, pair: &Pair) -> bool {
        pair.keeps_limits && self.cost_times(pair) <= CHEAP_TIMES
    }

    /// How many times worse the work is with one.
    fn cost_times(&self, pair: &Pair) -> f64 {
        let times = pair.times.unwrap_or(1.0);
        if self.spared.is_paced && pair.rate != Rate::Lost { 1.0 } else { times }
    }

    /// Whether mdadm's own is built, whatever larger parts cost. So is what nobody knows the cost of, unless it breaks a
    /// limit: a resync of all costs more.
    fn is_own_taken(&self) -> bool {
        let is_fine = || !breaks_limits(&self.pair) && !is_known(&self.pair);
        self.only_reads || is_fine() || self.is_cheap(&self.pair)
    }

    /// The one to build.
    fn taken(&self) -> Taken {
        if self.is_own_taken() {
            return Taken::Default;
        }
        let own = (Taken::Default, &self.pair);
        let larger = self.larger.as_ref().map(|pair| (Taken::Larger, pair));
        if larger.is_some_and(|(_, pair)| self.is_cheap(pair)) {
            return Taken::Larger;
        }
        let is_worth = |(_, pair): &(Taken, &Pair)| {
            pair.keeps_limits && self.spared.is_much() && self.cost_times(pair) <= WORTH_TIMES
        };
        let cost = |(_, pair): &(Taken, &Pair)| self.cost_times(pair);
        // A size of one's own is for what shows, or for a limit that mdadm's breaks.
        let shows = |larger: &(Taken, &Pair)| cost(larger) * NOTHING_TIMES < cost(&own);
        let larger = larger.filter(|larger| !self.pair.keeps_limits || shows(larger));
        let worth = larger.into_iter().chain([own]).find(is_worth);
        worth.map_or(Taken::Nothing, |(taken, _)| taken)
    }

    /// What md is to remember of writes.
    pub(crate) fn remembered(&self) -> Remembered {
        let kib = parse_bytes(LARGE.values[1]).unwrap_or_default() / 1024;
        match self.taken() {
            Taken::Nothing => Remembered::Nothing,
            Taken::Default => Remembered::Parts,
            Taken::Larger => Remembered::PartsOfKib(kib),
        }
    }

    /// The key of the one to build, and its value.
    pub(crate) fn setting(&self) -> Option<(&'static str, &'static str)> {
        match self.taken() {
            Taken::Nothing => None,
            Taken::Default => Some((BOTH.key, BOTH.values[1])),
            Taken::Larger => Some((LARGE.key, LARGE.values[1])),
        }
    }

    /// What the work would have of one that is not built.
    pub(crate) fn instead(&self) -> Option<String> {
        (self.taken() == Taken::Nothing).then(|| {
            if self.pair.keeps_limits {
                format!("this work is {}{}", self.price(&self.pair), self.many_parts())
            } else {
                "`--subject-to` does not hold".into()
            }
        })
    }

    /// What it costs and what it spares, in a line.
    pub(crate) fn line(&self) -> (String, String) {
        let took = hours(self.spared.resync.hours);
        let why = if self.spared.resync.is_of_array { OF_ARRAY } else { "" };
        let resync = format!("without one a crash costs a full resync, {took} idle{why}");
        let take = "take a write-intent bitmap";
        let price = self.price(&self.pair);
        let text = match self.taken() {
            Taken::Default if self.only_reads => {
                format!("{take}: it costs reads nothing; {resync}")
            }
            Taken::Default if self.pair.times.is_none() => {
                format!("{take}; its cost is unknown: {}; {resync}", self.pair.unknown())
            }
            Taken::Default if self.pair.is_unsure() => {
                format!("{take}; what it costs is not sure; {resync}")
            }
            Taken::Default if self.is_cheap(&self.pair) => format!("{take}: {price}; {resync}"),
            Taken::Default => {
                format!("{take}, though it is {price}: {resync}")
            }
            Taken::Larger => format!("{take} with {LARGE_OPTION}: {}", self.larger_parts()),
            Taken::Nothing if !self.pair.keeps_limits => {
                format!(
                    "`--subject-to` does not hold with a write-intent bitmap; {resync}; {BY_DEFAULT}"
                )
            }
            Taken::Nothing => format!(
                "a write-intent bitmap makes it {price}{}; {resync}; {BY_DEFAULT}",
                self.many_parts(),
            ),
        };
        let doubts = self.pair.doubts.iter().map(|doubt| format!("; {doubt}"));
        let text = doubts.fold(text, |text, doubt| text + &doubt);
        ("bitmap".into(), text + &self.pair.cut())
    }

    /// What larger parts cost and spare.
    fn larger_parts(&self) -> String {
        let larger = self.larger.as_ref().map_or(String::new(), |pair| self.price(pair));
        let own = if breaks_limits(&self.pair) {
            "breaks `--subject-to`".into()
        } else {
            self.price(&self.pair)
        };
        let took = hours(self.spared.resync.hours);
        let why = if self.spared.resync.is_of_array { OF_ARRAY } else { "" };
        let crash = if self.spared.is_all_over {
            format!(
                "Work that writes all over the volume marks all of it: a crash then still costs the full resync, {took} \
                 idle{why}"
            )
        } else {
            format!(
                "After a crash it resyncs only the GiBs in use; without a bitmap all, {took} idle{why}"
            )
        };
        format!("{larger} (mdadm's own chunk: {own}). {crash}")
    }

    /// Of what writes that cost is, where it is much.
    fn many_parts(&self) -> &'static str {
        let is_much = self.pair.times.is_some_and(|times| times > MANY_PARTS_TIMES);
        if is_much && self.spared.is_all_over { MANY_PARTS } else { "" }
    }

    /// What one costs, in words.
    fn price(&self, pair: &Pair) -> String {
        let times = pair.times.unwrap_or(1.0);
        let unsure = pair.error_percent;
        if times < NOTHING_TIMES && unsure > 100.0 * (CHEAP_TIMES - 1.0) {
            return format!(
                "no cost that shows in these trials, which are unsure by {unsure:.0} %"
            );
        }
        if times < NOTHING_TIMES {
            return "no measurable cost here".into();
        }
        let slower = pair.slower(times);
        if self.cost_times(pair) < times && times > CHEAP_TIMES {
            let rate = if pair.rate == Rate::Met {
                "this work keeps its rate"
            } else {
                "no more of its blocks are late"
            };
            return format!("{rate}, its requests are {slower}");
        }
        if pair.is_within_error(times) {
            return format!("{slower}, which is within the error of these trials");
        }
        slower
    }
}

/// Whether what must hold does not with one. What did not settle says nothing of it.
fn breaks_limits(pair: &Pair) -> bool {
    pair.times.is_some() && !pair.keeps_limits
}

/// Whether what one costs is known, and not from too few seeds.
fn is_known(pair: &Pair) -> bool {
    pair.times.is_some() && !pair.is_unsure()
}

fn hours_of<S: Serializer>(resync: &Resync, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_f64(resync.hours)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Resync = Resync { hours: 24.8, is_of_array: false };

    /// A stripe over copies whose resync takes a day, written to at random.
    fn bitmap(times: Option<f64>) -> Bitmap {
        let pair = Pair { times, ..Pair::of_test(1.0, 2.0) };
        Bitmap::of(pair, Spared { resync: LONG, is_all_over: true, ..Spared::default() })
    }

    /// The same with parts of a GiB tried, too.
    fn with_larger(times: f64, larger_times: f64) -> Bitmap {
        Bitmap { larger: Some(Pair::of_test(larger_times, 2.0)), ..bitmap(Some(times)) }
    }

    /// 160 TB of RAID 6 were built without one, because it cost 16 % of 2672 MB/s: a day of resync after every crash.
    #[test]
    fn what_spares_a_day_or_parity_is_worth_up_to_half_of_the_rate() {
        let of = |times, hours, has_parity| {
            let resync = Resync { hours, ..LONG };
            let spared = Spared { resync, has_parity, ..Spared::default() };
            Bitmap { spared, ..bitmap(Some(times)) }.remembered()
        };
        assert_eq!(of(1.19, 24.8, true), Remembered::Parts);
        assert_eq!(of(1.19, 24.8, false), Remembered::Parts);
        assert_eq!(of(1.19, 0.5, true), Remembered::Parts);
        assert_eq!(of(1.19, 0.5, false), Remembered::Nothing);
        assert_eq!(of(2.1, 24.8, true), Remembered::Nothing);
        assert_eq!(
            bitmap(Some(1.19)).line().1,
            "take a write-intent bitmap, though it is 16 % slower: without one a crash costs a full resync, \
             25 h idle"
        );
    }

    /// Parts of a GiB are taken where they are cheap and mdadm's are not, or where they cost less.
    #[test]
    fn larger_parts_make_one_cheaper() {
        let large = Remembered::PartsOfKib(1 << 20);
        assert_eq!(with_larger(1.19, 1.01).remembered(), large);
        assert_eq!(with_larger(1.19, 1.01).setting(), Some(("volume.bitmap", "1GiB")));
        assert_eq!(with_larger(1.9, 1.5).remembered(), large);
        assert_eq!(with_larger(1.2, 1.2).remembered(), Remembered::Parts, "no size of one's own");
        assert_eq!(with_larger(60.0, 30.0).remembered(), Remembered::Nothing);
        assert_eq!(with_larger(60.0, 1.05).remembered(), large);
        let mut limited = with_larger(1.2, 1.05);
        limited.pair.keeps_limits = false;
        assert_eq!(limited.remembered(), large);
        let mut in_part = with_larger(1.19, 1.02);
        in_part.spared.is_all_over = false;
        assert_eq!(
            in_part.line().1,
            "take a write-intent bitmap with `--bitmap-chunk=1G`: 2 % slower (mdadm's own chunk: 16 % slower). After a crash \
             it resyncs only the GiBs in use; without a bitmap all, 25 h idle"
        );
        in_part.pair.keeps_limits = false;
        assert!(
            in_part
                .line()
                .1
                .contains("2 % slower (mdadm's own chunk: breaks `--subject-to`). After")
        );
        // It was said to resync only what was being written to, which is all.
        assert_eq!(
            with_larger(60.0, 1.0).line().1,
            "take a write-intent bitmap with `--bitmap-chunk=1G`: no measurable cost here (mdadm's own chunk: about 60 times \
             slower). Work that writes all over the volume marks all of it: a crash then still costs the full resync, \
             25 h idle"
        );
    }

    /// One that breaks `--subject-to` was built where one seed had it; and larger parts that keep it were not, for they
    /// cost as much.
    #[test]
    fn what_breaks_a_limit_is_not_built() {
        let broken = |pair: Pair| Pair { keeps_limits: false, ..pair };
        let unsure = Bitmap {
            pair: broken(Pair { is_cut: true, ..Pair::of_test(1.5, 0.0) }),
            ..bitmap(None)
        };
        assert!(unsure.pair.is_unsure());
        assert_eq!(unsure.remembered(), Remembered::Nothing);
        assert!(
            unsure.line().1.starts_with("`--subject-to` does not hold with a write-intent bitmap")
        );
        // What did not settle says nothing of a limit.
        let unsettled = Bitmap { pair: broken(bitmap(None).pair), ..bitmap(None) };
        assert_eq!(unsettled.remembered(), Remembered::Parts);
        let mut even = with_larger(1.2, 1.2);
        even.pair.keeps_limits = false;
        assert_eq!(even.remembered(), Remembered::PartsOfKib(1 << 20));
    }

    /// Cameras whose blocks all come in time were given none, because each waits twice as long.
    #[test]
    fn work_at_a_rate_is_judged_by_late_blocks() {
        let of = |rate| {
            let pair = Pair { rate, ..Pair::of_test(3.0, 2.0) };
            let spared = Spared { resync: LONG, is_paced: true, ..Spared::default() };
            Bitmap::of(pair, spared)
        };
        assert_eq!(
            [of(Rate::Met), of(Rate::Lost)].map(|of| of.remembered()),
            [Remembered::Parts, Remembered::Nothing]
        );
        assert_eq!(
            of(Rate::Met).line().1,
            "take a write-intent bitmap: this work keeps its rate, its requests are 3.0 times slower; without one a crash \
             costs a full resync, 25 h idle"
        );
        // Some are late with it and without.
        assert!(
            of(Rate::Kept)
                .line()
                .1
                .contains(": no more of its blocks are late, its requests are 3.0 times slower;")
        );
    }

    #[test]
    fn short_times_have_tenths_or_minutes() {
        let said = [0.75, 1.49, 1.999, 2.04, 9.94, 9.96, 24.8].map(hours);
        assert_eq!(said, ["45 min", "89 min", "120 min", "2.0 h", "9.9 h", "10 h", "25 h"]);
    }

    /// One seed may be lucky or not: md builds one by itself, and so do the commands.
    #[test]
    fn one_seed_says_nothing_sure_of_a_bitmap() {
        let of = |times: f64| {
            let pair = Pair { is_cut: true, ..Pair::of_test(times, 0.0) };
            Bitmap { pair, ..bitmap(None) }
        };
        assert_eq!(bitmap(Some(1.0)).remembered(), Remembered::Parts);
        assert_eq!(of(60.0).remembered(), Remembered::Parts);
        let said = "take a write-intent bitmap; what it costs is not sure; without one a crash costs a full resync, 25 h idle";
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
        // A resync of minutes, of copies.
        let short = Resync { hours: 0.75, is_of_array: false };
        let of = |times| {
            let bitmap = bitmap(times);
            Bitmap { spared: Spared { resync: short, ..bitmap.spared }, ..bitmap }
        };
        let spared = "a crash costs a full resync, 45 min idle";
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
        let mut in_order = of(Some(60.0));
        in_order.spared.is_all_over = false;
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
        assert!(
            line(None).starts_with("take a write-intent bitmap; its cost is unknown: a trial did")
        );
        let mut limited = of(Some(1.0));
        limited.pair.keeps_limits = false;
        assert!(
            limited.line().1.starts_with("`--subject-to` does not hold with a write-intent bitmap")
        );
        assert_eq!(limited.remembered(), Remembered::Nothing);
        assert_eq!(limited.instead().as_deref(), Some("`--subject-to` does not hold"));
        // What the verdict on layouts calls even is not cheap for that: a layout with a bitmap errs as it does without.
        let is_built = |costs_times| of(costs_times).remembered() == Remembered::Parts;
        assert_eq!([Some(1.2), Some(1.04), None].map(is_built), [false, true, true]);
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
        let in_order = |times| {
            let mut of = bitmap(times);
            of.spared.is_all_over = false;
            of.instead()
        };
        assert_eq!(in_order(Some(3.0)).as_deref(), Some("this work is 3.0 times slower"));
        assert_eq!([Some(1.2), Some(1.04), None].map(in_order), [None, None, None]);
        let all_over = bitmap(Some(60.0)).instead().unwrap();
        assert!(all_over.starts_with("this work is about 60 times slower, for writes at random"));
    }

    #[test]
    fn what_nobody_measured_and_what_failed_is_said() {
        let mut assumed = bitmap(Some(3.0));
        assumed.pair.doubts = vec!["nobody measured it".into()];
        assert!(assumed.line().1.ends_with("by default; nobody measured it"));
        let failed = Bitmap { pair: Pair::failed("the guest ended".into()), ..assumed };
        assert_eq!(
            failed.line().1,
            "take a write-intent bitmap; its cost is unknown: a trial failed: the guest ended; without one a crash costs a \
             full resync, 25 h idle"
        );
        assert_eq!(failed.remembered(), Remembered::Parts);
    }
}
