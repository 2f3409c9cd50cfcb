//! Whether the choice holds if what was assumed is otherwise: a figure of the drive that is an estimate, or the load.
//!
//! One assumption at a time is varied, in short trials of the chosen layout and of its rival. Short trials err: what
//! counts is how far the change moves the two apart, added to what trials in full say of them.

pub(crate) mod estimates;
pub(crate) mod moved_figures;
pub(crate) mod turns;
pub(crate) mod what_if;

use crate::Drives;
use crate::question::Question;
use crate::question::candidate::Candidate;
use crate::question::in_flight::{DEPTH, in_flight_of};
use crate::question::work::Knobs;
use crate::reasons::counterfactual::{Reason, starves};
use crate::search::clock::Clock;
use crate::search::trials::{Settings, Tried};
use crate::words::with_figures;
use lab::Result;
use lab::catalogue::{self, Kind, Value};
use lab::experiment::Experiment;
use serde::Serialize;
use store::quantity::Better;
use store::record::Record;
use toml::Table;
use verdict::Verdict;
use verdict::judge::{Ranked, Standing};

/// How far an estimate of a drive may be off.
pub(crate) const UNCERTAIN: f64 = 0.25;

/// Requests in flight that are tried, of all jobs together, where the work has a number of them.
const DEPTHS: [u64; 5] = [1, 4, 16, 64, 256];

/// What is behind by no more than this is not behind, whatever models err by.
pub(crate) const EVEN: f64 = 0.05;

/// Trials that may err by more than this, as a share, say nothing.
const ERROR_MAX: f64 = 0.5;

/// Ends a trial: it needs to tell apart only what turns a choice.
const PRECISION: &str = "10%";

/// What is left for time: all of it, or the second trials.
const LEFT: &str =
    "whether the choice holds with other loads and with estimates of the drive otherwise";
const LEFT_LONGER: &str =
    "longer trials of what short ones could not tell (other loads, estimates of the drive)";

/// The longest that a trial may be, in requests: the second where the first tells nothing.
const LENGTHS: [&str; 2] = ["2000", "6000"];

/// Figures that are the drive itself, or no part of how fast it is.
const NOT_VARIED: [&str; 14] = [
    "year",
    "price_usd",
    "model_error_percent",
    "sectors",
    "physical_sector_bytes",
    "rpm",
    "heads",
    "cylinders",
    "outer_sectors_per_track",
    "inner_sectors_per_track",
    "zone_count",
    "reserve",
    "measured_host_us",
    "measured_bus_mb_per_s",
];

/// One assumption, otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doubt {
    /// What is assumed: a figure of the drive by its key, or a part of the load.
    pub what: String,
    /// As what.
    pub assumed: f64,
    /// As what it was tried.
    pub otherwise: f64,
    /// Whether the choice holds then: its rival is not ahead by more than models and short trials err.
    pub holds: bool,
    /// How many times better the chosen layout is then than its rival.
    pub ahead: f64,
    /// The same as it is assumed.
    pub ahead_as_assumed: f64,
    /// What short trials may err by in that, as a share.
    pub error: f64,
    /// The rival, to which the choice turns where it does not hold.
    pub rival: String,
    /// What the answer's own figure is then, as a multiple of what it is as assumed.
    pub itself: f64,
    /// Whether it is a figure of the drive that is on or off: 1 is on, and 0 off.
    #[serde(skip)]
    pub(crate) is_switch: bool,
    /// Whether trials in full say what the answer's own figure is then.
    #[serde(skip)]
    pub(crate) is_in_full: bool,
}

impl Doubt {
    /// Whether it is of a figure of the drive: those are keys, and parts of the load are words.
    pub(crate) fn is_of_figure(&self) -> bool {
        !self.is_of_load() && !self.what.contains([' ', '%'])
    }

    /// A value of what is assumed, as it is written.
    pub(crate) fn written(&self, value: f64) -> String {
        if self.is_switch { (value > 0.0).to_string() } else { value.to_string() }
    }

    /// Whether it is of the requests in flight.
    pub(crate) fn is_of_load(&self) -> bool {
        self.what.starts_with(DEPTH)
    }
}

/// An assumption to try.
struct Otherwise {
    what: String,
    assumed: f64,
    to: f64,
    is_switch: bool,
    question: Question,
}

/// Tries what was assumed otherwise. Nothing is tried where no difference counts: nothing can turn then.
pub(crate) fn doubts(
    tried: &Tried<'_>,
    best: Placed<'_>,
    rivals: &[Placed<'_>],
    (verdict, clock): (&Verdict, &Clock),
) -> Result<(Vec<Doubt>, Option<String>)> {
    let limit = |rival: &Placed<'_>| verdict.difference(best.1, rival.1).half.max(EVEN);
    let rivals: Vec<(Placed<'_>, f64)> =
        rivals.iter().map(|rival| (*rival, limit(rival))).filter(|of| of.1.is_finite()).collect();
    if rivals.is_empty() {
        return Ok((Vec::new(), None));
    }
    // What is known beforehand of another drive may not meet what must hold of this one.
    let question = &tried.question.as_measured()?;
    let mut all = assumptions(question);
    let mut layouts = rivals.iter().map(|((candidate, _), _)| *candidate).chain([best.0]);
    if tried.question.writes() && layouts.any(|of| of.level.has_stripe_cache()) {
        all.extend(processors(question));
    }
    all.retain(|of| of.question.experiment().is_ok());
    let (mut doubts, mut refused) = (Vec::new(), 0);
    for length in LENGTHS {
        // What is refused is not tried, and longer trials of it are refused, too.
        if doubts.len() + refused < all.len() * rivals.len() {
            let by = (verdict.better, clock);
            let Some((longer, of_these)) = doubts_from(tried, (best, &rivals), &all, by, length)?
            else {
                let what = if doubts.is_empty() { LEFT } else { LEFT_LONGER };
                return Ok((doubts, Some(what.into())));
            };
            refused = of_these;
            doubts = if longer.len() > doubts.len() { longer } else { doubts };
        }
    }
    Ok((doubts, None))
}

/// A layout, and how it is ranked.
pub(crate) type Placed<'a> = (&'a Candidate, &'a Ranked);

/// So many layouts are tried beside the chosen one.
const RIVALS_MAX: usize = 3;

/// Which of the `ranked` may be ahead of `best` under another load: what ties, and what stands within the interval of the next best,
/// the best of each level first. Where nothing is of another level, the next best.
pub(crate) fn rivals<'a>(best: &Candidate, ranked: &[Placed<'a>]) -> Vec<Placed<'a>> {
    let others = || ranked.iter().copied().filter(|(candidate, _)| *candidate != best);
    let of_another = others().find(|(candidate, _)| candidate.level != best.level);
    let Some(first) = of_another.or_else(|| others().next()) else { return Vec::new() };
    let farthest = |of: &Ranked| of.behind_interval.map_or(of.behind, |of| of.high);
    let nearest = |of: &Ranked| of.behind_interval.map_or(of.behind, |of| of.low);
    let reach = farthest(first.1);
    let is_near = |of: &Ranked| of.standing == Standing::Tie || nearest(of) <= reach;
    let near = || others().filter(|of| of.0 != first.0 && is_near(of.1));
    let mut rivals = vec![first];
    for of in near() {
        let is_new = |(other, _): &Placed<'_>| other.level != of.0.level;
        if of.0.level != best.level && rivals.iter().all(is_new) {
            rivals.push(of);
        }
    }
    // Another chunk of the same level may be, too.
    let own = near().find(|(candidate, _)| candidate.level == best.level);
    rivals.truncate(RIVALS_MAX - usize::from(own.is_some()));
    rivals.extend(own);
    rivals
}

/// How many pairs of a layout and a rival are refused under another load or figure: no record is of one of them. The first of so many
/// layouts is the chosen one, and the first load is that of the question.
fn refused(records: &[Vec<Record>], layouts: usize) -> usize {
    let of = |of: &[Vec<Record>]| match of {
        [chosen, rivals @ ..] if chosen.is_empty() => rivals.len(),
        [_, rivals @ ..] => rivals.iter().filter(|of| of.is_empty()).count(),
        [] => 0,
    };
    records.chunks(layouts).skip(1).map(of).sum()
}

/// What trials of up to `length` requests say, of each that says how far it may err, and how many were refused; nothing where the
/// time is over before all are run.
fn doubts_from(
    tried: &Tried<'_>,
    (best, rivals): (Placed<'_>, &[(Placed<'_>, f64)]),
    all: &[Otherwise],
    (better, clock): (Better, &Clock),
    length: &str,
) -> Result<Option<(Vec<Doubt>, usize)>> {
    let mut experiments: Vec<Experiment> = Vec::new();
    for question in std::iter::once(tried.question).chain(all.iter().map(|of| &of.question)) {
        let experiment = question.experiment()?;
        for candidate in std::iter::once(best.0).chain(rivals.iter().map(|((of, _), _)| *of)) {
            experiments.push(shorter(tried, &experiment, candidate, length)?);
        }
    }
    let Some(records) = tried.run_in_time(&experiments, clock)? else { return Ok(None) };
    // Each is a whole verdict, and asked for several times: beside every rival, and for what the answer's own figure becomes.
    let value = |(experiment, records): (&Experiment, &Vec<Record>)| match records.as_slice() {
        [] => Ok(None),
        records => tried.value_of(experiment, records),
    };
    let values: Vec<Option<f64>> =
        experiments.iter().zip(&records).map(value).collect::<Result<_>>()?;
    // How far the best and a rival are apart, and the square of what that may be off by.
    let ahead = |under: usize, rival: usize| -> Option<(f64, f64)> {
        let places = [0, 1 + rival].map(|of| under * (1 + rivals.len()) + of);
        if places.iter().any(|&place| records[place].is_empty()) {
            return None;
        }
        let [ours, theirs] = places.map(|place| values[place]);
        let halves = half(&records[places[0]]).zip(half(&records[places[1]]));
        let apart = ours.zip(theirs).map(|(ours, theirs)| better.ahead(ours, theirs));
        apart.zip(halves.map(|(ours, theirs)| ours.powi(2) + theirs.powi(2)))
    };
    let starves = |under: usize, rival: usize| {
        [0, 1 + rival].iter().any(|of| starves(&records[under * (1 + rivals.len()) + of]))
    };
    let mut doubts = Vec::new();
    for (nth, (rival, limit)) in rivals.iter().enumerate() {
        let is_told = starves(0, nth);
        let Some((as_assumed, square)) = ahead(0, nth) else { continue };
        let in_full = Better::ahead(better, best.1.value, rival.1.value);
        for (place, of) in all.iter().enumerate() {
            // Nobody is to choose by such figures; where the answer rests on them it says so.
            if !is_told && starves(place + 1, nth) {
                continue;
            }
            let Some((varied, own)) = ahead(place + 1, nth) else { continue };
            let now = in_full + varied - as_assumed;
            let error = (square + own).sqrt();
            // Buffered writes hardly settle in so short a time: such trials say nothing.
            if error > ERROR_MAX {
                continue;
            }
            let own = [0, place + 1].map(|under| values[under * (1 + rivals.len())]);
            let [Some(before), Some(then)] = own else { continue };
            doubts.push(Doubt {
                itself: then / before,
                is_switch: of.is_switch,
                is_in_full: false,
                what: of.what.clone(),
                assumed: of.assumed,
                otherwise: of.to,
                holds: now >= -(limit + error),
                ahead: now.exp(),
                ahead_as_assumed: in_full.exp(),
                error,
                rival: rival.0.name(),
            });
        }
    }
    Ok(Some((doubts, refused(&records, 1 + rivals.len()))))
}

/// Half of the widest 95 % interval that records have, as a share; none where one has none, because its trial ended
/// before its rate was steady.
pub(crate) fn half(records: &[Record]) -> Option<f64> {
    let own = |record: &Record| {
        let named = record.samples.iter().filter(|(name, _)| name.ends_with("interval_percent"));
        named.filter_map(|(_, value)| value).reduce(f64::max)
    };
    let widest = records.iter().map(own).reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)));
    widest.flatten().map(|percent| percent / 100.0)
}

/// The experiment of one layout, in a trial that is shorter still.
fn shorter(
    tried: &Tried<'_>,
    experiment: &Experiment,
    candidate: &Candidate,
    length: &str,
) -> Result<Experiment> {
    let short = [("run.precision", PRECISION), ("run.budget_requests", length)];
    let short = short.map(|(key, value)| (key.to_string(), value.to_string()));
    let settings: Settings = candidate.settings().into_iter().chain(short).collect();
    tried.settled(experiment, &settings, 0)
}

/// What a question assumes, each a quarter less and more, or another load.
fn assumptions(question: &Question) -> Vec<Otherwise> {
    let mut all = estimates(question);
    all.extend(loads(question));
    let knobs = question.work.knobs();
    let turned = |what: &str, assumed: u64, otherwise: u64, to: Knobs| {
        let mut question = question.clone();
        let is_turned = question.work.turn(&to).is_ok() && assumed != otherwise;
        is_turned.then(|| Otherwise {
            what: what.into(),
            assumed: assumed as f64,
            to: otherwise as f64,
            is_switch: false,
            question,
        })
    };
    if let Some(kib) = knobs.block_kib {
        let to = |other: u64| Knobs { block_kib: Some(other), ..Knobs::default() };
        let others = [(kib / 2).max(1), kib * 2];
        all.extend(others.iter().filter_map(|&kib2| turned("KiB a request", kib, kib2, to(kib2))));
    }
    if let Some(reads) = knobs.reads_percent {
        let to = |other: u64| Knobs { reads_percent: Some(other), ..Knobs::default() };
        let others = [reads.saturating_sub(15), (reads + 15).min(100)];
        all.extend(others.iter().filter_map(|&other| turned("% reads", reads, other, to(other))));
    }
    all
}

/// Other numbers of requests in flight.
fn loads(question: &Question) -> Vec<Otherwise> {
    let Some((assumed, stream)) = question.work.in_flight() else { return Vec::new() };
    let mut totals = vec![assumed.total()];
    let mut all = Vec::new();
    for to in DEPTHS.map(|total| assumed.with_total(total)) {
        // Whole jobs make one number of several.
        if totals.contains(&to.total()) {
            continue;
        }
        totals.push(to.total());
        let mut question = question.clone();
        question.work.put_in_flight(to);
        let what = in_flight_of(stream.as_deref());
        let (assumed, to) = (assumed.total() as f64, to.total() as f64);
        all.push(Otherwise { what, assumed, to, is_switch: false, question });
    }
    all
}

/// Processors that take half of the time for programs and md's parity, and twice as long.
fn processors(question: &Question) -> impl Iterator<Item = Otherwise> {
    const PERCENT: [u32; 2] = [50, 200];
    PERCENT.iter().map(|&percent| {
        let mut question = question.clone();
        let host = question.work.tables.entry("host").or_insert_with(|| Table::new().into());
        if let Some(host) = host.as_table_mut() {
            host.insert("cpu_percent".into(), percent.into());
        }
        let what = "% of the processors' time".into();
        Otherwise { what, assumed: 100.0, to: percent.into(), is_switch: false, question }
    })
}

/// An estimated figure of a drive, and another value that it may have.
pub(crate) struct Estimate {
    /// Its key.
    pub(crate) key: &'static str,
    assumed: f64,
    /// What it is tried as.
    pub(crate) otherwise: f64,
    is_switch: bool,
    /// The drive with the other value, by name.
    pub(crate) name: String,
}

impl Estimate {
    /// Whether the choice holds with it otherwise, as so called: `values` of the chosen layout and its rival, how many `times` as much each
    /// does then and how far that may be off, and from which difference on the rival is ahead. Nothing where trials say too little.
    pub(crate) fn doubt(
        &self,
        what: String,
        better: Better,
        values: [f64; 2],
        [own, other]: [(f64, f64); 2],
        (limit, rival): (f64, &str),
    ) -> Option<Doubt> {
        let as_assumed = better.ahead(values[0], values[1]);
        let now = better.ahead(values[0] * own.0, values[1] * other.0);
        let error = own.1.hypot(other.1);
        (error <= ERROR_MAX && now.is_finite()).then(|| Doubt {
            what,
            assumed: self.assumed,
            otherwise: self.otherwise,
            holds: now >= -(limit + error),
            ahead: now.exp(),
            ahead_as_assumed: as_assumed.exp(),
            error,
            rival: rival.into(),
            itself: own.0,
            is_switch: self.is_switch,
            is_in_full: false,
        })
    }

    /// What it is as assumed and otherwise, as both are written.
    pub(crate) fn written(&self) -> [String; 2] {
        let written =
            |value: f64| if self.is_switch { (value > 0.0).to_string() } else { value.to_string() };
        [self.assumed, self.otherwise].map(written)
    }
}

/// The estimated figures of the drive of this name, each a quarter less and more, or off where it is on.
pub(crate) fn estimated(name: &str) -> Vec<Estimate> {
    let Ok(described) = catalogue::describe(name) else { return Vec::new() };
    let is_estimate = |stated: &&catalogue::Stated| {
        stated.kind == Kind::Estimate && !NOT_VARIED.contains(&stated.key)
    };
    let mut all = Vec::new();
    for stated in described.figures.iter().filter(is_estimate) {
        for factor in [1.0 - UNCERTAIN, 1.0 + UNCERTAIN] {
            let (assumed, otherwise) = match stated.value {
                Value::Number(number) => (number, rounded(number * factor)),
                Value::Count(count) => (count as f64, (count as f64 * factor).round()),
                // What is off is the careful guess.
                Value::Switch(true) if factor < 1.0 => (1.0, 0.0),
                _ => continue,
            };
            let is_switch = matches!(stated.value, Value::Switch(_));
            let estimate =
                Estimate { key: stated.key, assumed, otherwise, is_switch, name: String::new() };
            let [_, written] = estimate.written();
            let name = with_figures(name, &[(stated.key, written)]);
            // What makes no drive, as a mean seek above the longest, is no way for it to be.
            if assumed.to_bits() != otherwise.to_bits() && catalogue::drive(&name).is_ok() {
                all.push(Estimate { name, ..estimate });
            }
        }
    }
    all
}

/// The question with the estimated figures of its drive otherwise.
fn estimates(question: &Question) -> Vec<Otherwise> {
    let otherwise = |of: Estimate| {
        let drive = catalogue::drive(&of.name).ok()?;
        let drives = Drives { drive, ..question.drives.clone() };
        let question = Question { drives, ..question.clone() };
        let Estimate { assumed, otherwise: to, is_switch, .. } = of;
        Some(Otherwise { what: of.key.into(), assumed, to, is_switch, question })
    };
    estimated(&question.drives.drive.name).into_iter().filter_map(otherwise).collect()
}

/// A number with four digits that count.
fn rounded(number: f64) -> f64 {
    if number.abs() < f64::MIN_POSITIVE || !number.is_finite() {
        return number;
    }
    let scale = 10_f64.powi(3 - number.abs().log10().floor() as i32);
    (number * scale).round() / scale
}

/// Where trials in full were made of a number in flight, against this rival, they say whether the choice holds: short
/// ones miss more.
pub(crate) fn by_full_trials(
    doubts: &mut [Doubt],
    rival: &Candidate,
    reasons: &[Reason],
    (better, even): (Better, f64),
) {
    let name = rival.name();
    for doubt in doubts.iter_mut().filter(|of| of.is_of_load() && of.rival == name) {
        let mechanism = format!("with {} {}", doubt.otherwise, doubt.what);
        let Some(full) = reasons.iter().find(|of| of.mechanism == mechanism) else { continue };
        let ahead = better.ahead(full.best, full.other);
        doubt.ahead = ahead.exp();
        doubt.holds = ahead >= -even;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;

    #[test]
    fn trials_that_do_not_say_how_far_they_may_err_say_nothing() {
        let records = |precision: &str, requests: u64| {
            let text = format!(
                "run = {{ precision = '{precision}', budget_requests = {requests} }}\nvolume.drives = '1xst18000nm000j'\n\
                 workload.r = {{ kind = 'random', block = '4KiB', reads_percent = 100 }}\n"
            );
            let experiment = Experiment::parse("x.toml", &text).unwrap();
            crate::search::trials::run_alone(&experiment, &crate::search::remembered::Sim).unwrap()
        };
        let half_of = |precision, requests| half(&records(precision, requests));
        assert!(half_of("10%", 1_000_000).is_some_and(|half| half > 0.0 && half <= 0.1));
        assert_eq!(half_of("0.1%", 30), None);
        let mixed = [records("10%", 1_000_000), records("0.1%", 30)].concat();
        assert_eq!((half(&mixed), half(&[])), (None, None));
    }

    /// The best of each other level that ties or stands as near as the next, and another chunk of one's own level.
    #[test]
    fn rivals_are_what_may_be_ahead_under_another_load() {
        let candidate = |level: &str, chunk| Candidate {
            level: level.parse().unwrap(),
            chunk,
            cache: crate::question::candidate::DEFAULT_CACHE,
        };
        let verdict = {
            let question = question("2x wd740gd", "restore", 1);
            let all = [candidate("md-mirror", "512KiB")];
            let watch = &mut |_| ();
            let mut tried =
                Tried::new(&question, &all, &crate::search::remembered::Sim, watch).unwrap();
            tried.measure(&[0], 0).unwrap();
            tried.verdict().unwrap()
        };
        let ranked = |behind: f64, standing| Ranked {
            behind,
            behind_interval: None,
            standing,
            ..verdict.ranked[0].clone()
        };
        let own = candidate("md-raid10", "512KiB");
        let chosen = |others: &[(&str, &'static str, f64, Standing)]| {
            let all: Vec<(Candidate, Ranked)> = others
                .iter()
                .map(|(level, chunk, behind, of)| (candidate(level, chunk), ranked(*behind, *of)))
                .collect();
            let placed: Vec<Placed<'_>> = all.iter().map(|(of, ranked)| (of, ranked)).collect();
            let rivals = rivals(&own, &placed);
            rivals.iter().map(|(of, _)| format!("{} {}", of.level, of.chunk)).collect::<Vec<_>>()
        };
        let [best, tie, behind] = [Standing::Best, Standing::Tie, Standing::Behind];
        let itself = ("md-raid10", "512KiB", 1.0, best);
        assert_eq!(chosen(&[itself]), [""; 0]);
        // Its own level alone has other chunks.
        let chunk = ("md-raid10", "64KiB", 1.02, tie);
        assert_eq!(chosen(&[itself, chunk]), ["md-raid10 64KiB"]);
        // The next of another level is one however far it is; what is farther is none.
        let [five, six] = [("md-raid5", "64KiB", 1.5, behind), ("md-raid6", "64KiB", 2.0, behind)];
        assert_eq!(chosen(&[itself, five, six]), ["md-raid5 64KiB"]);
        assert_eq!(chosen(&[itself, chunk, five]), ["md-raid5 64KiB", "md-raid10 64KiB"]);
        // What ties is one, each level once, and three are enough.
        let ties = [
            itself,
            ("md-raid10-f2", "64KiB", 1.01, tie),
            ("md-raid10-f2", "1MiB", 1.01, tie),
            ("md-raid10-o2", "64KiB", 1.02, tie),
            ("md-raid5", "64KiB", 1.02, tie),
            ("md-raid6", "64KiB", 1.03, tie),
        ];
        let three = ["md-raid10-f2 64KiB", "md-raid10-o2 64KiB", "md-raid5 64KiB"];
        assert_eq!(chosen(&ties), three);
        let with_own: Vec<_> = ties.into_iter().chain([chunk]).collect();
        assert_eq!(chosen(&with_own), [three[0], three[1], "md-raid10 64KiB"]);
    }

    /// Sixteen viewers with one request each have sixteen in flight, and one in flight is one viewer.
    #[test]
    fn all_jobs_count_in_flight() {
        let of = |drives: &str, work: &str| {
            let all = assumptions(&question(drives, work, 1));
            let own = all.into_iter().filter(|of| of.what.starts_with(DEPTH));
            own.map(|of| (of.what, of.assumed, of.to)).collect::<Vec<_>>()
        };
        let each = |to: f64| ("in flight".to_string(), 16.0, to);
        assert_eq!(of("4x i3en", "media"), [1.0, 4.0, 64.0, 256.0].map(each));
        let each = |to: f64| ("in flight for pages".to_string(), 16.0, to);
        assert_eq!(of("4x i3en", "postgres"), [1.0, 4.0, 64.0, 256.0].map(each));
        let all = assumptions(&question("4x i3en", "media", 1));
        let one = all.iter().find(|of| of.what == DEPTH && of.to < 2.0).unwrap();
        let media = one.question.work.tables["workload"]["media"].as_table().unwrap();
        assert_eq!(media["jobs"].as_integer(), Some(1));
    }

    #[test]
    fn numbers_have_four_digits() {
        let words = [0.287_500_000_1, 98.765_4, 0.0].map(|number| rounded(number).to_string());
        assert_eq!(words, ["0.2875", "98.77", "0"]);
    }

    #[test]
    fn figures_stand_in_brackets() {
        assert_eq!(with_figures("a", &[("b", 0.5), ("c", 2.0)]), "a[b=0.5,c=2]");
        assert_eq!(with_figures("gp3[iops=6000]", &[("b", 1.0)]), "gp3[iops=6000,b=1]");
    }
}
