//! WHAT HAPPENED: experiment files, rigs, and what they bring to the store.

pub mod capabilities;
pub mod catalogue;
pub mod experiment;
pub mod file_system;
mod format_1;
pub mod formats;
pub mod import;
pub mod keys;
pub mod machine;
pub mod map;
pub mod published;
pub mod record;
pub mod rig;
pub mod runner;
pub mod validate;
pub mod workload;

pub use format_1::{complete, read_results};
pub use store::{Error, Result, error, quantity};
