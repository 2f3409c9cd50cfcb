//! Messages of the vhost-user protocol, and requests of virtio-blk in a guest's memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use uml::vhost::Request;

fuzz_target!(|message: (u32, &[u8])| {
    let (number, payload) = message;
    let _ = Request::parse(number % 40, payload);
});
