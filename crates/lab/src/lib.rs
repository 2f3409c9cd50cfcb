//! WHAT HAPPENED: experiment files, rigs, the store, statistics and reports.

pub mod catalogue;
pub mod error;

pub use error::{Error, Result};
