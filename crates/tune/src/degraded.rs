//! What each layout of the front does while a member is down: trials with the same seeds, and the first member failed.
//!
//! Nothing is said where that is not modelled: through the page cache only whole volumes are. What does not settle says
//! nothing either, as everywhere.

use crate::candidate::Candidate;
use crate::front::{self, FrontRow};
use crate::groups::Groups;
use crate::posed::Posed;
use crate::space::{At, Open, Space, alone, run_all};
use crate::tried::{Tried, is_at};
use lab::experiment::Experiment;
use lab::rig::KINDS;
use lab::run::Run;
use lab::{Error, Result};
use store::Manifest;
use store::quantity::Better;
use store::record::{Record, plain};
use verdict::judge::Ranked;
use verdict::tables::{figure, slower};
use verdict::{Verdict, Wishes};

/// What a line of the answer is about, and its text.
type Line = (String, String);

/// The rows of a front, and what is said of them with a failed member.
pub(crate) type Front = (Vec<FrontRow>, Option<Line>);

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
    let is_modelled = of_question(tried, &mut rows)?;
    let line = line(&rows, |row| is_at(best, &row.at), verdict.better, is_modelled);
    Ok((rows, line))
}

/// Measures each row of a question's front that survives a failure; whether any could be.
fn of_question(tried: &Tried<'_>, rows: &mut [FrontRow]) -> Result<bool> {
    let mut asked: Vec<(usize, (u64, Experiment))> = Vec::new();
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| row.survives > 0) {
        let Some(candidate) = tried.candidates.iter().find(|of| is_at(of, &row.at)) else {
            continue;
        };
        let mut settings = candidate.settings();
        settings.push((FAILED.0.into(), FAILED.1.into()));
        let mut seeds: Vec<u64> = tried.of(candidate).iter().map(|record| record.repeat).collect();
        seeds.sort_unstable();
        seeds.dedup();
        for seed in seeds.into_iter().take(SEEDS) {
            asked.push((place, (seed, tried.with(&settings, seed)?)));
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
        let manifest = Run::plan(experiment, tried.rig())?.manifest().clone();
        row.degraded = value(&manifest, &records, tried.wishes());
    }
    Ok(asked.is_empty() || ran.iter().any(Result::is_ok))
}

/// Measures each row of an experiment's front that survives a failure, where the model is what measures and the experiment
/// says nothing of failed members.
pub(crate) fn of_posed(posed: &Posed, space: &Space, open: &Open<'_>, rows: &mut [FrontRow]) {
    let is_asked = |path: &String| path.ends_with(FAILED.0);
    if space.manifest.rig != KINDS[0].name || space.experiment.settings().keys().any(is_asked) {
        return;
    }
    for row in rows.iter_mut().filter(|row| row.survives > 0) {
        // What is refused is not modelled.
        let times = in_times(posed, space, open, &row.at);
        row.degraded = times.unwrap_or_default().map(|times| row.value * times);
    }
}

/// What a layout does with a failed member, as a part of what it does whole: of several workloads there is a figure only
/// where layouts stand beside each other.
fn in_times(posed: &Posed, space: &Space, open: &Open<'_>, at: &At) -> Result<Option<f64>> {
    let mut experiment = alone(&space.experiment, at, &[])?;
    experiment.set_values(FAILED.0, &format!("{WHOLE},{}", FAILED.1))?;
    let records = run_all(experiment.clone(), open, 0, |_| false)?;
    let manifest = Run::plan(&experiment, &*open(&experiment)?)?.manifest().clone();
    let manifest = manifest.asked(&[FAILED.0.to_string()])?;
    let wishes = Wishes { safe: false, subject_to: Vec::new(), ..posed.wishes.clone() };
    let verdict = Verdict::new(&manifest, &records, &wishes)?;
    let of = |failed: &str| {
        let is_it =
            |ranked: &&Ranked| ranked.at.get(FAILED.0).is_some_and(|value| plain(value) == failed);
        verdict.ranked.iter().find(is_it).map(|ranked| ranked.value)
    };
    Ok(of(FAILED.1).zip(of(WHOLE)).map(|(failed, whole)| failed / whole))
}

/// What the objective says of a layout's trials, whatever must hold of whole ones.
fn value(manifest: &Manifest, records: &[Record], wishes: Wishes) -> Option<f64> {
    let wishes = Wishes { safe: false, subject_to: Vec::new(), ..wishes };
    let verdict = Verdict::new(manifest, records, &wishes).ok()?;
    verdict.ranked.first().map(|ranked| ranked.value)
}

/// Where the chosen layout loses much of its speed, or that is not modelled, a line that says so.
pub(crate) fn line(
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
    use lab::rig::sim::Sim;

    fn said(of: &crate::Tuned) -> Option<&str> {
        let line = of.lines.iter().find(|(about, _)| about == "degraded");
        line.map(|(_, text)| text.as_str())
    }

    /// Of four drives three are left: parity makes up for a quarter of the chunks by reads of the others, and copies have one
    /// drive fewer to read from.
    #[test]
    fn each_row_of_the_front_has_its_speed_with_a_failed_drive() {
        let asked = crate::question::tests::question("4x 980 pro 1tb", "vm", 1);
        let found = crate::tune(&asked, &Sim, None, &mut |_| ()).unwrap();
        assert!(found.front.len() > 1);
        for row in &found.front {
            let degraded = row.degraded.unwrap();
            assert!(degraded > 0.4 * row.value && degraded < 1.02 * row.value, "{row:?}");
        }
        assert!(found.text().contains("speed  one failed "), "{}", found.text());
        assert!(found.json()["front"][0]["degraded"].is_f64());
    }

    /// Of the page cache only whole volumes are modelled, and a stripe has nothing left.
    #[test]
    fn what_is_not_modelled_is_not_said() {
        let asked = |work, levels: &[&str], survive| {
            let asked = crate::question::tests::question("4x st18000nm000j", work, survive);
            let levels = levels.iter().map(ToString::to_string).collect();
            crate::tune(&Question { levels, ..asked }, &Sim, None, &mut |_| ()).unwrap()
        };
        let found = asked("media", &["md-raid10"], 1);
        assert_eq!(found.front[0].degraded, None);
        assert!(said(&found).unwrap().ends_with("is not modelled for this work (docs/tune.md)"));
        let stripe = asked("vm", &["md-stripe"], 0);
        assert_eq!(stripe.front[0].degraded, None);
        let (columns, _) = FrontRow::heading(&stripe.front);
        assert!(!columns.contains(&"one failed".to_string()) && said(&stripe).is_none());
    }

    /// One stream reads the outer half of each disk with far copies; with one gone the other is read in both halves by turns.
    #[test]
    fn what_loses_more_than_half_says_so() {
        let found = crate::found::tests::answered("2x mg08aca16te", "restore", &["md-raid10-f2"]);
        let row = &found.front[0];
        let times = row.value / row.degraded.unwrap();
        assert!(times > 2.0, "{row:?}");
        assert!(said(&found).unwrap().starts_with("with one drive failed "));
    }
}
