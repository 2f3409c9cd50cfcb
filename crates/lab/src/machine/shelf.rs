//! The drives of a volume, on their buses.

use crate::catalogue::{self, Built};
use crate::error::{Error, Result};
use crate::experiment::{Member, Setup};
use sim::bus::Bus;
use sim::drive::{Drive, DriveModel};
use sim::{Device, Rack, Shelf, Throttle};
use std::sync::Arc;

/// The drives of `setup`, the first of which has so many others before it. Disks are on buses, their spindles at angles that
/// follow from `seed`; those beside each other share the buses. Flash drives have links of their own, and what is remote shares the host's limits.
pub(super) fn shelf(setup: &Setup, seed: u64, before: usize) -> Result<Box<dyn Device>> {
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    let mut disks = Vec::new();
    // Members of one model share it, and are mostly next to each other.
    let mut models: Vec<(&Arc<catalogue::Drive>, DriveModel)> = Vec::new();
    let sooner_ns = setup.host.program_way_ns.min(0).unsigned_abs();
    for (index, member) in (before as u64..).zip(&setup.volume.members) {
        let drive = match member {
            Member::Modelled { drive, .. } => drive,
            Member::Real { name, .. } => {
                return Err(Error::input(format!("{name} is real, and has no drive model")));
            }
        };
        let chance = (seed ^ (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(17);
        let model = match models.iter().rev().find(|(of, _)| Arc::ptr_eq(of, drive)) {
            Some((_, model)) => model,
            None => match drive.build(chance, sooner_ns)? {
                Built::Disk(model) => {
                    models.push((drive, *model));
                    &models[models.len() - 1].1
                }
                Built::Alone(device) => {
                    devices.extend(on_buses(setup, std::mem::take(&mut disks)));
                    devices.push(device);
                    continue;
                }
            },
        };
        disks.push(model.drive(chance));
    }
    devices.extend(on_buses(setup, disks));
    let alone = if devices.len() == 1 { devices.pop() } else { None };
    throttled(setup, alone.unwrap_or_else(|| Box::new(Rack::new(devices))))
}

/// The drives behind the limits that volumes of their kind share, and what the host lets pass to network storage.
fn throttled(setup: &Setup, mut drives: Box<dyn Device>) -> Result<Box<dyn Device>> {
    let members = &setup.volume.members;
    for of_kind in setup.shared_limits() {
        let throttle = Throttle::new(drives, &of_kind.limits, of_kind.counted);
        drives =
            throttle.map_err(|error| Error::input(format!("`volume.drives`: {error}")))?.into();
    }
    let remote: Vec<bool> = members.iter().map(Member::is_remote).collect();
    let limits = setup.host.storage_limits();
    if limits.is_empty() || !remote.contains(&true) {
        return Ok(drives);
    }
    let throttle = Throttle::new(drives, &limits, remote);
    let throttle = throttle.map_err(|error| Error::input(format!("`host`: {error}")))?;
    Ok(throttle.over_wire(setup.host.storage_wire()).into())
}

fn on_buses(setup: &Setup, disks: Vec<Drive>) -> Option<Box<dyn Device>> {
    if disks.is_empty() {
        return None;
    }
    let buses = buses(setup, disks.len());
    Some(Box::new(Shelf::new(disks, buses)))
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
