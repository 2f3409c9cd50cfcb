//! File systems: where they put things.

pub mod ffs;
