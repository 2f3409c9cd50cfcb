//! The time of a shingled disk, besides that of every disk.

use crate::spent::{Part, PartName};

/// The names of its parts.
pub(crate) const PARTS: [PartName; 1] = [PartName { sample: "cleaning_ms" }];

impl Part {
    /// Waiting while a band is rewritten.
    pub const CLEANING: Part = Part::named("cleaning_ms");
}
