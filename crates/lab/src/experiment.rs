//! Experiments: what is varied, what is run, and in which order.

mod file;
mod files;
mod keys;
mod plan;
mod seeds;
mod stated;
mod trees;
mod volume;
mod work;

pub use file::{Experiment, Setting};
pub use files::{FilesSetup, FilesWork, Program};
pub use keys::{KEYS, Key, Kind, Value, Written, find};
pub use plan::{Cell, Plan, Setup, Trial};
pub use stated::stated_drives;
pub use store::members::{MemberSpec, parse_members, stated_members};
pub use volume::{Member, Volume};
pub use work::{Op, Work, WorkKind};

use crate::error::{Error, Result};

/// Reads a size in sectors, as keys of experiments take it.
///
/// # Errors
///
/// Where the text is no size.
pub fn parse_size(text: &str) -> Result<u64> {
    block::units::parse_sectors(text).map_err(Error::input)
}
