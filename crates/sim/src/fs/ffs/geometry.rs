//! Where newfs(8) puts superblocks, cylinder-group blocks and inodes.
//!
//! A file system is divided into cylinder groups of one size. Each starts with the same areas, at the
//! same offsets:
//!
//! ```text
//! sectors (8k/1k)    0 .. 31     32 .. 47            48 .. 63      64 .. 1055        1056 ..
//!                    boot area   superblock (copy)   group block   inodes            data
//! ```
//!
//! The size of a group depends on the program. 4.4BSD's newfs counts cylinders (16 of them are 16 MiB
//! on ccd's fictitious disk with one track of 2048 sectors). NetBSD 2's makes as few groups as
//! possible, with bitmaps that fit into one block.

use block::units::{format_bytes, format_sectors};
use std::fmt;
use std::ops::Range;

const SECTOR_BYTES: u64 = 512;
/// Room for a boot block, and as much again for the superblock.
pub(in crate::fs) const AREA_BYTES: u64 = 8192;
/// A group's line in the summary of all groups (`struct csum`).
pub(in crate::fs) const SUMMARY_BYTES: u64 = 16;
/// A group block without its bitmaps.
const GROUP_HEADER_BYTES: u64 = 168;
/// The fewest groups that NetBSD 2's newfs makes, space permitting.
const GROUPS_MIN: u64 = 4;
/// The largest transfer, which limits the number of contiguous blocks.
const CLUSTER_BYTES: u64 = 65_536;

/// Which inodes and superblock: `newfs -O`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// UFS1: inodes of 128 bytes, superblock at 8 KiB.
    Ufs1,
    /// UFS2: inodes of 256 bytes, superblock at 64 KiB.
    Ufs2,
}

impl Version {
    fn inode_bytes(self) -> u64 {
        match self {
            Version::Ufs1 => 128,
            Version::Ufs2 => 256,
        }
    }

    /// Where the superblock is, in bytes.
    pub(in crate::fs) fn superblock_byte(self) -> u64 {
        match self {
            Version::Ufs1 => AREA_BYTES,
            Version::Ufs2 => 65_536,
        }
    }
}

/// The disk geometry that a driver reports to newfs, and the cylinders in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cylinders {
    /// Tracks in a cylinder.
    pub tracks: u64,
    /// Sectors in a track.
    pub track_sectors: u64,
    /// Cylinders in a group: `newfs -c`.
    pub per_group: u64,
}

impl Cylinders {
    /// The geometry that ccd(4) reports, with newfs's 16 cylinders a group.
    pub const CCD: Cylinders = Cylinders { tracks: 1, track_sectors: 2048, per_group: 16 };
}

/// Which newfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newfs {
    /// 4.4BSD's, as in NetBSD 1 and FreeBSD 2 to 4: groups of cylinders, UFS1 only.
    Bsd44(Cylinders),
    /// That of NetBSD 2 and later: as few groups as possible.
    NetBsd2,
}

/// The options of newfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which program.
    pub newfs: Newfs,
    /// Which inodes.
    pub version: Version,
    /// A block: `newfs -b`.
    pub block_bytes: u64,
    /// A fragment: `newfs -f`.
    pub frag_bytes: u64,
    /// Bytes of file system for each inode: `newfs -i`; by default four fragments.
    pub density_bytes: Option<u64>,
}

/// Why no file system with these options can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeometryError {
    /// The block is no power of two from 4 KiB to 64 KiB.
    BadBlock(u64),
    /// The fragment is no power of two from 512 bytes to a block, or is less than an eighth of a block.
    BadFragment(u64),
    /// An inode for less than a fragment, or for more than the file system.
    BadDensity(u64),
    /// A group of zero sectors, or too large.
    BadCylinders,
    /// Even one cylinder's bitmaps do not fit into a block.
    GroupTooLarge,
    /// 4.4BSD knows only UFS1.
    NoUfs2,
    /// There is no room for a group's metadata.
    TooSmall {
        /// The size given.
        sectors: u64,
    },
    /// UFS1 counts fragments in 32 bits with a sign: `ufs1_daddr_t` (sys/ufs/ufs/dinode.h of NetBSD and FreeBSD).
    TooLargeForUfs1 {
        /// The most that its fragments can make.
        bytes: u64,
    },
    /// The size exceeds the arithmetic's range.
    TooLarge {
        /// The size given.
        sectors: u64,
    },
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GeometryError::BadBlock(bytes) => {
                write!(f, "a block of {bytes} bytes is not a power of two from 4096 to 65536")
            }
            GeometryError::BadFragment(bytes) => write!(
                f,
                "a fragment of {bytes} bytes is not a power of two from an eighth of a block (and at \
                 least 512) to a block"
            ),
            GeometryError::BadDensity(bytes) => write!(
                f,
                "an inode for every {bytes} bytes is less than a fragment or more than 1 GiB"
            ),
            GeometryError::BadCylinders => {
                write!(f, "cylinders and groups have from 1 to 2^24 sectors")
            }
            GeometryError::GroupTooLarge => {
                write!(f, "the bitmaps of even one cylinder do not fit in a block")
            }
            GeometryError::NoUfs2 => write!(f, "4.4BSD's newfs makes only version 1"),
            GeometryError::TooSmall { sectors } => {
                write!(f, "{} are too few for one cylinder group", format_sectors(*sectors))
            }
            GeometryError::TooLargeForUfs1 { bytes } => write!(
                f,
                "version 1 numbers its fragments in 31 bits and ends at {} with such; take version 2, larger \
                 fragments or a smaller volume",
                format_bytes(*bytes)
            ),
            GeometryError::TooLarge { sectors } => {
                write!(f, "{} are more than 2^40 sectors", format_sectors(*sectors))
            }
        }
    }
}

impl std::error::Error for GeometryError {}

/// A file system as newfs lays it out. Offsets are in fragments from the start of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The options.
    pub options: Options,
    /// How many cylinder groups there are.
    pub groups: u64,
    /// Fragments in a group; the last one may be shorter.
    pub group_frags: u64,
    /// Inodes in a group.
    pub inodes_per_group: u64,
    /// Where the superblock copy is.
    pub superblock_frag: u64,
    /// Where the group block is.
    pub group_block_frag: u64,
    /// Where the inodes start.
    pub inode_frag: u64,
    /// Where the data behind the inodes starts.
    pub data_frag: u64,
    /// 4.4BSD shifts the start of each group by this many fragments …
    rotation_frags: u64,
    /// … times its number modulo this, so that not all superblocks are on one platter.
    rotation_groups: u64,
}

impl Geometry {
    /// The file system that newfs makes of `sectors` sectors.
    ///
    /// # Errors
    ///
    /// Where the options contradict each other or the size.
    pub fn new(options: Options, sectors: u64) -> Result<Self, GeometryError> {
        options.check()?;
        if sectors > 1 << 40 {
            return Err(GeometryError::TooLarge { sectors });
        }
        let most_bytes = options.frag_bytes << 31;
        if options.version == Version::Ufs1 && sectors * SECTOR_BYTES >= most_bytes {
            return Err(GeometryError::TooLargeForUfs1 { bytes: most_bytes });
        }
        let geometry = match options.newfs {
            Newfs::Bsd44(cylinders) => options.by_cylinders(cylinders, sectors),
            Newfs::NetBsd2 => options.by_bitmaps(sectors),
        }?;
        geometry.without_a_stump(sectors)
    }

    /// A last group without room for its metadata is not made.
    fn without_a_stump(mut self, sectors: u64) -> Result<Self, GeometryError> {
        let last = |geometry: &Self| geometry.group_start_frag(geometry.groups - 1);
        let frags = sectors / self.frag_sectors();
        if self.groups > 0 && frags < last(&self) + self.data_frag {
            self.groups -= 1;
        }
        if self.groups == 0 { Err(GeometryError::TooSmall { sectors }) } else { Ok(self) }
    }

    /// Sectors in a fragment.
    pub fn frag_sectors(&self) -> u64 {
        self.options.frag_bytes / SECTOR_BYTES
    }

    /// Sectors in a block.
    pub fn block_sectors(&self) -> u64 {
        self.options.block_bytes / SECTOR_BYTES
    }

    /// Inodes in a block.
    pub fn inodes_per_block(&self) -> u64 {
        self.options.inodes_per_block()
    }

    /// Sectors from one group to the next.
    pub fn group_sectors(&self) -> u64 {
        self.group_frags * self.frag_sectors()
    }

    fn group_start_frag(&self, group: u64) -> u64 {
        group * self.group_frags + self.rotation_frags * (group % self.rotation_groups)
    }

    fn area(&self, group: u64, frag: u64, sectors: u64) -> Range<u64> {
        let start = (self.group_start_frag(group) + frag) * self.frag_sectors();
        start..start + sectors
    }

    /// The sectors of a group's superblock copy; that of group 0 is the superblock itself on UFS1.
    pub fn superblock(&self, group: u64) -> Range<u64> {
        self.area(group, self.superblock_frag, AREA_BYTES / SECTOR_BYTES)
    }

    /// The sectors of a group's block of bitmaps and counts.
    pub fn group_block(&self, group: u64) -> Range<u64> {
        self.area(group, self.group_block_frag, self.block_sectors())
    }

    /// The sectors of a group's inodes.
    pub fn inode_area(&self, group: u64) -> Range<u64> {
        let frags = self.data_frag - self.inode_frag;
        self.area(group, self.inode_frag, frags * self.frag_sectors())
    }

    /// The sectors of the block that holds an inode.
    pub fn inode_block(&self, inode: u64) -> Range<u64> {
        let inodes_per_block = self.options.inodes_per_block();
        let (group, within) = (inode / self.inodes_per_group, inode % self.inodes_per_group);
        let block = within / inodes_per_block;
        let frag = self.inode_frag + block * self.options.frags_per_block();
        self.area(group, frag, self.block_sectors())
    }
}

impl Options {
    fn check(&self) -> Result<(), GeometryError> {
        let (block, frag) = (self.block_bytes, self.frag_bytes);
        if !block.is_power_of_two() || !(4096..=65_536).contains(&block) {
            return Err(GeometryError::BadBlock(block));
        }
        if !frag.is_power_of_two() || frag < SECTOR_BYTES || frag > block || frag * 8 < block {
            return Err(GeometryError::BadFragment(frag));
        }
        if !(frag..=1 << 30).contains(&self.density()) {
            return Err(GeometryError::BadDensity(self.density()));
        }
        match self.newfs {
            Newfs::Bsd44(_) if self.version == Version::Ufs2 => Err(GeometryError::NoUfs2),
            _ => Ok(()),
        }
    }

    fn density(&self) -> u64 {
        self.density_bytes.unwrap_or(4 * self.frag_bytes)
    }

    fn frags_per_block(&self) -> u64 {
        self.block_bytes / self.frag_bytes
    }

    fn inodes_per_block(&self) -> u64 {
        self.block_bytes / self.version.inode_bytes()
    }

    /// How many fragments this many inodes take; they always fill whole blocks.
    fn inode_frags(&self, inodes: u64) -> u64 {
        inodes / self.inodes_per_block() * self.frags_per_block()
    }

    /// Where superblock copy, group block and inodes are in a group.
    fn offsets(&self) -> (u64, u64, u64) {
        let frags = |bytes: u64| bytes.div_ceil(self.frag_bytes);
        let superblock_frag = frags(self.version.superblock_byte() + AREA_BYTES)
            .next_multiple_of(self.frags_per_block());
        let group_block_frag =
            superblock_frag + frags(AREA_BYTES).next_multiple_of(self.frags_per_block());
        (superblock_frag, group_block_frag, group_block_frag + self.frags_per_block())
    }

    fn geometry(&self, groups: u64, group_frags: u64, inodes_per_group: u64) -> Geometry {
        let (superblock_frag, group_block_frag, inode_frag) = self.offsets();
        Geometry {
            options: *self,
            groups,
            group_frags,
            inodes_per_group,
            superblock_frag,
            group_block_frag,
            inode_frag,
            data_frag: inode_frag + self.inode_frags(inodes_per_group),
            rotation_frags: 0,
            rotation_groups: 1,
        }
    }

    /// 4.4BSD: this many cylinders a group, fewer where a group's bitmaps would not fit into its block.
    fn by_cylinders(&self, disk: Cylinders, sectors: u64) -> Result<Geometry, GeometryError> {
        let sane = |count: u64| (1..=1 << 24).contains(&count);
        if ![disk.tracks, disk.track_sectors, disk.per_group].into_iter().all(sane)
            || !sane(disk.tracks * disk.track_sectors)
        {
            return Err(GeometryError::BadCylinders);
        }
        let cylinder_sectors = disk.tracks * disk.track_sectors;
        let frag_sectors = self.frag_bytes / SECTOR_BYTES;
        // A group of n cylinders must be whole blocks, or the next would not start on a block.
        let fits = |&per_group: &u64| {
            let group_sectors = per_group * cylinder_sectors;
            group_sectors.is_multiple_of(self.block_bytes / SECTOR_BYTES)
                && self.bitmaps_by_cylinder(per_group, group_sectors / frag_sectors)
                    <= self.block_bytes
        };
        let most = disk.per_group.min((1 << 32) / cylinder_sectors);
        let per_group = (1..=most).rev().find(fits).ok_or(GeometryError::GroupTooLarge)?;
        let group_sectors = per_group * cylinder_sectors;
        let group_frags = group_sectors / frag_sectors;
        let inodes = self.inodes_in(group_frags);
        if inodes == 0 {
            return Err(GeometryError::TooSmall { sectors });
        }
        let groups = sectors.div_ceil(group_sectors);
        let track_frags = disk.track_sectors.div_ceil(frag_sectors);
        Ok(Geometry {
            rotation_frags: track_frags.next_multiple_of(self.frags_per_block()),
            rotation_groups: disk.tracks.next_power_of_two(),
            ..self.geometry(groups, group_frags, inodes)
        })
    }

    /// Inodes for the rest of a group behind them. The number depends on itself; the iteration
    /// converges.
    fn inodes_in(&self, group_frags: u64) -> u64 {
        let (_, _, inode_frag) = self.offsets();
        let mut inodes = 0;
        for _ in 0..10 {
            let used_frags = inode_frag + self.inode_frags(inodes);
            let free_bytes = group_frags.saturating_sub(used_frags) * self.frag_bytes;
            let next = (free_bytes / self.density()).next_multiple_of(self.inodes_per_block());
            if next == inodes {
                break;
            }
            inodes = next;
        }
        inodes
    }

    /// The size of 4.4BSD's group block: counts for each cylinder and its eight rotational positions,
    /// then the bitmaps.
    fn bitmaps_by_cylinder(&self, cylinders: u64, group_frags: u64) -> u64 {
        let inodes = self.inodes_in(group_frags);
        GROUP_HEADER_BYTES
            + cylinders * (4 + 2 * 8)
            + inodes.div_ceil(8)
            + group_frags.div_ceil(8)
            + (group_frags / self.frags_per_block()).div_ceil(8)
    }

    /// NetBSD 2: as few groups as possible with bitmaps that fit into one block, but at least four,
    /// space permitting.
    fn by_bitmaps(&self, sectors: u64) -> Result<Geometry, GeometryError> {
        let too_small = GeometryError::TooSmall { sectors };
        let (_, _, inode_frag) = self.offsets();
        let frag = self.frags_per_block();
        let frags = sectors * SECTOR_BYTES / self.frag_bytes;
        let block_of_inodes_frags =
            (self.density() * self.inodes_per_block() / self.frag_bytes).max(1);
        let free_frags = frags.checked_sub(inode_frag).ok_or(too_small.clone())?;
        let inode_blocks = (free_frags / (frag + block_of_inodes_frags)).max(1);
        let inodes_of = |groups: u64| ((inode_blocks - 1) / groups + 1) * self.inodes_per_block();
        let empty = self.bitmaps(0, 0);
        let all = self.bitmaps(inode_blocks * self.inodes_per_block(), frags);
        let mut groups = (all - empty).div_ceil(self.block_bytes - empty);
        if groups < GROUPS_MIN {
            let room_for = frags / 2 / (inode_frag + inode_blocks * frag);
            groups = groups.max(room_for).min(GROUPS_MIN).min(inode_blocks);
        }
        let mut group_frags = frags.div_ceil(groups).next_multiple_of(frag).next_multiple_of(8);
        let mut inodes = inodes_of(groups);
        let size = self.bitmaps(inodes, group_frags);
        if size > self.block_bytes {
            let over = (size - self.block_bytes) * 8;
            group_frags = group_frags.checked_sub(over).filter(|&f| f > 0).ok_or(too_small)?;
            groups = frags.div_ceil(group_frags);
            inodes = inodes_of(groups);
        }
        Ok(self.geometry(groups, group_frags, inodes))
    }

    /// The size of NetBSD 2's group block.
    fn bitmaps(&self, inodes: u64, group_frags: u64) -> u64 {
        let cylinder_counts = if self.version == Version::Ufs1 { 6 } else { 0 };
        let cluster_blocks = (CLUSTER_BYTES / self.block_bytes).min(16);
        let clusters = if cluster_blocks > 1 {
            4 * cluster_blocks + (group_frags / self.frags_per_block()).div_ceil(8)
        } else {
            0
        };
        GROUP_HEADER_BYTES
            + 4
            + cylinder_counts
            + inodes.div_ceil(8)
            + group_frags.div_ceil(8)
            + clusters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB_SECTORS: u64 = 1 << 21;

    fn options(newfs: Newfs, version: Version, block_bytes: u64) -> Options {
        Options { newfs, version, block_bytes, frag_bytes: block_bytes / 8, density_bytes: None }
    }

    fn netbsd2(version: Version, block_bytes: u64, sectors: u64) -> Geometry {
        Geometry::new(options(Newfs::NetBsd2, version, block_bytes), sectors).unwrap()
    }

    /// The group counts that explain Brownlee's newfs times (2005), and the rest of the layout from an
    /// independent implementation of the same rules.
    #[test]
    fn netbsd_2_makes_these_groups_of_8_gib() {
        let expected = [
            (Version::Ufs1, 4096, 741, 5344, [32, 48, 56, 1392]),
            (Version::Ufs1, 8192, 180, 11328, [16, 24, 32, 1448]),
            (Version::Ufs1, 16_384, 45, 23_040, [8, 16, 24, 1464]),
            (Version::Ufs1, 32_768, 12, 43_520, [8, 16, 24, 1384]),
            (Version::Ufs1, 65_536, 4, 65_536, [8, 16, 24, 1048]),
            (Version::Ufs2, 4096, 733, 5088, [144, 160, 168, 2712]),
            (Version::Ufs2, 8192, 179, 11_040, [72, 80, 88, 2848]),
            (Version::Ufs2, 16_384, 45, 22_656, [40, 48, 56, 2888]),
            (Version::Ufs2, 32_768, 12, 43_008, [24, 32, 40, 2728]),
            (Version::Ufs2, 65_536, 4, 65_024, [16, 24, 32, 2064]),
        ];
        for (version, block_bytes, groups, inodes, offsets) in expected {
            let made = netbsd2(version, block_bytes, 8 * GIB_SECTORS);
            assert_eq!((made.groups, made.inodes_per_group), (groups, inodes), "{made:?}");
            let found =
                [made.superblock_frag, made.group_block_frag, made.inode_frag, made.data_frag];
            assert_eq!(found, offsets, "{made:?}");
        }
        assert_eq!(netbsd2(Version::Ufs1, 8192, 8 * GIB_SECTORS).group_frags, 46_608);
        assert_eq!(netbsd2(Version::Ufs2, 16_384, 8 * GIB_SECTORS).group_frags, 93_208);
    }

    #[test]
    fn small_file_systems_still_have_four_groups() {
        let small = netbsd2(Version::Ufs1, 8192, 100 * 2048);
        assert_eq!((small.groups, small.group_frags, small.inodes_per_group), (4, 25_600, 6208));
        let smaller = netbsd2(Version::Ufs2, 16_384, 20 * 2048);
        assert_eq!((smaller.groups, smaller.group_frags, smaller.data_frag), (4, 2560, 136));
    }

    /// The news spool of Rosen (1999): 16 MiB groups with 3968 inodes each, none of them rotated.
    #[test]
    fn on_ccd_every_group_of_4_4_bsd_starts_alike() {
        let options = options(Newfs::Bsd44(Cylinders::CCD), Version::Ufs1, 8192);
        let made = Geometry::new(options, 6 * GIB_SECTORS).unwrap();
        assert_eq!((made.groups, made.group_sectors(), made.inodes_per_group), (384, 32_768, 3968));
        assert_eq!(made.superblock(0), 32..48);
        assert_eq!(made.group_block(5), 5 * 32_768 + 48..5 * 32_768 + 64);
        assert_eq!(made.inode_area(5), 5 * 32_768 + 64..5 * 32_768 + 1056);
        assert_eq!(made.inode_block(3968 + 70), 32_768 + 80..32_768 + 96);
    }

    #[test]
    fn on_a_disk_with_tracks_4_4_bsd_moves_the_groups_on() {
        let disk = Cylinders { tracks: 10, track_sectors: 64, per_group: 16 };
        let options = options(Newfs::Bsd44(disk), Version::Ufs1, 8192);
        let made = Geometry::new(options, GIB_SECTORS).unwrap();
        assert_eq!(made.superblock(3).start, 3 * 10_240 + 3 * 64 + 32);
        assert_eq!(made.superblock(16).start, 16 * 10_240 + 32);
    }

    #[test]
    fn a_group_shrinks_until_its_bitmaps_fit() {
        let options = options(Newfs::Bsd44(Cylinders::CCD), Version::Ufs1, 4096);
        let made = Geometry::new(options, GIB_SECTORS).unwrap();
        let per_group = made.group_sectors() / 2048;
        assert!(per_group < 16);
        assert!(options.bitmaps_by_cylinder(per_group, made.group_frags) <= 4096);
        assert!(options.bitmaps_by_cylinder(per_group + 1, (per_group + 1) * 2048) > 4096);
    }

    #[test]
    fn what_cannot_be_made_says_why() {
        let fine = options(Newfs::NetBsd2, Version::Ufs1, 8192);
        let error = |options: Options, sectors| Geometry::new(options, sectors).unwrap_err();
        assert_eq!(
            error(Options { block_bytes: 3000, ..fine }, 4096),
            GeometryError::BadBlock(3000)
        );
        assert_eq!(
            error(Options { frag_bytes: 512, ..fine }, 4096),
            GeometryError::BadFragment(512)
        );
        assert_eq!(
            error(Options { density_bytes: Some(1), ..fine }, 4096),
            GeometryError::BadDensity(1)
        );
        assert_eq!(error(fine, 10), GeometryError::TooSmall { sectors: 10 });
        // 2^31 fragments of 1 KiB are 2 TiB.
        let two_tib = 1u64 << 32;
        assert_eq!(error(fine, two_tib), GeometryError::TooLargeForUfs1 { bytes: 2 << 40 });
        assert!(Geometry::new(fine, two_tib - 1).is_ok());
        assert_eq!(error(fine, 1 << 50), GeometryError::TooLarge { sectors: 1 << 50 });
        let old = options(Newfs::Bsd44(Cylinders::CCD), Version::Ufs2, 8192);
        assert_eq!(error(old, GIB_SECTORS), GeometryError::NoUfs2);
        let flat = Cylinders { tracks: 0, ..Cylinders::CCD };
        let none = options(Newfs::Bsd44(flat), Version::Ufs1, 8192);
        assert_eq!(error(none, GIB_SECTORS), GeometryError::BadCylinders);
    }

    /// Whatever the size, no part of a group is outside the file system or in another group.
    #[test]
    fn groups_stay_inside_and_apart() {
        for sectors in (0..40_000).step_by(37).chain([10_000_019, 1 << 33, 1 << 40]) {
            for (newfs, version) in [
                (Newfs::NetBsd2, Version::Ufs1),
                (Newfs::NetBsd2, Version::Ufs2),
                (Newfs::Bsd44(Cylinders::CCD), Version::Ufs1),
            ] {
                for block_bytes in [4096, 8192, 65_536] {
                    let Ok(made) = Geometry::new(options(newfs, version, block_bytes), sectors)
                    else {
                        continue;
                    };
                    let last = made.groups - 1;
                    assert!(made.inode_area(last).end <= sectors, "{made:?} of {sectors}");
                    assert!(made.inode_area(0).end <= made.group_sectors(), "{made:?}");
                }
            }
        }
    }
}
