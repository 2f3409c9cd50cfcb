//! Several paths to one disk: SAS disks on two cables, LUNs behind two switches, dual-ported `NVMe` drives.
//!
//! Each path is a device of its own with the same serial number and the same WWN. Where multipathd is set up, lsblk has one
//! device of type `mpath` below all of them, and that is the disk. `NVMe` joins paths in the kernel: `nvme0c1n1` is a path of
//! `nvme0n1`.

use super::json::{list, text};
use super::{HeldDisk, Inventory};
use serde_json::Value as Json;

/// How lsblk calls buses on which a disk has one path only. Bridges of USB and cheap SATA disks share numbers.
const ONE_PATH: [&str; 6] = ["sata", "ata", "usb", "mmc", "virtio", "spi"];

/// A shorter number is none that one disk alone has.
const NUMBER_MIN: usize = 5;

/// As many last digits of a WWN are not all the same.
const WWN_TAIL: usize = 8;

/// What multipathd has made of the paths to a disk, one of which `disk` is.
pub(super) fn map_of(disk: &Json) -> Option<&Json> {
    list(disk, "children").iter().find(|child| text(child, "type") == "mpath")
}

/// Where a device of lsblk is. Older versions do not say it.
pub(super) fn path_of(device: &Json) -> String {
    let (path, name) = (text(device, "path"), text(device, "name"));
    let is_mapped = text(device, "kname").starts_with("dm-")
        || ["mpath", "lvm", "crypt", "dm"].contains(&text(device, "type").as_str());
    match path {
        path if path.starts_with("/dev/") => path,
        _ if is_mapped => format!("/dev/mapper/{name}"),
        _ => format!("/dev/{name}"),
    }
}

/// The namespace that a path of `NVMe` leads to: `nvme0n1` for `nvme0c1n1`.
pub(super) fn namespace_of(device: &str) -> Option<String> {
    let rest = device.strip_prefix("nvme")?;
    let (subsystem, rest) = rest.split_once('c')?;
    let (controller, namespace) = rest.split_once('n')?;
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    let are_numbers = is_number(subsystem) && is_number(controller) && is_number(namespace);
    are_numbers.then(|| format!("nvme{subsystem}n{namespace}"))
}

/// The controller and the namespace of `nvme0n1`.
fn of_nvme(device: &str) -> Option<(&str, &str)> {
    device.strip_prefix("nvme")?.split_once('n')
}

/// How a disk is connected, as lsblk calls it. SATA disks behind a controller for SAS count as on SATA: they have one path, and
/// take ATA's commands.
pub(super) fn transport_of(disk: &Json) -> String {
    let transport = text(disk, "tran");
    if transport == "sas" && text(disk, "vendor") == "ATA" { "sata".into() } else { transport }
}

/// Whether one disk alone has that serial number: makers leave others on whole series.
fn is_own_serial(serial: &str, model: &str) -> bool {
    let serial: String = serial.chars().filter(char::is_ascii_alphanumeric).collect();
    let has_digit = serial.chars().any(|c| c.is_ascii_digit());
    let is_counted = ["0123456789", "123456789"].iter().any(|run| serial.starts_with(run));
    let is_one = serial.chars().all(|c| serial.starts_with(c));
    let is_of_model = model.replace(' ', "_").eq_ignore_ascii_case(&serial);
    serial.len() >= NUMBER_MIN && has_digit && !is_counted && !is_one && !is_of_model
}

/// The digits of a WWN that one disk alone has.
fn own_wwn(wwn: &str) -> Option<&str> {
    let digits = ["0x", "eui.", "naa.", "uuid."].iter().find_map(|start| wwn.strip_prefix(start));
    let digits = digits.unwrap_or(wwn);
    let tail = digits.len().checked_sub(WWN_TAIL).and_then(|at| digits.get(at..))?;
    let is_one = tail.chars().all(|c| tail.starts_with(c));
    (!is_one).then_some(digits)
}

impl HeldDisk {
    /// Where Linux has it. None for a port of SATA, of whose disk nothing says what it is called.
    pub fn path(&self) -> Option<String> {
        let is_port =
            self.device.strip_prefix("ata").is_some_and(|rest| rest.parse::<u32>().is_ok());
        let of_name = || (!is_port).then(|| format!("/dev/{}", self.device));
        self.path.clone().or_else(of_name)
    }

    /// Whether it is on SAS or another transport of SCSI and takes its commands, where the listing says that.
    pub fn is_scsi(&self) -> Option<bool> {
        let is_scsi = |of: &str| ["sas", "fc", "fcoe", "iscsi", "spi"].contains(&of);
        (!self.transport.is_empty()).then(|| is_scsi(&self.transport))
    }

    /// Its device, and those that are paths to it.
    pub(super) fn devices(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.device).chain(&self.paths).map(String::as_str)
    }

    /// Whether both are one disk on two paths, as far as their numbers say.
    fn is_path_beside(&self, other: &HeldDisk) -> bool {
        if other.devices().any(|device| self.devices().any(|own| own == device)) {
            return true;
        }
        let both = [self, other];
        let has_one = |disk: &HeldDisk| ONE_PATH.contains(&disk.transport.as_str());
        let differ = self.model != other.model || self.bytes != other.bytes;
        if self.model.is_empty() || differ || both.into_iter().any(has_one) {
            return false;
        }
        let [serial, of_other] = both.map(|disk| disk.ids.serial());
        match both.map(|disk| own_wwn(disk.ids.wwn())) {
            [Some(wwn), Some(other)] => {
                let is_none = serial.is_empty() || of_other.is_empty();
                wwn == other && (is_none || serial == of_other)
            }
            // Volumes of one RAID controller, and both actuators of a disk, may have one serial number: it joins NVMe only.
            _ => self.has_serial_of(other) && of_nvme(&self.device).is_some(),
        }
    }

    /// Whether both have a serial number that one disk alone should have. Namespaces of one drive have its number, all of them.
    fn has_serial_of(&self, other: &HeldDisk) -> bool {
        let serial = self.ids.serial();
        let is_serial = serial == other.ids.serial() && is_own_serial(serial, &self.model);
        let are_namespaces = match (of_nvme(&self.device), of_nvme(&other.device)) {
            (Some(own), Some(of)) => own.0 == of.0 || own.1 != of.1,
            (None, None) => false,
            _ => true,
        };
        is_serial && !are_namespaces
    }

    /// Whether they may be one disk on two paths, though nothing says for sure that they are.
    fn may_be_path_beside(&self, other: &HeldDisk) -> bool {
        let has_one = |disk: &HeldDisk| ONE_PATH.contains(&disk.transport.as_str());
        let differ = self.model != other.model || self.bytes != other.bytes;
        let wwns = [self, other].map(|disk| own_wwn(disk.ids.wwn()).is_some());
        let is_open = !self.model.is_empty() && !differ && wwns != [true; 2];
        is_open && !has_one(self) && !has_one(other) && self.has_serial_of(other)
    }

    /// Adds what another listing, or another path, says of the same disk.
    pub(super) fn complete(&mut self, disk: HeldDisk) {
        if self.model.is_empty() {
            self.model = disk.model;
        }
        if self.transport.is_empty() {
            self.transport = disk.transport;
        }
        self.bytes = self.bytes.or(disk.bytes);
        self.number = self.number.take().or(disk.number);
        self.path = self.path.take().or(disk.path);
        self.ids.add(disk.ids);
        self.holds.add(disk.holds);
        self.turns = self.turns.or(disk.turns);
        self.write_cache = self.write_cache.or(disk.write_cache);
        self.is_bsds |= disk.is_bsds;
        self.odd_best_bytes = self.odd_best_bytes.or(disk.odd_best_bytes);
        self.is_host_managed |= disk.is_host_managed;
        disk.concerns.into_iter().for_each(|concern| self.concern(concern));
        for path in disk.paths {
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
    }

    /// Takes another path to the same disk. What multipathd made of them goes before each.
    fn join(&mut self, mut other: HeldDisk) {
        if self.path.is_none() && other.path.is_some() {
            std::mem::swap(self, &mut other);
        }
        for disk in [&mut *self, &mut other] {
            if disk.path.is_none() && !disk.paths.contains(&disk.device) {
                disk.paths.insert(0, disk.device.clone());
            }
        }
        self.complete(other);
    }
}

impl Inventory {
    /// Makes one disk of the paths that lead to it.
    pub(super) fn join_paths(&mut self) {
        let mut joined: Vec<HeldDisk> = Vec::new();
        for disk in std::mem::take(&mut self.disks) {
            match joined.iter_mut().find(|known| known.is_path_beside(&disk)) {
                Some(known) => known.join(disk),
                None => joined.push(disk),
            }
        }
        for disk in joined.iter_mut().filter(|disk| disk.path.is_none() && disk.paths.len() > 1) {
            let (devices, first) = (disk.paths.join(" and "), disk.device.clone());
            disk.concern(format!(
                "{devices} are paths to one disk, by their serial numbers, and count as one: first set up multipathd (or \
                 nvme_core.multipath), and write the device that it makes in place of /dev/{first}"
            ));
        }
        for at in 1..joined.len() {
            let (before, from) = joined.split_at_mut(at);
            if let Some(other) = before.iter().find(|other| other.may_be_path_beside(&from[0])) {
                let (one, two) = (other.device.clone(), from[0].device.clone());
                from[0].concern(format!(
                    "{one} and {two} have one serial number and count as two disks: if they are paths to one disk, set up multipathd \
                     and list the disks again with `lsblk --json --output-all`"
                ));
            }
        }
        self.disks = joined;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::Ids;
    use serde_json::json;

    #[test]
    fn paths_of_nvme_lead_to_a_namespace() {
        for (device, namespace) in [
            ("nvme0c1n1", Some("nvme0n1")),
            ("nvme12c0n3", Some("nvme12n3")),
            ("nvme0n1", None),
            ("nvme0c1", None),
            ("sdc1", None),
        ] {
            assert_eq!(namespace_of(device).as_deref(), namespace, "{device}");
        }
    }

    fn disk(device: &str, transport: &str, serial: &str, wwn: &str) -> HeldDisk {
        let ids = Ids::of(&json!({ "model": "ST18000NM000J", "serial": serial, "wwn": wwn }));
        let (device, transport, bytes) =
            (device.into(), transport.into(), Some(18_000_207_937_536));
        HeldDisk {
            device,
            model: "ST18000NM000J".into(),
            bytes,
            transport,
            ids,
            ..HeldDisk::default()
        }
    }

    /// What makers leave on whole series is no sign of one disk.
    #[test]
    fn numbers_tell_paths_from_disks() {
        let wwn = "0x5000c500d0000001";
        for (one, other, is_same) in [
            (("sda", "sas", "ZR5AAAA1", wwn), ("sde", "sas", "ZR5AAAA1", wwn), true),
            // Two volumes of one controller may have its serial number.
            (("sda", "", "ZR5AAAA1", ""), ("sde", "", "ZR5AAAA1", ""), false),
            (("sda", "fc", "ZR5AAAA1", wwn), ("sde", "fc", "", wwn), true),
            (("sda", "sas", "ZR5AAAA1", ""), ("sde", "sas", "ZR5AAAA1", wwn), false),
            // One number of two contradicts.
            (("sda", "sas", "ZR5AAAA1", wwn), ("sde", "sas", "ZR5AAAA2", wwn), false),
            (
                ("sda", "sas", "ZR5AAAA1", wwn),
                ("sde", "sas", "ZR5AAAA1", "0x5000c500d0000002"),
                false,
            ),
            // Placeholders.
            (("sda", "", "", ""), ("sde", "", "", ""), false),
            (("sda", "", "0123456789ABCDEF", ""), ("sde", "", "0123456789ABCDEF", ""), false),
            (("sda", "", "000000000000", ""), ("sde", "", "000000000000", ""), false),
            (("sda", "", "None", ""), ("sde", "", "None", ""), false),
            (("sda", "", "ST18000NM000J", ""), ("sde", "", "ST18000NM000J", ""), false),
            (
                ("sda", "sas", "", "0x5000000000000000"),
                ("sde", "sas", "", "0x5000000000000000"),
                false,
            ),
            // SATA and USB have one path.
            (("sda", "sata", "ZR5AAAA1", wwn), ("sde", "sata", "ZR5AAAA1", wwn), false),
            (("sda", "usb", "ZR5AAAA1", ""), ("sde", "usb", "ZR5AAAA1", ""), false),
            // Two controllers of one drive, and two namespaces of it.
            (("nvme0n1", "nvme", "S5GXNX0R1", ""), ("nvme1n1", "nvme", "S5GXNX0R1", ""), true),
            (("nvme0n1", "nvme", "S5GXNX0R1", ""), ("nvme0n2", "nvme", "S5GXNX0R1", ""), false),
            (("nvme0n1", "nvme", "S5GXNX0R1", ""), ("nvme1n2", "nvme", "S5GXNX0R1", ""), false),
            (("nvme0n1", "nvme", "nvme_card", ""), ("nvme1n1", "nvme", "nvme_card", ""), false),
        ] {
            let disks = [one, other]
                .map(|(device, transport, serial, wwn)| disk(device, transport, serial, wwn));
            assert_eq!(disks[0].is_path_beside(&disks[1]), is_same, "{one:?} {other:?}");
        }
        // What is not joined is said.
        let both = ["sda", "sde"].map(|device| disk(device, "sas", "ZR5AAAA1", ""));
        let mut inventory = Inventory { disks: both.into(), ..Inventory::default() };
        inventory.join_paths();
        assert_eq!(inventory.disks.len(), 2);
        let said = format!("{:?}", inventory.disks[1]);
        assert!(
            said.contains("sda and sde have one serial number and count as two disks"),
            "{said}"
        );
        let smaller = HeldDisk { bytes: Some(1), ..disk("sde", "sas", "ZR5AAAA1", wwn) };
        assert!(!smaller.is_path_beside(&disk("sda", "sas", "ZR5AAAA1", wwn)));
    }
}
