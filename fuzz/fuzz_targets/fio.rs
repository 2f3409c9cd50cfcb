//! fio's job files, each that is understood planned as an experiment.
#![no_main]

use lab::experiment::{Experiment, Plan};
use lab::formats::fio::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(file) = read("job.fio", text) {
        let mut experiment = Experiment::parse("job.fio", &file.experiment).unwrap();
        experiment.set("volume.drives=4xwd740gd").unwrap();
        let _ = Plan::new(&experiment);
    }
});
