//! Keys: what an experiment file can set. Each is defined once, with its default, beside the field that
//! it fills: in the kind's file of `workload/` or `file_system/`, in `experiment/volume`, and so on.
//!
//! ```text
//! key       name, what it takes, default, role, help
//! value     a value as written, and as checked
//! declare   `keys!`: a struct whose fields are keys, and `words!`: an enum whose variants are words
//! section   a table of a file, from which such a struct is read
//! ```
//!
//! The parser, `--set`, the messages, `ileave keys`, its JSON schema and docs/experiment.md come from these
//! definitions.

mod declare;
mod key;
mod section;
mod value;

pub(crate) use declare::{keys, words};
pub use key::{Key, Takes, choice, condition, label, load};
pub use section::Section;
pub use store::factor::Role;
pub use value::{FromValue, Value, Word, Written};

/// The largest size of a part of a volume (1 TiB), in sectors.
pub(crate) const TIB: u64 = 1 << 31;
/// A size of up to 1 TiB, at least one sector.
pub(crate) const SIZE: Takes = Takes::Sectors(1, TIB);
/// A size of up to 1 TiB, or none.
pub(crate) const SIZE_OR_ZERO: Takes = Takes::Sectors(0, TIB);
/// A rate.
pub(crate) const RATE: Takes = Takes::Rate(1, 1_000_000_000_000);
/// The longest time (a leap year), in ns.
pub(crate) const YEAR_NS: u64 = 366 * 86_400 * 1_000_000_000;
