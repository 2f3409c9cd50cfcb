//! WHAT HAPPENED: experiment files, rigs, the store, statistics and reports.

pub mod capabilities;
pub mod catalogue;
pub mod error;
pub mod experiment;
pub mod formats;
pub mod import;
pub mod lost;
pub mod machine;
pub mod map;
pub mod pace;
pub mod published;
pub mod quantity;
pub mod record;
pub mod report;
pub mod reproduce;
pub mod rig;
pub mod runner;
pub mod stats;
pub mod store;
pub mod validate;
pub mod verdict;
pub mod why;

pub use error::{Error, Result};
