//! Streams of a group that ended long before the others: what they measured is of their own time, and what the others measured
//! is partly of a load without them.

use crate::tables::{figure, listed};
use store::Manifest;
use store::record::Record;

/// A stream that ran for less than this share of its trial ended early.
const EARLY: f64 = 0.9;

/// The streams of a trial that ended early, each with how long it ran, in s.
pub(crate) fn streams(record: &Record) -> Vec<(&str, f64)> {
    let Some(all_s) = record.sample("elapsed_s") else { return Vec::new() };
    let streams = record.samples.names().filter_map(|name| {
        let stream = name.strip_suffix(".elapsed_s")?;
        Some((stream, record.sample(name)?))
    });
    streams.filter(|(_, ran_s)| *ran_s < EARLY * all_s).collect()
}

/// A sentence for each group of which streams ended early.
pub(crate) fn words(manifest: &Manifest, records: &[Record]) -> Vec<String> {
    let groups = manifest.workloads.iter().filter_map(|group| {
        let own = records.iter().filter(|record| record.workload == *group);
        of_group(manifest, group, &own.collect::<Vec<_>>())
    });
    groups.collect()
}

fn of_group(manifest: &Manifest, group: &str, records: &[&Record]) -> Option<String> {
    let early: Vec<(&str, f64, f64)> = records
        .iter()
        .filter_map(|record| Some((streams(record), record.sample("elapsed_s")?)))
        .flat_map(|(own, all_s)| own.into_iter().map(move |(name, ran_s)| (name, ran_s, all_s)))
        .collect();
    let members = manifest.members(group);
    let (ended, others): (Vec<String>, Vec<String>) =
        members.into_iter().partition(|name| early.iter().any(|(known, ..)| known == name));
    if ended.is_empty() || others.is_empty() {
        return None;
    }
    let after = ended.iter().map(|name| {
        let ran = early.iter().filter(|(known, ..)| known == name).map(|(_, ran_s, _)| *ran_s);
        format!("{name} ended after {} s", range(ran, figure))
    });
    let of = range(early.iter().map(|(_, _, all_s)| *all_s), figure);
    let left = early.iter().map(|(_, ran_s, all_s)| 100.0 * (1.0 - ran_s / all_s));
    let left = range(left, |percent| format!("{percent:.0}"));
    let [whose, them] = if ended.len() == 1 { ["its", "it"] } else { ["their", "them"] };
    Some(format!(
        "{} of {of} s: {whose} figures cover only that time, and {} ran without {them} for {left} % of the time. {}",
        listed(&after.collect::<Vec<_>>()),
        listed(&others),
        advice(manifest, &ended, &others)
    ))
}

/// How to have all of them run for as long as each other.
fn advice(manifest: &Manifest, ended: &[String], others: &[String]) -> String {
    if manifest.fio {
        return "Give each job `time_based` and the same `runtime`".into();
    }
    let keys = ended.iter().flat_map(|name| lengths(manifest, name));
    let keys: Vec<String> = keys.map(|path| format!("`{path}`")).collect();
    if keys.is_empty() {
        return "Give each the same `runtime`".into();
    }
    let [it, goes] = if ended.len() == 1 { ["it", "goes"] } else { ["they", "go"] };
    format!("Leave out {}, and {it} {goes} on as long as {}", listed(&keys), listed(others))
}

/// The keys that say how long a workload goes on, as far as it has them.
pub(crate) fn lengths(manifest: &Manifest, workload: &str) -> Vec<String> {
    let settings = manifest.settings();
    let paths = ["amount", "count", "runtime"].map(|key| format!("workload.{workload}.{key}"));
    paths.into_iter().filter(|path| settings.contains_key(path)).collect()
}

/// The least and the greatest, or what both are: `4–8`.
fn range(values: impl Iterator<Item = f64>, written: impl Fn(f64) -> String) -> String {
    let values: Vec<f64> = values.collect();
    let low = written(values.iter().copied().fold(f64::INFINITY, f64::min));
    let high = written(values.iter().copied().fold(0.0, f64::max));
    if low == high { low } else { format!("{low}–{high}") }
}

#[cfg(test)]
mod tests {
    use crate::{Verdict, Wishes};
    use lab::experiment::Experiment;
    use lab::rig::sim::Sim;
    use lab::{Keep, run};

    fn verdict(file: &str, log: &str, reads: &str) -> Verdict {
        let text = format!(
            "[volume]\ndrives = '4x ST18000NM000J'\nlevel = ['md-raid10', 'md-raid5']\ninterleave = '64KiB'\n[drive]\n\
             write_cache = false\n[workload.wal]\nkind = 'random'\nop = 'write'\nblock = '8KiB'\nflush_every = 1\n\
             group = 'oltp'\n{log}\n[workload.reads]\nkind = 'random'\nblock = '16KiB'\ndepth = 4\ngroup = 'oltp'\n{reads}\n"
        );
        let experiment = Experiment::parse(file, &text).unwrap();
        let ran = run(&experiment, &Sim, Keep::Nowhere, &mut |_| ()).unwrap();
        Verdict::new(&ran.manifest, &ran.records(), &Wishes::default()).unwrap()
    }

    fn said<'a>(verdict: &'a Verdict, about: &str) -> Option<&'a str> {
        let found = verdict.points.iter().find(|point| point.about == about);
        found.map(|point| point.text.as_str())
    }

    /// 200 commits in 4 and in 8 s beside reads of 200 s were "1.00 commits/s" on both: no reliable difference.
    #[test]
    fn a_stream_that_ends_early_is_judged_by_its_own_time_and_said_to_be() {
        let of = verdict("j.toml", "count = 200", "requests_per_s = 100\nruntime = '200s'");
        let wal = of.situations.iter().find(|situation| situation.of == "wal").unwrap();
        assert!(wal.tied.len() == 1 && wal.at["volume.level"] == "md-raid10", "{wal:?}");
        let said = said(&of, "ended early").unwrap();
        assert!(said.starts_with("wal ended after "), "{said}");
        assert!(
            said.contains(
                "of 200.0 s: its figures cover only that time, and reads ran without it for"
            ),
            "{said}"
        );
        assert!(
            said.ends_with("Leave out `workload.wal.count`, and it goes on as long as reads"),
            "{said}"
        );
        let fio = verdict("j.fio", "count = 200", "requests_per_s = 100\nruntime = '200s'");
        let of_fio = self::said(&fio, "ended early").unwrap();
        assert!(of_fio.ends_with("Give each job `time_based` and the same `runtime`"), "{of_fio}");
    }

    #[test]
    fn streams_that_run_side_by_side_all_the_time_are_not_said_to_end_early() {
        for log in ["", "runtime = '20s'"] {
            let of = verdict("j.toml", log, "requests_per_s = 100\nruntime = '20s'");
            assert_eq!(said(&of, "ended early"), None);
        }
    }

    /// "Raise `run.budget`" was said of a group whose log had ended after a third of the time.
    #[test]
    fn a_rate_that_changes_because_a_stream_ends_is_said_to() {
        let of = verdict("j.toml", "count = 3000", "requests_per_s = 40\nruntime = '200s'");
        assert!(said(&of, "not steady").unwrap().ends_with(": the rate changed when wal ended"));
        assert!(said(&of, "ended early").unwrap().contains("Leave out `workload.wal.count`"));
    }
}
