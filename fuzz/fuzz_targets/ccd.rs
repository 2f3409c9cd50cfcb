//! `/etc/ccd.conf`, read for both systems and laid out.
#![no_main]

use lab::formats::ccd::{System, parse};
use lab::map::{Sizes, Volume, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for system in [None, Some(System::NetBsd), Some(System::FreeBsd)] {
        let Ok(ccds) = parse("ccd.conf", text, system) else { continue };
        for ccd in ccds.iter().take(4) {
            let sizes = Sizes { given: Vec::new(), of_path: &|name| Some(name.len() as u64 * 997) };
            if let Ok(volume) = Volume::of_ccd("ccd.conf", ccd, &sizes, 16) {
                let _ = json::shape(&volume);
            }
        }
    }
});
