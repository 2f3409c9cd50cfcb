//! Trials that are not there: what they would have shown may be better than all that is.

use super::enough_repeats::{Settled, within};
use crate::judge::answer::{Point, point};
use serde_json::{Map, Value as Json};
use store::record::Record;
use store::{Happened, Manifest, Trials};

/// How many trials there are to be, without those of settled cells that nobody misses, and how many there are.
pub fn trials(manifest: &Manifest, records: &[Record], happened: &Happened) -> Option<Trials> {
    let trials = happened.trials?;
    let needless = match within(manifest) {
        Some(_) => Settled::of(manifest, records).map_or(0, |settled| settled.needless),
        None => 0,
    };
    Some(Trials { planned: trials.planned.saturating_sub(needless), ..trials })
}

/// That some are not there; those of cells that failed have lines of their own.
pub(crate) fn told(
    manifest: &Manifest,
    records: &[Record],
    happened: &Happened,
    trials: Option<Trials>,
) -> Option<Point> {
    let trials = trials.filter(|trials| trials.finished > 0)?;
    let missing = left_to_run(trials, manifest, records, happened);
    let are = if missing == 1 { "is" } else { "are" };
    (missing > 0).then(|| {
        let text = format!(
            "{missing} of {} trials {are} missing; an untested layout may be better. Run them with `--resume`, or add \
             other shards with `ileave merge`",
            trials.planned
        );
        point("unfinished", text)
    })
}

/// How many of these [`trials`] a run that goes on has to do: neither are they there, nor did their cell fail.
pub fn left_to_run(
    trials: Trials,
    manifest: &Manifest,
    records: &[Record],
    happened: &Happened,
) -> usize {
    trials.missing().saturating_sub(of_failed(manifest, records, happened))
}

/// How many trials of cells that failed are not there.
fn of_failed(manifest: &Manifest, records: &[Record], happened: &Happened) -> usize {
    let repeats = manifest.settings().get("run.repeats").map_or(1, count);
    let own = |workload: &str, at: &Map<String, Json>| {
        let is_own = |record: &&Record| record.workload == workload && record.at == *at;
        records.iter().filter(is_own).count()
    };
    // There is one failure for each cell.
    let missing =
        happened.failed.iter().map(|cell| repeats.saturating_sub(own(&cell.workload, &cell.at)));
    missing.sum()
}

fn count(value: &toml::Value) -> usize {
    let said = value.as_integer().or_else(|| value.as_str()?.parse().ok());
    said.and_then(|count| usize::try_from(count).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use crate::judge::tests::modelled;
    use crate::judge::{Verdict, Wishes};

    /// RAID 10 was measured in part: the stripe was "the only layout that meets every condition", and RAID 10 was to be added.
    #[test]
    fn what_is_measured_in_part_is_no_layout_to_add() {
        let (manifest, mut records) = modelled(
            "run.repeats = 1\n[volume]\ndrives = '4xwd740gd'\nlevel = ['md-stripe', 'md-raid10']\n\
             [workload.r]\nkind = 'random'\nblock = '4KiB'\ncount = 20\ndepth = [1, 4]\n",
        );
        let said = |records: &[store::record::Record]| {
            let verdict = Verdict::new(&manifest, records, &Wishes::default()).unwrap();
            let safe = verdict.points.iter().find(|point| point.about == "safe choice");
            (verdict.answer.clone(), safe.map(|point| point.text.clone()))
        };
        let is_last = |record: &store::record::Record| {
            record.at["volume.level"] == "md-raid10" && record.at["workload.r.depth"] == 4
        };
        records.retain(|record| !is_last(record));
        let (answer, safe) = said(&records);
        assert!(
            answer.contains("No answer yet: only level md-stripe was measured under every load"),
            "{answer}"
        );
        assert_eq!(safe, None);
    }
}
