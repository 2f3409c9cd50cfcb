//! Results of other programs, each as what it looks like and as each format by name; behind a line of
//! `---` a CSV file for the mapping in front of it.
#![no_main]

use lab::import::{FORMATS, mapped, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let names = FORMATS.iter().map(|format| Some(format.name));
    for name in names.chain([None]) {
        if let Ok(table) = parse("results.txt", text, name) {
            let _ = table.into_records();
        }
    }
    let (mapping, csv) = text.split_once("---\n").unwrap_or((text, ""));
    if let Ok(table) = mapped("x.toml", mapping, |_| Ok(("x.csv".into(), csv.into()))) {
        let _ = table.into_records();
    }
});
