//! The simulator from outside. One binary: twenty would be linked twenty times.

mod common {
    pub(crate) mod arrivals;
    pub(crate) mod drives;
}

mod bytes;
mod cheats;
mod cloud;
mod contract;
mod ext4;
mod failing;
mod files;
mod flash;
mod flash_runs;
mod full_queues;
mod harm;
mod laws;
mod levels;
mod lost;
mod md;
mod md_cells;
mod md_workers;
mod mke2fs;
mod one_arm;
mod open;
mod passing;
mod physical;
mod queueing;
mod raid_controller;
mod reference;
mod served;
mod side_by_side;
mod smr;
mod spool;
