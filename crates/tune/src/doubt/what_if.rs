//! What is tried of an experiment once it is known what to choose: without which mechanism the choice turns, and with which estimates.

use crate::doubt::Doubt;
use crate::doubt::estimates::{self, Answer, Found};
use crate::question::posed::Posed;
use crate::question::provisioned;
use crate::reasons::counterfactual::{self, Reason};
use crate::search::clock::{Clock, unless_stopped};
use crate::search::layouts::{At, Open, Space};
use crate::words::Line;
use lab::Result;
use lab::experiment::Experiment;
use lab::rig::Rig;
use store::record::Record;
use verdict::Verdict;
use verdict::judge::{Ranked, Standing};

/// What is tried once it is known what to choose; what may be cut short comes last.
pub(crate) struct WhatIf {
    pub(crate) reasons: Vec<Reason>,
    pub(crate) in_doubt: Vec<Line>,
    pub(crate) sensitivity: Vec<Doubt>,
    pub(crate) not_tried: Vec<String>,
}

/// What is left of estimates for time: all, or what was not yet varied.
const LEFT: &str = "how far the answer rests on estimates of the drives";

/// Tries it.
pub(crate) fn what_if(
    posed: &Posed,
    space: &Space,
    (open, clock): (&Open<'_>, &Clock),
    ([verdict, judged], records): ([&Verdict; 2], &[Record]),
) -> Result<WhatIf> {
    let in_time = |experiment: &Experiment| -> Result<Box<dyn Rig>> {
        Ok(Box::new(clock.stopping_what_ifs(open(experiment)?)))
    };
    let open: &Open<'_> = &in_time;
    let first = judged.ranked.first();
    let rival = first.and_then(|first| rival(verdict, &first.at));
    let (reasons, mut not_tried) = match (first, rival) {
        (Some(best), Some(rival)) => reasons(posed, space, open, [best, rival], (records, clock))?,
        _ => (Vec::new(), Vec::new()),
    };
    let found = in_doubt(posed, space, (open, clock), judged)?;
    not_tried.extend(found.is_cut.then(|| LEFT.to_string()));
    Ok(WhatIf { reasons, in_doubt: found.lines, sensitivity: found.doubts, not_tried })
}

/// The estimates of drives on which the answer's figures rest, what a cloud lets its volumes do, and whether the choice holds.
fn in_doubt(
    posed: &Posed,
    space: &Space,
    (open, clock): (&Open<'_>, &Clock),
    judged: &Verdict,
) -> Result<Found> {
    let Some((first, best)) = judged.ranked.first().and_then(|of| Some((of, space.place(&of.at)?)))
    else {
        return Ok(Found::default());
    };
    let answer = Answer { ranked: first, verdict: judged };
    let mut found = estimates::found(posed, space, (open, clock), &answer);
    found.lines.extend(provisioned::of_trial(&space.trials[best])?);
    Ok(found)
}

/// The best that is behind, else the next.
fn rival<'v>(verdict: &'v Verdict, best: &At) -> Option<&'v Ranked> {
    let others = || verdict.ranked.iter().filter(|ranked| ranked.at != *best);
    others().find(|ranked| ranked.standing == Standing::Behind).or_else(|| others().next())
}

/// Measures the best and another without each mechanism.
fn reasons(
    posed: &Posed,
    space: &Space,
    open: &Open<'_>,
    both: [&Ranked; 2],
    (known, clock): (&[Record], &Clock),
) -> Result<(Vec<Reason>, Vec<String>)> {
    let [best, other] = both.map(|ranked| &ranked.at);
    let is_told = counterfactual::starves(&of_both(space, known, [best, other]));
    let trial = space.place(best).map(|place| &space.trials[place]);
    let changes = trial.map_or_else(Vec::new, |trial| counterfactual::changes_of(space, trial));
    let (mut reasons, mut left) = (Vec::new(), Vec::new());
    let words = |at: &At| space.manifest.factors.label(&apart(at, [best, other]));
    for (mechanism, keys) in changes {
        if clock.is_late() {
            left.push(mechanism);
            continue;
        }
        let Some(ran) = unless_stopped(space.measure_with(&[best, other], open, 0, &keys)) else {
            left.push(mechanism);
            continue;
        };
        let records = ran?;
        // Nobody is to choose by such figures; where the answer rests on them it says so.
        if counterfactual::starves(&records) && !is_told {
            continue;
        }
        let verdict = Verdict::new(&space.manifest, &records, &posed.wishes)?;
        let value = |at: &At| {
            verdict.ranked.iter().find(|ranked| ranked.at == *at).map(|ranked| ranked.value)
        };
        let (Some(ours), Some(theirs)) = (value(best), value(other)) else { continue };
        let named = [words(best), words(other)];
        let sentence = counterfactual::sentence(&mechanism, named, [ours, theirs], &verdict);
        reasons.push(Reason { mechanism, best: ours, other: theirs, sentence });
    }
    Ok((reasons, left))
}

/// What was measured of two layouts: what others do says nothing of these.
fn of_both(space: &Space, known: &[Record], both: [&At; 2]) -> Vec<Record> {
    known.iter().filter(|of| both.contains(&&space.at_of(of))).cloned().collect()
}

/// What of a layout tells two apart.
fn apart(at: &At, [one, other]: [&At; 2]) -> At {
    let differs = |path: &str| one.get(path) != other.get(path);
    at.iter()
        .filter(|(path, _)| differs(path))
        .map(|(path, value)| (path.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::posed::tests::{COPIES, asked};
    use serde_json::Value as Json;

    #[test]
    fn what_other_layouts_did_is_no_word_on_two() {
        let (_, space, records) = asked(COPIES);
        let [near, _, parity] = [0, 1, 2].map(|place| &space.layouts[place]);
        let both = of_both(&space, &records, [near, parity]);
        assert_eq!(records.len(), 3);
        let levels: Vec<&Json> = both.iter().map(|of| &of.at["volume.level"]).collect();
        assert_eq!(levels, ["md-raid5", "md-raid10"]);
    }
}
