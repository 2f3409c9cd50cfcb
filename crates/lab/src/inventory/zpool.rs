//! `zpool status`.
//!
//! ```text
//!   pool: tank
//! config:
//!         NAME        STATE     READ WRITE CKSUM
//!         tank        ONLINE       0     0     0
//!           raidz2-0  ONLINE       0     0     0
//!             sda     ONLINE       0     0     0
//! ```

use super::{HeldVolume, Inventory};

/// What is not at the top of a pool's data.
const BESIDE: [&str; 5] = ["logs", "cache", "spares", "special", "dedup"];

pub(super) fn read(inventory: &mut Inventory, text: &str) {
    let mut pool = String::new();
    let mut is_config = false;
    let mut is_beside = false;
    let mut groups: Vec<String> = Vec::new();
    let mut members: Vec<String> = Vec::new();
    for line in text.lines().chain(["  pool:"]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["pool:", rest @ ..] => {
                if let Some(volume) = volume(&pool, &groups, std::mem::take(&mut members)) {
                    inventory.add_volume(volume);
                }
                groups.clear();
                pool = rest.join(" ");
                (is_config, is_beside) = (false, false);
            }
            ["config:", ..] => is_config = true,
            ["errors:", ..] => is_config = false,
            [name, ..] if is_config && *name != "NAME" && *name != pool => {
                is_beside |= BESIDE.contains(name);
                let is_group = ["mirror", "raidz", "draid", "replacing", "spare"];
                if is_beside {
                    continue;
                }
                if is_group.iter().any(|group| name.starts_with(group)) {
                    groups.push((*name).to_string());
                } else {
                    members.push((*name).to_string());
                }
            }
            _ => {}
        }
    }
}

fn volume(pool: &str, groups: &[String], members: Vec<String>) -> Option<HeldVolume> {
    if members.is_empty() {
        return None;
    }
    let called = |start: &str| groups.iter().filter(|group| group.starts_with(start)).count();
    let (level, note) = if called("raidz2") > 0 || called("raidz3") > 0 {
        (
            "raid6",
            "raidz stripes are as long as a block, which is not modelled; RAID 6 is the nearest",
        )
    } else if called("raidz") > 0 {
        (
            "raid5",
            "raidz stripes are as long as a block, which is not modelled; RAID 5 is the nearest",
        )
    } else if called("draid") > 0 {
        ("raid6", "dRAID is not modelled; RAID 6 is the nearest")
    } else if called("mirror") > 1 {
        ("raid10", "ZFS deals blocks to its mirrors by free room; RAID 10 is the nearest")
    } else if called("mirror") == 1 {
        ("mirror", "ZFS writes elsewhere what is changed, which is not modelled")
    } else {
        ("stripe", "ZFS deals blocks to its disks by free room; a stripe is the nearest")
    };
    Some(HeldVolume {
        name: pool.into(),
        level: level.into(),
        members,
        note: Some(note.into()),
        ..HeldVolume::default()
    })
}
