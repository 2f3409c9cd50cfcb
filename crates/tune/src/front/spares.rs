//! Spares that nobody asked for. A level over fewer members, with the rest as hot spares, loses all data less often: the rebuild
//! waits for nobody, and fewer drives may fail. What that leaves of its speed is measured, and it stands on the front beside the
//! level without them; it is chosen only where a formula on the risk leaves nothing else.

use crate::beside::OfExperiment;
use crate::front::commits;
use crate::front::more_spares::MoreSpares;
use crate::front::row::{FrontRow, is_tied};
use crate::question::candidate::Candidate;
use crate::question::capacity::usd_per_tb;
use crate::question::posed::Posed;
use crate::question::{Question, SPARES_MAX, files, in_use};
use crate::search::clock::For;
use crate::search::lanes::side_by_side;
use crate::search::layouts::{Open, Space, named};
use crate::search::trials::{Tried, is_at};
use block::layout::Level;
use lab::Result;
use lab::experiment::Experiment;
use store::record::Record;
use verdict::Verdict;

/// Where all data may be lost in five years with more than this chance, spares are tried.
const GONE_ASKS: f64 = 0.002;

/// They are worth it where they make that chance so many times smaller.
const LESS_BY: f64 = 2.0;

/// The key that tells a layout with spares from the same without: it runs on fewer drives.
const DRIVES: &str = "volume.drives";

/// Levels of the `front` with spares that are worth it, each with its row.
pub(crate) fn measured(
    tried: &Tried<'_>,
    verdict: &Verdict,
    front: &[FrontRow],
) -> Result<Vec<(MoreSpares, FrontRow)>> {
    let mut asked = Vec::new();
    for row in front.iter().filter(|_| tried.question.may_have_spares()) {
        let candidate = tried.candidates.iter().find(|of| is_at(of, &row.at));
        let candidate = candidate.filter(|of| of.level.nested().is_none() && row.survives > 0);
        let Some(candidate) = candidate else { continue };
        for question in worth_it(tried.question, &candidate.level, row.gone.high)? {
            let experiment = question.experiment()?;
            let own = tried.settled(&experiment, &candidate.settings(), 0)?;
            asked.push((candidate, question, experiment, own));
        }
    }
    let experiments: Vec<(u64, Experiment)> =
        asked.iter().map(|(.., own)| (0, own.clone())).collect();
    let mut found: Vec<(MoreSpares, FrontRow)> = Vec::new();
    for ((candidate, question, experiment, _), ran) in
        asked.into_iter().zip(tried.run_each(&experiments))
    {
        // What cannot run on fewer members is no answer.
        let Ok(records) = ran else { continue };
        let Some(row) = row(tried, candidate, &question, &records)? else { continue };
        let others = front.iter().chain(found.iter().map(|(_, row)| row));
        if row.is_beaten(others, verdict) {
            continue;
        }
        let candidates = vec![candidate.clone()];
        found.push((MoreSpares { question, experiment, candidates, records }, row));
    }
    Ok(found)
}

/// The `question` of a `level` alone with one spare more, or two, where each makes the chance that all is lost much smaller: it
/// is `gone` without any.
fn worth_it(question: &Question, level: &Level, gone: f64) -> Result<Vec<Question>> {
    let mut least = gone;
    let mut all = Vec::new();
    for spares in 1..=SPARES_MAX {
        let levels = vec![level.name.to_string()];
        let other = Question { spares, levels, are_spares_open: false, ..question.clone() };
        // Parity over two drives is a mirror, which stands here by its own name.
        let is_mirror = level.has_parity() && other.members() < 3;
        if least < GONE_ASKS || is_mirror || other.possible().is_err() {
            break;
        }
        let (risk, _) = other.risk(level)?;
        if risk.gone.high * LESS_BY > least {
            break;
        }
        least = risk.gone.high;
        all.push(other);
    }
    Ok(all)
}

/// The row of a layout of `question`, judged beside all that was tried; nothing where it may not be chosen.
fn row(
    tried: &Tried<'_>,
    candidate: &Candidate,
    question: &Question,
    records: &[Record],
) -> Result<Option<FrontRow>> {
    let drives = format!("{}x{}", question.members(), question.drives.drive.name);
    let own = records.iter().cloned().map(|mut record| {
        record.at.insert(DRIVES.into(), drives.clone().into());
        record
    });
    let all: Vec<Record> = tried.records.iter().cloned().chain(own).collect();
    let verdict = Verdict::new(&tried.manifest, &all, &tried.wishes())?;
    let ranked = verdict.ranked.iter().find(|ranked| ranked.at.contains_key(DRIVES));
    let Some(ranked) = ranked else { return Ok(None) };
    let mut row =
        FrontRow::of(question, &verdict.unit, ranked, &candidate.level, Some(in_use(question)))?;
    row.at.remove(DRIVES);
    Ok(Some(row))
}

/// Layouts of the `front` of files with one spare that are worth it. Each is one trial more, in a kernel: of two spares nothing is
/// asked. btrfs's own profiles have none.
pub(crate) fn of_files(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    (verdict, records): (&Verdict, &[Record]),
    front: &[FrontRow],
) -> Result<Vec<FrontRow>> {
    let Some(question) = posed.question.as_ref().filter(|of| of.may_have_spares()) else {
        return Ok(Vec::new());
    };
    let mut asked: Vec<(&FrontRow, Level, Question)> = Vec::new();
    for row in front.iter().filter(|row| row.survives > 0) {
        let Some(place) = space.place(&row.at) else { continue };
        let level = space.trials[place].setup.volume.level;
        let Some(with) = worth_it(question, &level, row.gone.high)?.into_iter().next() else {
            continue;
        };
        asked.push((row, level, with));
    }
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let lanes = open(&space.experiment)?.capabilities().lanes;
    let ran = side_by_side(
        lanes,
        &asked,
        |_| false,
        |(row, _, with)| {
            let (wishes, best) = (&posed.wishes, &row.at);
            let layout = OfExperiment { space, open, wishes, best, records: &[] };
            layout.run(For::Beside, 0, &[(DRIVES.into(), files::drives(with))])
        },
    );
    let mut found: Vec<FrontRow> = Vec::new();
    for ((row, level, with), ran) in asked.into_iter().zip(ran) {
        // What cannot run on fewer members is no answer.
        let Ok(own) = ran else { continue };
        let Some(row) = row_of_files(posed, space, records, (row, level, &with), own)? else {
            continue;
        };
        if !row.is_beaten(front.iter().chain(&found), verdict) {
            found.push(row);
        }
    }
    Ok(found)
}

/// What `row` is on fewer drives, of which `own` says how fast; nothing where it may not be chosen then.
fn row_of_files(
    posed: &Posed,
    space: &Space,
    records: &[Record],
    (row, level, with): (&FrontRow, Level, &Question),
    own: Vec<Record>,
) -> Result<Option<FrontRow>> {
    let mut at = row.at.clone();
    at.insert(DRIVES.into(), files::drives(with).into());
    let own: Vec<Record> = named(own, &at).collect();
    let all = [records, &own].concat();
    let verdict = Verdict::new(&space.manifest, &all, &posed.wishes)?;
    let Some(ranked) = verdict.ranked.iter().find(|of| of.at.contains_key(DRIVES)) else {
        return Ok(None);
    };
    let (risk, inputs) = with.risk(&level)?;
    let usable_bytes = with.usable_bytes(&level);
    let mut other = row.clone();
    other.value = ranked.value;
    other.samples.clone_from(&ranked.samples);
    other.is_tied = is_tied(ranked);
    other.commits = commits::of_layout(own.iter());
    other.usable_bytes = usable_bytes;
    other.usd_per_tb = row.cost_usd.map(|cost| usd_per_tb(cost, usable_bytes));
    other.survives = level.losses_survived(with.members());
    other.rebuild_h = inputs.rebuild_h.range;
    (other.gone, other.unreadable) = (risk.gone, risk.unreadable);
    // Where a partial parity log restores what is torn it does so here.
    other.torn_by_crash = row.torn_by_crash.and(risk.torn);
    (other.members, other.spares) = (with.members(), with.spares);
    other.in_use = Some(in_use(with));
    // Those are of all drives.
    (other.degraded, other.is_faster_degraded, other.commands) = (None, false, None);
    Ok(Some(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front;
    use crate::question::tests::{question, without_what_ifs};
    use crate::search::remembered::Sim;
    use store::quantity::Better;

    /// RAID 6 over eight disks of 18 TB is lost with up to 0.36 %, over seven with a spare with 0.12 %, over six with two with
    /// 0.072 %; RAID 5 with 11 and 6.6 %. Flash is hardly lost at all.
    #[test]
    fn a_spare_is_worth_it_where_it_halves_the_risk() {
        let of = |drives: &str, level: &str| {
            let asked = question(drives, "vm", 1);
            let candidate = Candidate {
                level: level.parse().unwrap(),
                chunk: "512KiB",
                cache: crate::question::candidate::DEFAULT_CACHE,
            };
            let (risk, _) = asked.risk(&candidate.level).unwrap();
            let all = worth_it(&asked, &candidate.level, risk.gone.high).unwrap();
            all.iter().map(|of| of.spares).collect::<Vec<_>>()
        };
        assert_eq!(of("8x st18000nm000j", "md-raid6"), [1]);
        assert_eq!(of("8x st18000nm000j", "md-raid5"), [0; 0]);
        assert_eq!(of("8x 980 pro 1tb", "md-raid6"), [0; 0]);
        // Two of four in use under parity are a mirror.
        assert!(!of("4x st18000nm000j", "md-raid5").contains(&2));
        // Four are as few as RAID 6 takes.
        assert_eq!(of("4x st18000nm000j", "md-raid6"), [0; 0]);
    }

    #[test]
    fn a_level_with_a_spare_stands_on_the_front_and_is_not_chosen() {
        let levels = vec!["md-raid6".to_string()];
        let asked = Question { levels, ..question("8x st18000nm000j", "vm", 1) };
        let asked = without_what_ifs(asked);
        let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
        let of = |spares: usize| {
            let is_it = |row: &&FrontRow| {
                row.spares == spares && row.level().is_some_and(|level| level.name == "md-raid6")
            };
            found.front.iter().find(is_it).unwrap()
        };
        let (without, with) = (of(0), of(1));
        assert_eq!((without.members, with.members), (8, 7));
        assert!(with.gone.high * LESS_BY <= without.gone.high);
        assert!(with.usable_bytes < without.usable_bytes && with.degraded.is_some(), "{with:?}");
        // Seven arms do at random what eight do, less an eighth or so.
        assert!(with.value < without.value && with.value > 0.7 * without.value, "{with:?}");
        assert!(found.text().contains("7 in use, 1 spare"), "{}", found.text());
        // Neither is built with a bitmap, which costs this work too much: one row had one, 26 %, and the other none.
        let torn = [with, without].map(|row| row.torn_by_crash.unwrap().high);
        assert!(torn[0] > 0.4 && torn[0] < torn[1], "{torn:?}");
        assert!(found.commands.iter().all(|command| !command.line.contains("--spare-devices")));
        // Who says how many there are is asked nothing.
        let said = Question { are_spares_open: false, ..asked };
        let found = crate::tune(&said, &Sim, None, &mut |_| ()).unwrap();
        assert!(found.front.iter().all(|row| row.spares == 0));
    }

    /// Layouts that an experiment names, as those of file systems are, have spares where nobody said how many there are.
    #[test]
    fn a_layout_of_files_stands_on_the_front_with_a_spare() {
        let text = "run.repeats = 1\nvolume.drives = '8xst18000nm000j:64GiB'\nvolume.level = ['md-raid10', 'md-raid6']\n\
                    [workload.w]\nkind = 'random'\nreads_percent = 50\nblock = '8KiB'\ncount = 500\n";
        let (posed, space, records) = crate::question::posed::tests::asked(text);
        let spares = |are_spares_open: bool| {
            let asked = Question { are_spares_open, ..question("8x st18000nm000j", "vm", 1) };
            let posed = Posed { question: Some(asked), ..posed.clone() };
            let verdict = Verdict::new(&space.manifest, &records, &posed.wishes).unwrap();
            let of = (&verdict, records.as_slice());
            let rows = front::of_posed(&space, of, &posed, None).unwrap();
            let open = |_: &Experiment| Ok(Box::new(Sim) as Box<dyn lab::rig::Rig>);
            let mut front = rows.clone();
            for row in of_files(&posed, &space, &open, of, &rows).unwrap() {
                row.stand_among(&mut front, verdict.better);
            }
            front
        };
        let front = spares(true);
        let of = |spares: usize| {
            let is_it = |row: &&FrontRow| {
                row.spares == spares && row.level().is_some_and(|level| level.name == "md-raid6")
            };
            front.iter().find(is_it).unwrap()
        };
        let (without, with) = (of(0), of(1));
        assert_eq!((without.members, with.members, &with.at), (8, 7, &without.at));
        assert!(with.gone.high * LESS_BY <= without.gone.high, "{with:?}");
        // Whole drives hold so much, though trials use a part of them; seven do not do exactly what eight do.
        assert!(with.usable_bytes > 80_000_000_000_000 && with.usable_bytes < without.usable_bytes);
        assert!((with.value - without.value).abs() > 0.001 * without.value, "{with:?}");
        assert!(with.with_room((with.value, Better::Higher)).contains("7 in use, 1 spare"));
        assert!(spares(false).iter().all(|row| row.spares == 0));
    }

    /// What must hold of the risk has a spare built.
    #[test]
    fn a_limit_on_the_risk_builds_a_spare() {
        let asked = Question {
            subject_to: vec!["loss_5y <= 0.003".into()],
            levels: vec!["md-raid5".into(), "md-raid6".into()],
            ..question("8x st18000nm000j", "vm", 1)
        };
        let asked = without_what_ifs(asked.with_spares_needed().unwrap());
        let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
        assert_eq!(found.best["volume.level"], "md-raid6");
        assert!(
            found.commands.iter().any(|of| of.line.contains("--raid-devices=7 --spare-devices=1"))
        );
        let text = found.text();
        assert!(text.contains("7 in use, 1 spare; without spares no layout meets"), "{text}");
    }
}
