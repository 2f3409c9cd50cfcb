//! Programs that use files, each written once, as straight-line code against [`crate::fs::Files`].

pub mod bonnie;
pub mod fsck;
pub mod iozone;
pub mod mail;
pub mod memory;
pub mod modelled;
pub mod newfs;
pub mod nfs;
pub mod pipe;
pub mod spool;
pub mod touch;
pub mod tree;
