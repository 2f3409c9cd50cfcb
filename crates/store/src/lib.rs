//! WHAT IS KEPT: the results of a run, in words that need no rig, no experiment and no catalogue.
//!
//! ```text
//! directory   a results directory: written trial by trial, read whole, merged of several
//! held        files locked against other programs
//! shard       which trials are whose, where several machines share a run
//! manifest    what its results are of · modelled  what a model may err by · known  what is kept of drives and hosts
//! record      one finished trial
//! steady      completions over time, and whether a trial was in its steady state
//! named       the samples of a record, by name
//! sample      every sample that ileave knows, one line each: unit, direction, words
//! quantity    what a sample of a workload is
//! factor      what is varied, and how its values are written
//! members     a list of members, as results state it
//! expression  objectives and constraints over samples
//! published   other people's numbers, to stand beside ours · quoted  one of them
//! played      a measured trace beside what a model took
//! words       a number with its noun, a list, a share
//! error       errors for the person at the terminal · input  files that people name, read within limits
//! ```

pub mod ask;
mod directory;
pub mod error;
pub mod expression;
pub mod factor;
pub mod format_1;
pub mod held;
pub mod input;
pub mod known;
mod manifest;
pub mod members;
mod modelled;
pub mod named;
pub mod played;
pub mod published;
pub mod quantity;
pub mod quoted;
pub mod record;
pub mod sample;
mod shard;
pub mod steady;
pub mod unit;
pub mod windows;
pub mod words;

pub use directory::{
    Calibration, Complete, Failed, Follower, Happened, Merged, OF_THE_MOMENT, Results, Store,
    Trials, UNSETTLED, is_own_file, is_results, merge, ranges,
};
pub use error::{Error, Result};
pub use manifest::{Apart, FORMAT, Imported, Manifest, SEED};
pub use modelled::{WORST_DRIVE_ERROR, WORST_FLASH_ERROR};
pub use shard::{SHARDS_MAX, Shard};

pub(crate) use directory::MANIFEST;
