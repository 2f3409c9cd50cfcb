//! Which estimates of the drive move the answer's own figure: by trials in full, where short ones say that they do. A short trial of
//! buffered writes ends in caches, and what it is off by is not seen in its interval.

use crate::Drives;
use crate::doubt::turns::moves;
use crate::doubt::{Doubt, estimated};
use crate::question::Question;
use crate::question::candidate::Candidate;
use crate::search::clock::Clock;
use crate::search::trials::Tried;
use lab::experiment::Experiment;
use lab::{Result, catalogue};

/// So many trials at most: each takes as long as one that decides.
const TRIALS_MAX: usize = 8;

/// What is left for time.
const LEFT: &str = "how far estimates of the drive move the answer's figure";

/// Asks again in full what short trials say moves the figure of the `best`, and puts what that says into the doubts; that it was not
/// asked, where there is no time.
pub(crate) fn in_full(
    tried: &Tried<'_>,
    best: &Candidate,
    doubts: &mut [Doubt],
    clock: &Clock,
) -> Result<Option<String>> {
    let question = &tried.question.as_measured()?;
    let mut asked: Vec<(String, f64)> = Vec::new();
    let mut experiments: Vec<Experiment> = Vec::new();
    for (what, to) in moved(doubts) {
        let Some(other) = otherwise(question, &what, to) else { continue };
        experiments.push(tried.settled(&other.experiment()?, &best.settings(), 0)?);
        asked.push((what, to));
    }
    let own = tried.of_seed(best, 0);
    if asked.is_empty() || own.is_empty() {
        return Ok(None);
    }
    let Some(before) = tried.value_in_full(&tried.experiment, &own)? else { return Ok(None) };
    let Some(records) = tried.run_in_time(&experiments, clock)? else {
        return Ok(Some(LEFT.into()));
    };
    for (((what, to), experiment), records) in asked.iter().zip(&experiments).zip(&records) {
        let then = match records.as_slice() {
            [] => None,
            records => tried.value_in_full(experiment, records)?,
        };
        put(doubts, (what, *to), then.map(|then| then / before));
    }
    Ok(None)
}

/// The question with an estimated figure of its drive otherwise.
fn otherwise(question: &Question, what: &str, to: f64) -> Option<Question> {
    let mut all = estimated(&question.drives.drive.name).into_iter();
    let of = all.find(|of| of.key == what && of.otherwise.to_bits() == to.to_bits())?;
    let drives = Drives { drive: catalogue::drive(&of.name).ok()?, ..question.drives.clone() };
    Some(Question { drives, ..question.clone() })
}

/// What short trials say moves the figure, each once.
fn moved(doubts: &[Doubt]) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = Vec::new();
    for doubt in doubts.iter().filter(|doubt| moves(doubt)) {
        let is_it = |(what, to): &(String, f64)| {
            *what == doubt.what && to.to_bits() == doubt.otherwise.to_bits()
        };
        if !all.iter().any(is_it) {
            all.push((doubt.what.clone(), doubt.otherwise));
        }
    }
    all.truncate(TRIALS_MAX);
    all
}

/// Puts how many `times` as much the answer's figure is in full, where that was measured.
fn put(doubts: &mut [Doubt], (what, to): (&str, f64), times: Option<f64>) {
    let is_it =
        |doubt: &&mut Doubt| doubt.what == what && doubt.otherwise.to_bits() == to.to_bits();
    let Some(times) = times else { return };
    for doubt in doubts.iter_mut().filter(is_it) {
        doubt.itself = times;
        doubt.is_in_full = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubt::turns::guesses;
    use crate::doubt::turns::tests::doubt;

    /// 512 MB/s were to become 599 with a shorter head switch, over two disks that carry 549: in full they were 521.
    #[test]
    fn what_moves_in_short_trials_alone_is_not_said() {
        let short = |what: &str, otherwise: f64, itself: f64| Doubt {
            itself,
            is_in_full: false,
            ..doubt(what, otherwise, 2.0)
        };
        let mut doubts = vec![
            short("head_switch_ms", 12.0, 1.17),
            Doubt { rival: "C".into(), ..short("head_switch_ms", 12.0, 1.17) },
            short("seek_average_ms", 20.0, 0.5),
            short("command_ms", 20.0, 1.02),
            short("in flight", 64.0, 3.0),
        ];
        let asked: Vec<(String, f64)> = moved(&doubts);
        assert_eq!(asked, [("head_switch_ms".into(), 12.0), ("seek_average_ms".into(), 20.0)]);
        put(&mut doubts, ("head_switch_ms", 12.0), Some(1.017));
        put(&mut doubts, ("seek_average_ms", 20.0), None);
        let question = crate::question::tests::question("3x st18000nm000j", "backup", 1);
        assert_eq!(guesses(&doubts, &question, (512.2, "MB/s")), None);
        put(&mut doubts, ("seek_average_ms", 20.0), Some(0.75));
        let (_, text) = guesses(&doubts, &question, (400.0, "MB/s")).unwrap();
        assert!(text.contains("seek_average_ms = 16 (300.0 with 20); by trials in full"), "{text}");
        assert!(!text.contains("head_switch_ms"), "{text}");
    }
}
