//! Requests of virtio-blk in a guest's memory.
#![no_main]

#[path = "../bodies/request.rs"]
mod request;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| request::body(bytes));
