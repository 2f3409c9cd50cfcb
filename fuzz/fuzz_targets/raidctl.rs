//! A raidctl(8) configuration, read and laid out.
#![no_main]

use lab::formats::raidctl::parse;
use lab::map::{Sizes, Volume, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(raid) = parse("raid0.conf", text) else { return };
    let sizes = Sizes { given: Vec::new(), of_path: &|name| Some(name.len() as u64 * 997) };
    if let Ok(volume) = Volume::of_raidctl("raid0.conf", &raid, &sizes, 0) {
        let _ = json::shape(&volume);
    }
});
