//! The members of a volume in one word.
#![no_main]

use lab::experiment::parse_members;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(members) = parse_members(text) {
        assert!(!members.is_empty());
        assert!(members.iter().all(|member| member.sectors != Some(0)));
    }
});
