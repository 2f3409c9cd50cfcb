//! The time of a flash drive, besides that of every device.

use crate::spent::{Part, PartName};

/// The names of its parts.
pub(crate) const PARTS: [PartName; 3] = [
    PartName { sample: "unit_wait_ms" },
    PartName { sample: "unit_ms" },
    PartName { sample: "garbage_ms" },
];

impl Part {
    /// Waiting for a flash unit that reads or programs something else.
    pub const UNIT_WAIT: Part = Part::named("unit_wait_ms");
    /// Flash units reading its pages.
    pub const UNIT: Part = Part::named("unit_ms");
    /// The part of the wait for room in the write buffer that garbage collection caused.
    pub const GARBAGE: Part = Part::named("garbage_ms");
}
