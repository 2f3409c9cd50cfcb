//! What of the drives, and of the models of them, an answer rests on.

pub(crate) mod flash_rates;
pub(crate) mod hot_blocks;
pub(crate) mod read_buffers;
pub mod shingled_disks;
pub(crate) mod slc_cache;
pub(crate) mod state_of_drives;
pub(crate) mod unequal_drives;
pub(crate) mod unmeasured_drives;
pub(crate) mod unmeasured_sizes;
