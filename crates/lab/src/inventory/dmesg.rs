//! Kernel messages about disks.
//!
//! ```text
//! Linux     scsi 0:0:0:0: Direct-Access     ATA      ST18000NM000J-2T SN02 PQ: 0 ANSI: 5
//!           sd 0:0:0:0: [sda] 35156656128 512-byte logical blocks: (18.0 TB/16.4 TiB)
//!           sd 0:0:0:0: [sda] Write cache: disabled, read cache: enabled, doesn't support DPO or FUA
//!           ata1: SATA link up 3.0 Gbps (SStatus 123 SControl 300)
//!           ata1.00: ATA-11: ST18000NM000J-2TV103, SN02, max UDMA/133
//!           ata1.00: 35156656128 sectors, multi 16: LBA48 NCQ (not used)
//! FreeBSD   da0: <SEAGATE ST32171W 0484> Fixed Direct Access SCSI-2 device
//!           ada0: 190782MB (390721968 512 byte sectors)
//! NetBSD    sd0 at scsibus0 target 0 lun 0: <SEAGATE, ST118273LC, 1234> disk fixed
//!           wd0: <ST3200822AS>
//!           sd0: 17366 MB, 7501 cyl, 20 head, 237 sec, 512 bytes/sect x 35566480 sectors
//! ```

use super::{HeldDisk, Inventory};
use std::collections::BTreeMap;

pub(super) fn read(inventory: &mut Inventory, text: &str) {
    // Linux says what a disk is before it says what it is called.
    let mut at_address: BTreeMap<&str, String> = BTreeMap::new();
    let mut devices: BTreeMap<&str, String> = BTreeMap::new();
    let mut ports: BTreeMap<u32, Port> = BTreeMap::new();
    for line in text.lines() {
        let line = without_time(line);
        if let Some((number, said)) = port(line) {
            ports.entry(number).or_default().take(said);
        } else if let Some((device, is_on)) = write_cache(line) {
            if let Some(disk) = inventory.disks.iter_mut().find(|disk| disk.device == device) {
                disk.write_cache = Some(is_on);
            }
        } else if let Some((address, model)) = linux_model(line) {
            at_address.insert(address, model);
        } else if let Some((address, device, bytes)) = linux_size(line) {
            let model = at_address.get(address).cloned().unwrap_or_default();
            devices.insert(address, device.clone());
            inventory.add(HeldDisk { device, model, bytes, ..HeldDisk::default() });
        } else if let Some(disk) = bsd(line) {
            inventory.add(disk);
        }
    }
    for (number, port) in ports {
        // Ports are counted from 1, and SCSI's hosts from 0, other controllers among them.
        let address = format!("{}:0:0:0", number.saturating_sub(1));
        let is_its = |model: &&String| !model.is_empty() && port.model.starts_with(model.as_str());
        let device = at_address.get(address.as_str()).filter(is_its);
        let device = device.and_then(|_| devices.get(address.as_str()));
        let name = device.cloned().unwrap_or_else(|| format!("ata{number}"));
        let concerns = port.concerns(&name);
        // Where the lines of SCSI's layer are missing, these alone say what there is.
        if at_address.is_empty() && devices.is_empty() && !port.model.is_empty() {
            let (model, bytes) = (port.model, port.bytes);
            inventory.add(HeldDisk { device: name.clone(), model, bytes, ..HeldDisk::default() });
        }
        match inventory.disks.iter_mut().find(|disk| disk.device == name) {
            Some(disk) => concerns.into_iter().for_each(|concern| disk.concern(concern)),
            None => inventory.notes.extend(concerns),
        }
    }
}

/// What the kernel says of a SATA port, and of the disk behind it.
#[derive(Clone, Debug, Default)]
struct Port {
    model: String,
    /// The rate of its link, in tenths of Gbit/s.
    link: Option<u32>,
    takes_one: bool,
    bytes: Option<u64>,
}

impl Port {
    /// The last link is the one that is used.
    fn take(&mut self, said: &str) {
        if let Some(rest) = said.strip_prefix("SATA link up ") {
            let rate = rest.split_whitespace().next().and_then(|rate| rate.parse::<f64>().ok());
            self.link = rate.map(|rate| (rate * 10.0) as u32);
        } else if let Some((sectors, rest)) = said.split_once(" sectors, ") {
            self.bytes = sectors.parse::<u64>().ok().and_then(|sectors| sectors.checked_mul(512));
            self.takes_one = rest.contains("NCQ (not used)");
        } else if let Some((_, rest)) =
            said.split_once(": ").filter(|(kind, _)| kind.starts_with("ATA-"))
        {
            self.model = rest.split(',').next().unwrap_or_default().trim().to_string();
        }
    }

    fn concerns(&self, name: &str) -> Vec<String> {
        let mut concerns = Vec::new();
        // Behind some ports are drives for CDs.
        if self.model.is_empty() {
            return concerns;
        }
        if let Some(link) = self.link.filter(|link| (1..60).contains(link)) {
            let most = link * 10;
            concerns.push(format!(
                "{name} has a link of {}.{} Gbit/s, {most} MB/s at most, which is not modelled",
                link / 10,
                link % 10
            ));
        }
        if self.takes_one {
            concerns.push(format!(
                "{name} takes one command at a time (NCQ is not used); `drive.queue_depth = 1` models that, for all drives"
            ));
        }
        concerns
    }
}

/// `ata1: …` or `ata1.00: …`: the port's number and what is said.
fn port(line: &str) -> Option<(u32, &str)> {
    let (name, said) = line.strip_prefix("ata")?.split_once(": ")?;
    let number = name.strip_suffix(".00").unwrap_or(name);
    Some((number.parse().ok()?, said))
}

/// `sd 0:0:0:0: [sda] Write cache: disabled, …`.
fn write_cache(line: &str) -> Option<(&str, bool)> {
    let (device, rest) = line.strip_prefix("sd ")?.split_once(": [")?.1.split_once("] ")?;
    let word = rest.strip_prefix("Write cache: ")?.split(',').next()?;
    match word {
        "enabled" => Some((device, true)),
        "disabled" => Some((device, false)),
        _ => None,
    }
}

/// The line without `[    1.234567] `.
fn without_time(line: &str) -> &str {
    let line = line.trim_start();
    match line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((time, rest)) if time.trim().starts_with(|c: char| c.is_ascii_digit()) => rest,
        _ => line,
    }
}

/// `scsi 0:0:0:0: Direct-Access     ATA      MODEL            REV  PQ: 0 ANSI: 5`.
fn linux_model(line: &str) -> Option<(&str, String)> {
    let (address, rest) = line.strip_prefix("scsi ")?.split_once(": ")?;
    let rest = rest.strip_prefix("Direct-Access")?.split("PQ:").next()?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    // The vendor first and the revision last.
    let model = words.get(1..words.len().checked_sub(1)?)?;
    Some((address, super::with_vendor(words[0], model.join(" "))))
}

/// `sd 0:0:0:0: [sda] 35156656128 512-byte logical blocks: (…)`.
fn linux_size(line: &str) -> Option<(&str, String, Option<u64>)> {
    let (address, rest) = line.strip_prefix("sd ")?.split_once(": [")?;
    let (device, rest) = rest.split_once("] ")?;
    let mut words = rest.split_whitespace();
    let blocks: u64 = words.next()?.parse().ok()?;
    let each: u64 = words.next()?.strip_suffix("-byte")?.parse().ok()?;
    Some((address, device.into(), blocks.checked_mul(each)))
}

/// A unit of a BSD's driver for disks, such as `sd0` or `nvd1`.
fn unit(word: &str) -> Option<&str> {
    const DRIVERS: [&str; 10] = ["ada", "da", "ad", "nvd", "nda", "ld", "sd", "wd", "vtbd", "nvme"];
    let name = word.trim_end_matches(':');
    let driver = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (DRIVERS.contains(&driver) && driver != name).then_some(name)
}

fn bsd(line: &str) -> Option<HeldDisk> {
    let device = unit(line.split_whitespace().next()?)?.to_string();
    let disk = HeldDisk { device, is_bsds: true, ..HeldDisk::default() };
    if let Some((_, rest)) = line.split_once('<')
        && let Some((inquiry, _)) = rest.split_once('>')
    {
        return Some(HeldDisk { model: model(inquiry), ..disk });
    }
    Some(HeldDisk { bytes: Some(bsd_bytes(line)?), ..disk })
}

/// The model in an inquiry: the vendor and the revision may stand around it.
fn model(inquiry: &str) -> String {
    let parts: Vec<&str> =
        inquiry.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [_, model, _] => (*model).to_string(),
        _ => inquiry.trim().to_string(),
    }
}

/// `… 512 bytes/sect x 35566480 sectors`, or `(390721968 512 byte sectors)`.
fn bsd_bytes(line: &str) -> Option<u64> {
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_matches(['(', ')', ':'])).collect();
    let number = |at: Option<usize>| -> Option<u64> { words.get(at?)?.parse().ok() };
    let at = words.iter().position(|word| *word == "sectors")?;
    let sectors = match words.get(at.checked_sub(1)?) {
        Some(&"byte") => number(at.checked_sub(3))?.checked_mul(number(at.checked_sub(2))?)?,
        _ => {
            let each = words.iter().position(|word| *word == "bytes/sect");
            let each = number(each.and_then(|at| at.checked_sub(1))).unwrap_or(block::SECTOR_BYTES);
            number(at.checked_sub(1))?.checked_mul(each)?
        }
    };
    Some(sectors)
}
