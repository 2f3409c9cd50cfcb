//! The Berkeley fast file system, as 4.4BSD and NetBSD 2 make it.

pub mod geometry;
