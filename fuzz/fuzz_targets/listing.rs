//! What tar and find list.
#![no_main]

use lab::formats::listing::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(listed) = parse("list.txt", text) {
        let figures = listed.tree.figures();
        assert!(figures.files + figures.directories > 0);
        assert!(figures.large_bytes <= figures.bytes);
    }
});
