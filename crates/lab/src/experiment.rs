//! Experiments: what is varied, what is run, and in which order.

mod file;
mod files;
mod keys;
mod members;
mod plan;

pub use file::{Experiment, Setting};
pub use files::{FilesSetup, FilesWork, Program};
pub use keys::{KEYS, Key, Kind, Value, Written, find};
pub use members::{MemberSpec, parse_members};
pub use plan::{Cell, Op, Plan, Setup, Trial, Work, WorkKind};
