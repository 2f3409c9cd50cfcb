//! Experiments drawn at random (`benches/draw.py`), run on the model: what the kernel measured of the same cells is on record.

use lab::Keep;
use lab::experiment::Experiment;
use lab::rig::sim::Sim;
use lab::run::Run;
use std::collections::BTreeMap;
use store::record::Record;

/// Whether many cells are run, or few: three layouts of a load follow each other.
pub(crate) fn is_whole() -> bool {
    ["ILEAVE_REQUIRE", "UPDATE"].into_iter().any(|of| std::env::var_os(of).is_some())
}

/// Ours of every so many of these cells, by the draw and the name of the cell.
pub(crate) fn ours(draw: &str, text: &str, step: usize) -> BTreeMap<String, Record> {
    let experiment = Experiment::parse("x.toml", &format!("run.repeats = 1\n{text}")).unwrap();
    let planned = Run::plan(&experiment, &Sim).unwrap();
    let some = planned.without(|trial| !trial.cell.workload_index.is_multiple_of(step));
    let ran = some.open(Keep::Nowhere).unwrap().finish(&mut |_| ()).unwrap();
    let records = ran.records().into_iter();
    records.map(|record| (format!("{draw}{}", record.workload), record.clone())).collect()
}
