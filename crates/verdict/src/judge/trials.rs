//! Which trials count, whether they were enough, and what is said of how they went.

pub mod enough_repeats;
pub(crate) mod failed;
pub mod far_off;
pub(crate) mod luck;
pub mod machine_drift;
pub(crate) mod one_seed;
pub(crate) mod repaired_sectors;
pub mod spread_of_run;
pub(crate) mod too_few_steady;
pub mod unfinished;
pub(crate) mod unsteady;
