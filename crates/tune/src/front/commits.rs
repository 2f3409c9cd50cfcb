//! What streams that flush make of commits: columns beside the speed, which says nothing of them where pages are added to a log.

use std::collections::BTreeMap;
use store::record::Record;
use verdict::stats::median;

/// Samples of a stream that flushes: who asks about a database wants both, whatever layouts are ranked by.
pub(crate) const OF_COMMITS: [&str; 2] = ["commits_per_s", "commit_p99_ms"];

/// What the streams of these records of one layout make of commits, each by its sample; nothing where they are of several workloads or
/// conditions, of which none is the row's.
pub(crate) fn of_layout<'a>(records: impl Iterator<Item = &'a Record>) -> BTreeMap<String, f64> {
    let records: Vec<&Record> = records.collect();
    let Some(first) = records.first() else { return BTreeMap::new() };
    if records.iter().any(|of| of.workload != first.workload || of.at != first.at) {
        return BTreeMap::new();
    }
    let is_of_commits =
        |name: &&str| OF_COMMITS.contains(&name.rsplit('.').next().unwrap_or_default());
    let median_of = |name: &str| {
        let values: Vec<f64> = records.iter().filter_map(|of| of.sample(name)).collect();
        Some((name.to_string(), median(&values)?))
    };
    first.samples.names().filter(is_of_commits).filter_map(median_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::row::{FrontRow, Shown};
    use crate::front::tests::row;
    use verdict::tables::figure;

    /// Who asks about a database wants commits beside the rate, and where several streams commit, those of each.
    #[test]
    fn commits_stand_beside_the_speed() {
        let text = "run.repeats = 2\nvolume.drives = '2xp4800x-375gb'\nvolume.level = 'md-mirror'\n\
                    [workload.pages]\nkind = 'random'\ngroup = 'db'\ncount = 200\n\
                    [workload.wal]\nkind = 'sequential'\nop = 'write'\nflush_every = 1\ngroup = 'db'\ncount = 200\n";
        let (_, _, records) = crate::question::posed::tests::asked(text);
        assert_eq!(records.len(), 2);
        let commits = of_layout(records.iter());
        let names: Vec<&String> = commits.keys().collect();
        assert_eq!(names, ["wal.commit_p99_ms", "wal.commits_per_s"]);
        let rates: Vec<f64> =
            records.iter().filter_map(|of| of.sample("wal.commits_per_s")).collect();
        let middle = f64::midpoint(rates[0], rates[1]);
        assert!(
            (commits["wal.commits_per_s"] / middle - 1.0).abs() < 1e-9,
            "{commits:?} {rates:?}"
        );

        let mut with = row("md-mirror", 100.0, 1, 0.0);
        with.commits = commits;
        let without = row("md-raid6", 90.0, 1, 0.0);
        let (heading, _) = FrontRow::heading(&[with.clone(), without.clone()]);
        assert_eq!(heading[2..5], ["speed", "commits/s", "commit p99 ms"]);
        let shown = Shown::of(std::slice::from_ref(&with));
        assert_eq!(with.cells(&shown)[3], figure(with.commits["wal.commits_per_s"]));
        assert_eq!(without.cells(&shown)[3..5], ["–"; 2]);
        let mut two = with.clone();
        two.commits.insert("redo.commits_per_s".into(), 5.0);
        let (heading, _) = FrontRow::heading(&[two]);
        assert_eq!(heading[3..6], ["redo commits/s", "wal commits/s", "wal commit p99 ms"]);
        // What the speed says already is not said again.
        let mut judged = with;
        judged.value = judged.commits["wal.commits_per_s"];
        assert_eq!(FrontRow::heading(&[judged]).0[3], "commit p99 ms");
    }
}
