//! Linux: what its page cache, its block layer and md do with a request before a drive sees it.
//!
//! [`queue`] is one drive's request queue: plugging, merging, the scheduler, the tags. [`block_layer`] is these
//! queues in front of drives, [`alone`] one such drive that nothing maps. [`md`] is md's RAID 5 and 6: rows of 4 KiB in a
//! stripe cache, handled by a thread.
//! [`bitmap`] says which parts of an array may be being written to; [`intent`] keeps it for RAID 1 and 10.
//! [`in_use`] marks those as clean while nobody writes.
//! `sync_pace` is how fast a member is restored. [`flushes`] is what programs that flush an array share. [`writer`] is the one thread that writes to several arrays side by side. [`read_ahead`] is the page cache of programs that
//! read in order.

pub mod alone;
pub mod bitmap;
pub mod block_layer;
pub mod flushes;
pub mod in_use;
pub mod intent;
pub mod md;
pub mod queue;
pub mod read_ahead;
pub mod sender;
mod whole;
pub mod writer;

mod callers;
mod requests;
mod sleepers;
pub(crate) mod sync_pace;
