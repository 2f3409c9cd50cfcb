//! The modelled machine of a trial, built from the bottom up: drives on buses, what runs the layout over
//! them, the host in front, and a file system on it. Each file builds one part.
//!
//! ```text
//! file_system                a session of programs
//! host      splitter         requests cut as the driver cuts them
//! array                      the layout, and the driver that runs it
//! linux                      the page cache before it, where programs read through it
//! nested                     arrays side by side, and a stripe over them
//! linux                      Linux's queues, and md's stripe cache
//! raid_controller            … or a controller that runs it, as one disk
//! host      scheduler        what waits for each disk, in order
//! shelf     drives, buses
//! caches    what takes writes before they are on a medium
//! ```
//!
//! Nothing here knows a rig, a clock or a file: whoever needs a modelled machine builds one.

mod array;
mod caches;
mod file_system;
mod host;
mod linux;
mod nested;
mod programs;
mod raid_controller;
mod shelf;

pub(crate) use array::{restored_part, to_restore};
pub use caches::write_cache_bytes;
pub use file_system::file_system;
pub use host::{drives, volume, with_log};
pub use linux::{
    READ_AHEAD_MEMBERS_MAX, REQUEST_SECTORS, bio_sectors, has_one_queue, read_ahead_sectors,
    requests_of_linux, scheduler, scheduler_of,
};
pub(crate) use linux::{bitmap, is_restored_behind_barrier};
pub use programs::{Sending, for_programs};
