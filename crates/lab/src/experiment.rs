//! Experiments: what is varied, what is run, and in which order.

mod file;
mod files;
mod keys;
mod members;
mod plan;
mod seeds;
mod trees;
mod volume;
mod work;

pub use file::{Experiment, Setting};
pub use files::{FilesSetup, FilesWork, Program};
pub use keys::{KEYS, Key, Kind, Value, Written, find};
pub use members::{MemberSpec, parse_members, parse_size, stated_drives, stated_members};
pub use plan::{Cell, Plan, Setup, Trial};
pub use volume::{Member, Volume};
pub use work::{Op, Work, WorkKind};
