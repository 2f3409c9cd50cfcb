//! WHAT HAPPENED: experiment files, rigs, and what they bring to the store.
//!
//! An experiment, run from a program:
//!
//! ```
//! use lab::{Keep, experiment::Experiment, rig::sim::Sim};
//!
//! # fn main() -> lab::Result<()> {
//! let text = "[volume]\ndrives = '2xwd740gd'\ninterleave = [32, 128]\n[workload.read]\ncount = 50\n";
//! let experiment = Experiment::parse("mine.toml", text)?;
//! let ran = lab::run(&experiment, &Sim, Keep::Nowhere, &mut |_| ())?;
//! for record in ran.records() {
//!     println!("{}: {:?} MB/s", lab::record::label(&record.at), record.sample("mb_per_s"));
//! }
//! # // Several disks that turn take five seeds.
//! # assert_eq!(ran.finished.len(), 2 * 5);
//! # Ok(())
//! # }
//! ```
//!
//! `Keep::In(directory)` keeps the results as `ileave run --out` does; any [`rig::Rig`] takes the place of
//! `Sim`. The modelled machine of a trial alone is built by [`machine`].

// Where there are no system calls, what only real runs use is not compiled, and what only that uses is unused.
#![cfg_attr(not(unix), allow(dead_code, unused_imports))]

pub mod capabilities;
pub mod catalogue;
mod caught;
pub mod data_sheet;
pub mod estimate;
pub mod experiment;
pub mod file_system;
pub mod formats;
pub mod grid;
pub mod import;
pub mod inventory;
pub mod keys;
pub mod laws;
pub mod machine;
pub mod map;
mod older_formats;
pub mod probe;
pub mod published;
pub mod record;
pub mod rig;
pub mod run;
pub mod runner;
mod steady;
mod text;
pub mod trace;
pub mod validate;
pub mod workload;

pub use older_formats::{complete, read_results};
pub use run::{Keep, run};
pub(crate) use store::error;
pub use store::{Error, Result};
