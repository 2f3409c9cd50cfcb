//! Whether a stream kept its pace: "can it take 2 MB/s for at least one minute?"

use crate::cells::CellSummary;
use crate::tables::listed;
use store::record::Record;

/// Late blocks up to this share of all are some, and no missed rate.
pub(crate) const FEW: f64 = 0.001;

/// A rate that is reached to this share is kept: single requests are late on any disk.
pub(crate) const KEPT: f64 = 0.95;

/// A sentence for each cell whose workload has a rate.
pub fn sentences(cells: &[CellSummary<'_>]) -> Vec<String> {
    cells.iter().filter_map(sentence).collect()
}

fn sentence(cell: &CellSummary<'_>) -> Option<String> {
    cell.records.first()?.sample("underruns")?;
    let worst = |sample: &str| {
        cell.records.iter().filter_map(|record| record.sample(sample)).fold(0.0, f64::max)
    };
    let elapsed_s = cell.median("elapsed_s");
    let (underruns, late_ms) = (worst("underruns"), worst("late_max_ms"));
    let what = format!("{}, {}", cell.workload, cell.label());
    let most = cell.records.iter().map(|record| record.requests).max().unwrap_or(0);
    Some(if underruns == 0.0 {
        // Not what was done over how long it took: the last block is asked for a block's time before the end.
        format!("{what}: kept its rate for {elapsed_s:.1} s; no block was late.")
    } else if underruns <= FEW * most as f64 {
        format!(
            "{what}: kept its rate for {elapsed_s:.1} s, but for {underruns:.0} of {most} blocks, late by up to \
             {}.",
            of_ms(late_ms)
        )
    } else if is_kept(cell) {
        format!(
            "{what}: {underruns:.0} of {most} blocks were late in {elapsed_s:.1} s, by up to {}; on the whole it \
             kept its rate.",
            of_ms(late_ms)
        )
    } else {
        let (whose, reached) = reached_by(cell);
        format!(
            "{what}: did not keep {whose}: {underruns:.0} blocks were late in {elapsed_s:.1} s, by up to {}; {reached}.",
            of_ms(late_ms)
        )
    })
}

/// Whose rate it was, and what was reached. Which stream of a mix has one, no sample says.
fn reached_by(cell: &CellSummary<'_>) -> (&'static str, String) {
    let reached = |stream: &str| {
        let rate = cell.measured(&format!("{stream}.mb_per_s"))?;
        Some(format!("{stream} {rate:.2} MB/s"))
    };
    let streams: Vec<String> = cell.streams().into_iter().filter_map(reached).collect();
    match streams.as_slice() {
        [] => ("its rate", format!("it reached {:.2} MB/s", cell.median("mb_per_s"))),
        _ => ("the rate of its streams", format!("they reached {}", listed(&streams))),
    }
}

/// Whether all trials reach the rate on the whole, however many blocks were late.
fn is_kept(cell: &CellSummary<'_>) -> bool {
    let mut shares = cell.records.iter().filter_map(|record| reached(record));
    shares.all(|share| share >= KEPT)
}

/// A delay as people read it.
pub(crate) fn of_ms(ms: f64) -> String {
    if ms < 1000.0 { format!("{ms:.1} ms") } else { format!("{:.1} s", ms / 1000.0) }
}

/// What share of the rate asked for a trial reached: its last requests come as late as it is behind, and that grows with
/// its length. None where no rate was asked for.
pub(crate) fn reached(record: &Record) -> Option<f64> {
    let late_s = record.sample("late_max_ms")? / 1000.0;
    let ran_s = record.sample("elapsed_s")? + record.sample("warm_up_s").unwrap_or(0.0);
    Some((1.0 - late_s / ran_s).clamp(0.0, 1.0))
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
}
