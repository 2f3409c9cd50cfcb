//! Nothing that a kernel could say makes a parser panic: the bodies of the fuzz targets, for a second or two.

#![cfg(target_os = "linux")]

#[path = "../../../fuzz/bodies/calendar.rs"]
mod calendar;
#[path = "../../../fuzz/bodies/request.rs"]
mod request;
#[path = "../../../fuzz/bodies/vhost.rs"]
mod vhost;

use proptest::prelude::*;
use uml::request::in_memory;

const REQUESTS: [&[u8]; 4] = [
    include_bytes!("../../../fuzz/seeds/request/read"),
    include_bytes!("../../../fuzz/seeds/request/write-and-flush"),
    include_bytes!("../../../fuzz/seeds/request/discard-and-serial"),
    include_bytes!("../../../fuzz/seeds/request/indirect"),
];

/// One of the memories with a few of its bytes changed, most of them in what describes requests.
fn changed() -> impl Strategy<Value = Vec<u8>> {
    let at = prop_oneof![0_usize..0x70, 0x100_usize..0x110, 0x400_usize..0x420, 0x800_usize..0x830];
    let byte = prop_oneof![0_u8..20, Just(0x80), any::<u8>()];
    (prop::sample::select(&REQUESTS[..]), prop::collection::vec((at, byte), 0..5)).prop_map(
        |(memory, changes)| {
            let mut memory = memory.to_vec();
            memory.resize(memory.len().max(0x1020), 0);
            for (at, byte) in changes {
                memory[at] = byte;
            }
            memory
        },
    )
}

/// Each seed is read whole, or it would test nothing.
#[test]
fn the_seeds_are_requests() {
    let counts = REQUESTS.map(|memory| in_memory(memory, 1 << 20).unwrap().len());
    assert_eq!(counts, [1, 2, 2, 1]);
}

/// What the fuzzer found is refused: a buffer of no bytes, which was taken wherever it was.
#[test]
fn what_was_found_is_refused() {
    let found = include_bytes!("../../../fuzz/seeds/request/empty-buffer");
    assert!(in_memory(found, 1 << 20).unwrap_err().to_string().contains("outside the memory"));
    request::body(found);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn requests_that_were_changed(memory in changed()) {
        request::body(&memory);
    }

    #[test]
    fn any_memory(memory in prop::collection::vec(any::<u8>(), 0..2048)) {
        request::body(&memory);
    }

    #[test]
    fn messages_of_the_calendar(operation in 0_u32..12, rest in any::<[u8; 12]>()) {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&operation.to_le_bytes());
        bytes[4..].copy_from_slice(&rest);
        calendar::body(bytes);
    }

    #[test]
    fn messages_of_vhost_user(number in 0_u32..40, payload in prop::collection::vec(any::<u8>(), 0..300)) {
        vhost::body(number, &payload);
    }
}
