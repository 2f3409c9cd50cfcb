//! The drives of a volume, on their buses.

use crate::catalogue;
use crate::error::{Error, Result};
use crate::experiment::{Member, Setup};
use sim::Shelf;
use sim::bus::Bus;
use sim::drive::{Drive, DriveModel};
use std::sync::Arc;

/// The drives of `setup` and their buses, the spindles at angles that follow from `seed`.
pub(super) fn shelf(setup: &Setup, seed: u64) -> Result<Shelf> {
    let drives = drives(setup, seed)?;
    let buses = buses(setup, drives.len());
    Ok(Shelf::new(drives, buses))
}

fn drives(setup: &Setup, seed: u64) -> Result<Vec<Drive>> {
    let mut drives = Vec::with_capacity(setup.volume.members.len());
    // Members of one model share it, and are mostly next to each other.
    let mut models: Vec<(&Arc<catalogue::Drive>, DriveModel)> = Vec::new();
    for (index, member) in (0_u64..).zip(&setup.volume.members) {
        let drive = match member {
            Member::Modelled { drive, .. } => drive,
            Member::Real { name, .. } => {
                return Err(Error::input(format!("{name} is real, and has no drive model")));
            }
        };
        let known = models.iter().rposition(|(of, _)| Arc::ptr_eq(of, drive));
        let at = known.unwrap_or(models.len());
        if known.is_none() {
            let model = DriveModel::new(&drive.disk()?.spec()?);
            let named = |error| Error::input(format!("drive {}: {error}", drive.name));
            models.push((drive, model.map_err(named)?));
        }
        let angle = (seed ^ (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(17);
        drives.push(models[at].1.drive(angle));
    }
    Ok(drives)
}

/// The buses of what the drives are in: a RAID controller's channels, or the host's own; a bus for each
/// drive if their number is not given.
fn buses(setup: &Setup, drives: usize) -> Vec<Bus> {
    let host = &setup.host;
    let (buses, bytes_per_s, overhead_ns) = match &setup.volume.controller {
        Some(of) => (of.channels, of.channel_bytes_per_s, of.channel_overhead_ns),
        None => (host.buses, host.bus_bytes_per_s, host.bus_overhead_ns),
    };
    let buses = buses.map_or(drives, |buses| drives.min(buses as usize));
    vec![Bus::new(bytes_per_s, overhead_ns); buses]
}
