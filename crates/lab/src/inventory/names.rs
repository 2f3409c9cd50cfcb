//! What volumes of a system are called and where they are mounted, and which commands let go of its disks.

use super::Inventory;
use super::holds::mounts;
use super::json::text;
use serde_json::Value as Json;
use std::collections::BTreeSet;

impl Inventory {
    /// What the system has by a name: arrays, volumes and groups of LVM, pools and file systems by their labels; and where
    /// something is mounted, which begins with a `/`.
    pub fn names(&self) -> BTreeSet<String> {
        let volumes = self.volumes.iter().map(|volume| volume.name.clone());
        self.names.iter().cloned().chain(volumes).collect()
    }

    /// Keeps the names of a device of lsblk.
    pub(super) fn keep_names(&mut self, device: &Json) {
        let (name, label) = (text(device, "name"), text(device, "label"));
        let group = (text(device, "type") == "lvm").then(|| group_of(&name)).flatten();
        let names = [Some(name), group, Some(label)].into_iter().flatten();
        self.names.extend(names.filter(|name| !name.is_empty()).chain(mounts(device)));
    }

    /// Keeps the name of a group of LVM.
    pub(super) fn keep_group(&mut self, group: &str) {
        if !group.is_empty() {
            self.names.insert(group.into());
        }
    }

    /// The commands that unmount and stop what is built of these devices, and then take off what it has written on them.
    /// None where the listing tells of nothing; no answer where it has a name that a shell would take apart.
    pub fn let_go(&self, devices: &[&str]) -> Option<Vec<String>> {
        let taken = self.disks.iter().filter(|disk| devices.contains(&disk.device.as_str()));
        let (mut stop, mut wipe): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for disk in taken {
            if disk.holds.has_odd_names {
                return None;
            }
            for (all, own) in [(&mut stop, &disk.holds.stopped), (&mut wipe, &disk.holds.wiped)] {
                all.extend(
                    own.iter().filter(|one| !all.contains(one)).cloned().collect::<Vec<_>>(),
                );
            }
        }
        // What is mounted below a mount is unmounted before it.
        let depth =
            |line: &String| line.strip_prefix("umount ").map(|place| usize::MAX - place.len());
        stop.sort_by_key(|line| depth(line).unwrap_or(usize::MAX));
        if !wipe.is_empty() {
            stop.push(format!("wipefs -a {}", wipe.join(" ")));
        }
        Some(stop)
    }
}

/// The group of a volume of LVM, as the device mapper calls it: `vg0` of `vg0-data`, and `my-vg` of `my--vg-data`.
pub(super) fn group_of(name: &str) -> Option<String> {
    let all = name.replace("--", "\0");
    let (group, _) = all.split_once('-')?;
    Some(group.replace('\0', "-"))
}

/// Whether a shell takes `text` for one word, and nothing else.
pub(super) fn is_plain(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:".contains(c);
    !text.starts_with('-') && text.chars().all(is_plain)
}
