//! Programs that use files, each written once: against [`crate::fs::Files`], straight through.

pub mod bonnie;
pub mod fsck;
pub mod iozone;
pub mod memory;
pub mod newfs;
pub mod nfs;
pub mod pipe;
pub mod spool;
pub mod touch;
pub mod tree;
