//! The time of a mechanical drive, besides that of every device.

use crate::spent::{Part, PartName};

/// The names of its parts.
pub(crate) const PARTS: [PartName; 5] = [
    PartName { sample: "seek_ms" },
    PartName { sample: "rotation_ms" },
    PartName { sample: "part_sector_ms" },
    PartName { sample: "head_switch_ms" },
    PartName { sample: "media_ms" },
];

impl Part {
    /// Moving the arm.
    pub const SEEK: Part = Part::named("seek_ms");
    /// Waiting for the first sector to arrive under the head.
    pub const ROTATION: Part = Part::named("rotation_ms");
    /// Reading the physical sectors that a write covers only in part, and the revolution until they
    /// pass again.
    pub const PART_SECTOR: Part = Part::named("part_sector_ms");
    /// Switching to the next head or cylinder within the transfer.
    pub const HEAD_SWITCH: Part = Part::named("head_switch_ms");
    /// Sectors passing under the head.
    pub const MEDIA: Part = Part::named("media_ms");
}
