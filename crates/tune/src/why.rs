//! Reasons by counterfactual: one mechanism is switched off, and both layouts are measured again.

use crate::question::Candidate;
use crate::tried::{Settings, Tried};
use lab::Result;
use serde::Serialize;
use store::quantity::Better;
use store::record::Record;
use verdict::Verdict;
use verdict::tables::{figure, slower};

/// What happens to the best and to another without a mechanism.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// What was changed.
    pub mechanism: String,
    /// What the best does then.
    pub best: f64,
    /// What the other does then.
    pub other: f64,
    /// The same in words.
    pub sentence: String,
}

/// A change: what it is called, and the keys that make it.
type Change = (String, Settings);

/// The changes that mean something here.
fn changes(tried: &Tried<'_>, best: &Candidate, other: &Candidate) -> Vec<Change> {
    let drive = &tried.question.drives.drive;
    let mut changes: Vec<Change> = Vec::new();
    let is_cached =
        tried.experiment.value("drive.write_cache").is_none_or(|value| value.to_string() == "true");
    if drive.takes("write_cache") && is_cached && tried.question.writes() {
        changes.push((
            "without the drives' write caches".into(),
            vec![("drive.write_cache".into(), "false".into())],
        ));
    }
    if drive.takes("queue_depth") {
        changes.push((
            "with one command at a time in a drive".into(),
            vec![("drive.queue_depth".into(), "1".into())],
        ));
    }
    if tried.question.writes()
        && (best.level.has_stripe_cache() || other.level.has_stripe_cache())
        && best.cache == other.cache
    {
        let rows = if best.cache == "256" { "4096" } else { "256" };
        changes.push((
            format!("with {rows} rows of stripe cache"),
            vec![("volume.stripe_cache".into(), rows.into())],
        ));
    }
    for depth in ["1", "64"] {
        let deep = tried.experiment.workloads.iter().filter(|name| {
            let value = |key: &str| tried.experiment.value(&format!("workload.{name}.{key}"));
            // The page cache has its own number in flight.
            let is_buffered = value("direct").is_some_and(|value| value.to_string() == "false");
            let kind = value("kind").map(|kind| kind.to_string());
            let of_requests =
                kind.is_some_and(|kind| ["sequential", "random"].contains(&kind.as_str()));
            of_requests && value("flush_every").is_none() && !is_buffered
        });
        let keys: Vec<(String, String)> =
            deep.map(|name| (format!("workload.{name}.depth"), depth.to_string())).collect();
        if !keys.is_empty() {
            changes.push((format!("with {depth} in flight"), keys));
        }
    }
    changes
}

/// Measures both without each mechanism.
pub(crate) fn reasons(
    tried: &Tried<'_>,
    best: &Candidate,
    other: &Candidate,
    unit: &str,
) -> Result<Vec<Reason>> {
    let changes = changes(tried, best, other);
    let mut cells: Vec<Settings> = Vec::new();
    for (_, keys) in &changes {
        for candidate in [best, other] {
            let mut settings = candidate.settings();
            settings.retain(|(path, _)| keys.iter().all(|(changed, _)| changed != path));
            settings.extend(keys.iter().cloned());
            cells.push(settings);
        }
    }
    let records = tried.run_all(&cells, 0)?;
    // Each alone: what the change sets may be all that tells them apart.
    let measured = |records: &[Record]| -> Result<Option<(f64, Better)>> {
        let verdict = Verdict::new(&tried.manifest, records, &tried.wishes())?;
        Ok(verdict.ranked.first().map(|ranked| (ranked.value, verdict.better)))
    };
    let mut reasons = Vec::new();
    for ((mechanism, _), pair) in changes.into_iter().zip(records.chunks(2)) {
        let [ours, theirs] = pair else { continue };
        let (Some((ours, better)), Some((theirs, _))) = (measured(ours)?, measured(theirs)?) else {
            continue;
        };
        let sentence = sentence(&mechanism, [best, other], [ours, theirs], better, unit);
        reasons.push(Reason { mechanism, best: ours, other: theirs, sentence });
    }
    Ok(reasons)
}

/// What the change does, in words.
fn sentence(
    mechanism: &str,
    [best, other]: [&Candidate; 2],
    [ours, theirs]: [f64; 2],
    better: Better,
    unit: &str,
) -> String {
    const EVEN: f64 = 0.05;
    let ahead = better.ahead(ours, theirs);
    let [best, other] = [best.told_from(other), other.told_from(best)];
    let values = format!("{} against {} {unit}", figure(ours), figure(theirs));
    if ahead.abs() <= EVEN {
        format!("{mechanism} both are even: {values}")
    } else if ahead > 0.0 {
        format!(
            "{mechanism} {best} stays ahead, {other} {}: {values}",
            slower(ahead.exp(), better, unit)
        )
    } else {
        format!(
            "{mechanism} the choice turns to {other}, {best} {}: {values}",
            slower((-ahead).exp(), better, unit)
        )
    }
}
