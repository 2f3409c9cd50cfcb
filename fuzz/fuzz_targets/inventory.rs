//! What systems print of their disks and volumes, read and printed as an experiment.
#![no_main]

use lab::inventory::Inventory;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let files: Vec<(String, String)> =
        text.split("\n---\n").map(|text| ("x".into(), text.into())).collect();
    if let Ok(inventory) = Inventory::read(&files) {
        let _ = inventory.experiment(None);
    }
});
