//! What each layout of the front does while a member is down: trials with the same seeds, and the first member failed.
//!
//! Nothing is said where that is not modelled: through the page cache only whole volumes are. What does not settle says
//! nothing either, as everywhere.

use crate::front::more_spares::{Groups, MoreSpares};
use crate::front::row::FrontRow;
use crate::front::{self, commits, spares};
use crate::question::candidate::Candidate;
use crate::question::posed::Posed;
use crate::search::clock::{For, is_of_time};
use crate::search::layouts::{At, Open, Space, alone, run_all};
use crate::search::trials::{Tried, is_at};
use lab::experiment::{Experiment, Trial};
use lab::run::Run;
use lab::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use store::Manifest;
use store::quantity::Better;
use store::record::{Record, plain};
use verdict::judge::{Ranked, Standing};
use verdict::stats::median;
use verdict::tables::{SHARE_OF_BEST, figure, slower};
use verdict::{Verdict, Wishes};

/// What a line of the answer is about, and its text.
type Line = (String, String);

/// The rows of a front, and what is said of them with a failed member.
pub(crate) type Front = (Vec<FrontRow>, Vec<Line>);

/// The key, and the member that fails: of equal drives it may be any.
const FAILED: (&str, &str) = ("volume.failed", "0");

/// No member has.
const WHOLE: &str = "none";

/// Seeds at most of each layout.
const SEEDS: usize = 3;

/// What loses more than this part of its speed is said to.
const MUCH_TIMES: f64 = 2.0;

/// The front of a question, each row with its speed with a failed member; and what is said of that of the `best`.
pub(crate) fn front(
    tried: &Tried<'_>,
    verdict: &Verdict,
    best: &Candidate,
    groups: Option<&Groups>,
) -> Result<Front> {
    let mut rows = front::front(tried.question, verdict, best, groups)?;
    let (others, with_spares): (Vec<MoreSpares>, Vec<FrontRow>) =
        spares::measured(tried, verdict, &rows)?.into_iter().unzip();
    for row in with_spares {
        row.stand_among(&mut rows, verdict.better);
    }
    let others: Vec<&MoreSpares> = others.iter().chain(groups.map(|groups| &groups.with)).collect();
    let is_modelled = of_question(tried, &others, &mut rows)?;
    let is_best = |row: &FrontRow| is_at(best, &row.at) && row.spares == tried.question.spares;
    let lines = lines(&rows, is_best, verdict.better, is_modelled);
    Ok((rows, lines))
}

/// Gives each row of a question's front what its streams make of commits, and measures those that survive a failure, those of
/// `others` over the members in use; whether any could be.
fn of_question(tried: &Tried<'_>, others: &[&MoreSpares], rows: &mut [FrontRow]) -> Result<bool> {
    let mut asked: Vec<(usize, (u64, Experiment))> = Vec::new();
    let mut whole: BTreeMap<usize, Vec<Record>> = BTreeMap::new();
    for (place, row) in rows.iter_mut().enumerate() {
        let (experiment, candidates, records) = match others.iter().find(|of| of.has(row)) {
            Some(of) => (&of.experiment, of.candidates.as_slice(), &of.records),
            None => (&tried.experiment, tried.candidates, &tried.records),
        };
        let Some(candidate) = candidates.iter().find(|of| is_at(of, &row.at)) else { continue };
        let own = || records.iter().filter(|record| is_at(candidate, &record.at));
        row.commits = commits::of_layout(own());
        row.commands = commands(own()).map(|whole| [whole; 2]);
        if row.survives == 0 {
            continue;
        }
        let mut settings = candidate.settings();
        settings.push((FAILED.0.into(), FAILED.1.into()));
        let seeds: BTreeSet<u64> = own().map(|record| record.repeat).collect();
        whole.insert(place, own().cloned().collect());
        for seed in seeds.into_iter().take(SEEDS) {
            asked.push((place, (seed, tried.settled(experiment, &settings, seed)?)));
        }
    }
    let experiments: Vec<(u64, Experiment)> = asked.iter().map(|(_, of)| of.clone()).collect();
    let ran = tried.run_each(&experiments);
    for (place, row) in rows.iter_mut().enumerate() {
        let own = asked.iter().zip(&ran).filter(|((of, _), _)| *of == place);
        let Some(((_, (_, experiment)), _)) = own.clone().next() else { continue };
        let records: std::result::Result<Vec<&Vec<Record>>, &Error> =
            own.map(|(_, ran)| ran.as_ref()).collect();
        // What is refused is not modelled.
        let Ok(records) = records else { continue };
        let records: Vec<Record> = records.into_iter().flatten().cloned().collect();
        let whole = whole.remove(&place).unwrap_or_default();
        row.degraded = if row.unit == SHARE_OF_BEST {
            share(tried, others, row, &records)
        } else {
            let manifest = Run::plan(experiment, tried.rig())?.manifest().clone();
            value(&manifest, &records, tried.wishes())
        };
        // A side line: where it cannot be judged it is not said, and the answer stands.
        row.is_faster_degraded = is_faster(tried, experiment, &whole, &records).unwrap_or(false);
        row.commands =
            row.commands.zip(commands(records.iter())).map(|([whole, _], own)| [whole, own]);
    }
    // What there was no time for says nothing of what is modelled.
    Ok(asked.is_empty() || ran.iter().any(|ran| ran.as_ref().map_or_else(is_left_out, |_| true)))
}

/// Where a row of several workloads stands with a member failed: a share of the best, as all rows are; where it is
/// faster than all whole layouts, of its own. Beside itself alone it would always be the best. None where that cannot
/// be judged.
fn share(
    tried: &Tried<'_>,
    others: &[&MoreSpares],
    row: &FrontRow,
    failed: &[Record],
) -> Option<f64> {
    let (experiment, records) = match others.iter().find(|of| of.has(row)) {
        Some(of) => (&of.experiment, &of.records),
        None => (&tried.experiment, &tried.records),
    };
    let mut both = experiment.clone();
    both.set_values(FAILED.0, &format!("{WHOLE},{}", FAILED.1)).ok()?;
    let choices: Vec<String> = row.at.keys().cloned().chain([FAILED.0.into()]).collect();
    let manifest = Run::plan(&both, tried.rig()).ok()?.manifest().asked(&choices).ok()?;
    let with = |record: &Record, at: &At, value: &str| {
        let mut record = record.clone();
        record.at.extend(at.clone());
        record.at.insert(FAILED.0.into(), value.into());
        record
    };
    let whole = records.iter().map(|record| with(record, &At::new(), WHOLE));
    let failed = failed.iter().map(|record| with(record, &row.at, FAILED.1));
    let records: Vec<Record> = whole.chain(failed).collect();
    let wishes = Wishes { safe: false, subject_to: Vec::new(), ..tried.wishes() };
    let verdict = Verdict::new(&manifest, &records, &wishes).ok()?;
    let is_failed = |of: &&Ranked| of.at.get(FAILED.0).is_some_and(|own| plain(own) == FAILED.1);
    verdict.ranked.iter().find(is_failed).map(|ranked| ranked.value)
}

/// Whether a layout is reliably faster with a member failed than `whole`, over the seeds that both ran with.
fn is_faster(
    tried: &Tried<'_>,
    experiment: &Experiment,
    whole: &[Record],
    failed: &[Record],
) -> Result<bool> {
    let seeds: BTreeSet<u64> = failed.iter().map(|record| record.repeat).collect();
    let mut both = experiment.clone();
    both.set_values(FAILED.0, &format!("{WHOLE},{}", FAILED.1))?;
    both.set_values("run.repeats", &seeds.len().to_string())?;
    let manifest = Run::plan(&both, tried.rig())?.manifest().asked(&[FAILED.0.to_string()])?;
    let whole = whole.iter().filter(|record| seeds.contains(&record.repeat));
    let all = [whole.cloned().collect(), failed.to_vec()].into_iter().zip([WHOLE, FAILED.1]);
    let records: Vec<Record> = all
        .flat_map(|(records, value)| {
            records.into_iter().map(move |mut record: Record| {
                record.at.insert(FAILED.0.into(), value.into());
                record
            })
        })
        .collect();
    let wishes = Wishes { safe: false, subject_to: Vec::new(), ..tried.wishes() };
    Ok(Verdict::new(&manifest, &records, &wishes).is_ok_and(|verdict| failed_is_ahead(&verdict)))
}

/// Whether of a layout whole and with a member failed the second is ahead, and reliably.
fn failed_is_ahead(verdict: &Verdict) -> bool {
    let is_failed = |of: &Ranked| of.at.get(FAILED.0).is_some_and(|value| plain(value) == FAILED.1);
    match verdict.ranked.as_slice() {
        [first, second] => is_failed(first) && second.standing == Standing::Behind,
        _ => false,
    }
}

/// Measures each row of an experiment's front that survives a failure, where the model is what measures and the experiment
/// says nothing of failed members; whether any could be. What was measured of whole layouts is `known`.
pub(crate) fn of_posed(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (known, rows): (&[Record], &mut [FrontRow]),
) -> bool {
    let is_asked = |path: &String| path.ends_with(FAILED.0);
    if !space.manifest.host_is_modelled() || space.experiment.settings().keys().any(is_asked) {
        return true;
    }
    let mut ran = Vec::new();
    for row in rows.iter_mut().filter(|row| row.survives > 0) {
        let times = in_times(posed, space, open, (known, &row.at));
        ran.push(times.as_ref().map_or_else(is_left_out, |_| true));
        // What is refused is not modelled.
        let times = times.unwrap_or_default();
        row.degraded = times.as_ref().map(|of| row.value * of.times);
        row.is_faster_degraded = times.as_ref().is_some_and(|of| of.is_faster);
        row.commands = times.and_then(|of| of.commands);
    }
    ran.is_empty() || ran.contains(&true)
}

/// Whether a trial did not begin or end for want of time, which says nothing of what is modelled.
fn is_left_out(error: &Error) -> bool {
    is_of_time(&error.to_string())
}

/// What a layout does with a failed member.
struct InTimes {
    /// As a part of what it does whole.
    times: f64,
    /// Whether that is reliably more.
    is_faster: bool,
    /// Commands for each request, whole and failed.
    commands: Option<[f64; 2]>,
}

/// What a layout does with a failed member, as a part of what it does whole: of several workloads there is a figure only
/// where layouts stand beside each other.
fn in_times(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (known, at): (&[Record], &At),
) -> Result<Option<InTimes>> {
    let mut experiment = alone(&space.experiment, at, &[])?;
    experiment.set_values(FAILED.0, &format!("{WHOLE},{}", FAILED.1))?;
    let rig = open(&experiment)?;
    let run = Run::plan(&experiment, &*rig)?;
    run.admit()?;
    let value = |trial: &Trial| {
        let own = trial.cell.at.iter().find(|(path, _)| path == FAILED.0);
        own.map(|(_, value)| value.to_string())
    };
    let is_whole = |trial: &Trial| value(trial).as_deref() == Some(WHOLE);
    let run_it = || run_all(experiment.clone(), open, 0, is_whole);
    let mut records = space.clock.run(For::Beside, run_it)?;
    // Whole it was measured before, with the same seeds.
    let repeats = space.experiment.run().stated_repeats();
    let of_it = known.iter().filter(|of| of.repeat < repeats && space.at_of(of) == *at);
    records.extend(of_it.cloned().map(|mut record| {
        record.at.insert(FAILED.0.into(), WHOLE.into());
        record
    }));
    let manifest = run.manifest().asked(&[FAILED.0.to_string()])?;
    let wishes = Wishes { safe: false, subject_to: Vec::new(), ..posed.wishes.clone() };
    let verdict = Verdict::new(&manifest, &records, &wishes)?;
    let of = |failed: &str| {
        let is_it =
            |ranked: &&Ranked| ranked.at.get(FAILED.0).is_some_and(|value| plain(value) == failed);
        verdict.ranked.iter().find(is_it).map(|ranked| ranked.value)
    };
    let commands_of = |failed: &str| {
        let is_it = |of: &&Record| of.at.get(FAILED.0).is_some_and(|own| plain(own) == failed);
        commands(records.iter().filter(is_it))
    };
    let commands = commands_of(WHOLE).zip(commands_of(FAILED.1));
    let commands = commands.map(|(whole, failed)| [whole, failed]);
    let is_faster = failed_is_ahead(&verdict);
    let both = of(FAILED.1).zip(of(WHOLE));
    Ok(both.map(|(failed, whole)| InTimes { times: failed / whole, is_faster, commands }))
}

/// Commands to members for each request, of records of one workload under one condition.
fn commands<'a>(mut records: impl Iterator<Item = &'a Record>) -> Option<f64> {
    let first = records.next()?;
    let of = |record: &Record| record.sample("commands_per_request");
    let mut values = vec![of(first)?];
    for record in records {
        if record.workload != first.workload || record.at != first.at {
            return None;
        }
        values.push(of(record)?);
    }
    median(&values)
}

/// What the objective says of a layout's trials, whatever must hold of whole ones.
fn value(manifest: &Manifest, records: &[Record], wishes: Wishes) -> Option<f64> {
    let wishes = Wishes { safe: false, subject_to: Vec::new(), ..wishes };
    let verdict = Verdict::new(manifest, records, &wishes).ok()?;
    verdict.ranked.first().map(|ranked| ranked.value)
}

/// What is said of rows with a failed member.
pub(crate) fn lines(
    rows: &[FrontRow],
    is_chosen: impl Fn(&FrontRow) -> bool,
    better: Better,
    is_modelled: bool,
) -> Vec<Line> {
    let chosen = line(rows, is_chosen, better, is_modelled);
    // One says why for all.
    let faster = rows.iter().filter(|row| row.is_faster_degraded).find_map(why_faster);
    chosen.into_iter().chain(faster).collect()
}

/// Why a row is faster with a failed member: with parity fewer commands go to the members then.
fn why_faster(row: &FrontRow) -> Option<Line> {
    let is_fewer = |[whole, failed]: &[f64; 2]| row.has_stripe_cache && failed < whole;
    let [whole, failed] = row.commands.filter(is_fewer)?;
    let text = format!(
        "{}: {} {} with one drive failed, {} whole ({} commands per request, not {}): md reads the rest of the stripe once and keeps it \
         in the stripe cache, and parity on the failed drive costs nothing",
        row.called(),
        figure(row.degraded?),
        row.unit,
        figure(row.value),
        figure(failed),
        figure(whole)
    );
    Some(("one failed".into(), text))
}

/// Where the chosen layout loses much of its speed, or that is not modelled, a line that says so.
fn line(
    rows: &[FrontRow],
    is_chosen: impl Fn(&FrontRow) -> bool,
    better: Better,
    is_modelled: bool,
) -> Option<Line> {
    let row = rows.iter().find(|row| is_chosen(row)).filter(|row| row.survives > 0)?;
    let text = match row.degraded {
        Some(degraded) => {
            let behind = better.ahead(row.value, degraded);
            let how = slower(behind.exp(), better, &row.unit);
            let value = format!("{} {}", figure(degraded), row.unit);
            (behind > MUCH_TIMES.ln()).then(|| {
                format!("with one drive failed {value}, {how}, until it is replaced and rebuilt")
            })
        }
        None if !is_modelled => Some(
            "how fast it is with a failed drive is not modelled for this work (docs/tune.md)"
                .into(),
        ),
        None => None,
    };
    text.map(|text| ("degraded".into(), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::Question;
    use crate::question::tests::{question, without_what_ifs};
    use crate::search::remembered::Sim;

    fn said(of: &crate::Tuned) -> Option<&str> {
        let line = of.lines.iter().find(|(about, _)| about == "degraded");
        line.map(|(_, text)| text.as_str())
    }

    /// Nobody was told of a trial that was stopped.
    #[test]
    fn a_trial_that_is_stopped_is_left_out() {
        let text = "run.repeats = 1\nvolume.drives = '4xp4800x-375gb'\nvolume.level = ['md-raid10', 'md-raid5']\n\
                    [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 100_000_000\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let posed = Posed::new(experiment, Wishes::default(), None).unwrap();
        let mut space = Space::new(&posed.experiment, &Sim, &posed.wishes).unwrap();
        space.clock = crate::search::clock::tests::within_trials();
        let open = |_: &Experiment| -> Result<Box<dyn lab::rig::Rig>> {
            Ok(Box::new(space.clock.stopping(&lab::rig::sim::Sim)))
        };
        let times = in_times(&posed, &space, &open, (&[], &space.layouts[0]));
        assert!(times.is_err_and(|error| is_left_out(&error)));
        let left = space.clock.say(&mut Vec::new(), std::iter::empty());
        assert!(
            left.len() == 1 && left[0].starts_with("1 trial of what stands beside"),
            "{left:?}"
        );
    }

    /// Two workloads are judged by shares: with a failed drive RAID 5 was said to do 1.00 of the best, and whole 0.3.
    #[test]
    fn a_share_with_a_failed_drive_is_of_the_same_best() {
        if crate::tests::takes_long() {
            return;
        }
        let work = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two.fio");
        let asked = without_what_ifs(question("4x 980 pro 1tb", work, 1));
        let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
        assert_eq!(found.front[0].unit, SHARE_OF_BEST);
        let rows = found.front.iter().filter(|row| row.survives > 0);
        for row in rows {
            let degraded = row.degraded.unwrap();
            assert!(degraded > 0.0 && degraded < 1.05 * row.value, "{row:?}");
        }
    }

    /// Of four drives three are left: parity makes up for a quarter of the chunks by reads of the others, and copies have one
    /// drive fewer to read from.
    #[test]
    fn each_row_of_the_front_has_its_speed_with_a_failed_drive() {
        let asked = without_what_ifs(question("4x 980 pro 1tb", "vm", 1));
        let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
        assert!(found.front.len() > 1);
        for row in &found.front {
            let degraded = row.degraded.unwrap();
            assert!(degraded > 0.4 * row.value && degraded < 1.02 * row.value, "{row:?}");
        }
        assert!(found.text().contains("speed  one failed "), "{}", found.text());
        assert!(found.json()["front"][0]["degraded"].is_f64());
    }

    /// Arrays side by side over the members in use have their speed, too, though other spares make them.
    #[test]
    fn groups_have_their_speed_with_a_failed_drive() {
        if crate::tests::takes_long() {
            return;
        }
        let asked = without_what_ifs(question("13x wd740gd", "vm", 2));
        let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
        let row = found.front.iter().find(|row| row.level().unwrap().nested().is_some()).unwrap();
        assert!(row.degraded.is_some_and(|degraded| degraded < row.value), "{row:?}");
    }

    /// Appends to RAID 5 over six drives of an instance are faster with one failed: 2.6 commands a request, not 3, as a
    /// real kernel over modelled drives counts them, too (77 MB/s whole, 112 with a drive failed).
    #[test]
    fn what_is_faster_with_a_failed_drive_says_why() {
        let text = "run.repeats = 1\nvolume.drives = '6xi3en'\nvolume.level = 'md-raid5'\nvolume.interleave = '256KiB'\n\
                    host.name = 'linux-6.1'\n[workload.log]\nkind = 'sequential'\nop = 'write'\nblock = '16KiB'\nflush_every = 1\n\
                    count = 4000\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let posed = Posed::new(experiment, Wishes::default(), None).unwrap();
        let open: &Open<'_> = &|_| Ok(Box::new(Sim));
        let found = crate::tune_experiment(&posed, open, None, &mut |_| ()).unwrap();
        let line = found.lines.iter().find(|(about, _)| about == "one failed").unwrap();
        assert!(line.1.contains(" MB/s with one drive failed, 7"), "{line:?}");
        assert!(line.1.contains(" whole (2.60 commands per request, not 3.00): "), "{line:?}");
    }

    /// A question says so, too.
    #[test]
    fn a_question_says_what_is_faster_with_a_failed_drive() {
        let asked = Question {
            levels: vec!["md-raid5".into()],
            are_spares_open: false,
            ..without_what_ifs(question("6x i3en", "log", 1))
        };
        let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
        assert!(found.front[0].is_faster_degraded, "{:?}", found.front[0]);
        let line = found.lines.iter().find(|(about, _)| about == "one failed").unwrap();
        assert!(line.1.contains(" MB/s with one drive failed, "), "{line:?}");
    }

    /// What was measured of a whole layout is not measured again: half of its rate makes twice the share that is left.
    #[test]
    fn what_is_known_of_whole_layouts_is_taken() {
        let text = "run.repeats = 1\nvolume.drives = '4x980-pro-1tb'\nvolume.level = ['md-raid10', 'md-raid5']\n\
                    [workload.w]\nkind = 'random'\nblock = '8KiB'\ncount = 500\n";
        let (posed, space, mut records) = crate::question::posed::tests::asked(text);
        let open: &Open<'_> = &|_| Ok(Box::new(Sim));
        let times = |records: &[Record]| {
            in_times(&posed, &space, open, (records, &space.layouts[0])).unwrap().unwrap().times
        };
        let own = times(&records);
        assert!(own > 0.4 && own < 1.02, "{own}");
        for record in &mut records {
            let rate = record.sample("mb_per_s").unwrap();
            record.samples.insert("mb_per_s", rate / 2.0);
        }
        assert!((times(&records) / own - 2.0).abs() < 1e-9, "{} of {own}", times(&records));
    }

    /// An experiment says as much as a question where a failed drive is not modelled.
    #[test]
    fn an_experiment_says_what_is_not_modelled() {
        let text = "run.repeats = 1\nvolume.drives = '4xst18000nm000j'\nvolume.level = ['md-raid10', 'md-raid5']\n\
                    volume.interleave = '512KiB'\nhost.name = 'linux-6.1'\n\
                    [workload.w]\nkind = 'sequential'\ndirect = false\njobs = 4\nblock = '512KiB'\namount = '4GiB'\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let posed = Posed::new(experiment, Wishes::default(), None).unwrap();
        let open: &Open<'_> = &|_| Ok(Box::new(Sim));
        let found = crate::tune_experiment(&posed, open, None, &mut |_| ()).unwrap();
        assert!(said(&found).unwrap().ends_with("is not modelled for this work (docs/tune.md)"));
    }

    /// Of the page cache only whole volumes are modelled, and a stripe has nothing left.
    #[test]
    fn what_is_not_modelled_is_not_said() {
        let asked = |drives, work, levels: &[&str], survive| {
            let asked = without_what_ifs(question(drives, work, survive));
            let levels = levels.iter().map(ToString::to_string).collect();
            crate::tune(&Question { levels, ..asked }, &Sim, None, &mut |_| ()).unwrap()
        };
        let found = asked("2x st18000nm000j", "media", &["md-mirror"], 1);
        assert_eq!(found.front[0].degraded, None);
        assert!(said(&found).unwrap().ends_with("is not modelled for this work (docs/tune.md)"));
        let stripe = asked("4x st18000nm000j", "vm", &["md-stripe"], 0);
        assert_eq!(stripe.front[0].degraded, None);
        let (columns, _) = FrontRow::heading(&stripe.front);
        assert!(!columns.contains(&"one failed".to_string()) && said(&stripe).is_none());
    }

    /// One stream reads the outer half of each disk with far copies; with one gone the other is read in both halves by turns.
    #[test]
    fn what_loses_more_than_half_says_so() {
        let found = crate::answer::lines_of_question::tests::answered(
            "2x mg08aca16te",
            "restore",
            &["md-raid10-f2"],
        );
        let row = &found.front[0];
        let times = row.value / row.degraded.unwrap();
        assert!(times > 2.0, "{row:?}");
        assert!(said(&found).unwrap().starts_with("with one drive failed "));
    }
}
