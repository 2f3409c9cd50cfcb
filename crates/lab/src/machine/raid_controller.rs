//! A RAID controller: it runs the layout itself, and is one disk to the host.

use super::array::array;
use crate::catalogue;
use crate::error::Result;
use crate::experiment::Setup;
use sim::{Device, Driver, RaidController, RaidControllerSpec};

/// The most that a controller sends to its drives in one run.
const RUN_SECTORS_MAX: u64 = 1 << 20;

/// The controller `of` with these `drives` behind it.
pub(super) fn raid_controller(
    setup: &Setup,
    of: &catalogue::RaidController,
    drives: Box<dyn Device>,
) -> Result<Box<dyn Device>> {
    let members = setup.volume.member_sectors()?;
    let volume = array(&setup.volume, drives, Driver::default())?;
    // As many interleaves as members have data in a row.
    let in_a_row = volume.geometry().target_sectors[0] / members.iter().min().unwrap_or(&1).max(&1);
    let spec = RaidControllerSpec {
        command_ns: of.command_ns,
        memory_sectors: of.memory_sectors,
        run_sectors: (setup.volume.interleave_sectors * in_a_row.max(1)).clamp(1, RUN_SECTORS_MAX),
        runs: of.runs.unwrap_or(members.len() as u32),
    };
    let bytes_per_s = setup.host.bus_bytes_per_s.min(of.interface_bytes_per_s);
    Ok(RaidController::new(volume, spec, bytes_per_s).into())
}
