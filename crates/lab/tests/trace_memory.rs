//! A trace is streamed: what its replay holds does not grow with its length.
//!
//! A test binary of its own, for its allocator counts every allocation of the process.

use lab::trace::{ONCE, Onto, Trace};
use peak_alloc::PeakAlloc;
use std::fmt::Write as _;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The most bytes in use at a time while a trace of so many requests is read twice.
fn peak_bytes(requests: u64) -> usize {
    let at = tempfile::tempdir().unwrap();
    let file = at.path().join("alibaba.csv");
    let mut text = String::new();
    for index in 0..requests {
        let offset = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_000 * 4096;
        let disk = index % 7;
        writeln!(text, "{disk},R,{offset},4096,{}", 1_577_808_000_000_626 + 100 * index).unwrap();
    }
    std::fs::write(&file, text).unwrap();
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let trace = Trace::open(vec![file], None, Vec::new()).unwrap();
    let survey = Arc::new(trace.survey().unwrap());
    let onto = Onto::volume(&survey, 1 << 40).unwrap();
    assert_eq!(trace.replay(&survey, onto, ONCE).unwrap().count() as u64, requests);
    ALLOCATOR.peak_usage() - before
}

#[test]
fn memory_does_not_grow_with_a_trace() {
    let [short, long] = [2000, 200_000].map(peak_bytes);
    assert!(long < short + 65_536, "{short} bytes for 2,000 requests, {long} for 200,000");
    assert!(short < 2_000_000, "{short}");
}
