//! What a disk holds now. A disk that is in use is no free one, and that of the running system is none at all.

use super::Inventory;
use super::json::{list, text};
use super::names::{group_of, is_plain};
use super::paths::path_of;
use serde_json::Value as Json;

/// What a disk holds, as `lsblk` says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// What is on it and in its partitions, each once: `xfs on /data`, `LVM2_member`.
    pub what: Vec<String>,
    /// What the running system itself has there: `/`, `/boot`, `swap`.
    pub system: Vec<String>,
    /// The commands that unmount and stop what is built of it, the uppermost first.
    pub(super) stopped: Vec<String>,
    /// The devices of it that have something written on them, the disk itself last.
    pub(super) wiped: Vec<String>,
    /// Whether a shell would take apart a name in those.
    pub(super) has_odd_names: bool,
}

/// What the word for a member of an array is; arrays are named themselves.
const MD_MEMBER: &str = "linux_raid_member";

impl Holds {
    /// What is on a disk, in its partitions, and in what is built of those.
    pub(super) fn of(disk: &Json) -> Self {
        let mut holds = Holds::default();
        holds.look(disk);
        holds.let_go(disk, false);
        if holds.what.is_empty() && list(disk, "children").iter().any(is_part) {
            holds.what.push("partitions".into());
        }
        holds
    }

    fn look(&mut self, device: &Json) {
        let mounts = mounts(device);
        let is_swap = |mount: &String| mount == "[SWAP]";
        for mount in mounts.iter().filter(|mount| is_system(mount)) {
            let called = if is_swap(mount) { "swap".into() } else { mount.clone() };
            keep(&mut self.system, called);
        }
        let places: Vec<&str> =
            mounts.iter().filter(|mount| !is_swap(mount)).map(String::as_str).collect();
        let signature = signature(device);
        match (signature.as_str(), places.as_slice()) {
            ("", []) if mounts.is_empty() => {}
            ("", []) => keep(&mut self.what, "swap".into()),
            ("", places) => {
                keep(&mut self.what, format!("what is mounted on {}", places.join(" and ")));
            }
            (signature, []) => keep(&mut self.what, signature.into()),
            (signature, places) => {
                keep(&mut self.what, format!("{signature} on {}", places.join(" and ")));
            }
        }
        for child in list(device, "children") {
            self.look(child);
        }
    }

    /// Notes what unmounts and stops what is on a device, after what is built of it, and what it then has written on it: on a
    /// disk, not `on_volume`, which is gone by then.
    fn let_go(&mut self, device: &Json, on_volume: bool) {
        let (name, kind, fstype) = (text(device, "name"), text(device, "type"), signature(device));
        let (children, path) = (list(device, "children"), path_of(device));
        let has_something = !fstype.is_empty() || !children.is_empty();
        let is_volume = !matches!(kind.as_str(), "disk" | "mpath" | "part");
        for child in children {
            self.let_go(child, on_volume || is_volume);
        }
        let mounts = mounts(device);
        let label = text(device, "label");
        self.has_odd_names |=
            !mounts.iter().chain([&name, &label]).all(|name| is_plain(name)) || !is_plain(&path);
        for mount in mounts {
            let off = if mount == "[SWAP]" {
                format!("swapoff {path}")
            } else {
                format!("umount {mount}")
            };
            keep(&mut self.stopped, off);
        }
        if fstype == "zfs_member" && !label.is_empty() {
            keep(&mut self.stopped, format!("zpool export {label}"));
        }
        match kind.as_str() {
            "disk" | "mpath" | "part" if !on_volume && has_something => {
                keep(&mut self.wiped, path);
            }
            "lvm" => {
                let group = group_of(&name).unwrap_or(name);
                keep(&mut self.stopped, format!("vgchange -an {group}"));
            }
            "crypt" => keep(&mut self.stopped, format!("cryptsetup close {name}")),
            kind if super::mdstat::level(kind).is_some() => {
                keep(&mut self.stopped, format!("mdadm --stop /dev/{name}"));
            }
            _ => (),
        }
    }

    /// Adds what another listing says of the same disk.
    pub(super) fn add(&mut self, other: Holds) {
        self.has_odd_names |= other.has_odd_names;
        let own = [
            (&mut self.what, other.what),
            (&mut self.system, other.system),
            (&mut self.stopped, other.stopped),
            (&mut self.wiped, other.wiped),
        ];
        for (all, more) in own {
            for one in more {
                keep(all, one);
            }
        }
    }
}

/// What is written on a device that says what it is for. That a disk is on several paths is not written there.
fn signature(device: &Json) -> String {
    let signature = text(device, "fstype");
    if signature == "mpath_member" { String::new() } else { signature }
}

fn keep(all: &mut Vec<String>, one: String) {
    if !all.contains(&one) {
        all.push(one);
    }
}

fn is_part(device: &Json) -> bool {
    text(device, "type") == "part"
}

/// Where a device is mounted: older versions of lsblk name one place, newer ones all of them.
pub(super) fn mounts(device: &Json) -> Vec<String> {
    let mut mounts = Vec::new();
    let all = list(device, "mountpoints").iter().filter_map(Json::as_str).map(str::to_string);
    for mount in std::iter::once(text(device, "mountpoint")).chain(all) {
        if !mount.is_empty() {
            keep(&mut mounts, mount);
        }
    }
    mounts
}

/// Whether a system does not run without what is mounted there.
fn is_system(mount: &str) -> bool {
    let alone = ["/", "[SWAP]", "/efi", "/usr", "/var", "/boot"].contains(&mount);
    alone || mount.starts_with("/boot/")
}

impl Inventory {
    /// What each of these devices holds now, those that hold the same together: `sda, sdb: LVM2_member`. Members of
    /// arrays that are known are left out: [`Inventory::arrays_of`] names those.
    pub fn in_use(&self, devices: &[&str]) -> Vec<String> {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for disk in self.disks.iter().filter(|disk| devices.contains(&disk.device.as_str())) {
            let in_array = self.volumes.iter().any(|volume| {
                let mut members = volume.members.iter();
                members.any(|member| self.disk_of(member) == Some(disk))
            });
            let said =
                |what: &&String| !(in_array && [MD_MEMBER, "partitions"].contains(&what.as_str()));
            let what: Vec<&str> = disk.holds.what.iter().filter(said).map(String::as_str).collect();
            let what = what.join(", ");
            match groups.iter_mut().find(|(known, _)| *known == what) {
                _ if what.is_empty() => {}
                Some((_, devices)) => devices.push(&disk.device),
                None => groups.push((what, vec![&disk.device])),
            }
        }
        let said =
            |(what, devices): &(String, Vec<&str>)| format!("{}: {what}", devices.join(", "));
        groups.iter().map(said).collect()
    }

    /// The arrays that these devices are members of, with those that are: `sda, sdb are members of md7 (md-raid5)`.
    pub fn arrays_of(&self, devices: &[&str]) -> Vec<String> {
        let arrays = self.volumes.iter().filter_map(|volume| {
            let mut own: Vec<&str> = Vec::new();
            for disk in volume.members.iter().filter_map(|member| self.disk_of(member)) {
                let device = disk.device.as_str();
                if devices.contains(&device) && !own.contains(&device) {
                    own.push(device);
                }
            }
            let are = if own.len() == 1 { "is a member" } else { "are members" };
            let named =
                || format!("{} {are} of {} ({})", own.join(", "), volume.name, volume.level);
            (!own.is_empty()).then(named)
        });
        arrays.collect()
    }
}
