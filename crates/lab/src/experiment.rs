//! Experiments: what is varied, what is run, and in which order.
//!
//! ```text
//! file       a file of settings, checked one by one against the sections' keys · open  the files that people name
//! sections   all sections and their keys, which stand with whoever reads them
//! assigned   the values that `--set` gives a key
//! listing    all keys as data to print
//! checks     whether each key that is set applies to the kinds that are chosen
//! about, volume      the experiment's own keys, and those of a volume · page_cache  what of it goes through that
//! chunk      which interleaves a system takes
//! same_as    whether the workloads that others are judged as are there
//! remembered what of writes md and LVM remember
//! schema     all keys as a JSON schema
//! fault      what goes wrong with a member while a trial is measured
//! plan       every cell, every repeat · repeats  how often each cell runs where nobody says
//! ```

mod about;
mod assigned;
mod bare;
mod checks;
mod chunk;
mod engine;
mod fault;
mod file;
mod idle;
mod inline;
mod lasting;
mod listing;
pub(crate) mod no_kind;
mod open;
mod page_cache;
mod plan;
mod queues;
mod remembered;
mod repeats;
mod same_as;
mod schema;
mod sections;
mod seeds;
mod stated;
mod stripe_cache;
mod trial;
mod volume;
mod write_mostly;

pub use about::{AboutKeys, AskKeys, RunKeys};
pub use assigned::values_of;
pub use chunk::check_interleave;
pub(crate) use chunk::refusal;
pub use fault::{FaultKeys, FaultKind, FaultSetup};
pub use file::{Experiment, Setting};
pub use listing::{Row, Topic, keys_named, rows, topic, topics};
pub use page_cache::{PageCache, ReadAhead};
pub use plan::Plan;
pub use remembered::{REGION_SECTORS, WriteIntents};
pub use schema::schema;
pub use sections::{KindKeys, SECTIONS, SectionKeys, factors, factors_as_written, find};
pub use stated::stated_drives;
pub use store::members::{MemberSpec, parse_members, stated_members};
pub use stripe_cache::STRIPE_CACHE_ROWS;
pub(crate) use stripe_cache::{check_stripe_cache, told_without_stripe_cache};
pub use trial::{Cell, Setup, Trial};
pub use volume::{InUse, Member, Scheduling, Volume, VolumeKeys};

use crate::error::{Error, Result};

/// Reads a size in sectors, as keys of experiments take it.
///
/// # Errors
///
/// Where the text is not a size.
pub fn parse_size(text: &str) -> Result<u64> {
    block::units::parse_sectors(text).map_err(Error::input)
}
