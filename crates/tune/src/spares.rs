//! Spares that nobody asked for. A level over fewer members, with the rest as hot spares, loses all data less often: the rebuild
//! waits for nobody, and fewer drives may fail. What that leaves of its speed is measured, and it stands on the front beside the
//! level without them; it is chosen only where a formula on the risk leaves nothing else.

use crate::candidate::Candidate;
use crate::front::{FrontRow, is_more_room};
use crate::question::Question;
use crate::tried::{Tried, is_at};
use lab::Result;
use lab::experiment::Experiment;
use store::quantity::Better;
use store::record::Record;
use verdict::Verdict;

/// Where all data may be lost in five years with more than this chance, spares are tried.
const GONE_ASKS: f64 = 0.002;

/// They are worth it where they make that chance so many times smaller.
const LESS_BY: f64 = 2.0;

/// So many at most.
pub(crate) const SPARES_MAX: usize = 2;

/// The same drives with more spares than the question has, and what was measured of them.
pub(crate) struct MoreSpares {
    pub(crate) question: Question,
    /// The experiment that asks it, and its layouts.
    pub(crate) experiment: Experiment,
    pub(crate) candidates: Vec<Candidate>,
    /// What was measured of these layouts.
    pub(crate) records: Vec<Record>,
}

impl MoreSpares {
    /// Whether a row of the front is of one of these layouts.
    pub(crate) fn has(&self, row: &FrontRow) -> bool {
        row.spares == self.question.spares && self.candidates.iter().any(|of| is_at(of, &row.at))
    }
}

impl FrontRow {
    /// Whether one of `others` is no worse in anything, and not reliably slower.
    pub(crate) fn is_beaten<'a>(
        &self,
        mut others: impl Iterator<Item = &'a FrontRow>,
        verdict: &Verdict,
    ) -> bool {
        others.any(|other| {
            !is_more_room(self.usable_bytes, other.usable_bytes)
                && other.survives >= self.survives
                && other.gone.high <= self.gone.high
                && (other.torn_by_crash.is_none() || self.torn_by_crash.is_some())
                && verdict.noise.difference(verdict.better, &self.samples, &other.samples).is_tie()
        })
    }

    /// Takes its place among `rows`, which begin with the fastest: behind its own level without spares.
    pub(crate) fn stand_among(self, rows: &mut Vec<FrontRow>, better: Better) {
        let own = rows.iter().position(|row| row.level() == self.level()).map_or(0, |own| own + 1);
        let is_slower = |row: &FrontRow| better.ahead(self.value, row.value) > 0.0;
        let next = rows[own..].iter().position(is_slower);
        rows.insert(next.map_or(rows.len(), |next| own + next), self);
    }
}

/// How many drives a question has in use, and how many spares.
pub(crate) fn in_use(question: &Question) -> String {
    let noun = if question.spares == 1 { "spare" } else { "spares" };
    format!("{} in use, {} {noun}", question.members(), question.spares)
}

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
        for question in worth_it(tried.question, candidate, row.gone.high)? {
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

/// The `question` of a candidate's level alone with one spare more, or two, where each makes the chance that all is lost much
/// smaller: it is `gone` without any.
fn worth_it(question: &Question, candidate: &Candidate, gone: f64) -> Result<Vec<Question>> {
    let mut least = gone;
    let mut all = Vec::new();
    for spares in 1..=SPARES_MAX {
        let levels = vec![candidate.level.name.to_string()];
        let other = Question { spares, levels, are_spares_open: false, ..question.clone() };
        // Parity over two drives is a mirror, which stands here by its own name.
        let is_mirror = candidate.level.has_parity() && other.members() < 3;
        if least < GONE_ASKS || is_mirror || other.possible().is_err() {
            break;
        }
        let (risk, _) = other.risk(&candidate.level)?;
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
    const DRIVES: &str = "volume.drives";
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::tests::question;
    use lab::rig::sim::Sim;

    /// RAID 6 over eight disks of 18 TB is lost with up to 0.70 %, over seven with a spare with 0.25 %, over six with two with
    /// 0.14 %; RAID 5 with 11 and 6.6 %. Flash is hardly lost at all.
    #[test]
    fn a_spare_is_worth_it_where_it_halves_the_risk() {
        let of = |drives: &str, level: &str| {
            let asked = question(drives, "vm", 1);
            let candidate = Candidate {
                level: level.parse().unwrap(),
                chunk: "512KiB",
                cache: crate::question::DEFAULT_CACHE,
            };
            let (risk, _) = asked.risk(&candidate.level).unwrap();
            let all = worth_it(&asked, &candidate, risk.gone.high).unwrap();
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
        assert!(found.commands.iter().all(|command| !command.line.contains("--spare-devices")));
        // Who says how many there are is asked nothing.
        let said = Question { are_spares_open: false, ..asked };
        let found = crate::tune(&said, &Sim, None, &mut |_| ()).unwrap();
        assert!(found.front.iter().all(|row| row.spares == 0));
    }

    /// What must hold of the risk has a spare built.
    #[test]
    fn a_limit_on_the_risk_builds_a_spare() {
        let asked = Question {
            subject_to: vec!["loss_5y <= 0.003".into()],
            levels: vec!["md-raid5".into(), "md-raid6".into()],
            ..question("8x st18000nm000j", "vm", 1)
        };
        let found =
            crate::tune(&asked.with_spares_needed().unwrap(), &Sim, None, &mut |_| ()).unwrap();
        assert_eq!(found.best["volume.level"], "md-raid6");
        assert!(
            found.commands.iter().any(|of| of.line.contains("--raid-devices=7 --spare-devices=1"))
        );
        let text = found.text();
        assert!(text.contains("7 in use, 1 spare; without spares no layout meets"), "{text}");
    }
}
