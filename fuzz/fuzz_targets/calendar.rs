//! Messages of the kernel's time-travel protocol.
#![no_main]

use libfuzzer_sys::fuzz_target;
use uml::calendar::Message;

fuzz_target!(|bytes: [u8; Message::BYTES]| {
    if let Ok(message) = Message::parse(bytes) {
        assert_eq!(message.bytes(), bytes);
    }
});
