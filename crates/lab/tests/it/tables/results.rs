//! Published tables beside ours. Whole tables are simulated once: where `ILEAVE_RESULTS` names the folder with
//! the results of the shipped experiments, each in a directory of its name, they are read there. Else a part
//! is simulated here.

use lab::experiment::{Plan, Trial};
use lab::published;
use lab::rig::Rig as _;
use lab::rig::sim::Sim;
use lab::runner;
use std::path::{Path, PathBuf};
use store::record::Record;
use verdict::reproduce::Comparison;

/// A table beside ours, and whether all of it was simulated or only the trials that `part` picks.
pub(crate) fn compared(name: &str, part: impl Fn(&Trial) -> bool) -> (Comparison, bool) {
    let published = published::find(name).unwrap();
    let experiment = published::experiment(&published).unwrap();
    let mut plan = Plan::on(&experiment, &Sim.capabilities()).unwrap();
    let all = plan.trials.len();
    let records: Vec<Record> = if let Some(folder) = folder() {
        let records = lab::read_results(&folder.join(name)).unwrap().records;
        runner::check_earlier(&plan, &records).unwrap();
        assert_eq!(records.len(), all, "{} is not all of the table", folder.display());
        records
    } else {
        plan.trials.retain(part);
        let finished = runner::run(&plan, &Sim, None, Vec::new(), &mut |_| {}).unwrap();
        finished.into_iter().map(|finished| finished.record).collect()
    };
    let hosts = plan.hosts.values().chain(plan.controllers.values());
    (Comparison::new(&published, hosts, &records), records.len() == all)
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ILEAVE_RESULTS").map(PathBuf::from);
    let required = std::env::var_os("ILEAVE_REQUIRE").is_some();
    assert!(
        folder.is_some() || !required,
        "required, but ILEAVE_RESULTS does not name the folder of the experiments' results"
    );
    if let Some(folder) = &folder {
        assert!(Path::new(folder).is_dir(), "ILEAVE_RESULTS: {} is no folder", folder.display());
    }
    folder
}
