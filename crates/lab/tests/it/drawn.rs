//! Experiments drawn at random (`benches/draw.py`), run on the model: what the kernel measured of the same cells is on record.

use lab::Keep;
use lab::catalogue;
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

/// What each cell was drawn on, by its name.
pub(crate) fn devices(draw: &str, text: &str) -> BTreeMap<String, &'static str> {
    const DRIVES: &str = "volume.drives = \"";
    let of_line = |line: &str| {
        let (name, keys) = line.strip_prefix("workload.")?.split_once(" = ")?;
        let drives = keys.split_once(DRIVES)?.1.split_once('"')?.0;
        // A group's streams are on the same drives.
        let cell = name.split('-').next()?;
        Some((format!("{draw}{cell}"), devices_of(drives.split_once('x')?.1)))
    };
    text.lines().filter_map(of_line).collect()
}

/// What such a drive is, of which a part may be used, as in `990-pro-2tb:8GiB`.
pub(crate) fn devices_of(drive: &str) -> &'static str {
    let name = drive.split(':').next().expect("a text has a first part");
    let drive = catalogue::drive(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    if drive.flash().is_ok() { "flash" } else { "disks" }
}
