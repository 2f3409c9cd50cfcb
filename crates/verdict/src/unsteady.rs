//! Trials that were not in a steady state: what they measured is no rate of the layout, and ranks nothing.

use crate::early;
use crate::tables::{figure, listed};
use std::collections::{BTreeMap, BTreeSet};
use store::Manifest;
use store::factor::Role;
use store::quantity::Better;
use store::record::Record;

/// What keeps a trial from a steady state; the first that holds is its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    Restored,
    OnCredit,
    Deferred,
    Cached,
    AtLimit,
    StreamEnded,
    TooShort,
    StillChanged,
}

impl Why {
    /// Of a trial that was not steady.
    fn of(record: &Record) -> Why {
        if record.sample("rebuild_needs_times").is_some() {
            Why::Restored
        } else if is_on_credit(record) {
            Why::OnCredit
        } else if is_deferred(record) {
            Why::Deferred
        } else if is_cached(record) {
            Why::Cached
        } else if is_at_limit(record) {
            Why::AtLimit
        } else if !early::streams(record).is_empty() {
            Why::StreamEnded
        } else if record.sample("interval_percent").is_none() {
            Why::TooShort
        } else {
            Why::StillChanged
        }
    }
}

/// Why a trial was not steady: none where it was, or where nobody can tell.
pub fn reason(record: &Record) -> Option<String> {
    if record.sample("steady") != Some(0.0) {
        return None;
    }
    let workload = &record.workload;
    if record.is_overloaded() {
        return Some(format!(
            "{workload} was overloaded: requests came faster than they were served"
        ));
    }
    let what = match Why::of(record) {
        Why::OnCredit => "it drew on burst credit".into(),
        Why::Deferred => "media caches took much of what was written".into(),
        Why::Cached => "write caches took much of what was written".into(),
        Why::AtLimit => "how many requests were in flight still changed".into(),
        Why::StreamEnded => {
            let ended = early::streams(record);
            format!("its rate changed when {} ended", ended.first().map_or("one", |one| one.0))
        }
        Why::Restored => "it ended before the rebuild beside it had its pace".into(),
        Why::TooShort => "it was too short to tell".into(),
        Why::StillChanged => "its rate still changed".into(),
    };
    Some(format!("{workload} was not steady: {what}"))
}

/// Whether a trial is left out of the verdict. What re-runs a published table is what its author ran, and stays.
pub fn is_left_out(manifest: &Manifest, record: &Record) -> bool {
    manifest.published.is_empty() && reason(record).is_some()
}

/// Of a rate that still changed when a trial ended, so much lasts: halves of a trial that differ by more are a warm-up, and left out.
const STILL_CHANGED: f64 = 0.5;

/// The share of the rate of a trial that was not steady which lasts at least: what only caches, credit or other shares of a drive took
/// is on loan. Of times it is the share of them by which they may be off. None where nothing says.
pub fn kept_share(record: &Record, better: Better) -> Option<f64> {
    let without = |sample: &str| Some(1.0 - record.sample(sample)?).filter(|kept| *kept > 0.0);
    match Why::of(record) {
        // How much of it was on loan says nothing of how long the others take.
        Why::OnCredit | Why::Deferred | Why::Cached if better == Better::Lower => None,
        Why::OnCredit => without("credit_share"),
        Why::Deferred => without("deferred_share"),
        Why::Cached => without("cached_share"),
        Why::StreamEnded | Why::StillChanged => Some(STILL_CHANGED),
        Why::AtLimit | Why::Restored | Why::TooShort => None,
    }
}

/// Beyond this share of the bytes moved, the caches are the reason.
const CACHED_SHARE: f64 = 0.02;

fn is_cached(record: &Record) -> bool {
    record.sample("cached_share").is_some_and(|share| share > CACHED_SHARE)
}

fn is_on_credit(record: &Record) -> bool {
    record.sample("credit_share").is_some()
}

fn is_deferred(record: &Record) -> bool {
    record.sample("deferred_share").is_some()
}

/// A member that is busy for more than this share of the time has a queue.
const BUSY_SHARE: f64 = 0.9;

/// Whether its requests come by the clock, nearly as many as can be done: as many are done as come, and only their
/// queue can change.
fn is_at_limit(record: &Record) -> bool {
    let first = record.samples.names().next();
    let is_by_clock = first.is_some_and(|name| ["latency_p99_ms", "commit_p99_ms"].contains(&name));
    is_by_clock && record.member_busy.iter().any(|&busy| busy > BUSY_SHARE)
}

/// Which trials were not steady, and what to do about it: a text for each reason.
pub fn words(manifest: &Manifest, records: &[Record]) -> Vec<String> {
    let of_group = |(why, group): (Why, Vec<&Record>)| {
        let of_some = of_some(manifest, &group);
        let trials = format!("{} of {} trials{of_some}", group.len(), records.len());
        format!("{trials}: {}", why.words(manifest, &group))
    };
    groups(records).into_iter().map(of_group).collect()
}

/// The trials that were not steady, by their reasons. Where caches filled in some repeats of a workload, its others
/// are of the same reason, though less was left in their caches.
fn groups(records: &[Record]) -> BTreeMap<Why, Vec<&Record>> {
    let unsteady = records.iter().filter(|r| reason(r).is_some() && !r.is_overloaded());
    let mut groups: BTreeMap<Why, Vec<&Record>> = BTreeMap::new();
    for record in unsteady {
        groups.entry(Why::of(record)).or_default().push(record);
    }
    let cached = groups.get(&Why::Cached).into_iter().flatten();
    let cached: BTreeSet<&str> = cached.map(|record| record.workload.as_str()).collect();
    let Some(changed) = groups.remove(&Why::StillChanged) else { return groups };
    for record in changed {
        let is_alike = cached.contains(record.workload.as_str());
        let why = if is_alike { Why::Cached } else { Why::StillChanged };
        groups.entry(why).or_default().push(record);
    }
    groups
}

impl Why {
    /// What is said of trials that were not steady for this reason.
    fn words(self, manifest: &Manifest, group: &[&Record]) -> String {
        match self {
            Why::Restored => longer(
                manifest,
                group,
                "they ended before the rebuild beside them had its pace, which a limit lets through in bursts",
            ),
            Why::TooShort => {
                longer(manifest, group, "they are too short to say whether their rate lasts")
            }
            Why::OnCredit => {
                let next = of_key(manifest, group, "drive.credit", "the credit is spent");
                format!("they drew on burst credit, which ends. {next}")
            }
            Why::Deferred => {
                let next = of_key(manifest, group, "drive.media_cache", "they are full");
                format!("they filled media caches of shingled disks. {next}")
            }
            Why::Cached => {
                let shares = group.iter().filter(|record| is_cached(record));
                let shares = shares.filter_map(|record| record.sample("cached_share"));
                let shares: Vec<f64> = shares.collect();
                let low = shares.iter().copied().fold(f64::INFINITY, f64::min);
                let high = shares.iter().copied().fold(0.0, f64::max);
                let range = [low, high].map(|share| format!("{:.0}", 100.0 * share));
                let range = if range[0] == range[1] { range[0].clone() } else { range.join("–") };
                let what = format!("write caches held {range} % of what was written");
                longer(manifest, group, &what)
            }
            Why::AtLimit => format!(
                "how many requests were in flight still changed when they ended, as at a load that is nearly all, or more, \
                 than can be done. {}",
                fewer(manifest, group)
            ),
            Why::StreamEnded => {
                let ended = group.iter().flat_map(|record| early::streams(record));
                let ended: BTreeSet<&str> = ended.map(|(stream, _)| stream).collect();
                let ended: Vec<String> = ended.into_iter().map(String::from).collect();
                format!("the rate changed when {} ended", listed(&ended))
            }
            Why::StillChanged => longer(manifest, group, "the rate still changed when they ended"),
        }
    }
}

/// How to measure what lasts, where the `key` of an experiment says in which state drives begin: without it.
fn of_key(manifest: &Manifest, group: &[&Record], key: &str, when: &str) -> String {
    let settings = manifest.settings();
    let of_workload =
        |record: &&Record| settings.contains_key(&format!("workload.{}.{key}", record.workload));
    if settings.contains_key(key) || group.iter().any(of_workload) {
        format!("Leave out `{key}` to measure what lasts once {when}")
    } else {
        next_step(manifest, group)
    }
}

/// `what` kept trials from a steady state that are too short, and what to do about it.
fn longer(manifest: &Manifest, group: &[&Record], what: &str) -> String {
    if manifest.published.is_empty() {
        format!("{what}. {}", next_step(manifest, group))
    } else {
        format!("{what}; they are as long as the published ones")
    }
}

/// `, all of b`, where that is not true of every workload.
fn of_some(manifest: &Manifest, unsteady: &[&Record]) -> String {
    let is_of = |workload: &String| unsteady.iter().any(|record| record.workload == *workload);
    let (own, others): (Vec<String>, Vec<String>) =
        manifest.workloads.iter().cloned().partition(is_of);
    if others.is_empty() { String::new() } else { format!(", all of {}", listed(&own)) }
}

/// Which trials were overloaded, and what to do about it; none where none was.
pub fn overloaded(manifest: &Manifest, records: &[Record]) -> Option<String> {
    let overloaded: Vec<&Record> = records.iter().filter(|r| r.is_overloaded()).collect();
    if overloaded.is_empty() || !manifest.published.is_empty() {
        return None;
    }
    let hopeless = overloading(manifest, records);
    let hopeless = if hopeless.is_empty() {
        String::new()
    } else {
        let [are, rank] = if hopeless.len() == 1 { ["is", "ranks"] } else { ["are", "rank"] };
        format!("; {} {are} more than any layout serves, and {rank} none", listed(&hopeless))
    };
    Some(format!(
        "{} of {} trials: requests came faster than they were served{hopeless}. Each waited longer than the one before, so these \
         latencies mean nothing. {}",
        overloaded.len(),
        records.len(),
        fewer(manifest, &overloaded)
    ))
}

/// The loads of which every trial was overloaded, where others have trials that were not.
fn overloading(manifest: &Manifest, records: &[Record]) -> Vec<String> {
    let is_load = |path: &str| manifest.factors.role(path) == Role::Load;
    let load = |record: &Record| {
        let varied = record.at.iter().filter(|(path, _)| is_load(path));
        manifest.factors.named_under(&record.workload, varied)
    };
    let loads: Vec<String> = records.iter().map(load).collect();
    let pairs = || loads.iter().zip(records);
    let served: BTreeSet<&String> =
        pairs().filter(|(_, record)| !record.is_overloaded()).map(|(load, _)| load).collect();
    let mut hopeless: Vec<String> = Vec::new();
    for load in loads.iter().filter(|load| !served.is_empty() && !served.contains(load)) {
        if !hopeless.contains(load) {
            hopeless.push(load.clone());
        }
    }
    hopeless
}

/// How to have requests come more slowly.
fn fewer(manifest: &Manifest, records: &[&Record]) -> &'static str {
    let settings = manifest.settings();
    let is_trace =
        |record: &&Record| settings.contains_key(&format!("workload.{}.file", record.workload));
    if records.iter().any(is_trace) {
        "Set a lower `speed`, or take faster drives"
    } else {
        "Set a lower `requests_per_s`, or find the highest rate with `capacity`"
    }
}

/// How to make them steady.
fn next_step(manifest: &Manifest, unsteady: &[&Record]) -> String {
    let settings = manifest.settings();
    let needed = unsteady.iter().filter_map(|record| record.sample("needed_mib"));
    let needed_mib = needed.fold(0.0, f64::max);
    let workloads: BTreeSet<&str> =
        unsteady.iter().map(|record| record.workload.as_str()).collect();
    let gib = figure(needed_mib / 1024.0);
    if manifest.fio {
        return format!(
            "Have them move at least {gib} GiB: by a larger `io_size`, or by `time_based` and a longer `runtime`"
        );
    }
    let lengths = lengths(manifest, &workloads);
    if workloads.iter().any(|name| settings.contains_key(&format!("workload.{name}.file"))) {
        return format!("A longer trace is needed: at least {gib} GiB");
    }
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

/// The keys that end trials of these workloads: those of a group are its streams', each by its path; others are alike.
fn lengths(manifest: &Manifest, workloads: &BTreeSet<&str>) -> Vec<String> {
    let mut named: Vec<String> = Vec::new();
    for workload in workloads {
        let members = manifest.members(workload);
        for path in members.iter().flat_map(|member| early::lengths(manifest, member)) {
            let alone = path.strip_prefix(&format!("workload.{workload}."));
            let key = alone.filter(|_| members.len() == 1).unwrap_or(&path);
            named.push(format!("`{key}`"));
        }
    }
    named.sort_unstable();
    named.dedup();
    named
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
        let filled = verdict(&format!("run.repeats = 1\n{WRITES}count = 3000\n"));
        assert_eq!(filled.answer, "No answer: no layout was in a steady state.");
        assert!(filled.ranked.is_empty() && filled.effects.is_empty());
        let point = filled.points.iter().find(|point| point.about == "not steady").unwrap();
        assert!(point.text.starts_with("2 of 2 trials: write caches held"), "{}", point.text);
        assert!(point.text.contains("Leave out `count`"), "{}", point.text);
        assert!(point.text.ends_with("move at least 10.0 GiB"), "{}", point.text);
    }

    /// One write of each layout, which a cache took: "md-raid5 about 100 times slower".
    #[test]
    fn what_is_too_short_to_judge_ranks_nothing() {
        for count in [1, 2] {
            let short = verdict(&format!("run.repeats = 1\n{WRITES}count = {count}\n"));
            assert_eq!(short.answer, "No answer: no layout was in a steady state.");
            assert!(short.ranked.is_empty());
            let points = short.points.iter().filter(|point| point.about == "not steady");
            let said: Vec<&str> = points.map(|point| point.text.as_str()).collect();
            let is_short = |text: &&str| text.contains("they are too short to say whether");
            assert!(said.iter().any(is_short), "{said:?}");
            assert!(said.iter().all(|text| text.contains("Leave out `count`")), "{said:?}");
        }
    }

    /// "Leave out `drive.credit`" was said of disks whose caches had filled, beside cloud volumes that were on credit.
    #[test]
    fn each_reason_has_its_own_trials_and_its_own_advice() {
        let text = "[volume]\ndrives = '4xst18000nm000j'\nlevel = 'raid5'\n[run]\nrepeats = 1\n[workload.disks]\n\
                    kind = 'random'\nop = 'write'\nblock = '4KiB'\ndepth = 32\ncount = 3000\n[workload.cloud]\n\
                    kind = 'random'\nblock = '16KiB'\ndepth = 32\ncount = 3000\n\
                    volume.drives = '2xgp2[size=100GiB]'\ndrive.credit = 'full'\n";
        let of = |text: &str| -> Vec<String> {
            let points = verdict(text).points.into_iter();
            points.filter(|point| point.about == "not steady").map(|point| point.text).collect()
        };
        let said = of(text);
        let [credit, caches] = said.as_slice() else { panic!("{said:?}") };
        assert!(credit.starts_with("1 of 2 trials, all of cloud: they drew on burst"), "{credit}");
        assert!(credit.contains(" Leave out `drive.credit`"), "{credit}");
        assert!(caches.starts_with("1 of 2 trials, all of disks: write caches held"), "{caches}");
        assert!(caches.contains(" Leave out `count`"), "{caches}");
    }

    /// What no experiment set was to be left out.
    #[test]
    fn credit_that_nobody_asked_for_is_not_to_be_left_out() {
        let text = "[volume]\ndrives = '4xebs-st1[size=2TiB]:16GiB'\nlevel = 'md-stripe'\ninterleave = '16KiB'\n[run]\nrepeats = 1\n\
                    [workload.w]\nkind = 'sequential'\nop = 'write'\nblock = '24KiB'\ndepth = 256\ncount = 8000\n";
        let verdict = verdict(text);
        assert!(
            !format!("{:?}", verdict.points).contains("burst credit, which"),
            "{:?}",
            verdict.points
        );
    }

    /// A group has no keys of its own: "Raise `run.budget`" was said, which does nothing to streams that have ends; and
    /// who wrote a fio job file has no `amount` to leave out.
    #[test]
    fn what_ends_the_streams_of_a_group_is_named() {
        let text = format!(
            "{WRITES}count = 3000\ngroup = 'g'\n[workload.r]\nkind = 'random'\namount = '12MiB'\ngroup = 'g'\n"
        );
        let said = |file: &str| {
            let experiment = Experiment::parse(file, &text).unwrap();
            let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
            let of = Verdict::new(&ran.manifest, &ran.records(), &Wishes::default()).unwrap();
            of.points.into_iter().find(|point| point.about == "not steady").unwrap().text
        };
        let of_group = said("some.toml");
        assert!(
            of_group.contains("Leave out `workload.r.amount` and `workload.w.count`, and each"),
            "{of_group}"
        );
        let of_fio = said("some.fio");
        assert!(of_fio.contains("larger `io_size`") && !of_fio.contains("`amount`"), "{of_fio}");
    }

    /// One that could not be judged might be the best.
    #[test]
    fn the_only_one_that_was_steady_is_not_called_the_best() {
        let text = WRITES.replace("level = ['md-raid0', 'raid5']", "level = 'md-raid0'");
        let caches =
            verdict(&format!("{text}count = 3000\n[drive]\nwrite_cache = [false, true]\n"));
        assert!(caches.answer.starts_with("No answer yet: only"), "{}", caches.answer);
    }

    /// Under one of two conditions no layout was steady: the other was lost with it.
    #[test]
    fn a_condition_under_which_none_was_steady_ranks_none() {
        let text = "[volume]\ndrives = '2xgp2[size=100GiB]'\nlevel = ['md-stripe', 'md-mirror']\n\
                    [drive]\ncredit = ['spent', 'full']\n[workload.w]\nkind = 'random'\nblock = '16KiB'\ndepth = 32\n";
        let verdict = verdict(text);
        assert!(verdict.answer.starts_with("No reliable difference"), "{}", verdict.answer);
        let said = "No layout was steady under w[credit=full]: that ranks nothing.";
        assert!(verdict.answer.ends_with(said), "{}", verdict.answer);
        assert_eq!((verdict.ranked.len(), verdict.situations.len()), (2, 1));
        assert_eq!(verdict.situations[0].given["drive.credit"], "spent");
        assert!(verdict.points.iter().any(|point| point.about == "not steady"));
    }

    #[test]
    fn steady_trials_are_ranked_and_a_budget_that_is_too_small_is_said() {
        // Caches of 16 MiB are full sooner than those of 128 MiB.
        let writes = WRITES.replace("st18000nm000j", "st18000nm000j[write_buffer_sectors=32768]");
        let writes = format!("{writes}[run]\nrepeats = 1\n");
        let steady = verdict(&writes);
        assert!(steady.answer.starts_with("Use "), "{}", steady.answer);
        let ratio = steady.ranked[1].behind;
        assert!((2.0..12.0).contains(&ratio), "{ratio}");
        let small = verdict(&format!("{writes}budget = '100ms'\n"));
        let point = small.points.iter().find(|point| point.about == "not steady").unwrap();
        assert!(point.text.contains("Raise `run.budget`"), "{}", point.text);
    }

    /// A layout of which one repeat in three was not steady is ranked by the others; all of a repeat has to be.
    #[test]
    fn a_layout_counts_with_the_repeats_that_were_steady() {
        let text = "[volume]\ndrives = '2xwd740gd'\nlevel = ['md-stripe', 'md-mirror', 'md-concat']\n[workload.v]\nkind = 'random'\n\
                    [workload.w]\nkind = 'random'\nblock = '8KiB'\n[run]\nrepeats = 3\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let mut records = ran.records();
        let of = |records: &[store::record::Record]| {
            Verdict::new(&ran.manifest, records, &Wishes::default()).unwrap()
        };
        let best = of(&records).ranked[0].at.clone();
        let unsettle = |records: &mut Vec<store::record::Record>, workload: &str, repeat: u64| {
            let is_it = |of: &&mut store::record::Record| {
                of.at == best && of.workload == workload && of.repeat == repeat
            };
            records.iter_mut().filter(is_it).for_each(|of| of.samples.insert("steady", 0.0));
        };
        unsettle(&mut records, "v", 2);
        let verdict = of(&records);
        let own = verdict.ranked.iter().find(|ranked| ranked.at == best).unwrap();
        assert_eq!((own.trials, verdict.ranked.len()), (2, 3));
        assert!(verdict.points.iter().any(|point| point.text.starts_with("1 of 18 trials")));
        // Each workload has a steady repeat, and none has all of them.
        unsettle(&mut records, "w", 0);
        unsettle(&mut records, "w", 1);
        let verdict = of(&records);
        let rest = " Nothing is said of level md-concat: not steady.";
        assert!(verdict.answer.ends_with(rest), "{}", verdict.answer);
        assert_eq!((&verdict.left_out[0].at, verdict.left_out.len()), (&best, 1));
        assert!(verdict.left_out[0].is_unsteady, "{:?}", verdict.left_out);
    }

    /// What makes nothing is infinitely far behind, and is named all the same.
    #[test]
    fn the_last_is_named_where_it_makes_nothing() {
        let text = "[volume]\ndrives = '4xwd740gd'\nlevel = ['md-stripe', 'md-raid10', 'md-mirror']\n[workload.w]\n\
                    kind = 'random'\ndepth = 16\nop = 'write'\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let mut records = ran.records();
        for of in records.iter_mut().filter(|of| of.at["volume.level"] == "md-mirror") {
            of.samples.insert("mb_per_s", 0.0);
        }
        let verdict = Verdict::new(&ran.manifest, &records, &Wishes::default()).unwrap();
        let next = verdict.points.iter().find(|point| point.about == "next best").unwrap();
        assert!(next.text.contains("last md-mirror, at 0"), "{}", next.text);
    }

    /// "19 of 38 trials" did not say that one of two rates is more than any layout serves.
    #[test]
    fn loads_that_no_layout_serves_are_named() {
        let of = |rates: &str| {
            let text = format!(
                "run.budget_requests = 20000\n[volume]\ndrives = '4xgp3[size=500GiB]'\nlevel = ['md-stripe', 'md-raid10']\n\
                 [workload.w]\nkind = 'random'\nblock = '8KiB'\narrivals = 'poisson'\nrequests_per_s = [{rates}]\ncount = 5000\n"
            );
            let experiment = Experiment::parse("some.toml", &text).unwrap();
            let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
            super::overloaded(&ran.manifest, &ran.records()).unwrap()
        };
        let one = of("2000, 20000");
        let said = "2 of 4 trials: requests came faster than they were served; w[requests_per_s=20000] is more than any layout serves, \
                    and ranks none. ";
        assert!(one.starts_with(said), "{one}");
        // Where all are, the loads are no reason to tell any apart.
        assert!(
            of("20000, 30000")
                .starts_with("4 of 4 trials: requests came faster than they were served. ")
        );
    }

    /// A limit below what one request takes holds at no rate: that is no tie.
    #[test]
    fn a_limit_that_holds_nowhere_is_no_answer() {
        let text = "[volume]\ndrives = '4xwd740gd'\nlevel = ['md-stripe', 'md-raid10']\n[workload.w]\nkind = 'random'\n\
                    arrivals = 'poisson'\ncapacity = 'p99 <= 10us'\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let verdict = Verdict::new(&ran.manifest, &ran.records(), &Wishes::default()).unwrap();
        assert!(
            verdict.answer.starts_with("No answer: the limit on the latency holds"),
            "{}",
            verdict.answer
        );
        assert!(verdict.ranked.is_empty());
    }

    /// A group may be called as one of its streams, as those of fio's jobs are: it is judged by its total.
    #[test]
    fn a_group_with_a_streams_name_is_judged_by_its_total() {
        let text = "[volume]\ndrives = '4x980-pro-1tb'\nlevel = ['md-stripe', 'md-raid5']\n[workload.a]\nkind = 'random'\n\
                    group = 'a'\n[workload.b]\nkind = 'sequential'\nblock = '1MiB'\nop = 'write'\ngroup = 'a'\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let records = ran.records();
        let verdict = Verdict::new(&ran.manifest, &records, &Wishes::default()).unwrap();
        let of = |name: &str| records[0].sample(name).unwrap();
        assert!(of("a.mb_per_s") < 0.5 * of("mb_per_s"));
        assert!(verdict.ranked[0].value > 0.9 * of("mb_per_s"), "{:?}", verdict.ranked);
    }

    /// fio calls its group by its first job, and that job was left out of what layouts are ranked by.
    #[test]
    fn a_stream_with_its_groups_name_counts_where_streams_are_judged_apart() {
        let text = "[volume]\ndrives = '4x980-pro-1tb'\nlevel = ['md-raid10', 'md-raid5']\n[workload.a]\nkind = 'random'\n\
                    group = 'a'\nreads_percent = 70\narrivals = 'poisson'\nrequests_per_s = 10000\n[workload.b]\n\
                    kind = 'sequential'\nop = 'write'\nflush_every = 1\nrequests_per_s = 100\ngroup = 'a'\n";
        let verdict = verdict(text);
        let of: Vec<&str> = verdict.situations.iter().map(|found| found.of.as_str()).collect();
        assert_eq!(of, ["a", "b"]);
    }

    const OPEN: &str = "[volume]\nlevel = 'raid0'\ninterleave = '64KiB'\n[workload.w]\nkind = 'random'\nblock = '4KiB'\n\
                        arrivals = 'poisson'\n";

    fn open(drives: &str, rates: &str) -> Verdict {
        let text = OPEN.replace("[volume]", &format!("[volume]\ndrives = {drives}"));
        verdict(&format!("{text}requests_per_s = {rates}\n"))
    }

    /// One disk does some 120 requests a second: at 200 it has no latency that means anything, and four disks have.
    #[test]
    fn a_layout_that_cannot_keep_up_is_left_out_and_not_in_doubt() {
        let verdict = open("['1xwd740gd', '4xwd740gd']", "200");
        assert!(verdict.answer.starts_with("Use "), "{}", verdict.answer);
        assert!(verdict.answer.contains("the only layout that keeps up"), "{}", verdict.answer);
        assert!(verdict.left_out[0].is_overloaded && !verdict.left_out[0].is_unsteady);
        assert!(verdict.left_out[0].because[0].contains("overloaded"), "{:?}", verdict.left_out[0]);
        assert!(verdict.points.iter().any(|point| point.about == "overloaded"));
    }

    /// At its limit a disk has a queue that never settles; a longer trial is of no use.
    #[test]
    fn a_load_at_the_limit_is_to_be_lower() {
        let keys = "requests_per_s = 130\n[host]\nname = 'ideal'\n[drive]\nqueue_discipline = 'fcfs'\nread_ahead = false";
        let text = OPEN.replace("[volume]", "[volume]\ndrives = ['1xwd740gd', '4xwd740gd']");
        let verdict = verdict(&format!("run.repeats = 1\n{text}{keys}\n"));
        let said = verdict.points.iter().find(|point| point.about == "not steady").unwrap();
        assert!(
            said.text.starts_with("1 of 2 trials: how many requests were in flight"),
            "{}",
            said.text
        );
        assert!(said.text.contains("Set a lower `requests_per_s`"), "{}", said.text);
    }

    /// A load that nobody keeps up with says nothing, and the others still count.
    #[test]
    fn a_load_that_overloads_every_layout_ranks_none_of_them() {
        let verdict = open("['2xwd740gd', '4xwd740gd']", "[60, 2000]");
        assert_eq!(verdict.ranked.len(), 2, "{:?}", verdict.left_out);
        assert_eq!(verdict.situations.len(), 1);
        let all = open("['1xwd740gd', '2xwd740gd']", "2000");
        assert_eq!(all.answer, "No answer: no layout keeps up with the requests.");
    }

    /// Each stream of a mix by its own sample, by whose names formulas call them.
    #[test]
    fn streams_of_a_mix_are_judged_apart() {
        let text = "[volume]\ndrives = '4xwd740gd'\nlevel = ['raid10', 'raid5']\n[drive]\nwrite_cache = false\n\
                    [workload.pages]\nkind = 'random'\nblock = '8KiB'\nreads_percent = 70\narrivals = 'poisson'\n\
                    requests_per_s = 40\ngroup = 'db'\n[workload.wal]\nkind = 'sequential'\nop = 'write'\nblock = '8KiB'\n\
                    flush_every = 1\narrivals = 'poisson'\nrequests_per_s = 5\noffset = '60GiB'\nspan = '1GiB'\n\
                    group = 'db'\n";
        let experiment = Experiment::parse("some.toml", text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let of = |objective: &str| {
            let objectives = (!objective.is_empty()).then(|| objective.to_string());
            let wishes =
                Wishes { objectives: objectives.into_iter().collect(), ..Wishes::default() };
            Verdict::new(&ran.manifest, &ran.records(), &wishes)
        };
        let plain = of("").unwrap();
        let judged: Vec<&str> = plain.situations.iter().map(|s| s.of.as_str()).collect();
        assert_eq!(judged, ["pages", "wal"]);
        assert!(plain.ranked[0].label.contains("raid10"), "{}", plain.answer);
        for name in ["wal.commit_p99_ms", "commit_p99", "wal"] {
            assert_eq!(of(&format!("min {name}")).unwrap().unit, "ms", "{name}");
        }
        assert_eq!(of("max pages.reads").unwrap().unit, "/s");
        let several = of("max reads").unwrap_err().to_string();
        assert!(several.contains("`pages.reads_per_s`"), "{several}");
        let unknown = of("min wal.comit_p99").unwrap_err().to_string();
        assert!(unknown.contains("commit_p99"), "{unknown}");
        let screen = crate::report::text::run(&ran.manifest, &ran.records(), &plain, None);
        assert!(
            screen.contains("wal commit p99 ms") && screen.contains("pages latency p99 ms"),
            "{screen}"
        );
    }

    /// Layouts are ranked by the rate that was found, and the curve stands below.
    #[test]
    fn capacities_are_ranked_and_their_curves_shown() {
        let text = OPEN.replace("[volume]", "[volume]\ndrives = ['2xwd740gd', '4xwd740gd']");
        let experiment =
            Experiment::parse("some.toml", &format!("{text}capacity = 'p99 <= 50ms'\n")).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        let verdict = Verdict::new(&ran.manifest, &ran.records(), &Wishes::default()).unwrap();
        assert!(verdict.ranked[0].label.contains("4xwd740gd"), "{}", verdict.answer);
        assert_eq!(verdict.unit, "requests/s");
        assert!((1.3..3.0).contains(&verdict.ranked[1].behind), "{}", verdict.ranked[1].behind);
        let screen = crate::report::text::run(&ran.manifest, &ran.records(), &verdict, None);
        assert_eq!(screen.matches("Latency against load").count(), 2, "{screen}");
        assert!(screen.contains("holds") && screen.contains("too slow"), "{screen}");
    }
}
