//! ext4, as Linux 6.1 has it.

pub mod geometry;

mod runs;
