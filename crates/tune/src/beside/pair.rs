//! The chosen layout with two values of one key that is no layout to choose among, both measured in full.

use crate::search::clock::is_of_time;
use crate::search::trials::Settings;
use lab::{Error, Result};
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::ops::Range;
use store::Manifest;
use store::quantity::Better;
use store::record::Record;
use verdict::judge::Ranked;
use verdict::stats::compare::mean_sd;
use verdict::stats::student::t95;
use verdict::tables::slower;
use verdict::{Verdict, Wishes};

/// A gain of up to so many times is not worth a setting of one's own.
const WORTH_TIMES: f64 = 1.1;

/// Seeds with which trials are made: of those that have an interval the first alone, and the last only where those before leave
/// it open. Mail delivered by sixteen programs to ext4 is another by a tenth with another seed, and two seeds agree by luck.
const ROUNDS: [Range<u64>; 4] = [0..1, 1..2, 2..3, 3..5];

/// What two seeds have within this of no difference is none that counts, and two seeds say no less than this of how unsure they
/// are.
const ALIKE_TIMES: f64 = 1.05;

/// A layout with one value of a key beside itself with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Pair {
    /// How many times better it is with the first; none where either of the two trials did not settle, or failed.
    pub(crate) times: Option<f64>,
    /// What a trial failed of, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<String>,
    /// Whether what must hold (`--subject-to`) holds with the second.
    pub(crate) keeps_limits: bool,
    /// By how much the two trials' own intervals may shift `times`, in percent, and by how much other seeds may: how far
    /// apart two have it, or of more the 95 % interval.
    pub(crate) error_percent: f64,
    /// What it rests on that nobody measured, and the layout alone does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) doubts: Vec<String>,
    /// Which way is better.
    #[serde(skip)]
    pub(crate) better: Better,
    /// What it is counted in.
    #[serde(skip)]
    pub(crate) unit: String,
    /// What each seed says.
    #[serde(skip)]
    pub(crate) seeds: Vec<OfSeed>,
    /// How punctual work at a rate is with the second.
    #[serde(skip)]
    pub(crate) rate: Rate,
    /// Whether there was no time for more seeds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
}

/// How punctual work at a rate is with the second value, the worst first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rate {
    /// More of its blocks are late than with the first, or none is due by a rate.
    #[default]
    Lost,
    /// No more are late.
    Kept,
    /// None is late.
    Met,
}

/// What the two trials with one seed say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OfSeed {
    /// The logarithm of how many times better it is with the first.
    log_times: f64,
    /// By how much their own intervals may shift that, in percent; none where they have none.
    interval_percent: Option<f64>,
}

/// A key that is no layout to choose among, and the two values that are compared; the search had the first, where the
/// question leaves the key open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Both {
    pub(crate) key: &'static str,
    pub(crate) values: [&'static str; 2],
}

/// A layout that can be measured with other values of keys that it does not choose.
pub(crate) trait Layout {
    /// What the search measured of it with so much added to the seed.
    fn known(&self, seed: u64) -> Vec<Record>;

    /// Whether the question says nothing of a key, so that the search had what it is by itself.
    fn leaves_open(&self, key: &str) -> bool;

    /// Whether a key is one of its own.
    fn chooses(&self, key: &str) -> bool;

    /// Measures it with each of these settings, and so much added to the seed, side by side; in their order. One that
    /// fails does not end the others.
    fn measure(&self, asked: &[(u64, Settings)]) -> Vec<Result<Vec<Record>>>;

    /// What results of it with these settings are of.
    fn manifest(&self, settings: &Settings) -> Result<Manifest>;

    /// What it is ranked by, and what must hold.
    fn wishes(&self) -> Wishes;
}

/// What was measured of a layout, by what was added to the seed and what was set; or what failed, in a line.
pub(crate) struct Measured(BTreeMap<(u64, Settings), Outcome>);

type Outcome = std::result::Result<Vec<Record>, String>;

impl Measured {
    /// What the search measured.
    pub(crate) fn by_search(layout: &dyn Layout) -> Measured {
        let known = ROUNDS.into_iter().flatten().map(|seed| (seed, layout.known(seed)));
        let known = known.filter(|(_, known)| !known.is_empty());
        Measured(known.map(|(seed, known)| ((seed, Settings::new()), Ok(known))).collect())
    }

    /// Knows what was measured with `settings`, too.
    pub(crate) fn know(&mut self, seed: u64, settings: Settings, records: Vec<Record>) {
        if !records.is_empty() {
            self.0.insert((seed, settings), Ok(records));
        }
    }

    /// Measures what is not measured yet.
    fn add(&mut self, layout: &dyn Layout, asked: impl Iterator<Item = (u64, Settings)>) {
        let mut missing: Vec<(u64, Settings)> = Vec::new();
        for of in asked {
            if !self.0.contains_key(&of) && !missing.contains(&of) {
                missing.push(of);
            }
        }
        if !missing.is_empty() {
            let found = layout.measure(&missing).into_iter();
            let found = found.map(|records| records.map_err(|error| in_a_line(&error)));
            self.0.extend(missing.into_iter().zip(found));
        }
    }
}

/// Two values of a key, and what is set with each.
struct Asked<'a> {
    both: &'a Both,
    settings: [Settings; 2],
}

impl<'a> Asked<'a> {
    /// Of a layout with what is `beside` it. Without what is asked it is the same for every key that it leaves open.
    fn of(layout: &dyn Layout, both: &'a Both, beside: &Settings) -> Asked<'a> {
        let with = |value: &str| -> Settings {
            let own = (both.key.to_string(), value.to_string());
            beside.iter().cloned().chain([own]).collect()
        };
        let [first, second] = both.values;
        let own = if layout.leaves_open(both.key) { beside.clone() } else { with(first) };
        Asked { both, settings: [own, with(second)] }
    }

    /// What was measured with a seed says.
    fn pair(
        &self,
        layout: &dyn Layout,
        beside: &Settings,
        measured: &Measured,
        seed: u64,
    ) -> std::result::Result<Pair, String> {
        let [own, other] =
            self.settings.each_ref().map(|settings| measured.0[&(seed, settings.clone())].clone());
        let records = [own?, other?];
        let manifest = |values: &str| {
            let own = (self.both.key.to_string(), values.to_string());
            layout.manifest(&beside.iter().cloned().chain([own]).collect())
        };
        let found = manifest(self.both.values[0]).and_then(|alone| {
            let manifest = manifest(&self.both.values.join(","))?;
            Pair::of(layout, self.both, [&alone, &manifest], records)
        });
        found.map_err(|error| in_a_line(&error))
    }
}

impl Pair {
    /// Measures `layout` with each value, and with what is `beside` it; what was `measured` before is not again. A trial
    /// that fails costs the pairs that need it, and says why.
    pub(crate) fn measure(
        layout: &dyn Layout,
        asked: &[Both],
        beside: &Settings,
        measured: &mut Measured,
    ) -> Vec<Pair> {
        let asked: Vec<Asked<'_>> =
            asked.iter().map(|both| Asked::of(layout, both, beside)).collect();
        let mut pairs: Vec<Option<Pair>> = vec![None; asked.len()];
        for seeds in ROUNDS {
            let is_open = |pair: &Option<Pair>| pair.as_ref().is_none_or(Pair::may_change);
            let open: Vec<usize> = (0..asked.len()).filter(|&at| is_open(&pairs[at])).collect();
            let trials = seeds.clone().flat_map(|seed| {
                let settings = open.iter().flat_map(|&at| asked[at].settings.clone());
                settings.map(move |settings| (seed, settings))
            });
            measured.add(layout, trials);
            for (seed, &at) in seeds.flat_map(|seed| open.iter().map(move |at| (seed, at))) {
                let found = asked[at].pair(layout, beside, measured, seed);
                let found = found.unwrap_or_else(Pair::failed);
                pairs[at] = Some(match pairs[at].take() {
                    Some(pair) => pair.and(found),
                    None => found,
                });
            }
        }
        pairs.into_iter().flatten().collect()
    }

    /// Whether another seed is worth a try: it could change what is said, and there is time.
    fn may_change(&self) -> bool {
        !self.is_cut && self.is_open()
    }

    /// Whether another seed could change what is said.
    fn is_open(&self) -> bool {
        // A trial with an interval says itself how sure it is.
        let is_sure = self.seeds.iter().all(|of| of.interval_percent.is_some());
        let is_within = |log: f64, times: f64| log.abs() < times.ln();
        let says_little = match self.seeds.as_slice() {
            [_] => true,
            [one, other] => ![one, other].iter().all(|of| is_within(of.log_times, ALIKE_TIMES)),
            _ => {
                let (mean, half) = (self.log_mean(), self.log_half());
                mean.abs() <= half && !is_within(mean.abs() + half, WORTH_TIMES)
            }
        };
        self.times.is_some() && !is_sure && says_little
    }

    fn logs(&self) -> Vec<f64> {
        self.seeds.iter().map(|of| of.log_times).collect()
    }

    fn log_mean(&self) -> f64 {
        mean_sd(&self.logs()).0
    }

    /// How unsure the mean is for what other seeds say: how far apart two are, or of more half of the 95 % interval.
    fn log_half(&self) -> f64 {
        match self.logs().as_slice() {
            [] | [_] => 0.0,
            [one, other] => (one - other).abs().max(ALIKE_TIMES.ln()),
            logs => {
                let count = logs.len() as f64;
                t95(count - 1.0) * mean_sd(logs).1 / count.sqrt()
            }
        }
    }

    /// What the records with each value say; the manifests are those of the first alone, and of both.
    fn of(
        layout: &dyn Layout,
        both: &Both,
        [alone, manifest]: [&Manifest; 2],
        mut records: [Vec<Record>; 2],
    ) -> Result<Pair> {
        for (of, value) in records.iter_mut().zip(both.values) {
            for record in of {
                // The layout is the same in both; loads stay.
                record.at.retain(|path, _| !layout.chooses(path));
                record.at.insert(both.key.into(), Json::from(value));
            }
        }
        let late = records.each_ref().map(|of| late(of));
        let known = doubts(&Verdict::new(alone, &records[0], &layout.wishes())?);
        let mut records = records.concat();
        for (trial, record) in records.iter_mut().enumerate() {
            record.trial = trial;
        }
        let wishes = layout.wishes();
        let limited = Verdict::new(manifest, &records, &wishes)?;
        let unlimited = Wishes { subject_to: Vec::new(), ..wishes };
        let verdict = Verdict::new(manifest, &records, &unlimited)?;
        let [own, other] = both.values.map(|value| ranked(&verdict, both.key, value));
        let log_times =
            own.zip(other).map(|(own, other)| verdict.better.ahead(own.value, other.value));
        let intervals = || records.iter().map(|of| of.samples.get("interval_percent"));
        let interval_percent = intervals().sum::<Option<f64>>();
        Ok(Pair {
            times: log_times.map(f64::exp),
            seeds: log_times
                .map(|log_times| OfSeed { log_times, interval_percent })
                .into_iter()
                .collect(),
            failed: None,
            doubts: doubts(&verdict).into_iter().filter(|of| !known.contains(of)).collect(),
            keeps_limits: ranked(&limited, both.key, both.values[1]).is_some(),
            error_percent: intervals().flatten().sum(),
            better: verdict.better,
            unit: verdict.unit.clone(),
            rate: Rate::of(late),
            is_cut: false,
        })
    }

    /// What can be said where a trial failed.
    pub(crate) fn failed(why: String) -> Pair {
        let (better, unit) = (Better::Higher, String::new());
        let failed = Some(why);
        let (times, keeps_limits, doubts, seeds) = (None, true, Vec::new(), Vec::new());
        let (error_percent, rate, is_cut) = (0.0, Rate::default(), false);
        Pair {
            times,
            failed,
            keeps_limits,
            error_percent,
            doubts,
            better,
            unit,
            seeds,
            rate,
            is_cut,
        }
    }

    /// Of what need not be measured.
    pub(crate) fn unmeasured() -> Pair {
        Pair { failed: None, ..Pair::failed(String::new()) }
    }

    /// So many times better, for tests.
    #[cfg(test)]
    pub(crate) fn of_test(times: f64, error_percent: f64) -> Pair {
        let (better, unit) = (Better::Higher, "MB/s".to_string());
        let (keeps_limits, doubts) = (true, Vec::new());
        let seeds = vec![OfSeed { log_times: times.ln(), interval_percent: None }];
        let (times, failed) = (Some(times), None);
        let base = Pair::unmeasured();
        Pair { times, failed, keeps_limits, error_percent, doubts, better, unit, seeds, ..base }
    }

    /// Why it is not known how many times better it is.
    pub(crate) fn unknown(&self) -> String {
        match &self.failed {
            Some(why) if is_of_time(why) => why.clone(),
            Some(why) => format!("a trial failed: {why}"),
            None => "a trial did not settle".into(),
        }
    }

    /// How few seeds say it, where there was no time for more and these leave it open; else nothing.
    pub(crate) fn cut(&self) -> String {
        match self.seeds.len() {
            _ if !self.is_unsure() => String::new(),
            1 => " (with one seed: there was no time for more)".into(),
            count => format!(" (with {count} seeds: there was no time for more)"),
        }
    }

    pub(crate) fn is_unsure(&self) -> bool {
        self.is_cut && self.is_open()
    }

    /// The same with another seed's, too: in between, and as unsure as they are apart. Where three say something, one that
    /// failed or did not settle takes nothing from it.
    fn and(self, other: Pair) -> Pair {
        // A trial that did not begin says nothing of those before.
        if self.times.is_some() && other.failed.as_deref().is_some_and(is_of_time) {
            return Pair { is_cut: true, ..self };
        }
        if self.seeds.len() >= 3 && other.times.is_none() {
            return self;
        }
        let mut all = Pair {
            failed: self.failed.or(other.failed),
            keeps_limits: self.keeps_limits && other.keeps_limits,
            rate: self.rate.min(other.rate),
            seeds: [self.seeds, other.seeds].concat(),
            ..self
        };
        let intervals = all.seeds.iter().filter_map(|of| of.interval_percent);
        all.error_percent = intervals.fold(0.0, f64::max) + 100.0 * all.log_half().exp_m1();
        all.times = self.times.and(other.times).map(|_| all.log_mean().exp());
        all
    }

    /// Whether `times` is within what the two trials' own intervals may shift it by, or too few seeds say it.
    pub(crate) fn is_within_error(&self, times: f64) -> bool {
        self.is_unsure() || (times - 1.0) * 100.0 <= self.error_percent
    }

    /// How many times better it is with the second, where that is worth a setting of one's own.
    pub(crate) fn gain(&self) -> Option<f64> {
        let gains = self.times.map(|times| 1.0 / times).filter(|_| self.keeps_limits);
        gains.filter(|gains| *gains > WORTH_TIMES && !self.is_within_error(*gains))
    }

    /// Something so many times worse, in words.
    pub(crate) fn slower(&self, times: f64) -> String {
        slower(times, self.better, &self.unit)
    }
}

/// How many blocks that are due by a rate are late, where any are due.
fn late(of: &[Record]) -> Option<f64> {
    of.iter().map(|record| record.sample("underruns")).sum()
}

impl Rate {
    /// Of how many blocks are late with each value.
    fn of(late: [Option<f64>; 2]) -> Rate {
        match late {
            [Some(_), Some(0.0)] => Rate::Met,
            [Some(first), Some(second)] if second <= first => Rate::Kept,
            _ => Rate::Lost,
        }
    }
}

/// What a verdict rests on that nobody measured.
fn doubts(verdict: &Verdict) -> Vec<String> {
    let points = verdict.points.iter().filter(|point| point.about == "doubt");
    points.map(|point| point.text.clone()).collect()
}

/// The first line of what went wrong.
fn in_a_line(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}

/// The layout with this value of the key, where it may be chosen.
fn ranked<'a>(verdict: &'a Verdict, key: &str, value: &str) -> Option<&'a Ranked> {
    let is_it = |ranked: &&Ranked| {
        ranked.at.get(key).is_some_and(|stated| store::record::plain(stated) == value)
    };
    verdict.ranked.iter().find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beside::scheduler::BOTH;
    use crate::search::remembered::Sim;
    use lab::Keep;
    use lab::experiment::Experiment;
    use lab::run::Run;
    use std::cell::RefCell;

    /// Two seeds that do not agree are no gain; two that do may be luck, which a third shows, and three that differ.
    #[test]
    fn seeds_that_disagree_are_within_the_error() {
        let of = |times| Pair::of_test(times, 0.0);
        let all = |times: &[f64]| {
            times[1..].iter().fold(of(times[0]), |pair, &other| pair.and(of(other)))
        };
        let gain = |times: &[f64]| all(times).gain();
        assert!(gain(&[0.8, 0.82]).is_some_and(|gain| gain > 1.2));
        assert_eq!(gain(&[0.8, 1.0]), None);
        assert_eq!(gain(&[0.95]), None);
        assert_eq!(Pair { keeps_limits: false, ..of(0.5) }.gain(), None);
        assert_eq!(gain(&[0.8, 0.82, 1.1]), None);
        assert!(gain(&[0.8, 0.82, 0.81]).is_some_and(|gain| gain > 1.2));
        assert!(all(&[0.8]).may_change() && all(&[0.8, 0.82]).may_change());
        assert!(all(&[0.8, 0.82, 1.1]).may_change());
        assert!(!all(&[0.8, 0.82, 0.81]).may_change(), "sure enough");
        assert!(!all(&[1.02, 0.98]).may_change(), "nothing that counts");
        assert!(!Pair::failed("the guest ended".into()).may_change());
    }

    /// Half of the interval of three logarithms of ratios: 4.30 standard deviations over the root of three.
    #[test]
    fn three_seeds_have_an_interval() {
        let [low, high] = [0.9, 1.1].map(|times: f64| Pair::of_test(times, 0.0));
        let all = low.and(Pair::of_test(1.0, 0.0)).and(high);
        let half_log = 4.303 * 0.1004 / 3.0_f64.sqrt();
        assert!((all.error_percent - 100.0 * half_log.exp_m1()).abs() < 0.2, "{all:?}");
        assert!(all.is_within_error(1.2));
    }

    /// A layout that answers by the seed alone: how many times better it is with mq-deadline than with none; nothing where
    /// its trial fails.
    struct BySeed {
        times: fn(u64) -> Option<f64>,
        has_interval: bool,
        why: &'static str,
        asked: RefCell<Vec<(u64, Settings)>>,
    }

    impl BySeed {
        fn new(times: fn(u64) -> Option<f64>) -> Self {
            BySeed { times, has_interval: false, why: "it ended", asked: RefCell::default() }
        }

        fn experiment(settings: &Settings) -> Experiment {
            let text = "run.repeats = 1\n[volume]\ndrives = '2xwd740gd'\nlevel = 'md-mirror'\n\
                        [workload.take]\nkind = 'random'\ncount = 5\n";
            let mut experiment = Experiment::parse("test.toml", text).unwrap();
            for (key, value) in settings {
                experiment.set_values(key, value).unwrap();
            }
            experiment
        }

        /// The pair, and the seeds that were tried.
        fn pair(&self) -> (Pair, Vec<u64>) {
            let measured = &mut Measured::by_search(self);
            let pair = Pair::measure(self, &[BOTH], &Settings::new(), measured).remove(0);
            let asked = self.asked.borrow();
            let with_none = asked.iter().filter(|(_, settings)| !settings.is_empty());
            (pair, with_none.map(|(seed, _)| *seed).collect())
        }
    }

    impl Layout for BySeed {
        fn known(&self, _: u64) -> Vec<Record> {
            Vec::new()
        }

        fn leaves_open(&self, _: &str) -> bool {
            true
        }

        fn chooses(&self, _: &str) -> bool {
            false
        }

        fn measure(&self, asked: &[(u64, Settings)]) -> Vec<Result<Vec<Record>>> {
            self.asked.borrow_mut().extend(asked.iter().cloned());
            let measured = asked.iter().map(|(seed, settings)| {
                let times = (self.times)(*seed).ok_or_else(|| Error::failure(self.why))?;
                let experiment = BySeed::experiment(settings);
                let mut records =
                    lab::run(&experiment, &Sim, Keep::Nowhere, &mut |_| ())?.records();
                for record in &mut records {
                    // Luck that both trials of a seed have says nothing.
                    let luck = 10.0 * (*seed + 1) as f64;
                    let samples =
                        [("mb_per_s", if settings.is_empty() { times * luck } else { luck })];
                    record.samples = samples
                        .map(|(name, value)| (name.to_string(), value))
                        .into_iter()
                        .collect();
                    if self.has_interval {
                        record.samples.insert("interval_percent", 1.0);
                    }
                }
                Ok(records)
            });
            measured.collect()
        }

        fn manifest(&self, settings: &Settings) -> Result<Manifest> {
            Ok(Run::plan(&BySeed::experiment(settings), &Sim)?.manifest().clone())
        }

        fn wishes(&self) -> Wishes {
            Wishes { objectives: vec!["max take.mb_per_s".into()], ..Wishes::default() }
        }
    }

    #[test]
    fn as_many_seeds_are_tried_as_it_takes() {
        let sure = BySeed { has_interval: true, ..BySeed::new(|_| Some(0.5)) };
        let (pair, seeds) = sure.pair();
        assert_eq!((seeds, pair.error_percent), (vec![0], 2.0));
        let alike = |seed| Some(if seed == 0 { 1.02 } else { 0.99 });
        let (pair, seeds) = BySeed::new(alike).pair();
        assert_eq!(seeds, [0, 1]);
        assert!(pair.is_within_error(1.02) && !pair.is_within_error(1.06), "{pair:?}");
        // The same with three seeds, each with luck of its own.
        let (pair, seeds) = BySeed::new(|seed| Some(0.5 + 0.01 * seed as f64)).pair();
        assert_eq!(seeds, [0, 1, 2]);
        assert!(pair.gain().is_some_and(|gain| (gain - 1.0 / 0.51).abs() < 0.01), "{pair:?}");
        let wild = |seed| Some([0.5, 0.9, 1.4, 0.7, 1.1][seed as usize]);
        let (pair, seeds) = BySeed::new(wild).pair();
        assert_eq!((seeds, pair.gain()), (vec![0, 1, 2, 3, 4], None));
    }

    /// A trial that did not begin was said to have failed, and those before it were thrown away.
    #[test]
    fn what_there_was_no_time_for_takes_nothing_from_what_is_known() {
        let why = "there was no time for it (`--time-limit 60s`)";
        let of = |times| BySeed { why, ..BySeed::new(times) };
        let (pair, _) = of(|_| None).pair();
        assert_eq!((pair.unknown().as_str(), pair.cut()), (why, String::new()));
        let (pair, seeds) = of(|seed| Some(0.5).filter(|_| seed < 1)).pair();
        assert_eq!((seeds, pair.times), (vec![0, 1], Some(0.5)));
        assert_eq!(pair.cut(), " (with one seed: there was no time for more)");
        assert_eq!(pair.gain(), None, "one seed may be lucky");
        // Two that see no difference are enough.
        let (pair, seeds) = of(|seed| Some(1.01).filter(|_| seed < 2)).pair();
        assert_eq!((seeds, pair.cut()), (vec![0, 1], String::new()));
        let (pair, seeds) =
            of(|seed| Some([0.5, 0.9, 1.4][seed as usize]).filter(|_| seed < 2)).pair();
        assert_eq!((seeds, pair.seeds.len()), (vec![0, 1, 2], 2));
        assert!(pair.cut().contains("with 2 seeds"));
    }

    #[test]
    fn a_late_failure_takes_nothing_from_what_is_known() {
        let (pair, seeds) = BySeed::new(|_| None).pair();
        assert_eq!((seeds, pair.times), (vec![0], None));
        let fails_second: fn(u64) -> Option<f64> = |seed| Some(0.5).filter(|_| seed < 1);
        let (pair, seeds) = BySeed::new(fails_second).pair();
        assert_eq!((seeds, pair.times), (vec![0, 1], None));
        assert!(pair.unknown().contains("it ended"));
        let fails_late: fn(u64) -> Option<f64> =
            |seed| Some([0.5, 0.9, 1.4, 0.7, 1.1][seed as usize]).filter(|_| seed != 3);
        let (pair, seeds) = BySeed::new(fails_late).pair();
        assert_eq!((seeds.len(), pair.seeds.len(), pair.failed), (5, 4, None));
    }
}
