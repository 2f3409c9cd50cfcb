//! What mdadm prints, read and laid out with and without sizes of members.
#![no_main]

use lab::formats::mdadm::parse;
use lab::map::{Sizes, Volume, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(md) = parse("md0.txt", text, None) else { return };
    for given in [Vec::new(), vec![100_003]] {
        let sizes = Sizes { given, of_path: &|_| None };
        if let Ok(volume) = Volume::of_md("md0.txt", &md, &sizes, None) {
            let _ = json::shape(&volume);
        }
    }
});
