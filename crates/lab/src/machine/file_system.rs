//! A file system on the volume, mounted, for programs to use.

use super::host::queued_volume;
use super::linux;
use crate::error::Result;
use crate::experiment::Setup;
use crate::file_system::{Bare, FilesSetup};
use block::layout::System;
use sim::fs::Session;
use sim::fs::kernel::{Replacement, Spec};
use sim::fs::mounted::Streaming;
use sim::{Driver, Order, PerStripe, Processor};

/// The file system `files` on the volume of `setup`, made and mounted. The drives' spindles, and where the
/// file system puts its first directories, follow from `seed`.
///
/// # Errors
///
/// Where the volume or the file system cannot be; the message names the key.
pub fn file_system(setup: &Setup, files: &FilesSetup, seed: u64) -> Result<Session> {
    let processor = Processor::default();
    let mut driver = driver(setup).on(&processor);
    driver.plugs = linux::plugs(setup);
    let plugs = driver.plugs.clone();
    // Drivers sort what waits for each drive, where Linux's queues do not.
    let is_sorted = files.is_modelled_on_linux() && setup.volume.is_on_linux;
    let order = setup.host.elevator.or((!is_sorted).then_some(Order::CLook));
    let outstanding = setup.host.queue_outstanding.unwrap_or(u32::MAX);
    let device = queued_volume(setup, seed, (order, outstanding), driver)?;
    let sectors = device.geometry().target_sectors[0];
    let host = &setup.host.files;
    let spec = Spec {
        buffer_bytes: host.buffer_bytes,
        page_bytes: host.page_bytes,
        replacement: match host.page_turns_bytes {
            Some(read_bytes) => Replacement::TwoQueues { read_bytes },
            None => Replacement::LeastRecentlyUsed,
        },
        cleaning: host.cleaning,
        cluster_sectors: setup.host.max_transfer_sectors.min(files.request_sectors_max()),
        delays: files.delays(),
        // The drivers of volumes keep their members open.
        close_flushes: setup.host.close_flushes && is_one_disk(setup),
    };
    let streaming = Streaming { ahead_bytes: host.ahead_bytes, push_bytes: 65_536 };
    let bare = Bare { processor, device, spec, costs: host.costs, streaming, plugs };
    files.mount(bare, sectors, seed)
}

/// A RAID controller is one disk to the host's drivers.
fn is_one_disk(setup: &Setup) -> bool {
    setup.volume.level.name == "single" || setup.volume.controller.is_some()
}

/// What the host's processor does for each request to the volume. A disk's own work is in the costs of
/// the file system.
fn driver(setup: &Setup) -> Driver {
    if is_one_disk(setup) {
        return Driver::default();
    }
    let (host, volume) = (&setup.host, &setup.volume);
    let mut driver = Driver::new(host.volume_request_ns, host.volume_command_ns);
    driver.rows = host.md_rows;
    if host.volume_stripe_ns == 0 || !volume.level.is_of(System::Raidframe) {
        return driver;
    }
    let data_units = volume.members.len() - volume.level.losses_survived(volume.members.len());
    let stripe_sectors = volume.interleave_sectors * data_units as u64;
    driver.working_by_stripes(PerStripe { work_ns: host.volume_stripe_ns, stripe_sectors })
}
