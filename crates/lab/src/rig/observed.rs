//! What real members did and are, as the machine itself tells it: what the kernel counted while a trial ran, what others
//! moved on the disks meanwhile, and what the figures depend on and nobody sees in them.
//!
//! ```text
//! members what the devices have done, as the kernel counts it, and what they are
//! others  what others do on this machine's disks
//! smart   what members tell of their health
//! ```

mod members;
mod others;
mod smart;

pub(super) use members::{Count, counts, machine, moved, open_direct, queue, since, warnings};
pub(super) use others::Others;
pub(super) use smart::read as health;

use super::mounted::Device;
use crate::error::{Error, Result};
use crate::workload::Moved;
pub(super) use crate::workload::from_memory_percent;

/// The samples that it gives, of those that have something to tell.
pub(super) const SAMPLES: [&str; 4] =
    ["members_read_mb", "members_written_mb", "from_memory_percent", "others_mb"];

/// Of more than this share of the bytes read cold, in percent, a trial is no measurement of its members.
const FROM_MEMORY_MAX_PERCENT: f64 = 50.0;

/// What the members and others are at, from the beginning of a trial on.
pub(super) struct Watch<'a> {
    devices: &'a [Device],
    before: Moved,
    others: Others,
    others_bytes: u64,
}

/// What happened while it was watched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// What the members did; of a file, the disk below it.
    pub(super) moved: Moved,
    /// What others moved on other disks, in bytes.
    pub(super) others_bytes: u64,
}

impl<'a> Watch<'a> {
    /// Watches from now on.
    pub(super) fn new(devices: &'a [Device]) -> Self {
        let others = Others::of(devices);
        let others_bytes = others.bytes();
        Watch { devices, before: moved(devices), others, others_bytes }
    }

    /// Whether the kernel counts what all of them do.
    pub(super) fn is_counted(&self) -> bool {
        self.devices.iter().all(|device| members::number(device).is_some())
    }

    /// What has happened so far.
    pub(super) fn seen(&self) -> Seen {
        Seen {
            moved: moved(self.devices).since(&self.before),
            others_bytes: self.others.bytes().saturating_sub(self.others_bytes),
        }
    }
}

impl Seen {
    /// The samples, in the order of [`SAMPLES`].
    pub(super) fn samples(&self, from_memory: Option<f64>) -> [Option<f64>; 4] {
        let others_mb = self.others_bytes as f64 / 1e6;
        [
            Some(self.moved.read_bytes as f64 / 1e6),
            Some(self.moved.written_bytes as f64 / 1e6),
            from_memory,
            Some(others_mb).filter(|moved| *moved > 0.0),
        ]
    }
}

/// Whether what was to be read from the members was; `next` is what to do where it was not.
///
/// # Errors
///
/// Where most of it was not.
pub(super) fn check_cold(from_memory_percent: Option<f64>, next: &str) -> Result<()> {
    match from_memory_percent {
        Some(percent) if percent > FROM_MEMORY_MAX_PERCENT => Err(Error::failure(format!(
            "{percent:.0} % of the bytes that were read did not come from the members: this is the speed of memory \
             and no disk's; {next}"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_of_memory_is_no_result() {
        assert!(check_cold(None, "x").is_ok() && check_cold(Some(3.0), "x").is_ok());
        let said = check_cold(Some(97.6), "mend it").unwrap_err().to_string();
        assert!(
            said.contains("98 % of the bytes") && said.contains("the speed of memory"),
            "{said}"
        );
        assert!(said.ends_with("; mend it"), "{said}");
    }

    #[test]
    fn what_no_member_read_is_from_memory() {
        assert_eq!(from_memory_percent(0, 0), None);
        assert_eq!(from_memory_percent(1000, 250), Some(75.0));
        // Others read on the same disk, or the file system read ahead.
        assert_eq!(from_memory_percent(1000, 5000), Some(0.0));
    }
}
