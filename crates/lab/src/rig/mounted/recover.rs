//! Makes the ground ready again after a trial that failed, or finds that no other can run: a member is gone, the disk
//! with the images is full, or something cannot be taken down.

use super::build::{Build, Device};
use super::trial::wipe;
use crate::error::Result;
use crate::rig::site::{Images, Site, Step};
use std::time::Duration;

/// How long a member may take to read a block.
const READ_LIMIT: Duration = Duration::from_secs(120);

/// Takes down what the trial left, and asks the members whether they still are there.
///
/// # Errors
///
/// Why no other trial can run.
pub(super) fn recover(
    site: &Site,
    build: &Build,
    devices: &[Device],
    images: Option<&Images>,
) -> Result<()> {
    let mut shell = site.shell();
    // A signal may be what made the trial fail; then this waits for the end of the program.
    shell.wait_if_stopped();
    site.clear()?;
    for step in &build.take_down {
        // What was never built cannot be taken down. What is still there keeps the members busy.
        let _ = shell.run(step);
    }
    if let Some(images) = images {
        images.check_growth(site)?;
    }
    for device in devices {
        let read = [
            "dd",
            &format!("if={}", device.path),
            "of=/dev/null",
            "bs=1M",
            "count=1",
            "status=none",
        ];
        shell.run(&Step::new(read.map(String::from)).within(READ_LIMIT))?;
    }
    shell.run(&wipe(devices)).map(|_| ())
}
