//! Lines of block traces, in every format.
#![no_main]

use lab::trace::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for line in bytes.split(|&byte| byte == b'\n') {
        for (format, _) in Format::ALL {
            if let Some(entry) = format.entry(line) {
                assert!(entry.bytes <= 1 << 30 && entry.offset_bytes <= 1 << 62);
            }
        }
    }
});
