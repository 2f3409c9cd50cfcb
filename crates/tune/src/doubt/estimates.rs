//! How far the figures of an experiment's answer rest on estimates of its drives: the layout of the answer alone, in short
//! trials, with each estimated figure a quarter less and more, or off.

use crate::doubt::turns::{CHOSEN, ERROR_MAX, MOVES, Rests, rest};
use crate::doubt::{Doubt, EVEN, Estimate, estimated, half};
use crate::question::posed::Posed;
use crate::search::clock::{Clock, is_of_time};
use crate::search::layouts::{At, Open, Space, alone, run_all};
use crate::search::trials::{short_trial, take_as_steady};
use crate::words::Line;
use lab::Result;
use lab::experiment::Experiment;
use lab::run::Run;
use std::cell::Cell;
use store::members::parse_members;
use store::record::{Record, plain};
use store::{Manifest, sample};
use verdict::judge::{Ranked, Standing};
use verdict::tables::{SHARE_OF_BEST, figure};
use verdict::{Verdict, Wishes};

/// The key of the drives.
const DRIVES: &str = "volume.drives";

/// Work that a short trial cuts short.
const CUT_SHORT: [&str; 2] = ["sequential", "random"];

/// Keys by which work has a length of its own.
const LENGTHS: [&str; 3] = ["count", "amount", "runtime"];

/// Trials at most, of all figures that are varied: more take longer than the answer.
const TRIALS_MAX: usize = 256;

/// What an experiment answers.
pub(crate) struct Answer<'a> {
    /// Its layout, and what the objective says of that.
    pub(crate) ranked: &'a Ranked,
    /// What it was judged by.
    pub(crate) verdict: &'a Verdict,
}

impl Answer<'_> {
    fn value(&self) -> f64 {
        self.ranked.value
    }

    fn unit(&self) -> &str {
        &self.verdict.unit
    }

    /// Layouts to which the choice may turn: the next one, and the best that is behind.
    fn rivals(&self) -> Vec<&Ranked> {
        let others = || self.verdict.ranked.iter().filter(|of| of.at != self.ranked.at);
        let next = others().next();
        let behind = others().find(|of| of.standing == Standing::Behind);
        let behind = behind.filter(|of| next.is_some_and(|next| next.at != of.at));
        next.into_iter().chain(behind).collect()
    }
}

/// What was found: lines on the answer's own figures, whether the choice holds, and whether trials were left for time.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) lines: Vec<Line>,
    pub(crate) doubts: Vec<Doubt>,
    pub(crate) is_cut: bool,
}

/// For each kind of drive the estimates that move the answer's figures, and whether the choice turns with them; none where the model is
/// not what measures, and of work that short trials cannot cut short. Once the clock is late no other layout's trials begin.
pub(crate) fn found(
    posed: &Posed,
    space: &Space,
    (open, clock): (&Open<'_>, &Clock),
    answer: &Answer<'_>,
) -> Found {
    if !is_asked(space) {
        return Found::default();
    }
    let Some(drives) = drives_of(space, &answer.ranked.at) else { return Found::default() };
    let rivals = answer.rivals();
    let all = rivals.iter().filter_map(|rival| Some((*rival, drives_of(space, &rival.at)?)));
    let rivals: Vec<(&Ranked, String)> = all.collect();
    let kinds = kinds_of_all([&drives].into_iter().chain(rivals.iter().map(|(_, drives)| drives)));
    let (mut lines, mut doubts) = (Vec::new(), Vec::new());
    let is_cut = Cell::new(false);
    for kind in &kinds {
        let estimates = || estimated(kind).into_iter().filter(|of| !CHOSEN.contains(&of.key));
        let varied = |drives: &str| -> Varied {
            estimates()
                .map(|of| {
                    let drives = with_drive(drives, kind, &of.name);
                    (of, drives)
                })
                .collect()
        };
        // What is refused is not modelled, and says nothing.
        let of_layout = |ranked: &Ranked, drives: &str| {
            let varied = varied(drives);
            if !varied.is_empty() && clock.is_late() {
                is_cut.set(true);
                return None;
            }
            let tried = Tried::new(posed, space, open, &ranked.at, drives, &varied);
            is_cut
                .set(is_cut.get() || tried.as_ref().is_err_and(|why| is_of_time(&why.to_string())));
            tried.ok().flatten().map(|tried| (tried, varied))
        };
        // A layout without such drives is what it is.
        let has = |drives: &str| kinds_of(drives).contains(kind);
        let own = has(&drives).then(|| of_layout(answer.ranked, &drives));
        if let Some(None) = own {
            continue;
        }
        let own = own.flatten();
        lines.extend(own.iter().filter_map(|(own, varied)| own.line(answer, kind, varied)));
        if answer.unit() == SHARE_OF_BEST {
            // Shares of what is best under each workload say nothing of two layouts that were measured apart.
            continue;
        }
        let name = |key: &str| if kinds.len() == 1 { key.into() } else { format!("{kind}.{key}") };
        for (rival, rivals_drives) in &rivals {
            let limit = answer.verdict.difference(answer.ranked, rival).half.max(EVEN);
            if !limit.is_finite() {
                continue;
            }
            let theirs = has(rivals_drives).then(|| of_layout(rival, rivals_drives));
            if matches!(theirs, Some(None)) || (own.is_none() && theirs.is_none()) {
                continue;
            }
            let theirs = theirs.flatten();
            for (place, estimate) in estimates().enumerate() {
                let (own, other) =
                    (times_of(own.as_ref(), place), times_of(theirs.as_ref(), place));
                let Some((own, other)) = own.zip(other) else { continue };
                let ends = [answer.value(), rival.value];
                doubts.extend(estimate.doubt(
                    name(estimate.key),
                    answer.verdict.better,
                    ends,
                    [own, other],
                    (limit, &rival.label),
                ));
            }
        }
    }
    Found { lines, doubts, is_cut: is_cut.get() }
}

/// Whether the model is what measures, and short trials cut the work short.
fn is_asked(space: &Space) -> bool {
    let experiment = &space.experiment;
    space.manifest.host_is_modelled()
        && !experiment.searches_a_rate()
        && experiment.workloads.iter().all(|name| is_cut_short(experiment, name))
}

/// Drives with each estimate of a kind otherwise.
type Varied = Vec<(Estimate, String)>;

/// How many times as much a layout does with the estimate at `place` otherwise; without such drives it is what it is.
fn times_of(tried: Option<&(Tried, Varied)>, place: usize) -> Option<(f64, f64)> {
    tried.map_or(Some((1.0, 0.0)), |(tried, varied)| tried.times(&varied[place].1))
}

/// The kinds of drive of all, those of the first layout first.
fn kinds_of_all<'a>(all: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for kind in all.flat_map(|drives| kinds_of(drives)) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The drives of a layout.
fn drives_of(space: &Space, at: &At) -> Option<String> {
    let stated = || space.experiment.value(DRIVES).map(|value| value.to_string());
    at.get(DRIVES).map(plain).or_else(stated)
}

/// The names of their kinds.
fn kinds_of(drives: &str) -> Vec<String> {
    let members = parse_members(drives).unwrap_or_default().into_iter();
    let mut kinds: Vec<String> = members.map(|member| member.drive).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

/// Whether a short trial of this workload ends early, and says what a whole one does: through the page cache one ends in caches.
fn is_cut_short(experiment: &Experiment, name: &str) -> bool {
    let value = |key: &str| experiment.value(&format!("workload.{name}.{key}"));
    let kind = value("kind").map(|kind| kind.to_string());
    let is_buffered = value("direct").is_some_and(|direct| direct.to_string() == "false");
    kind.is_some_and(|kind| CUT_SHORT.contains(&kind.as_str()))
        && !is_buffered
        && LENGTHS.iter().all(|key| value(key).is_none())
}

/// A list of members with another drive wherever it has `kind`.
fn with_drive(drives: &str, kind: &str, other: &str) -> String {
    let members = parse_members(drives).unwrap_or_default().into_iter().map(|member| {
        let drive = if member.drive == kind { other } else { &member.drive };
        match member.sectors {
            Some(sectors) => format!("1x{drive}:{sectors}"),
            None => format!("1x{drive}"),
        }
    });
    members.collect::<Vec<_>>().join("+")
}

/// The answer's layout, with the drives as they are and with each estimate otherwise.
struct Tried {
    manifest: Manifest,
    /// The drives as they are, as the records have them.
    assumed: String,
    records: Vec<Record>,
    verdict: Verdict,
}

impl Tried {
    /// Nothing where there is nothing to vary, or too much.
    fn new(
        posed: &Posed,
        space: &Space,
        open: &Open<'_>,
        at: &At,
        drives: &str,
        varied: &[(Estimate, String)],
    ) -> Result<Option<Tried>> {
        let mut changes: Vec<(String, String)> =
            short_trial(&space.experiment).map(|(key, value)| (key.into(), value.into())).into();
        changes.push(("run.repeats".into(), "1".into()));
        let assumed = with_drive(drives, "", "");
        let all = std::iter::once(&assumed).chain(varied.iter().map(|(_, drives)| drives));
        changes.push((DRIVES.into(), all.cloned().collect::<Vec<_>>().join(",")));
        let experiment = alone(&space.experiment, at, &changes)?;
        let rig = open(&experiment)?;
        let run = Run::plan(&experiment, &*rig)?;
        if varied.is_empty() || run.trials().len() > TRIALS_MAX {
            return Ok(None);
        }
        run.admit()?;
        let manifest = run.manifest().asked(&[DRIVES.to_string()])?;
        let mut records = run_all(experiment, open, 0, |_| false)?;
        take_as_steady(&mut records);
        let wishes = Wishes { safe: false, subject_to: Vec::new(), ..posed.wishes.clone() };
        let wishes = Wishes { choose: vec![DRIVES.into()], ..wishes };
        let verdict = Verdict::new(&manifest, &records, &wishes)?;
        Ok(Some(Tried { manifest, assumed, records, verdict }))
    }

    fn of<'a>(&'a self, drives: &'a str) -> impl Iterator<Item = &'a Record> {
        let is_it =
            move |of: &&Record| of.at.get(DRIVES).is_some_and(|value| plain(value) == drives);
        self.records.iter().filter(is_it)
    }

    /// What the answer's figures are with each estimate otherwise, where they move by more than trials err.
    fn line(&self, answer: &Answer<'_>, kind: &str, varied: &[(Estimate, String)]) -> Option<Line> {
        let is_one = answer.unit() != SHARE_OF_BEST && self.verdict.unit == answer.unit();
        let mut rests: Vec<Rests> = Vec::new();
        for (estimate, drives) in varied {
            let [assumed, otherwise] = estimate.written();
            let then =
                if is_one { self.value(answer.value(), drives) } else { self.shares(drives) };
            if let Some(then) = then {
                Rests::add(&mut rests, estimate.key, assumed, format!("{then} with {otherwise}"));
            }
        }
        let what = if is_one {
            format!("the answer's {} {} rest", figure(answer.value()), answer.unit())
        } else {
            "the answer's figures rest".into()
        };
        rest(&what, kind, &rests, "short trials")
    }

    /// How many times as much it does with other `drives`, and half of the interval of that.
    fn times(&self, drives: &str) -> Option<(f64, f64)> {
        let of = |drives: &str| {
            let mut ranked = self.verdict.ranked.iter();
            let is_it = |at: &At| at.get(DRIVES).is_some_and(|value| plain(value) == drives);
            ranked.find(|ranked| is_it(&ranked.at)).map(|ranked| ranked.value)
        };
        let times = of(drives)? / of(&self.assumed)?;
        let both: Vec<Record> = self.of(&self.assumed).chain(self.of(drives)).cloned().collect();
        Some((times, half(&both)?))
    }

    /// The answer's own `value` with other `drives`.
    fn value(&self, value: f64, drives: &str) -> Option<String> {
        let (times, error) = self.times(drives)?;
        moves(times, error).then(|| figure(value * times))
    }

    /// By how much each workload's figure moves with other `drives`; of several loads, the middle of them.
    fn shares(&self, drives: &str) -> Option<String> {
        let mut said: Vec<String> = Vec::new();
        let mut told: Vec<(&str, &str)> = Vec::new();
        for record in self.of(&self.assumed) {
            for judged in self.manifest.judged(record) {
                if !told.contains(&judged) {
                    told.push(judged);
                    said.extend(self.share(judged, &record.workload, drives));
                }
            }
        }
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// The same of one `sample` of a stream.
    fn share(&self, (stream, sample): (&str, &str), group: &str, drives: &str) -> Option<String> {
        let rest = |record: &Record| {
            let own = record.at.iter().filter(|(path, _)| *path != DRIVES);
            own.map(|(path, value)| format!("{path}={}", plain(value))).collect::<Vec<_>>()
        };
        let (mut times, mut error) = (Vec::new(), 0.0_f64);
        for before in self.of(&self.assumed).filter(|of| of.workload == group) {
            let is_like = |of: &&Record| of.workload == group && rest(of) == rest(before);
            let then = self.of(drives).find(is_like)?;
            times.push(then.sample(sample)? / before.sample(sample)?);
            error = error.max(half(&[before.clone(), then.clone()])?);
        }
        let times = verdict::stats::median(&times)?;
        let of = sample::find(sample.rsplit('.').next()?)?;
        let name = [&of.called.replace('_', " "), of.unit].map(str::to_string).join(" ");
        moves(times, error)
            .then(|| format!("{stream} {} {}", name.trim(), change_in_percent(times)))
    }
}

/// Whether a figure that is so many `times` as much has moved by more than answers may leave unsaid, and than trials err.
fn moves(times: f64, error: f64) -> bool {
    error <= ERROR_MAX && (times - 1.0).abs() >= MOVES.max(error)
}

/// How much more or less: `+25 %`.
fn change_in_percent(times: f64) -> String {
    let percent = (100.0 * (times - 1.0)).round();
    if percent < 0.0 { format!("−{:.0} %", -percent) } else { format!("+{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::posed::tests::asked;
    use crate::search::remembered::Sim;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const VOLUMES: &str = "run.repeats = 1\nrun.precision = '10%'\nvolume.drives = '2xazure-p30:64GiB+2xazure-p30'\n\
                           volume.level = ['stripe', 'raid10']\n";

    fn said(work: &str) -> Vec<String> {
        let (posed, space, records) = asked(&format!("{VOLUMES}{work}"));
        let verdict = Verdict::new(&space.manifest, &records, &posed.wishes).unwrap();
        let answer = Answer { ranked: &verdict.ranked[0], verdict: &verdict };
        let open: &Open<'_> = &|_| Ok(Box::new(Sim));
        let all = found(&posed, &space, (open, &Clock::default()), &answer).lines;
        all.into_iter().map(|(about, text)| format!("{about}: {text}")).collect()
    }

    /// With time for one layout's trials its rival is not tried, and that is said.
    #[test]
    fn no_layouts_trials_begin_late() {
        let small = "[workload.small]\nkind = 'random'\nblock = '8KiB'\ndepth = 4\n";
        let (posed, space, records) = asked(&format!("{VOLUMES}{small}"));
        let verdict = Verdict::new(&space.manifest, &records, &posed.wishes).unwrap();
        let answer = Answer { ranked: &verdict.ranked[0], verdict: &verdict };
        let open: &Open<'_> = &|_| Ok(Box::new(Sim));
        let of = |layouts: usize| {
            let asked = AtomicUsize::new(0);
            let clock = Clock::default()
                .what_if("1s", move || f64::from(asked.fetch_add(1, Ordering::Relaxed) >= layouts));
            let found = found(&posed, &space, (open, &clock), &answer);
            (found.lines.len(), found.doubts.is_empty(), found.is_cut)
        };
        assert_eq!([0, 1, 2].map(of), [(0, true, true), (1, true, true), (1, false, false)]);
    }

    /// Nobody measured how long a P30 takes, and an experiment's answer did not say that its figure is that guess.
    #[test]
    fn an_experiment_says_which_estimates_decide_its_figures() {
        let small = "[workload.small]\nkind = 'random'\nblock = '8KiB'\ndepth = 4\n";
        let one = said(small);
        let [line] = one.as_slice() else { panic!("{one:?}") };
        assert!(line.starts_with("doubt: the answer's "), "{line}");
        let figures = " MB/s rest on estimates of azure-p30: latency_p50_us = 1800 (";
        assert!(line.contains(figures) && line.contains(" with 1350, "), "{line}");
        // What the volumes are paid for is no guess, and several workloads have no figure in common.
        let long = "[workload.long]\nkind = 'sequential'\nblock = '1MiB'\ndepth = 32\n";
        let several = said(&format!("{small}{long}"));
        let [line] = several.as_slice() else { panic!("{several:?}") };
        assert!(line.contains("the answer's figures rest on estimates of azure-p30: "), "{line}");
        assert!(
            line.contains("(small MB/s +") && line.contains(" with 1350, small MB/s −"),
            "{line}"
        );
        assert!(!line.contains("long"), "{line}");
    }

    /// Three disks under `backup` were to make 599 MB/s with another head switch, of 549 that their media carry.
    #[test]
    fn work_through_the_page_cache_is_not_asked_in_short_trials() {
        let of = |direct: &str| {
            let text = format!(
                "volume.drives = '2xwd740gd'\nvolume.level = 'md-stripe'\n[workload.w]\nkind = 'sequential'\nop = 'write'\n{direct}"
            );
            is_cut_short(&Experiment::parse("some.toml", &text).unwrap(), "w")
        };
        assert_eq!(["", "direct = true\n", "direct = false\n"].map(of), [true, true, false]);
    }

    /// A short trial of work that has a length of its own is no short one.
    #[test]
    fn work_with_a_length_of_its_own_is_not_asked_again() {
        let work = "[workload.small]\nkind = 'random'\nblock = '8KiB'\ndepth = 4\ncount = 500\n";
        assert_eq!(said(work), [""; 0]);
    }

    /// An experiment's answer said nothing of whether the choice holds: `sensitivity` was empty.
    #[test]
    fn an_experiment_says_whether_its_choice_holds() {
        let of = |levels: &str| {
            let (posed, space, records) = asked(&format!(
                "run.repeats = 1\nrun.precision = '10%'\nvolume.drives = '3xazure-p30'\nvolume.level = {levels}\n\
                 [workload.small]\nkind = 'random'\nblock = '8KiB'\ndepth = 4\n"
            ));
            let verdict = Verdict::new(&space.manifest, &records, &posed.wishes).unwrap();
            let answer = Answer { ranked: &verdict.ranked[0], verdict: &verdict };
            let open: &Open<'_> = &|_| Ok(Box::new(Sim));
            found(&posed, &space, (open, &Clock::default()), &answer).doubts
        };
        let doubts = of("['md-stripe', 'md-mirror']");
        let latency: Vec<&Doubt> = doubts.iter().filter(|of| of.what == "latency_p50_us").collect();
        let [less, more] = latency.as_slice() else { panic!("{doubts:?}") };
        let figures = [less.assumed, less.otherwise, more.otherwise].map(|of| of.to_string());
        assert_eq!(figures, ["1800", "1350", "2250"]);
        assert!(less.itself > 1.1 && more.itself < 0.95, "{doubts:?}");
        // Both layouts wait for the same volumes: what moves one moves the other.
        assert!(
            latency.iter().all(|of| of.holds && !of.rival.is_empty() && of.error < 0.5),
            "{doubts:?}"
        );
        assert!(
            latency.iter().all(|of| (of.ahead / of.ahead_as_assumed).ln().abs() < 0.3),
            "{doubts:?}"
        );
        assert_eq!(of("'md-stripe'"), []);
    }

    /// A kind of drive that only the other layout has was not varied.
    #[test]
    fn the_estimates_of_a_rivals_own_drives_are_varied() {
        let (posed, space, records) = asked(
            "run.repeats = 1\nrun.precision = '10%'\nvolume.drives = ['3xp4800x-375gb', '3xazure-p30']\n\
             volume.level = 'md-stripe'\n[workload.small]\nkind = 'random'\nblock = '8KiB'\ndepth = 4\n",
        );
        let verdict = Verdict::new(&space.manifest, &records, &posed.wishes).unwrap();
        let answer = Answer { ranked: &verdict.ranked[0], verdict: &verdict };
        assert_eq!(answer.ranked.at[DRIVES], "3xp4800x-375gb");
        let open: &Open<'_> = &|_| Ok(Box::new(Sim));
        let doubts = found(&posed, &space, (open, &Clock::default()), &answer).doubts;
        let latency = |of: &&Doubt| of.what == "azure-p30.latency_p50_us";
        let [less, more] = doubts.iter().filter(latency).collect::<Vec<_>>()[..] else {
            panic!("{doubts:?}")
        };
        // The answer's own drives are what they are; the other layout is nearer with less latency, and farther with more.
        assert!((less.itself - 1.0).abs() + (more.itself - 1.0).abs() < 1e-9, "{doubts:?}");
        assert!(less.ahead < less.ahead_as_assumed && more.ahead > more.ahead_as_assumed);
        assert!(less.holds && more.holds, "{doubts:?}");
    }

    #[test]
    fn other_drives_are_as_large() {
        let other = with_drive("2xa:1000 + b", "a", "a[c=1]");
        assert_eq!(other, "1xa[c=1]:1000+1xa[c=1]:1000+1xb");
    }
}
