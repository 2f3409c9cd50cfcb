//! What somebody has: disks and volumes, out of what systems print about them.
//!
//! ```text
//! json     lsblk -J -O · nvme list -o json
//! dmesg    Linux, FreeBSD, NetBSD and OpenBSD
//! mdstat   /proc/mdstat
//! mdadm    mdadm --detail
//! lvm      lvs with its types, stripes and devices · dmsetup table
//! zpool    zpool status
//! ```
//!
//! These are read for people, not checked: a line that says nothing of a disk or a volume is passed over. What is
//! found is matched with the catalogue and printed as an experiment.

mod as_json;
mod by_id;
mod dmesg;
mod holds;
mod json;
mod kinds;
mod limits;
mod lvm;
mod mdadm;
mod mdstat;
mod names;
mod paths;
mod stacked;
mod written;
mod zpool;

pub use by_id::Ids;
pub use holds::Holds;
pub use kinds::{Kind, kinds};

use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use store::input;

/// A disk of a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldDisk {
    /// Its device: `sda`, `nvme0n1`, `mpatha`; or its name in `/dev/disk/by-id`.
    pub device: String,
    /// Where Linux has it, where that is not in `/dev` itself.
    path: Option<String>,
    /// The devices that are paths to it, where there are several.
    pub paths: Vec<String>,
    /// How it is connected, as lsblk calls it: `sas`, `sata`, `nvme`; empty where that is not said.
    pub transport: String,
    /// What it calls itself.
    pub model: String,
    /// Its size in bytes, where it is said.
    pub bytes: Option<u64>,
    /// Its number, as `dmsetup` has it: `8:16`.
    pub number: Option<String>,
    /// What its names in `/dev/disk/by-id` are made of.
    pub ids: Ids,
    /// What it holds now.
    pub holds: Holds,
    /// Whether it turns, where that is said.
    pub turns: Option<bool>,
    /// Whether its write cache is on, where that is said.
    pub write_cache: Option<bool>,
    /// What it calls its best size of a request, in bytes, where that is odd.
    pub odd_best_bytes: Option<u64>,
    /// Whether it takes writes only in order within zones.
    pub is_host_managed: bool,
    /// Whether a BSD calls it so: another system has other names for its devices.
    pub is_bsds: bool,
    /// How it is connected or set in a way that is not modelled, a sentence each without the full stop.
    pub concerns: Vec<String>,
}

impl HeldDisk {
    /// Adds what is to be known of it, once.
    fn concern(&mut self, said: String) {
        if !self.concerns.contains(&said) {
            self.concerns.push(said);
        }
    }

    /// Whether nothing turns in it, where its name, its model or the listing tells.
    pub fn is_flash(&self) -> Option<bool> {
        let is_nvme = ["nvme", "nvd", "nda"].iter().any(|start| self.device.starts_with(start));
        let model = self.model.to_ascii_lowercase();
        let says = ["ssd", "nvme"].iter().any(|word| model.contains(word));
        if is_nvme || says { Some(true) } else { self.turns.map(|turns| !turns) }
    }
}

/// A volume of a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldVolume {
    /// What it is called.
    pub name: String,
    /// Its level, as an experiment has it.
    pub level: String,
    /// Its chunk in bytes, where it is said.
    pub chunk_bytes: Option<u64>,
    /// Whether md keeps a bitmap among its members' metadata.
    pub has_bitmap: bool,
    /// Its members' devices, in order: disks, partitions, or numbers; empty where one is not there.
    pub members: Vec<String>,
    /// What the level leaves out.
    pub note: Option<String>,
    /// Which members hold nothing, as an experiment counts them: they have failed, are not there, or are being restored.
    pub failed: Vec<usize>,
    /// The devices that have failed.
    pub faulty: Vec<String>,
    /// What is to be known of those members, and of what the volume does beside its work.
    pub said: Vec<String>,
    /// At what a member is being restored, in bytes a second, where that is said.
    pub rebuild_bytes_per_s: Option<u64>,
    /// Whether it has no chunk that a tool would tell: ZFS deals blocks.
    is_without_chunk: bool,
    /// Whether only `lsblk` tells of it, which has members in no order, and spares and failed ones among them.
    is_rough: bool,
}

/// What somebody has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Its disks, each device once.
    pub disks: Vec<HeldDisk>,
    /// Its volumes.
    pub volumes: Vec<HeldVolume>,
    /// What is to be known of it as a whole, as of volumes that are not read, a sentence each without the full stop.
    notes: Vec<String>,
    /// The device above which each partition is, and which number each has.
    aliases: BTreeMap<String, String>,
    /// What else the system has by a name, or mounted: what is built anew is called otherwise.
    names: BTreeSet<String>,
    /// The file that each volume was first read of.
    origins: BTreeMap<String, String>,
    /// How many disks and volumes were read, those that were known already among them.
    seen: usize,
}

/// More disks than anybody has in a listing.
const DISKS_MAX: usize = 4096;

/// What a disk calls itself; with its vendor where it says nothing without.
fn with_vendor(vendor: &str, model: String) -> String {
    if model == "Virtual Disk" && !vendor.is_empty() { format!("{vendor} {model}") } else { model }
}

impl Inventory {
    /// Reads what systems print, out of these files.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, has neither disks nor volumes in it, or too many.
    pub fn open(files: &[PathBuf]) -> Result<Self> {
        let files = files.iter().map(|path| {
            let label = path.display().to_string();
            let text = input::read_text(path, input::RESULTS_BYTES).map_err(|error| {
                Error::input(format!(
                    "cannot read {label}: {error}; give what `lsblk -J -O` prints"
                ))
            })?;
            Ok((label, text))
        });
        Inventory::read(&files.collect::<Result<Vec<_>>>()?)
    }

    /// Reads what systems print: the name and the text of each file.
    ///
    /// # Errors
    ///
    /// Where a file has neither disks nor volumes in it, or too many.
    pub fn read(files: &[(String, String)]) -> Result<Self> {
        let mut inventory = Inventory::default();
        for (label, text) in files {
            let before = inventory.seen;
            inventory.take_in(label, text)?;
            for volume in &inventory.volumes {
                let known = inventory.origins.entry(volume.name.clone());
                known.or_insert_with(|| label.clone());
            }
            if inventory.seen == before {
                return Err(Error::input(format!(
                    "{label}: no disk and no volume is in it; give what `lsblk -J -O`, `nvme list -o json`, dmesg, \
                     /proc/mdstat, `mdadm --detail`, `lvs -a -o +segtype,stripes,stripe_size,devices`, `dmsetup table` or `zpool status` prints"
                )));
            }
            if inventory.disks.len() + inventory.volumes.len() > DISKS_MAX {
                let message =
                    format!("{label}: more than {DISKS_MAX} disks and volumes; give less");
                return Err(Error::input(message));
            }
        }
        inventory.join_paths();
        inventory.look_through();
        inventory.add_named_members();
        Ok(inventory)
    }

    /// Adds the members of volumes that no listing has, and whose names in `/dev/disk/by-id` say what they are.
    fn add_named_members(&mut self) {
        let members: Vec<String> =
            self.volumes.iter().flat_map(|volume| volume.members.clone()).collect();
        for device in members {
            let name = by_id::whole_of(&device);
            if self.disk_of(&device).is_none()
                && let Some(model) = by_id::model_of(name)
            {
                let (path, ids) = (Some(format!("/dev/disk/by-id/{name}")), Ids::linked(name));
                let device = name.to_string();
                self.add(HeldDisk { device, path, model, ids, ..HeldDisk::default() });
            }
        }
    }

    fn take_in(&mut self, label: &str, text: &str) -> Result<()> {
        let is_zpool = |line: &str| line.trim_start().starts_with("pool:");
        let is_head_of_lvs = |line: &str| line.split_whitespace().next() == Some("LV");
        let is_lvs = text.lines().any(is_head_of_lvs);
        let is_target = |line: &str| {
            [" striped ", " linear ", " raid raid"].iter().any(|kind| line.contains(kind))
        };
        if text.trim_start().starts_with('{') {
            json::read(self, label, text)?;
        } else if mdadm::is(text) {
            mdadm::read(self, text);
        } else if text.contains("Personalities") || text.contains(" : active") {
            mdstat::read(self, text);
        } else if text.lines().any(is_zpool) {
            zpool::read(self, text);
        } else if is_lvs {
            lvm::read_lvs(self, label, text)?;
        } else if text.lines().any(is_target) && !text.contains("] ") {
            lvm::read_table(self, label, text)?;
        } else {
            dmesg::read(self, text);
        }
        Ok(())
    }

    /// Adds a disk; what is known of its device already is completed.
    fn add(&mut self, mut disk: HeldDisk) {
        let is_memory = ["ram", "zram", "loop"].iter().any(|start| disk.device.starts_with(start));
        if is_memory || (disk.model.is_empty() && disk.bytes.is_none()) {
            return;
        }
        self.seen += 1;
        if let Some(namespace) = paths::namespace_of(&disk.device) {
            disk.device = namespace;
        }
        match self.disks.iter_mut().find(|known| known.device == disk.device) {
            Some(known) => known.complete(disk),
            None => self.disks.push(disk),
        }
    }

    /// Adds a volume; one that another file has, too, is completed.
    fn add_volume(&mut self, volume: HeldVolume) {
        self.seen += 1;
        let Some(known) = self.volumes.iter_mut().find(|known| known.name == volume.name) else {
            return self.volumes.push(volume);
        };
        if known.is_rough {
            *known = volume;
            return;
        }
        known.chunk_bytes = known.chunk_bytes.or(volume.chunk_bytes);
        if known.members.len() < volume.members.len() {
            known.members = volume.members;
        }
    }

    /// What is to be known of the ways in which these devices are connected or set, a sentence each without the full stop.
    pub fn concerns(&self, devices: &[&str]) -> Vec<String> {
        let disks = self.disks.iter().filter(|disk| devices.contains(&disk.device.as_str()));
        let (disks, mut all): (Vec<&HeldDisk>, Vec<String>) = (disks.collect(), Vec::new());
        for disk in &disks {
            all.extend(disk.concerns.iter().cloned());
        }
        all.extend(limits::of_best_sizes(&disks));
        let is_off = |disk: &&&HeldDisk| disk.write_cache == Some(false);
        let off: Vec<&str> = disks.iter().filter(is_off).map(|disk| disk.device.as_str()).collect();
        if !off.is_empty() {
            let (whose, are) =
                if off.len() == 1 { ("write cache", "is") } else { ("write caches", "are") };
            all.push(format!(
                "The {whose} of {} {are} off; `drive.write_cache = false` models that, for all drives",
                off.join(", ")
            ));
        }
        all
    }

    /// The disk that a member of a volume is, or is a part of: `sdb1` of `sdb`, `nvme0n1p2` of `nvme0n1`, or what
    /// `/dev/disk/by-id` calls so.
    pub fn disk_of(&self, member: &str) -> Option<&HeldDisk> {
        let name = member.rsplit('/').next().unwrap_or(member);
        if name.is_empty() {
            return None;
        }
        let name = self.aliases.get(name).map_or(name, String::as_str);
        let whole = |disk: &&HeldDisk| {
            disk.devices().any(|device| device == name) || disk.number.as_deref() == Some(name)
        };
        let found = self.disks.iter().find(whole).or_else(|| {
            let is_part_of = |device: &str| {
                name.strip_prefix(device).is_some_and(|rest| {
                    let digits = rest.strip_prefix(['p', 's']).unwrap_or(rest);
                    !digits.is_empty() && digits.starts_with(|c: char| c.is_ascii_digit())
                })
            };
            let is_part = |disk: &&HeldDisk| disk.devices().any(is_part_of);
            self.disks.iter().find(is_part)
        });
        found.or_else(|| self.disks.iter().find(|disk| disk.ids.means(name)))
    }
}

#[cfg(test)]
mod tests;
