//! Limits that volumes of one kind on one machine share.

use super::Cloud;
use crate::catalogue::Drive;
use sim::cloud::{Counts, Limit};

/// Limits, and which of the drives pass them together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The limits.
    pub limits: Vec<Limit>,
    /// Of each drive, whether they count what passes to it.
    pub counted: Vec<bool>,
}

impl Shared {
    /// I/Os and bytes that may be read in a second.
    pub fn reads_per_s(&self) -> [Option<f64>; 2] {
        [true, false].map(|of_ios| {
            let limits = self.limits.iter().filter(|limit| (limit.counts == Counts::Ios) == of_ios);
            limits.map(|limit| limit.reads_per_s as f64).reduce(f64::min)
        })
    }

    /// The most bytes that pass in a second, read or written.
    pub fn bytes_per_s(&self) -> Option<u64> {
        let of_bytes = self.limits.iter().filter(|limit| limit.counts != Counts::Ios);
        of_bytes.map(|limit| limit.reads_per_s.min(limit.writes_per_s)).min()
    }
}

/// What these drives of one machine share with others of their kind: Google's persistent disks of a type have the limits of
/// one disk that is as large as all of them, up to the most of an instance.
///
/// Eight of 2 TiB, each of which may read 1,132 MB/s: 1,258 MB/s in all, which is the most.
pub fn shared(drives: &[&Drive]) -> Vec<Shared> {
    let cloud = |drive: &Drive| drive.cloud().ok().filter(|of| of.figures.shares_limits).cloned();
    let kind = |drive: &Drive| drive.name.split('[').next().unwrap_or_default().to_string();
    let mut done: Vec<String> = Vec::new();
    let mut shared = Vec::new();
    for drive in drives {
        let (Some(own), name) = (cloud(drive), kind(drive)) else { continue };
        if done.contains(&name) {
            continue;
        }
        let counted: Vec<bool> = drives.iter().map(|other| kind(other) == name).collect();
        let of_kind = || drives.iter().zip(&counted).filter(|(_, counted)| **counted);
        // One alone has its own limits.
        if of_kind().count() > 1 {
            let sectors = of_kind().map(|(other, _)| other.sectors()).sum();
            let limits = Cloud { sectors, ..own }.spec().limits;
            shared.push(Shared { limits, counted });
        }
        done.push(name);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::drive;

    /// What one instance has at most, or what follows from the size of all; nothing is shared by other services.
    #[test]
    fn disks_of_a_type_have_the_limits_of_one_as_large_as_all() {
        let of = |names: &[&str]| {
            let drives: Vec<Drive> = names.iter().map(|name| drive(name).unwrap()).collect();
            shared(&drives.iter().collect::<Vec<_>>())
        };
        let large = of(&["pd-ssd[size=2TiB]"; 8]);
        assert_eq!(large.len(), 1);
        let most =
            |of: &Shared| of.limits.iter().map(|limit| limit.reads_per_s).collect::<Vec<_>>();
        assert_eq!(most(&large[0]), [100_000, 1_258_291_200]);
        // 2 of 100 GiB: what all have, once, and 200 GiB times what each GiB has.
        let small = of(&["pd-ssd[size=100GiB]"; 2]);
        assert_eq!(most(&small[0]), [12_000, 352_321_440]);
        let mixed =
            of(&["pd-ssd[size=1TiB]", "pd-standard[size=1TiB]", "pd-ssd[size=2TiB]", "gp3"]);
        assert_eq!(mixed.len(), 1, "one alone shares nothing");
        assert_eq!(mixed[0].counted, [true, false, true, false]);
        assert_eq!(of(&["gp3"; 8]), []);
    }
}
