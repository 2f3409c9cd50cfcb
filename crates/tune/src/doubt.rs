//! Whether the choice holds if what was assumed is otherwise: a figure of the drive that is an estimate, or the load.
//!
//! One assumption at a time is varied, in short trials of the chosen layout and of its rival. Short trials err: what
//! counts is how far the change moves the two apart, added to what trials in full say of them.

use crate::Drives;
use crate::candidate::Candidate;
use crate::question::Question;
use crate::tried::{Settings, Tried};
use crate::why::Reason;
use crate::work::Knobs;
use lab::Result;
use lab::catalogue::{self, Kind, Value};
use lab::experiment::Experiment;
use serde::Serialize;
use store::quantity::Better;
use store::record::Record;
use toml::Table;
use verdict::tables::listed;
use verdict::{Verdict, judge::Ranked};

/// How far an estimate of a drive may be off.
const UNCERTAIN: f64 = 0.25;

/// Depths that are tried, where the work has one.
const DEPTHS: [u64; 5] = [1, 4, 16, 64, 256];

/// What is behind by no more than this is not behind, whatever models err by.
const EVEN: f64 = 0.05;

/// Trials that may err by more than this, as a share, say nothing.
const ERROR_MAX: f64 = 0.5;

/// Ends a trial: it needs to tell apart only what turns a choice.
const PRECISION: &str = "10%";

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

/// What is called `depth` in [`Doubt::what`].
const DEPTH: &str = "in flight";

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
}

/// An assumption to try.
struct Otherwise {
    what: String,
    assumed: f64,
    to: f64,
    question: Question,
}

/// Tries what was assumed otherwise. Nothing is tried where no difference counts: nothing can turn then.
pub(crate) fn doubts(
    tried: &Tried<'_>,
    best: (&Candidate, &Ranked),
    rival: (&Candidate, &Ranked),
    verdict: &Verdict,
) -> Result<Vec<Doubt>> {
    let limit = verdict.noise.half_width(best.1.trials, rival.1.trials).max(EVEN);
    if limit.is_infinite() {
        return Ok(Vec::new());
    }
    let mut all = assumptions(tried.question);
    if tried.question.writes() && [best.0, rival.0].iter().any(|of| of.level.has_stripe_cache()) {
        all.extend(processors(tried.question));
    }
    let mut doubts = Vec::new();
    for length in LENGTHS {
        if doubts.len() < all.len() {
            let longer = doubts_from(tried, (best, rival), &all, (limit, verdict.better), length)?;
            doubts = if longer.len() > doubts.len() { longer } else { doubts };
        }
    }
    Ok(doubts)
}

/// What trials of up to `length` requests say; none where they do not say how far they may err.
fn doubts_from(
    tried: &Tried<'_>,
    (best, rival): ((&Candidate, &Ranked), (&Candidate, &Ranked)),
    all: &[Otherwise],
    (limit, better): (f64, Better),
    length: &str,
) -> Result<Vec<Doubt>> {
    let mut experiments: Vec<Experiment> = Vec::new();
    for question in std::iter::once(tried.question).chain(all.iter().map(|of| &of.question)) {
        let experiment = question.experiment()?;
        for candidate in [best.0, rival.0] {
            experiments.push(shorter(tried, &experiment, candidate, length)?);
        }
    }
    let records = tried.run_experiments(&experiments, 0)?;
    // How far the two are apart, and the square of what that may be off by.
    let ahead = |pair: usize| -> Result<Option<(f64, f64)>> {
        let value = |place: usize| tried.value_of(&experiments[place], &records[place]);
        let (ours, theirs) = (value(2 * pair)?, value(2 * pair + 1)?);
        let halves = half(&records[2 * pair]).zip(half(&records[2 * pair + 1]));
        let apart = ours.zip(theirs).map(|(ours, theirs)| better.ahead(ours, theirs));
        Ok(apart.zip(halves.map(|(ours, theirs)| ours.powi(2) + theirs.powi(2))))
    };
    let Some((as_assumed, square)) = ahead(0)? else { return Ok(Vec::new()) };
    let in_full = Better::ahead(better, best.1.value, rival.1.value);
    let mut doubts = Vec::new();
    for (place, of) in all.iter().enumerate() {
        let Some((varied, own)) = ahead(place + 1)? else { continue };
        let now = in_full + varied - as_assumed;
        let error = (square + own).sqrt();
        // Buffered writes hardly settle in so short a time: such trials say nothing.
        if error > ERROR_MAX {
            continue;
        }
        doubts.push(Doubt {
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
    Ok(doubts)
}

/// Half of the widest 95 % interval that records have, as a share; none where one has none, because its trial ended
/// before its rate was steady.
fn half(records: &[Record]) -> Option<f64> {
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
    let knobs = question.work.knobs();
    let turned = |what: &str, assumed: u64, otherwise: u64, to: Knobs| {
        let mut question = question.clone();
        let is_turned = question.work.turn(&to).is_ok() && assumed != otherwise;
        is_turned.then(|| Otherwise {
            what: what.into(),
            assumed: assumed as f64,
            to: otherwise as f64,
            question,
        })
    };
    if let Some(depth) = knobs.depth {
        let to = |other: u64| Knobs { depth: Some(other), ..Knobs::default() };
        all.extend(DEPTHS.iter().filter_map(|&other| turned(DEPTH, depth, other, to(other))));
    }
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
        Otherwise { what, assumed: 100.0, to: percent.into(), question }
    })
}

/// The estimated figures of the drive, each a quarter less and more.
fn estimates(question: &Question) -> Vec<Otherwise> {
    let name = &question.drives.drive.name;
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
                _ => continue,
            };
            // What makes no drive, as a mean seek above the longest, is no way for it to be.
            let drive = catalogue::drive(&with_figures(name, &[(stated.key, otherwise)]));
            let Ok(drive) = drive else { continue };
            if assumed.to_bits() != otherwise.to_bits() {
                let drives = Drives { count: question.drives.count, drive };
                let question = Question { drives, ..question.clone() };
                all.push(Otherwise { what: stated.key.into(), assumed, to: otherwise, question });
            }
        }
    }
    all
}

/// A number with four digits that count.
fn rounded(number: f64) -> f64 {
    if number.abs() < f64::MIN_POSITIVE || !number.is_finite() {
        return number;
    }
    let scale = 10_f64.powi(3 - number.abs().log10().floor() as i32);
    (number * scale).round() / scale
}

/// A drive's name with figures that are otherwise.
pub(crate) fn with_figures(name: &str, figures: &[(&str, f64)]) -> String {
    let pairs: Vec<String> = figures.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let pairs = pairs.join(",");
    match name.strip_suffix(']') {
        Some(open) => format!("{open},{pairs}]"),
        None => format!("{name}[{pairs}]"),
    }
}

/// Where trials in full were made of a number in flight, against the same rival, they say whether the choice holds: short
/// ones miss more.
pub(crate) fn by_full_trials(
    doubts: &mut [Doubt],
    reasons: &[Reason],
    (better, even): (Better, f64),
) {
    for doubt in doubts.iter_mut().filter(|of| of.what == DEPTH) {
        let mechanism = format!("with {} {DEPTH}", doubt.otherwise);
        let Some(full) = reasons.iter().find(|of| of.mechanism == mechanism) else { continue };
        let ahead = better.ahead(full.best, full.other);
        doubt.ahead = ahead.exp();
        doubt.holds = ahead >= -even;
    }
}

/// What was tried, in lines: where the best changes with the load, and whether what was assumed turns the choice.
pub(crate) fn lines(doubts: &[Doubt]) -> Vec<(String, String)> {
    let (loads, others): (Vec<&Doubt>, Vec<&Doubt>) =
        doubts.iter().partition(|doubt| doubt.what == DEPTH);
    let mut lines: Vec<(String, String)> = Vec::new();
    if let Some(load) = load(&loads) {
        lines.push(("load".into(), load));
    }
    if let Some(first) = others.first() {
        lines.push(("sensitivity".into(), sensitivity(&others, &first.rival)));
    }
    lines
}

/// `above about 24 in flight … is ahead`: where the ratio passes 1 on a straight line, both axes logarithmic.
fn load(loads: &[&Doubt]) -> Option<String> {
    const NAMED: usize = 2;
    let first = loads.first()?;
    let mut said = Vec::new();
    // As it is assumed it holds: that is what was chosen.
    let (assumed, ahead) = (first.assumed, first.ahead_as_assumed);
    let assumed = Doubt { otherwise: assumed, holds: true, ahead, ..Doubt::clone(first) };
    let mut all: Vec<&Doubt> = loads.iter().copied().chain([&assumed]).collect();
    all.sort_by(|a, b| a.otherwise.total_cmp(&b.otherwise));
    let take = |where_to: String| format!("{where_to} in flight {} is ahead", first.rival);
    // A depth for which the choice holds is not one at which it turns, however near the two are there.
    let start_of = |depth: f64, holds_at: f64| {
        if depth.round() > holds_at {
            format!("about {depth:.0}")
        } else {
            format!("{holds_at:.0}")
        }
    };
    let mut turned_from = None;
    for two in all.windows(2).filter(|two| two[0].holds != two[1].holds) {
        let [low, high] = [two[0], two[1]];
        let [from, to] = [low.ahead.ln(), high.ahead.ln()];
        let apart = from - to;
        let share = if apart.abs() < f64::EPSILON { 0.5 } else { (from / apart).clamp(0.0, 1.0) };
        let depth = (low.otherwise.ln() + share * (high.otherwise / low.otherwise).ln()).exp();
        if low.holds {
            turned_from = Some(start_of(depth, low.otherwise));
            continue;
        }
        said.push(take(match turned_from.take() {
            Some(start) => format!("above {start} and below {depth:.0}"),
            None => format!("below about {depth:.0}"),
        }));
    }
    said.extend(turned_from.map(|start| take(format!("above {start}"))));
    said.truncate(NAMED);
    Some(match said.as_slice() {
        [] => {
            let error = loads.iter().map(|load| load.error).fold(0.0, f64::max);
            let tried = || loads.iter().map(|load| load.otherwise);
            format!(
                "the choice holds against {} from {} to {} in flight (the answer is for {}; short trials, which miss \
                 differences below {:.0} %)",
                first.rival,
                tried().fold(first.assumed, f64::min),
                tried().fold(first.assumed, f64::max),
                first.assumed,
                100.0 * error
            )
        }
        // Against one rival only, so that it is ahead, and not what to take.
        _ => format!(
            "{} (the answer is for {}; to choose for another number, ask with that)",
            said.join("; "),
            first.assumed
        ),
    })
}

fn sensitivity(others: &[&Doubt], rival: &str) -> String {
    let turned: Vec<String> = others
        .iter()
        .filter(|doubt| !doubt.holds)
        .map(|doubt| format!("{} {} (assumed: {})", doubt.otherwise, doubt.what, doubt.assumed))
        .collect();
    let mut names: Vec<&str> = others.iter().map(|doubt| doubt.what.as_str()).collect();
    names.dedup();
    let of_load = |name: &&&str| name.contains(' ');
    let load: Vec<String> = names.iter().filter(of_load).map(|name| (*name).into()).collect();
    let figures = names.len() - load.len();
    let percent = 100.0 * UNCERTAIN;
    let mut tried = Vec::new();
    match figures {
        0 => {}
        1 => tried.push(format!("the drive's one estimated figure (±{percent:.0} %)")),
        _ => tried.push(format!("the drive's {figures} estimated figures (±{percent:.0} %)")),
    }
    if !load.is_empty() {
        tried.push(listed(&load));
    }
    let error = others.iter().map(|doubt| doubt.error).fold(0.0, f64::max);
    let tried = format!(
        "varied one at a time in short trials (which miss differences below {:.0} %): {}",
        100.0 * error,
        tried.join("; ")
    );
    if turned.is_empty() {
        format!("the choice holds against {rival}; {tried}")
    } else {
        format!("changes to {rival} with {}; {tried}", listed(&turned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(what: &str, otherwise: f64, ahead: f64) -> Doubt {
        let holds = ahead >= 1.0;
        let rival = "B".into();
        let (what, ahead_as_assumed) = (what.into(), 1.2);
        Doubt { what, assumed: 16.0, otherwise, holds, ahead, ahead_as_assumed, error: 0.1, rival }
    }

    #[test]
    fn trials_that_do_not_say_how_far_they_may_err_say_nothing() {
        let records = |precision: &str, requests: u64| {
            let text = format!(
                "run = {{ precision = '{precision}', budget_requests = {requests} }}\nvolume.drives = '1xst18000nm000j'\n\
                 workload.r = {{ kind = 'random', block = '4KiB', reads_percent = 100 }}\n"
            );
            let experiment = Experiment::parse("x.toml", &text).unwrap();
            crate::tried::run_alone(&experiment, &lab::rig::sim::Sim).unwrap()
        };
        let half_of = |precision, requests| half(&records(precision, requests));
        assert!(half_of("10%", 1_000_000).is_some_and(|half| half > 0.0 && half <= 0.1));
        assert_eq!(half_of("0.1%", 30), None);
        let mixed = [records("10%", 1_000_000), records("0.1%", 30)].concat();
        assert_eq!((half(&mixed), half(&[])), (None, None));
    }

    #[test]
    fn where_the_choice_turns_is_said() {
        let doubts = [
            doubt("in flight", 4.0, 2.0),
            doubt("in flight", 64.0, 0.5),
            doubt("seek_average_ms", 6.0, 1.2),
            doubt("seek_average_ms", 10.0, 0.9),
        ];
        let lines = lines(&doubts);
        // From 16, where it is 1.2 times better, to 64, where it is half as good: 0.21 of the way, on logarithms.
        assert_eq!(
            lines[0].1,
            "above about 21 in flight B is ahead (the answer is for 16; to choose for another number, ask with that)"
        );
        assert_eq!(
            lines[1].1,
            "changes to B with 10 seek_average_ms (assumed: 16); varied one at a time in short trials \
             (which miss differences below 10 %): the drive's one estimated figure (±25 %)"
        );
        let held = super::lines(&[doubt("in flight", 1.0, 2.0), doubt("% reads", 85.0, 1.5)]);
        assert_eq!(
            held[0].1,
            "the choice holds against B from 1 to 16 in flight (the answer is for 16; short trials, which miss differences below 10 %)"
        );
        let text = &held[1].1;
        assert!(
            text.starts_with("the choice holds against B; varied") && text.ends_with(": % reads")
        );
        let turned = super::lines(&[doubt("in flight", 4.0, 0.5), doubt("in flight", 64.0, 0.5)]);
        assert_eq!(
            turned[0].1,
            "below about 12 in flight B is ahead; above about 21 in flight B is ahead (the answer is for 16; to choose for another \
             number, ask with that)"
        );
        // It turns only in between: 16 to 64 as above, and back from 64 to 256 half of the way.
        let between =
            super::lines(&[doubt("in flight", 64.0, 0.5), doubt("in flight", 256.0, 2.0)]);
        assert_eq!(
            between[0].1,
            "above about 21 and below 128 in flight B is ahead (the answer is for 16; to choose for another number, ask with that)"
        );
        assert!(super::lines(&[]).is_empty());
    }

    /// A page that says "from 1 to 256 in flight" and "with 1 in flight B would be ahead" contradicts itself.
    #[test]
    fn trials_in_full_say_whether_the_choice_holds() {
        let of = |mechanism: &str, best, other| Reason {
            mechanism: mechanism.into(),
            best,
            other,
            sentence: String::new(),
        };
        let said = |other| {
            let mut doubts = [doubt("in flight", 1.0, 1.1), doubt("in flight", 64.0, 2.0)];
            let reasons = [of("with 1 in flight", 93.0, other), of("without seeks", 1.0, 9.0)];
            by_full_trials(&mut doubts, &reasons, (Better::Higher, 0.05));
            lines(&doubts)[0].1.clone()
        };
        assert!(said(100.0).starts_with("below about 2 in flight B is ahead "), "{}", said(100.0));
        assert!(said(94.0).starts_with("the choice holds against B from 1 to 64 in flight"));
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
