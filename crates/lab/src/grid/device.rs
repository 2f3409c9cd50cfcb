//! A drive of any class alone, with nothing of a host before it.

use crate::catalogue::{Built, Drive};
use crate::error::Result;
use sim::bus::Bus;
use sim::{Device, Shelf};

/// From which the angles of spindles follow.
const SEED: u64 = 0x5eed;

/// `drive`, on a bus that costs nothing if it is a disk.
pub(super) fn device(drive: &Drive) -> Result<Box<dyn Device>> {
    Ok(match drive.build(SEED, 0)? {
        Built::Alone(device) => device,
        Built::Disk(model) => {
            Box::new(Shelf::new(vec![model.drive(SEED)], vec![Bus::new(u64::MAX, 0)]))
        }
    })
}
