//! `lvs -a -o +segtype,stripes,stripe_size,devices`, and `dmsetup table`.
//!
//! ```text
//!   LV              VG Attr       LSize Cpy%Sync Type   #Str Stripe Devices
//!   data            vg rwi-a-r--- 2.00g 100.00   raid5     3 64.00k data_rimage_0(0),data_rimage_1(0),data_rimage_2(0)
//!   [data_rimage_0] vg iwi-aor--- 1.00g          linear    1     0  /dev/sdb1(1)
//!
//! vg-data: 0 4194304 raid raid5_ls 3 128 region_size 4096 3 253:0 253:1 253:2 253:3 253:4 253:5
//! vg-data_rimage_0: 0 2097152 linear 8:17 10240
//! ```
//!
//! Members of LVM's RAID are volumes themselves, which are hidden, in brackets: they have the devices. Hidden are the parts of
//! thin pools and of caches, too.

use super::written::rough_bytes;
use super::{HeldVolume, Inventory};
use crate::error::{Error, Result};
use crate::formats::dm;
use block::layout::System;
use std::collections::{BTreeMap, BTreeSet};

/// What to give where lvs leaves something out.
const LVS: &str = "give what `lvs -a -o +segtype,stripes,stripe_size,devices` prints";

/// A row of lvs.
struct Row<'a> {
    name: &'a str,
    /// Whether it is a part of another volume.
    is_hidden: bool,
    group: &'a str,
    attributes: &'a str,
    segments: Option<&'a str>,
    stripe: Option<&'a str>,
    members: Vec<String>,
}

impl Row<'_> {
    /// Whether it is one, with or without a first synchronisation.
    fn is_raid(&self) -> bool {
        self.attributes.starts_with(['r', 'R'])
            || self.segments.is_some_and(|word| word.starts_with("raid"))
    }

    /// What it is, where that is nothing that is read. Rows without devices have their last columns elsewhere, so their
    /// attributes come first.
    fn unread(&self) -> Option<&str> {
        match self.attributes.chars().next() {
            Some('t') => return Some("a thin pool"),
            Some('V') => return Some("a thin volume"),
            Some('C') => return Some("a cache"),
            Some('s' | 'S') => return Some("a snapshot"),
            Some('d' | 'v') => return Some("of VDO, or virtual"),
            _ => (),
        }
        let is_read = |word: &&str| matches!(*word, "linear" | "striped") || self.is_raid();
        self.segments.filter(|word| !is_read(word))
    }
}

/// The columns of lvs; a row has its values under them, and those that are empty are left out at the end only.
pub(super) fn read_lvs(inventory: &mut Inventory, label: &str, text: &str) -> Result<()> {
    let mut lines = text.lines();
    let is_head = |line: &&str| line.split_whitespace().next() == Some("LV");
    let Some(head) = lines.find(is_head) else { return Ok(()) };
    let columns: Vec<&str> = head.split_whitespace().collect();
    // Between name and devices columns may be empty: those that are asked for stand at the end.
    let from_end = |name: &str| columns.iter().rev().position(|column| *column == name);
    let cell_in_front = |name: &str, words: &[_]| {
        columns.iter().position(|column| *column == name).and_then(|at| words.get(at).copied())
    };
    let row = |line| {
        let words: Vec<&str> = str::split_whitespace(line).collect();
        let cell = |name: &str| words.iter().rev().nth(from_end(name)?).copied();
        let bare = |device: &str| device.rsplit('/').next().unwrap_or(device).to_string();
        let devices = cell("Devices")?.split(',').filter_map(|device| device.split('(').next());
        Some(Row {
            name: words.first()?.trim_matches(['[', ']']),
            is_hidden: words.first()?.starts_with('['),
            group: cell_in_front("VG", &words).unwrap_or_default(),
            attributes: cell_in_front("Attr", &words).unwrap_or_default(),
            segments: cell("Type"),
            stripe: cell("Stripe"),
            members: devices.map(bare).collect(),
        })
    };
    let rows: Vec<Row> = lines.filter_map(row).collect();
    for row in &rows {
        inventory.keep_group(row.group);
    }
    let parts = rows.iter().filter(|row| is_part(row.name));
    let disks = parts
        .filter_map(|row| {
            Some((format!("{}/{}", row.group, row.name), row.members.first()?.clone()))
        })
        .collect();
    for row in rows.iter().filter(|row| !row.is_hidden && !is_part(row.name)) {
        if let Some(what) = row.unread() {
            inventory.seen += 1;
            inventory.notes.push(format!("LVM's {} is {what}, which is not read", row.name));
            continue;
        }
        let volume = row.volume(&disks);
        inventory.add_volume(volume.map_err(|wrong| Error::input(format!("{label}: {wrong}")))?);
    }
    Ok(())
}

impl Row<'_> {
    /// The volume of it; `disks` are those on which images are.
    fn volume(&self, disks: &BTreeMap<String, String>) -> std::result::Result<HeldVolume, String> {
        let chunk_bytes = self.stripe.and_then(rough_bytes).filter(|&bytes| bytes > 0);
        let mut volume = HeldVolume {
            name: self.name.to_string(),
            level: level(chunk_bytes, true).into(),
            chunk_bytes,
            members: self.members.clone(),
            ..HeldVolume::default()
        };
        if self.is_raid() {
            for member in &mut volume.members {
                *member = format!("{}/{member}", self.group);
            }
            let segments =
                self.segments.or(self.stripe.filter(|_| chunk_bytes.is_none()).map(|_| "raid1"));
            let wrong = |what: &str| format!("{} is RAID of LVM, {what}", self.name);
            let segments =
                segments.ok_or_else(|| wrong(&format!("and its level is not said; {LVS}")))?;
            make_raid(&mut volume, segments, disks, LVS).map_err(|what| wrong(&what))?;
        }
        Ok(volume)
    }
}

/// Whether it is a part of a thin pool or of a cache, by the ends of its name that LVM keeps for them.
fn is_in_a_pool(name: &str) -> bool {
    let ends = ["_tdata", "_tmeta", "_cdata", "_cmeta", "_cvol", "_corig"];
    ends.iter().any(|end| name.ends_with(end))
}

/// Whether it is an image of a RAID, or what LVM writes beside one.
fn is_part(name: &str) -> bool {
    name.contains("_rimage_") || name.contains("_rmeta_")
}

/// The volume as RAID: its level for LVM's word, and for its members the disks on which they are. `next` is what to give
/// where those are not said.
fn make_raid(
    volume: &mut HeldVolume,
    word: &str,
    disks: &BTreeMap<String, String>,
    next: &str,
) -> std::result::Result<(), String> {
    // Of `raid6_ls_6` the level is known, if not the layout.
    let plain = word.split('_').next().unwrap_or(word);
    let known = if raid_level(word).is_some() { word } else { plain };
    let unknown = || format!("{word}, which is not known here; leave its line out");
    let level = raid_level(known).ok_or_else(unknown)?;
    if known != word {
        volume.said.push(format!("It is {word}, which is not modelled; {known} stands for it"));
    }
    let word = known;
    volume.level = level.into();
    if System::of(level) == Some(System::Md) {
        volume.note =
            Some(format!("LVM's {word} is not modelled; md's, with a bitmap, stands for it"));
        volume.has_bitmap = true;
    }
    for member in &mut volume.members {
        let disk = disks.get(member.as_str());
        *member = disk
            .ok_or_else(|| format!("and nothing says on which disk {member} is; {next}"))?
            .clone();
    }
    Ok(())
}

/// The level of an experiment for LVM's word. Those that it has of md alone are md's.
fn raid_level(word: &str) -> Option<&'static str> {
    Some(match word {
        "raid0" | "raid0_meta" => "lvm-stripe",
        "raid1" => "lvm-mirror",
        "raid5" | "raid5_ls" => "lvm-raid5",
        "raid10" | "raid10_near" => "lvm-raid10",
        "raid4" => "md-raid4",
        "raid5_la" => "md-raid5-left-asymmetric",
        "raid5_ra" => "md-raid5-right-asymmetric",
        "raid5_rs" => "md-raid5-right-symmetric",
        "raid5_n" => "md-raid5-parity-last",
        "raid6" | "raid6_zr" => "md-raid6-ddf-zero-restart",
        "raid6_nr" => "md-raid6-ddf-n-restart",
        "raid6_nc" => "md-raid6-ddf-n-continue",
        _ => return None,
    })
}

pub(super) fn read_table(inventory: &mut Inventory, label: &str, text: &str) -> Result<()> {
    let lines = || text.lines().filter_map(|line| line.split_once(": "));
    let names: BTreeSet<&str> = lines().map(|(name, _)| name.trim()).collect();
    let is_readable = |line: &&str| line.contains(" striped ") || line.contains(" linear ");
    let readable: Vec<&str> = text.lines().filter(is_readable).collect();
    let readable = readable.join("\n");
    let units: Vec<Option<&str>> =
        if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() };
    let mut disks: BTreeMap<String, String> = BTreeMap::new();
    for name in units.into_iter().take(super::DISKS_MAX) {
        let has_lines =
            |name: &str| readable.lines().any(|line| line.starts_with(&format!("{name}: ")));
        if name.is_some_and(|name| !has_lines(name) || is_in_a_pool(name)) {
            continue;
        }
        let table = dm::parse(label, &readable, name)?;
        if let Some(name) = name.filter(|name| is_part(name)) {
            disks.extend(table.members.first().map(|disk| (name.to_string(), disk.clone())));
            continue;
        }
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
    for (name, target) in lines() {
        if let Some(volume) = raid_of(label, name.trim(), target, &disks)? {
            inventory.add_volume(volume);
        }
    }
    Ok(())
}

/// The RAID of a line `0 4194304 raid raid5_ls 3 128 region_size 4096 3 253:0 253:1 …`: its level, how many parameters,
/// its chunk in sectors and the rest of them, how many members, and for each its metadata and its data.
fn raid_of(
    label: &str,
    name: &str,
    target: &str,
    disks: &BTreeMap<String, String>,
) -> Result<Option<HeldVolume>> {
    let words: Vec<&str> = target.split_whitespace().collect();
    let [_, _, "raid", word, rest @ ..] = words.as_slice() else { return Ok(None) };
    let next = "give all of what `dmsetup table` prints";
    let wrong = |what: &str| Error::input(format!("{label}: {name} is RAID of LVM, {what}"));
    let number = |at: usize| rest.get(at)?.parse::<usize>().ok();
    let parameters = number(0).filter(|count| *count < rest.len());
    let members =
        parameters.and_then(|count| number(count + 1)).filter(|&count| count <= rest.len());
    let members = members.ok_or_else(|| wrong(&format!("and its line is cut off; {next}")))?;
    let chunk_bytes =
        number(1).map(|sectors| sectors as u64).and_then(|s| s.checked_mul(block::SECTOR_BYTES));
    let mut volume = HeldVolume {
        name: name.to_string(),
        chunk_bytes: chunk_bytes.filter(|&bytes| bytes > 0),
        members: (0..members).map(|index| format!("{name}_rimage_{index}")).collect(),
        ..HeldVolume::default()
    };
    make_raid(&mut volume, word, disks, next).map_err(|what| wrong(&what))?;
    Ok(Some(volume))
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
