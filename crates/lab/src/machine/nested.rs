//! Arrays side by side, each over drives of its own, and a stripe over them: RAID 50 and 60 as md makes them.

use super::array::{limited, of_parity};
use super::host::{disks, over};
use crate::error::{Error, Result};
use crate::experiment::{Setup, Volume};
use block::layout::NestedLevel;
use sim::linux::writer::{OneWriter, Writer};
use sim::{Array, Device, Driver, Limiter, Order, Processor, Rack};

/// The arrays `of` the volume of `setup`, and the stripe over them, which sends each piece on as it is. Drives and queues
/// are as [`disks`] makes them, and `driver` is that of each array.
pub(super) fn nested(
    setup: &Setup,
    of: NestedLevel,
    seed: u64,
    queued: (Option<Order>, u32),
    driver: &Driver,
) -> Result<Box<dyn Device>> {
    let named = format!("`volume.level` = {}", setup.volume.level);
    // What the members cannot make is said of all of them.
    setup.volume.layout()?;
    let (mut arrays, writer) = (Vec::new(), Writer::default());
    for group in 0..of.groups {
        let part = Setup { volume: part(&setup.volume, of, group), ..setup.clone() };
        let before = group * part.volume.members.len();
        let below = disks(&part, (seed, before), queued)?;
        let driver = by_itself(driver, group);
        let is_restored = part.volume.rebuild_bytes_per_s.is_some();
        arrays.push(if is_restored && part.volume.restored_sectors > 0 {
            // A stretch of its rebuild, which nothing disturbs.
            over(&part, below, driver)?
        } else {
            let md = of_parity(&part.volume, limited(&part.volume, below), driver)?;
            md.written_by(&writer).into()
        });
    }
    let is_written_back = setup.volume.page_cache.is_written;
    let rack = Rack::new(arrays);
    let rack = if is_written_back { rack } else { rack.linked() };
    let offered = rack.geometry().target_sectors.clone();
    let interleave_sectors = setup.volume.interleave_sectors;
    let outer = of.outer.lay_out(interleave_sectors, &offered);
    let outer = outer.map_err(|error| Error::input(format!("{named}: {error}")))?;
    let below: Box<dyn Device> = Box::new(rack);
    let stripe: Box<dyn Device> = Array::new(outer, below, Driver::default()).into();
    // Write-back holds back what it has added to rows until it sleeps, and sleeps seldom: a part of a request goes to each
    // array at once. Others send chunk after chunk, and sleep where no row is free.
    let volume: Box<dyn Device> = if is_written_back {
        stripe
    } else {
        OneWriter::new(stripe, interleave_sectors, writer).into()
    };
    Ok(match setup.volume.volume_outstanding {
        Some(outstanding) => Limiter::new(volume, outstanding).into(),
        None => volume,
    })
}

/// The driver of one of several arrays, each of which has a thread of its own: where that costs something, on a processor of
/// its own. How busy the first one is stands for all.
fn by_itself(driver: &Driver, group: usize) -> Driver {
    let is_shared = group == 0 || driver.rows.is_none();
    if is_shared { driver.clone() } else { driver.clone().on(&Processor::default()) }
}

/// The array of so many neighbours of `volume`'s members, with those of them that are down.
pub(super) fn part(volume: &Volume, of: NestedLevel, group: usize) -> Volume {
    let each = volume.members.len() / of.groups;
    let own = group * each..(group + 1) * each;
    let failed = volume.failed.iter().filter(|&&member| own.contains(&(member as usize)));
    let is_restored = volume.failed.first().is_some_and(|&first| own.contains(&(first as usize)));
    Volume {
        level: of.inner,
        members: volume.members[own.clone()].to_vec(),
        failed: failed.map(|member| member - own.start as u32).collect(),
        rebuild_bytes_per_s: volume.rebuild_bytes_per_s.filter(|_| is_restored),
        volume_outstanding: None,
        ..volume.clone()
    }
}
