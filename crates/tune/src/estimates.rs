//! How far the figures of an experiment's answer rest on estimates of its drives: the layout of the answer alone, in short
//! trials, with each estimated figure a quarter less and more, or off.

use crate::doubt::{Estimate, estimated, half};
use crate::posed::Posed;
use crate::space::{At, Open, Space, alone, run_all};
use crate::tried::{short_trial, take_as_steady};
use crate::turns::{CHOSEN, ERROR_MAX, Line, MOVES, Rests, rest};
use lab::Result;
use lab::experiment::Experiment;
use lab::rig::KINDS;
use lab::run::Run;
use store::Manifest;
use store::members::parse_members;
use store::record::{Record, plain};
use store::sample;
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
    /// Its layout.
    pub(crate) at: &'a At,
    /// What the objective says of that.
    pub(crate) value: f64,
    /// In what.
    pub(crate) unit: &'a str,
}

/// For each kind of drive the estimates that move the answer's figures; none where the model is not what measures, and of work that
/// short trials cannot cut short.
pub(crate) fn lines(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    answer: &Answer<'_>,
) -> Vec<Line> {
    let experiment = &space.experiment;
    if space.manifest.rig != KINDS[0].name
        || experiment.searches_a_rate()
        || !experiment.workloads.iter().all(|name| is_cut_short(experiment, name))
    {
        return Vec::new();
    }
    let own = answer.at.get(DRIVES).map(plain);
    let stated = || experiment.value(DRIVES).map(|value| value.to_string());
    let Some(drives) = own.or_else(stated) else { return Vec::new() };
    let Ok(members) = parse_members(&drives) else { return Vec::new() };
    let mut kinds: Vec<String> = members.into_iter().map(|member| member.drive).collect();
    kinds.sort();
    kinds.dedup();
    let line = |kind: &String| {
        let varied: Vec<(Estimate, String)> = estimated(kind)
            .into_iter()
            .filter(|of| !CHOSEN.contains(&of.key))
            .map(|of| (with_drive(&drives, kind, &of.name), of))
            .map(|(drives, of)| (of, drives))
            .collect();
        // What is refused is not modelled, and says nothing.
        let tried = Tried::new(posed, space, open, answer, &drives, &varied).ok().flatten()?;
        tried.line(answer, kind, &varied)
    };
    kinds.iter().filter_map(line).collect()
}

/// Whether a short trial of this workload ends early.
fn is_cut_short(experiment: &Experiment, name: &str) -> bool {
    let value = |key: &str| experiment.value(&format!("workload.{name}.{key}"));
    let kind = value("kind").map(|kind| kind.to_string());
    kind.is_some_and(|kind| CUT_SHORT.contains(&kind.as_str()))
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
        answer: &Answer<'_>,
        drives: &str,
        varied: &[(Estimate, String)],
    ) -> Result<Option<Tried>> {
        let mut changes: Vec<(String, String)> =
            short_trial(&space.experiment).map(|(key, value)| (key.into(), value.into())).into();
        changes.push(("run.repeats".into(), "1".into()));
        let assumed = with_drive(drives, "", "");
        let all = std::iter::once(&assumed).chain(varied.iter().map(|(_, drives)| drives));
        changes.push((DRIVES.into(), all.cloned().collect::<Vec<_>>().join(",")));
        let experiment = alone(&space.experiment, answer.at, &changes)?;
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
        let is_one = answer.unit != SHARE_OF_BEST && self.verdict.unit == answer.unit;
        let mut rests: Vec<Rests> = Vec::new();
        for (estimate, drives) in varied {
            let [assumed, otherwise] = estimate.written();
            let then = if is_one { self.value(answer.value, drives) } else { self.shares(drives) };
            if let Some(then) = then {
                Rests::add(&mut rests, estimate.key, assumed, format!("{then} with {otherwise}"));
            }
        }
        let what = if is_one {
            format!("the answer's {} {} rest", figure(answer.value), answer.unit)
        } else {
            "the answer's figures rest".into()
        };
        rest(&what, kind, &rests)
    }

    /// The answer's own `value` with other `drives`.
    fn value(&self, value: f64, drives: &str) -> Option<String> {
        let of = |drives: &str| {
            let mut ranked = self.verdict.ranked.iter();
            let is_it = |at: &At| at.get(DRIVES).is_some_and(|value| plain(value) == drives);
            ranked.find(|ranked| is_it(&ranked.at)).map(|ranked| ranked.value)
        };
        let times = of(drives)? / of(&self.assumed)?;
        let both: Vec<Record> = self.of(&self.assumed).chain(self.of(drives)).cloned().collect();
        moves(times, half(&both)?).then(|| figure(value * times))
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
        moves(times, error).then(|| format!("{stream} {} {}", name.trim(), percent(times)))
    }
}

/// Whether a figure that is so many `times` as much has moved by more than answers may leave unsaid, and than trials err.
fn moves(times: f64, error: f64) -> bool {
    error <= ERROR_MAX && (times - 1.0).abs() >= MOVES.max(error)
}

/// How much more or less: `+25 %`.
fn percent(times: f64) -> String {
    let percent = (100.0 * (times - 1.0)).round();
    if percent < 0.0 { format!("−{:.0} %", -percent) } else { format!("+{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posed::tests::asked;
    use lab::rig::sim::Sim;

    const VOLUMES: &str = "run.repeats = 1\nrun.precision = '10%'\nvolume.drives = '2xazure-p30:64GiB+2xazure-p30'\n\
                           volume.level = ['stripe', 'raid10']\n";

    fn said(work: &str) -> Vec<String> {
        let (posed, space, records) = asked(&format!("{VOLUMES}{work}"));
        let verdict = Verdict::new(&space.manifest, &records, &posed.wishes).unwrap();
        let first = &verdict.ranked[0];
        let answer = Answer { at: &first.at, value: first.value, unit: &verdict.unit };
        let all = lines(&posed, &space, &|_| Ok(Box::new(Sim)), &answer);
        all.into_iter().map(|(about, text)| format!("{about}: {text}")).collect()
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

    /// A short trial of work that has a length of its own is no short one.
    #[test]
    fn work_with_a_length_of_its_own_is_not_asked_again() {
        let work = "[workload.small]\nkind = 'random'\nblock = '8KiB'\ndepth = 4\ncount = 500\n";
        assert_eq!(said(work), [""; 0]);
    }

    #[test]
    fn other_drives_are_as_large() {
        let other = with_drive("2xa:1000 + b", "a", "a[c=1]");
        assert_eq!(other, "1xa[c=1]:1000+1xa[c=1]:1000+1xb");
    }
}
