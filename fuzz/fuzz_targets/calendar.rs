//! Messages of the kernel's time-travel protocol.
#![no_main]

#[path = "../bodies/calendar.rs"]
mod calendar;

use libfuzzer_sys::fuzz_target;
use uml::calendar::Message;

fuzz_target!(|bytes: [u8; Message::BYTES]| calendar::body(bytes));
