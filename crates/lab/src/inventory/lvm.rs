//! `lvs -o +stripes,stripe_size,devices`, and `dmsetup table`.

use super::written::rough_bytes;
use super::{HeldVolume, Inventory};
use crate::error::Result;
use crate::formats::dm;
use std::collections::BTreeSet;

/// The columns of lvs; a row has its values under them, and those that are empty are left out at the end only.
pub(super) fn read_lvs(inventory: &mut Inventory, text: &str) {
    let mut lines = text.lines();
    let is_head = |line: &&str| line.split_whitespace().next() == Some("LV");
    let Some(head) = lines.find(is_head) else { return };
    let columns: Vec<&str> = head.split_whitespace().collect();
    // Between name and devices columns may be empty: those that are asked for stand at the end.
    let from_end = |name: &str| columns.iter().rev().position(|column| *column == name);
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let cell = |name: &str| words.iter().rev().nth(from_end(name)?).copied();
        let (Some(name), Some(devices)) = (words.first(), cell("Devices")) else { continue };
        let members: Vec<String> = devices
            .split(',')
            .filter_map(|device| device.split('(').next())
            .map(|device| device.rsplit('/').next().unwrap_or(device).to_string())
            .collect();
        let chunk_bytes = cell("Stripe").and_then(rough_bytes).filter(|&bytes| bytes > 0);
        inventory.add_volume(HeldVolume {
            name: (*name).to_string(),
            level: level(chunk_bytes, true).into(),
            chunk_bytes,
            members,
            ..HeldVolume::default()
        });
    }
}

pub(super) fn read_table(inventory: &mut Inventory, label: &str, text: &str) -> Result<()> {
    let names = text.lines().filter_map(|line| line.split_once(": ").map(|(name, _)| name.trim()));
    let names: BTreeSet<&str> = names.collect();
    let is_readable = |line: &&str| line.contains(" striped ") || line.contains(" linear ");
    let text: Vec<&str> = text.lines().filter(is_readable).collect();
    let text = text.join("\n");
    let units: Vec<Option<&str>> =
        if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() };
    for name in units.into_iter().take(super::DISKS_MAX) {
        let has_lines =
            |name: &str| text.lines().any(|line| line.starts_with(&format!("{name}: ")));
        if name.is_some_and(|name| !has_lines(name)) {
            continue;
        }
        let table = dm::parse(label, &text, name)?;
        let chunk_bytes =
            Some(table.interleave_sectors() * block::SECTOR_BYTES).filter(|&bytes| bytes > 0);
        // Others begin with the device; LVM keeps what is in front.
        let mut starts = table.targets.iter().flat_map(|target| &target.starts);
        let is_of_lvm = starts.all(|(_, sector)| *sector >= LVM_START_SECTORS);
        inventory.add_volume(HeldVolume {
            name: table.name.clone().unwrap_or_else(|| "dm-0".into()),
            level: level(chunk_bytes, is_of_lvm).into(),
            chunk_bytes,
            members: table.members,
            ..HeldVolume::default()
        });
    }
    Ok(())
}

/// Where LVM's first extent begins on a member, unless it is told otherwise.
const LVM_START_SECTORS: u64 = 2048;

fn level(chunk_bytes: Option<u64>, is_of_lvm: bool) -> &'static str {
    match chunk_bytes {
        Some(_) if is_of_lvm => "lvm-stripe",
        Some(_) => "dm-stripe",
        None => "dm-concat",
    }
}
