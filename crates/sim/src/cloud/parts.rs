//! The time of a cloud volume, besides that of every device.

use crate::spent::{Part, PartName};

/// The names of its parts.
pub(crate) const PARTS: [PartName; 2] =
    [PartName { sample: "io_limit_ms" }, PartName { sample: "byte_limit_ms" }];

impl Part {
    /// Waiting because more I/Os were asked for than a limit allows.
    pub const IO_LIMIT: Part = Part::named("io_limit_ms");
    /// Waiting because more bytes were asked for than a limit allows.
    pub const BYTE_LIMIT: Part = Part::named("byte_limit_ms");
}
