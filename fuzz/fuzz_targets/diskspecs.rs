//! `DiskSim`'s parameter files: a .diskspecs, and behind lines of `---` the .model and the .seek that it names.
#![no_main]

use lab::catalogue::{drive_from, import_disksim};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut files = text.split("---\n");
    let specs = files.next().unwrap_or_default();
    let (model, seeks) = (files.next().unwrap_or_default(), files.next().unwrap_or_default());
    let read = |file: &str| {
        let text = if file.ends_with(".seek") { seeks } else { model };
        Ok((file.to_string(), text.to_string()))
    };
    if let Ok(drive) = import_disksim("x.diskspecs", specs, None, &read) {
        assert!(drive_from(&drive.file_name, &drive.text).is_ok());
    }
});
