//! Which members a file system's own blocks land on.
//!
//! Curt Sampson wrote of ccd that interleaves of powers of two tend to concentrate inode activity on one
//! drive. They do where every cylinder group starts on the same member, that is where the sectors from
//! one group to the next are a multiple of a whole stripe:
//!
//! ```text
//! concentrated if and only if (group / interleave) mod members = 0
//! ```
//!
//! Over three members no power of two is, because none is a multiple of three.

use super::Volume;
use block::layout::Layout;
use serde::Serialize;
use sim::fs::ffs::geometry::Geometry;
use std::ops::Range;

/// A kind of block, and how much of it is on each member.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// What they are.
    pub what: &'static str,
    /// How many sectors of them there are, copies not counted.
    pub sectors: u64,
    /// How many of those are on each member; of copies, the first.
    pub member_sectors: Vec<u64>,
}

/// Where a file system's own blocks land.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Landing {
    /// How many cylinder groups there are.
    pub groups: u64,
    /// Sectors from one to the next.
    pub group_sectors: u64,
    /// Inodes in each.
    pub inodes_per_group: u64,
    /// Where things are in group 0, in sectors of the volume.
    pub first_group: Vec<(&'static str, Range<u64>)>,
    /// What is on which member, over all groups.
    pub shares: Vec<Share>,
    /// In a sentence, whether they are on one member, and why.
    pub verdict: String,
}

/// The share of one member from which on it is said to have the headers to itself.
const CONCENTRATED: f64 = 0.9;

/// Lands a file system on a volume.
pub fn land(volume: &Volume, ffs: &Geometry) -> Landing {
    let first_block = |area: Range<u64>| area.start..area.start + ffs.block_sectors();
    let layout = &*volume.layout;
    let groups = || 0..ffs.groups;
    let shares = vec![
        share(layout, "superblock copies", groups().map(|group| ffs.superblock(group))),
        share(layout, "group blocks", groups().map(|group| ffs.group_block(group))),
        share(layout, "first inode blocks", groups().map(|g| first_block(ffs.inode_area(g)))),
        share(layout, "all inodes", groups().map(|group| ffs.inode_area(group))),
    ];
    let first_group = vec![
        ("superblock copy", ffs.superblock(0)),
        ("group block", ffs.group_block(0)),
        ("inodes", ffs.inode_area(0)),
    ];
    let verdict = verdict(volume, ffs, &shares);
    Landing {
        groups: ffs.groups,
        group_sectors: ffs.group_sectors(),
        inodes_per_group: ffs.inodes_per_group,
        first_group,
        shares,
        verdict,
    }
}

fn share(
    layout: &dyn Layout,
    what: &'static str,
    areas: impl Iterator<Item = Range<u64>>,
) -> Share {
    let mut member_sectors = vec![0; layout.members()];
    let (mut sectors, mut places) = (0, Vec::new());
    for area in areas {
        let mut sector = area.start;
        while sector < area.end {
            places.clear();
            let run = layout.places(sector, &mut places).min(area.end - sector);
            member_sectors[places[0].member as usize] += run;
            sectors += run;
            sector += run;
        }
    }
    Share { what, sectors, member_sectors }
}

/// Whether group blocks and first inodes are on one member, and what the rule says to it.
fn verdict(volume: &Volume, ffs: &Geometry, shares: &[Share]) -> String {
    let headers = &shares[1..3];
    let total: u64 = headers.iter().map(|share| share.sectors).sum();
    let of = |member: usize| headers.iter().map(|share| share.member_sectors[member]).sum::<u64>();
    let members = volume.layout.members();
    let (busiest, most) = (0..members)
        .map(|member| (member, of(member)))
        .max_by_key(|&(_, most)| most)
        .unwrap_or((0, 0));
    let part = most as f64 / total.max(1) as f64;
    let name = volume.called(busiest);
    let found = match (members, part) {
        (1, _) => return "All metadata is on the only member.".into(),
        (_, part) if part >= CONCENTRATED => {
            format!(
                "Concentrated: {:.0} % of group blocks and first inodes are on {name}",
                100.0 * part
            )
        }
        _ => format!(
            "Spread: the busiest member, {name}, has {:.0} % of group blocks and first inodes",
            100.0 * part
        ),
    };
    let Some(columns) = columns(volume) else { return format!("{found}.") };
    let (stride, interleave) = (ffs.group_sectors(), volume.interleave_sectors);
    let why = if stride.is_multiple_of(interleave) {
        let units = stride / interleave;
        let rest = units % columns;
        let so = if rest == 0 {
            "every group begins on the same member"
        } else {
            "groups begin on different members"
        };
        format!("{units} interleaves, and {units} mod {columns} is {rest}, so {so}")
    } else {
        format!("{:.2} interleaves, not a whole number", stride as f64 / interleave as f64)
    };
    format!("{found}. Groups are {stride} sectors apart: {why}.")
}

/// After how many interleaves the first copy is on the same member again, where that is one number:
/// without parity, over equal members.
fn columns(volume: &Volume) -> Option<u64> {
    let equal = volume.members.windows(2).all(|pair| pair[0].sectors == pair[1].sectors);
    let interleave = volume.interleave_sectors;
    let regular = volume.layout.row_parity(0).is_none() && volume.layout.segments().is_none();
    if interleave == 0 || !equal || !regular {
        return None;
    }
    let first_copy = |unit: u64| {
        let sector = Some(unit * interleave).filter(|&sector| sector < volume.layout.sectors())?;
        let mut places = Vec::new();
        volume.layout.places(sector, &mut places);
        Some(places[0].member)
    };
    (1..=volume.members.len() as u64).find(|&unit| first_copy(unit) == first_copy(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Sizes, Volume};
    use sim::fs::ffs::geometry::{Cylinders, Newfs, Options, Version};

    fn landing(members: usize, interleave: u64) -> Landing {
        let sizes = Sizes { given: vec![1 << 22], of_path: &|_| None };
        let volume =
            Volume::of_level("ccd", Some(interleave), (members, &[]), &sizes, None).unwrap();
        let options = Options {
            newfs: Newfs::Bsd44(Cylinders::CCD),
            version: Version::Ufs1,
            block_bytes: 8192,
            frag_bytes: 1024,
            density_bytes: None,
        };
        land(&volume, &Geometry::new(options, volume.layout.sectors()).unwrap())
    }

    fn parts(landing: &Landing, kind: usize) -> Vec<f64> {
        let share = &landing.shares[kind];
        share.member_sectors.iter().map(|&on| on as f64 / share.sectors as f64).collect()
    }

    /// What Sampson saw of two disks (128 against 96), and why Rosen's three could not show it.
    #[test]
    fn powers_of_two_concentrate_on_two_members_and_never_on_three() {
        for interleave in [128, 256, 1024, 2048, 16_384] {
            let two = landing(2, interleave);
            assert_eq!(parts(&two, 1), [1.0, 0.0], "{interleave}");
            assert_eq!(parts(&two, 2), [1.0, 0.0], "{interleave}");
            assert!(two.verdict.starts_with("Concentrated: 100 %"), "{}", two.verdict);
        }
        assert!(landing(2, 128).verdict.contains("256 interleaves, and 256 mod 2 is 0, so every"));
        for (interleave, most) in [(96, 0.70), (126, 0.55)] {
            let two = landing(2, interleave);
            let busiest = parts(&two, 1).into_iter().fold(0.0, f64::max);
            assert!(busiest < most, "{interleave}: {busiest}");
            assert!(two.verdict.starts_with("Spread: the busiest"), "{}", two.verdict);
            let half = ["has 50 %", "has 51 %"].iter().any(|part| two.verdict.contains(part));
            assert!(half, "{}", two.verdict);
        }
        for interleave in [16, 32, 96, 126, 128, 2046, 2048, 8192] {
            let three = landing(3, interleave);
            for kind in 0..4 {
                let thirds = parts(&three, kind);
                let even = thirds.iter().all(|part| (part - 1.0 / 3.0).abs() < 0.03);
                assert!(even, "{interleave}: {thirds:?}");
            }
        }
        let four = landing(4, 32);
        assert_eq!(parts(&four, 1).iter().filter(|&&part| part > 0.0).count(), 1);
        assert_eq!(parts(&four, 2).iter().filter(|&&part| part > 0.0).count(), 1);
    }

    /// Near copies go round in pairs, far copies one by one.
    #[test]
    fn columns_are_those_of_the_first_copy() {
        let sizes = Sizes { given: Vec::new(), of_path: &|_| None };
        for (level, members, expected) in [
            ("stripe", 3, Some(3)),
            ("raid10", 4, Some(2)),
            ("ccd-mirror", 6, Some(3)),
            ("md-raid10-f2", 4, Some(4)),
            ("md-raid10-n2", 3, Some(3)),
            ("raid5", 4, None),
            ("concat", 2, None),
        ] {
            let volume = Volume::of_level(level, Some(64), (members, &[]), &sizes, None).unwrap();
            assert_eq!(columns(&volume), expected, "{level}");
        }
    }

    /// Large interleaves hold a whole group's inodes.
    #[test]
    fn from_1024_on_all_inodes_are_on_one_member() {
        assert!(parts(&landing(2, 1024), 3)[0] > 0.9);
        assert_eq!(parts(&landing(2, 2048), 3), [1.0, 0.0]);
    }
}
