//! A block device and what shares sectors with it, as `/sys/dev/block` has it.

use super::System;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A block device's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number {
    major: u32,
    minor: u32,
}

impl Number {
    /// The number in a `st_rdev`.
    pub fn new(device: u64) -> Self {
        Number { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
    }

    /// `8:17`.
    pub fn parse(text: &str) -> Option<Number> {
        let (major, minor) = text.split_once(':')?;
        Some(Number { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// What the kernel says of it.
    pub fn directory(self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{}:{}", self.major, self.minor))
    }

    /// The directory itself, which the other leads to: `/sys/devices/…/block/sda/sda1`.
    pub(super) fn real_directory(self, system: &System) -> Option<PathBuf> {
        system.at(self.directory()).canonicalize().ok()
    }

    /// The kernel's name of it: `sda1`, `dm-0`. Its number where it has none.
    pub fn name(self, system: &System) -> String {
        let directory = self.real_directory(system);
        let name = directory.as_deref().and_then(Path::file_name);
        name.map_or_else(
            || format!("{}:{}", self.major, self.minor),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    /// The device of a kernel's name.
    pub(super) fn named(system: &System, name: &str) -> Option<Number> {
        Number::parse(&system.text(format!("/sys/class/block/{name}/dev")))
    }

    /// The devices whose names stand in one of its directories: `holders`, `slaves`.
    fn listed(self, system: &System, in_it: &str) -> Vec<Number> {
        let names = system.names(self.directory().join(in_it));
        names.iter().filter_map(|name| Number::named(system, name)).collect()
    }

    /// Its partitions.
    pub fn partitions(self, system: &System) -> Vec<Number> {
        let Some(directory) = self.real_directory(system) else { return Vec::new() };
        let below = std::fs::read_dir(&directory).into_iter().flatten().flatten();
        let partitions = below.map(|entry| entry.path()).filter(|p| p.join("partition").exists());
        let mut numbers: Vec<Number> = partitions
            .filter_map(|path| {
                Number::parse(std::fs::read_to_string(path.join("dev")).ok()?.trim())
            })
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// The disk that it is a partition of.
    pub fn disk(self, system: &System) -> Option<Number> {
        let directory = self.real_directory(system)?;
        if !directory.join("partition").exists() {
            return None;
        }
        let number = std::fs::read_to_string(directory.parent()?.join("dev")).ok()?;
        Number::parse(number.trim())
    }

    /// What is built on it directly: arrays, mapped devices, caches.
    pub fn holders(self, system: &System) -> Vec<Number> {
        self.listed(system, "holders")
    }

    /// The devices that share sectors with it: itself, its partitions, the disk that it is a part of, and
    /// all that is built on any of them but the disk.
    pub fn related(self, system: &System) -> Vec<Number> {
        let mut related = vec![self];
        related.extend(self.partitions(system));
        let mut next = 0;
        while let Some(&number) = related.get(next) {
            for holder in number.holders(system) {
                if !related.contains(&holder) {
                    related.push(holder);
                }
            }
            next += 1;
        }
        related.extend(self.disk(system));
        related
    }

    /// The disks at the bottom of it: `sda` for a logical volume on `sda3`, and for `sda1`.
    pub fn disks(self, system: &System) -> BTreeSet<Number> {
        let mut left = vec![self];
        let mut seen = BTreeSet::new();
        let mut disks = BTreeSet::new();
        while let Some(number) = left.pop() {
            if !seen.insert(number) {
                continue;
            }
            let mut below = number.listed(system, "slaves");
            below.extend(number.disk(system));
            if below.is_empty() {
                disks.insert(number);
            }
            left.extend(below);
        }
        disks
    }
}
