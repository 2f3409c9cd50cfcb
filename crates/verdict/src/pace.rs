//! Whether a stream kept its pace: "can it take 2 MB/s for at least one minute?"

use crate::cells::CellSummary;
use crate::stats::median;
use crate::tables::listed;
use store::record::Record;

/// Late blocks up to this share of all are some, and no missed rate.
pub(crate) const FEW: f64 = 0.001;

/// A rate that is reached to this share is kept: single requests are late on any disk.
pub(crate) const KEPT: f64 = 0.95;

/// What had a rate to keep in a trial, and how late it was: a stream of a group, or all of it.
#[derive(Clone, Debug)]
pub(crate) struct Paced {
    /// The stream's name, or the workload's.
    pub(crate) name: String,
    /// Late blocks, and all of them.
    pub(crate) late: f64,
    pub(crate) blocks: f64,
    /// How late the latest was, in ms.
    pub(crate) late_ms: f64,
    /// How long it went on: what was measured of it, and with its warm-up.
    measured_s: f64,
    ran_s: f64,
    /// What it reached, in MB/s.
    mb_per_s: f64,
}

impl Paced {
    /// What share of the rate asked for it reached: its last requests come as late as it is behind, and that grows with
    /// its length.
    pub(crate) fn reached(&self) -> f64 {
        (1.0 - self.late_ms / 1000.0 / self.ran_s).clamp(0.0, 1.0)
    }
}

/// What had a rate to keep in a trial: its streams that had one; of older results, which do not say which, all of it.
pub(crate) fn paced(record: &Record) -> Vec<Paced> {
    let of = |stream: Option<&str>| {
        let named = |name: &str| {
            record.sample(&stream.map_or(name.into(), |stream| format!("{stream}.{name}")))
        };
        let (late, late_ms) = (named("underruns")?, named("late_max_ms")?);
        let warm_up_s = record.sample("warm_up_s").unwrap_or(0.0);
        let measured_s = named("elapsed_s").or_else(|| record.sample("elapsed_s"))?;
        let ran_s = measured_s + warm_up_s;
        let blocks = match stream {
            Some(_) => (named("requests_per_s").unwrap_or(0.0) * ran_s).round(),
            None => record.requests as f64,
        };
        let name = stream.unwrap_or(&record.workload).to_string();
        let mb_per_s = named("mb_per_s").unwrap_or(0.0);
        Some(Paced { name, late, blocks, late_ms, measured_s, ran_s, mb_per_s })
    };
    let streams = record.samples.names().filter_map(|name| name.strip_suffix(".underruns"));
    let apart: Vec<Paced> = streams.filter_map(|stream| of(Some(stream))).collect();
    if apart.is_empty() { of(None).into_iter().collect() } else { apart }
}

/// A sentence for each cell and stream that has a rate.
pub fn sentences(cells: &[CellSummary<'_>]) -> Vec<String> {
    cells.iter().flat_map(of_cell).collect()
}

fn of_cell(cell: &CellSummary<'_>) -> Vec<String> {
    let all: Vec<Paced> = cell.records.iter().flat_map(|record| paced(record)).collect();
    let mut names: Vec<&str> = Vec::new();
    for of in &all {
        if !names.contains(&of.name.as_str()) {
            names.push(&of.name);
        }
    }
    let of_name = |name: &str| all.iter().filter(|of| of.name == name).collect::<Vec<_>>();
    names.into_iter().map(|name| sentence(cell, name, &of_name(name))).collect()
}

/// What is said of one that had a rate in every repeat of a cell.
fn sentence(cell: &CellSummary<'_>, name: &str, repeats: &[&Paced]) -> String {
    let worst = |value: fn(&Paced) -> f64| repeats.iter().map(|of| value(of)).fold(0.0, f64::max);
    let middle = |value: fn(&Paced) -> f64| {
        median(&repeats.iter().map(|of| value(of)).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let elapsed_s = middle(|of| of.measured_s);
    let (underruns, late_ms) = (worst(|of| of.late), worst(|of| of.late_ms));
    let what = format!("{name}, {}", cell.label());
    let most = worst(|of| of.blocks);
    if underruns == 0.0 {
        // Not what was done over how long it took: the last block is asked for a block's time before the end.
        format!("{what}: kept its rate for {elapsed_s:.1} s; no block was late.")
    } else if underruns <= FEW * most {
        format!(
            "{what}: kept its rate for {elapsed_s:.1} s, but for {underruns:.0} of {most:.0} blocks, late by up to \
             {}.",
            of_ms(late_ms)
        )
    } else if repeats.iter().all(|of| of.reached() >= KEPT) {
        format!(
            "{what}: {underruns:.0} of {most:.0} blocks were late in {elapsed_s:.1} s, by up to {}; on the whole it \
             kept its rate.",
            of_ms(late_ms)
        )
    } else {
        let is_all = name == cell.workload && cell.measured(&format!("{name}.underruns")).is_none();
        let (whose, reached) = match is_all.then(|| of_streams(cell)).flatten() {
            Some(streams) => ("the rate of its streams", format!("they reached {streams}")),
            None => ("its rate", format!("it reached {:.2} MB/s", middle(|of| of.mb_per_s))),
        };
        format!(
            "{what}: did not keep {whose}: {underruns:.0} blocks were late in {elapsed_s:.1} s, by up to {}; {reached}.",
            of_ms(late_ms)
        )
    }
}

/// What the streams of a group reached, where nothing says which of them has a rate.
fn of_streams(cell: &CellSummary<'_>) -> Option<String> {
    let reached = |stream: &str| {
        let rate = cell.measured(&format!("{stream}.mb_per_s"))?;
        Some(format!("{stream} {rate:.2} MB/s"))
    };
    let streams: Vec<String> = cell.streams().into_iter().filter_map(reached).collect();
    (!streams.is_empty()).then(|| listed(&streams))
}

/// A delay as people read it.
pub(crate) fn of_ms(ms: f64) -> String {
    if ms < 1000.0 { format!("{ms:.1} ms") } else { format!("{:.1} s", ms / 1000.0) }
}

/// What share of the rate asked for a trial reached; of several, the one that reached least. None where no rate was asked for.
pub(crate) fn reached(record: &Record) -> Option<f64> {
    paced(record).iter().map(Paced::reached).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;
    use lab::experiment::{Experiment, Plan};
    use lab::rig::sim::Sim;
    use lab::runner;
    use store::record::Record;

    /// McVoy's question of a Wren VII: not in blocks of 8 KiB, and not even in blocks of 120 KiB.
    #[test]
    fn two_megabytes_a_second_for_a_minute() {
        let verdict = |block: &str, drive: &str| {
            let text = format!(
                "[host]\nname = \"sunos-4.1\"\n[volume]\ndrives = \"{drive}\"\nlevel = \"single\"\n\
                 [workload.record]\nkind = \"sequential\"\nop = \"write\"\nblock = \"{block}\"\n\
                 rate = \"2MB/s\"\ndepth = 2\nruntime = \"60s\"\n"
            );
            let plan = Plan::new(&Experiment::parse("some.toml", &text).unwrap()).unwrap();
            let finished = runner::run(&plan, &Sim, None, Vec::new(), &mut |_| ()).unwrap();
            let records: Vec<Record> = finished.into_iter().map(|f| f.record).collect();
            sentences(&cells::unordered(&store::factor::Factors::default(), &records)).remove(0)
        };
        assert!(verdict("8KiB", "94601-12g").contains("did not keep its rate"));
        assert!(verdict("120KiB", "94601-12g").contains("did not keep its rate"));
        assert!(verdict("120KiB", "wd740gd").contains("no block was late"));
    }

    /// Two blocks of thousands that come a little late are no missed rate.
    #[test]
    fn a_few_late_blocks_are_counted() {
        let text = "[volume]\ndrives = 'wd740gd'\nlevel = 'single'\n[workload.record]\nkind = 'sequential'\nop = 'write'\n\
                    block = '64KiB'\nrate = '2MB/s'\ndepth = 4\nruntime = '120s'\n";
        let plan = Plan::new(&Experiment::parse("some.toml", text).unwrap()).unwrap();
        let finished = runner::run(&plan, &Sim, None, Vec::new(), &mut |_| ()).unwrap();
        let mut records: Vec<Record> = finished.into_iter().map(|f| f.record).collect();
        let mut said = |late: f64| {
            records[0].samples.insert("underruns", late);
            sentences(&cells::unordered(&store::factor::Factors::default(), &records)).remove(0)
        };
        assert!(said(2.0).contains("kept its rate") && said(2.0).contains("but for 2 of "));
        // Many, and none of them for long: it did not keep a rate that it had reached.
        let kept = said(400.0);
        assert!(
            kept.contains(": 400 of ") && kept.ends_with("on the whole it kept its rate."),
            "{kept}"
        );
        records[0].samples.insert("late_max_ms", 60_000.0);
        let late =
            sentences(&cells::unordered(&store::factor::Factors::default(), &records)).remove(0);
        assert!(late.contains("did not keep its rate: 400 blocks were late"), "{late}");
        assert!(late.contains("by up to 60.0 s; it reached"), "{late}");
        // What a mix did together is the rate of none of its streams.
        for (name, rate) in [("up.mb_per_s", 1.5), ("client.mb_per_s", 300.0)] {
            records[0].samples.insert(name, rate);
        }
        let late =
            sentences(&cells::unordered(&store::factor::Factors::default(), &records)).remove(0);
        assert!(late.contains("did not keep the rate of its streams"), "{late}");
        assert!(late.ends_with("; they reached up 1.50 MB/s and client 300.00 MB/s."), "{late}");
    }

    /// "oltp" had a log with no rate in it, and of fio's jobs the group is called as the first.
    #[test]
    fn of_a_group_the_streams_that_have_a_rate_are_named() {
        let text = "[volume]\ndrives = '4xst18000nm000j'\nlevel = 'md-raid10'\n[workload.wal]\nkind = 'random'\n\
                    op = 'write'\ncount = 200\ngroup = 'wal'\n[workload.reads]\nkind = 'random'\nrequests_per_s = 40\n\
                    count = 80\ndepth = 4\ngroup = 'wal'\n[workload.more]\nkind = 'random'\nruntime = '60s'\ngroup = 'wal'\n";
        let plan = Plan::new(&Experiment::parse("some.toml", text).unwrap()).unwrap();
        let finished = runner::run(&plan, &Sim, None, Vec::new(), &mut |_| ()).unwrap();
        let mut records: Vec<Record> = finished.into_iter().map(|f| f.record).collect();
        let said = |records: &[Record]| {
            sentences(&cells::unordered(&store::factor::Factors::default(), records))
        };
        let kept = said(&records);
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert!(
            kept[0].starts_with("reads, ") && kept[0].contains(": kept its rate for 2.0 s"),
            "{kept:?}"
        );
        assert!(reached(&records[0]).unwrap() > 0.95);
        // A second late in two is half of the rate, however long the others go on.
        for (name, value) in [("reads.underruns", 40.0), ("reads.late_max_ms", 1000.0)] {
            records[0].samples.insert(name, value);
        }
        assert!((reached(&records[0]).unwrap() - 0.5).abs() < 0.05);
        let late = said(&records);
        assert!(
            late[0].contains("did not keep its rate: 40 blocks were late in 2.0 s"),
            "{late:?}"
        );
    }
}
