//! How long an answer of `ileave explore` takes: a page that follows a slider has 200 ms.

use crate::explore::{Cell, Explore};
use crate::question::work::{Knobs, NAMED};
use std::fs;

/// Milliseconds of a processor that this thread took: other tests and other programs do not count.
#[expect(clippy::disallowed_methods, reason = "it is no file of anybody's")]
fn cpu_ms() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
    let nanos: u64 = text.split(' ').next().unwrap().parse().unwrap();
    nanos / 1_000_000
}

/// Every work over disks and flash; the slowest took 53 ms where only the simulator is optimised.
#[test]
fn each_answer_takes_less_than_200_ms() {
    let explore = Explore::default();
    let (mut answered, mut all_ms) = (0, 0);
    for drive in ["st18000nm000j", "980-pro-1tb", "wd740gd"] {
        for (work, level) in NAMED
            .iter()
            .flat_map(|(work, _)| ["md-raid10", "md-raid5", "md-raid6"].map(|level| (*work, level)))
        {
            let cell = Cell {
                drive: drive.into(),
                count: 8,
                spares: 0,
                level: level.into(),
                chunk: "64KiB".into(),
                rows: "256".into(),
                work: work.into(),
                knobs: Knobs::default(),
                price_usd: None,
            };
            let before_ms = cpu_ms();
            let is_answered = explore.answer(&cell).is_ok();
            let took_ms = cpu_ms() - before_ms;
            assert!(took_ms < 200, "{took_ms} ms: {cell:?}");
            all_ms += took_ms;
            answered += usize::from(is_answered);
        }
    }
    assert_eq!(answered, 3 * 3 * NAMED.len());
    // It is this thread that works: hundreds of answers take more than this together.
    assert!(all_ms > 50, "{all_ms} ms");
}
