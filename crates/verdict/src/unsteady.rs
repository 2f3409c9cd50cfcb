//! Trials that were not in a steady state: what they measured is no rate of the layout, and ranks nothing.

use crate::tables::{figure, listed};
use std::collections::BTreeSet;
use store::Manifest;
use store::record::Record;

/// Why a trial was not steady: none where it was, or where nobody can tell.
pub fn reason(record: &Record) -> Option<String> {
    if record.sample("steady") != Some(0.0) {
        return None;
    }
    let what = if is_on_credit(record) {
        "it drew on burst credit"
    } else if is_cached(record) {
        "write caches took much of what was written"
    } else {
        "its rate still changed"
    };
    Some(format!("{} was not steady: {what}", record.workload))
}

/// Whether a trial is left out of the verdict. What re-runs a published table is what its author ran, and stays.
pub fn is_left_out(manifest: &Manifest, record: &Record) -> bool {
    manifest.published.is_empty() && reason(record).is_some()
}

/// Beyond this share of the bytes moved, the caches are the reason.
const CACHED_SHARE: f64 = 0.02;

fn is_cached(record: &Record) -> bool {
    record.sample("cached_share").is_some_and(|share| share > CACHED_SHARE)
}

fn is_on_credit(record: &Record) -> bool {
    record.sample("credit_share").is_some()
}

/// Which trials were not steady, and what to do about it; none where all were.
pub fn words(manifest: &Manifest, records: &[Record]) -> Option<String> {
    let unsteady: Vec<&Record> = records.iter().filter(|r| reason(r).is_some()).collect();
    let cached = unsteady.iter().filter(|record| is_cached(record));
    let shares: Vec<f64> = cached.filter_map(|record| record.sample("cached_share")).collect();
    if unsteady.is_empty() {
        return None;
    }
    let mut text = format!("{} of {} trials", unsteady.len(), records.len());
    if unsteady.iter().any(|record| is_on_credit(record)) {
        let next =
            "Leave out `drive.credit`, and each answer is what lasts when the credit is spent";
        return Some(format!("{text}: they drew on burst credit, which ends. {next}"));
    }
    if shares.is_empty() {
        text.push_str(": the rate still changed when they ended");
    } else {
        let low = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let high = shares.iter().copied().fold(0.0, f64::max);
        let range = [low, high].map(|share| format!("{:.0}", 100.0 * share));
        let range = if range[0] == range[1] { range[0].clone() } else { range.join("–") };
        text = format!("{text}: write caches held {range} % of what was written");
    }
    if manifest.published.is_empty() {
        let needed = unsteady.iter().filter_map(|record| record.sample("needed_mib"));
        let needed_mib = needed.fold(0.0, f64::max);
        text = format!("{text}. {}", next_step(manifest, &unsteady, needed_mib));
    } else {
        text.push_str("; they are as long as those that were published");
    }
    Some(text)
}

/// How to make them steady.
fn next_step(manifest: &Manifest, unsteady: &[&Record], needed_mib: f64) -> String {
    let settings = manifest.settings();
    let workloads: BTreeSet<&str> =
        unsteady.iter().map(|record| record.workload.as_str()).collect();
    let lengths = ["amount", "count", "runtime"].into_iter().filter(|key| {
        workloads.iter().any(|name| settings.contains_key(&format!("workload.{name}.{key}")))
    });
    let lengths: Vec<String> = lengths.map(|key| format!("`{key}`")).collect();
    let gib = figure(needed_mib / 1024.0);
    if lengths.is_empty() {
        return format!(
            "Raise `run.budget` or `run.budget_requests`: at least {gib} GiB a trial are needed"
        );
    }
    format!(
        "Leave out {}, and each trial runs until it is steady; or move at least {gib} GiB",
        listed(&lengths)
    )
}

#[cfg(test)]
mod tests {
    use crate::{Verdict, Wishes};
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};

    fn verdict(text: &str) -> Verdict {
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        Verdict::new(&ran.manifest, &ran.records(), &Wishes::default()).unwrap()
    }

    const WRITES: &str = "[volume]\ndrives = '4xst18000nm000j'\nlevel = ['md-raid0', 'raid5']\n[workload.w]\n\
                          kind = 'random'\nop = 'write'\nblock = '4KiB'\ndepth = 32\n";

    /// At 3000 requests RAID 5 was "23017 % behind": that was how fast caches fill.
    #[test]
    fn what_only_filled_caches_ranks_nothing() {
        let filled = verdict(&format!("{WRITES}count = 3000\n"));
        assert_eq!(filled.answer, "No answer: no layout was in a steady state.");
        assert!(filled.ranked.is_empty() && filled.effects.is_empty());
        let point = filled.points.iter().find(|point| point.about == "not steady").unwrap();
        assert!(point.text.starts_with("2 of 2 trials: write caches held"), "{}", point.text);
        assert!(point.text.contains("Leave out `count`"), "{}", point.text);
        assert!(point.text.ends_with("move at least 10.0 GiB"), "{}", point.text);
    }

    /// One that could not be judged might be the best.
    #[test]
    fn the_only_one_that_was_steady_is_not_called_the_best() {
        let text = WRITES.replace("level = ['md-raid0', 'raid5']", "level = 'md-raid0'");
        let caches =
            verdict(&format!("{text}count = 3000\n[drive]\nwrite_cache = [false, true]\n"));
        assert!(caches.answer.starts_with("No answer yet: only"), "{}", caches.answer);
    }

    #[test]
    fn steady_trials_are_ranked_and_a_budget_that_is_too_small_is_said() {
        let steady = verdict(WRITES);
        assert!(steady.answer.starts_with("Use "), "{}", steady.answer);
        let ratio = steady.ranked[1].behind;
        assert!((2.0..12.0).contains(&ratio), "{ratio}");
        let small = verdict(&format!("{WRITES}[run]\nbudget = '100ms'\n"));
        let point = small.points.iter().find(|point| point.about == "not steady").unwrap();
        assert!(point.text.contains("Raise `run.budget`"), "{}", point.text);
    }
}
