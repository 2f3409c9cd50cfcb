//! What others do on this machine's disks: what the kernel counts there that was not asked of the members.

use super::Device;
use super::members::number;
use crate::rig::guard::{Number, System};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// The disks of a machine that are not members, and what of the members' disks is no member.
pub(in crate::rig) struct Others {
    system: System,
    /// The members.
    members: BTreeSet<Number>,
    /// The disks that the members are parts of, whose other parts may be in use.
    shared: BTreeSet<Number>,
    /// The disks below images: what is ours there cannot be told from what is others'.
    below_images: BTreeSet<Number>,
}

impl Others {
    pub(in crate::rig) fn of(devices: &[Device]) -> Self {
        let system = System::here();
        let is_device = |device: &&Device| {
            fs::metadata(&device.path).is_ok_and(|there| there.file_type().is_block_device())
        };
        let (nodes, files): (Vec<&Device>, Vec<&Device>) = devices.iter().partition(is_device);
        let members: BTreeSet<Number> = nodes.into_iter().filter_map(number).collect();
        let mut shared = BTreeSet::new();
        let mut below_images: BTreeSet<Number> =
            files.into_iter().filter_map(number).flat_map(|below| below.disks(&system)).collect();
        for member in &members {
            shared.extend(member.disk(&system));
            let backing = fs::read_to_string(member.directory().join("loop/backing_file"));
            if let Ok(there) =
                backing.map_err(drop).and_then(|path| fs::metadata(path.trim()).map_err(drop))
            {
                below_images.extend(Number::new(there.dev()).disks(&system));
            }
        }
        Others { system, members, shared, below_images }
    }

    /// What others have read and written so far, in bytes.
    pub(in crate::rig) fn bytes(&self) -> u64 {
        let text = fs::read_to_string("/proc/diskstats").unwrap_or_default();
        let moved = parse(&text);
        let is_disk = |number: &Number| {
            number.directory().join("device").exists() && number.disk(&self.system).is_none()
        };
        let sectors =
            moved.iter().filter(|(number, _)| is_disk(number)).map(|(number, &sectors)| {
                if self.members.contains(number) || self.below_images.contains(number) {
                    return 0;
                }
                if !self.shared.contains(number) {
                    return sectors;
                }
                let own = self.members.iter().filter(|m| m.disk(&self.system) == Some(*number));
                let own: u64 = own.filter_map(|member| moved.get(member)).sum();
                sectors.saturating_sub(own)
            });
        sectors.sum::<u64>() * block::SECTOR_BYTES
    }
}

/// Sectors read and written by device: `major minor name reads merged sectors ms writes merged sectors …`.
fn parse(text: &str) -> BTreeMap<Number, u64> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = Number::parse(&format!("{}:{}", fields.first()?, fields.get(1)?))?;
        let sectors = |place: usize| fields.get(place)?.parse::<u64>().ok();
        Some((number, sectors(5)? + sectors(9)?))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_counts_are_read() {
        let text = "   8       0 sda 10 1 800 5 20 2 1600 9 0 14 14\n   7       0 loop0 1 0 8 0 0 0 0 0 0 0 0\nx\n";
        let moved = parse(text);
        assert_eq!(moved[&Number::parse("8:0").unwrap()], 2400);
        assert_eq!(moved[&Number::parse("7:0").unwrap()], 8);
        assert_eq!(moved.len(), 2);
    }

    #[test]
    fn a_machine_says_what_its_disks_have_moved() {
        let (first, second) = (Others::of(&[]), Others::of(&[]));
        assert!(first.bytes() <= second.bytes(), "counts only grow");
    }
}
