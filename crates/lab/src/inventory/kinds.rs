//! The disks of a system by what they are in the catalogue.

use super::{HeldDisk, HeldVolume, Inventory};
use crate::catalogue::{Match, matching};

/// Disks that are one drive of the catalogue, or that state one model which is in none.
#[derive(Clone, Debug)]
pub struct Kind<'i> {
    /// What they are.
    pub found: Match,
    /// Which.
    pub disks: Vec<&'i HeldDisk>,
}

impl<'i> Kind<'i> {
    /// What the first of them calls itself, as people read it.
    pub fn model(&self) -> &'i str {
        let model = self.disks.first().map_or("", |disk| disk.model.as_str());
        if model.is_empty() { "a disk without a model" } else { model }
    }

    /// Their devices.
    pub fn devices(&self) -> Vec<&'i str> {
        self.disks.iter().map(|disk| disk.device.as_str()).collect()
    }

    /// Whether the catalogue has them.
    pub fn is_known(&self) -> bool {
        !matches!(self.found, Match::None { .. })
    }
}

/// These disks by kind, in order of their first ones.
pub fn kinds<'i>(disks: impl IntoIterator<Item = &'i HeldDisk>) -> Vec<Kind<'i>> {
    let mut kinds: Vec<Kind<'i>> = Vec::new();
    for disk in disks {
        let found = matching(&disk.model, disk.bytes, disk.is_flash());
        let is_same = |kind: &&mut Kind<'_>| {
            let is_named = kind.is_known() || kind.disks.iter().all(|one| is_called_as(one, disk));
            kind.found == found && is_named
        };
        match kinds.iter_mut().find(is_same) {
            Some(kind) => kind.disks.push(disk),
            None => kinds.push(Kind { found, disks: vec![disk] }),
        }
    }
    kinds
}

/// Whether two disks that are in no catalogue call themselves the same. Without a model they are of one kind where one driver has
/// them: a disk of virtio and persistent memory are not.
fn is_called_as(one: &HeldDisk, other: &HeldDisk) -> bool {
    let driver = |disk: &'_ HeldDisk| -> String {
        let letters = disk.device.trim_start_matches("/dev/").chars();
        letters.take_while(char::is_ascii_alphabetic).take(DRIVER_LETTERS).collect()
    };
    let is_same_driver = || one.bytes == other.bytes && driver(one) == driver(other);
    one.model == other.model && (!one.model.is_empty() || is_same_driver())
}

/// As many letters name a driver as tell `vda` and `pmem0` apart.
const DRIVER_LETTERS: usize = 2;

impl Inventory {
    /// The disks that nothing is built of, with why: those of the running system, and those that an array has given up.
    pub fn left_out(&self) -> Vec<(&HeldDisk, String)> {
        let why = |disk: &HeldDisk| {
            if !disk.holds.system.is_empty() {
                let what = disk.holds.system.join(" and ");
                return Some(format!("{} holds {what} of the running system", disk.device));
            }
            if disk.is_host_managed {
                let what = "is a host-managed zoned disk, which arrays cannot be built of";
                return Some(format!("{} {what}", disk.device));
            }
            let lost = |volume: &&HeldVolume| {
                volume.faulty.iter().any(|member| self.disk_of(member) == Some(disk))
            };
            let volume = self.volumes.iter().find(lost)?;
            Some(format!("{} has failed in {}", disk.device, volume.name))
        };
        self.disks.iter().filter_map(|disk| Some((disk, why(disk)?))).collect()
    }

    /// The disks that something may be built of.
    pub fn free(&self) -> Vec<&HeldDisk> {
        let left_out = self.left_out();
        let is_free = |disk: &&HeldDisk| left_out.iter().all(|(other, _)| *other != *disk);
        self.disks.iter().filter(is_free).collect()
    }
}
