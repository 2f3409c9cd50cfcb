//! Messages of the vhost-user protocol.
#![no_main]

#[path = "../bodies/vhost.rs"]
mod vhost;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|message: (u32, &[u8])| vhost::body(message.0, message.1));
