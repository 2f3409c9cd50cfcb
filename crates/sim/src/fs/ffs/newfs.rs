//! newfs(8): its accesses to the raw device, one after the other (NetBSD, sbin/newfs/mkfs.c).
//!
//! It writes the last sector, to check that it exists, and looks for superblocks that an older file
//! system has left. Then, for each group, it writes the superblock copy, the group's block and the
//! first two blocks of inodes; on UFS1 also all other inodes, sixteen blocks at a time. UFS2 writes
//! those when they are needed. Whenever a fragment of group sums is full, it is written to the first
//! group. At the end come the root directory and the superblock itself.

use super::geometry::{AREA_BYTES, Geometry, SUMMARY_BYTES, Version};
use crate::fs::filesystem::Access;
use crate::fs::kernel::Extent;
use block::{Op, SECTOR_BYTES};

/// Blocks of inodes in one write.
const INODE_BLOCKS: u64 = 16;
/// The size of the superblock in it, in whole sectors.
const SUPERBLOCK_SECTORS: u32 = 3;
/// Where it looks for superblocks of older file systems (`SBLOCKSEARCH`).
const SEARCHED_BYTES: [u64; 4] = [65_536, 8192, 0, 262_144];
/// The largest block behind which an older superblock's first copy may be.
const COPY_BLOCK_BYTES_MAX: u64 = 65_536;

fn write(sector: u64, bytes: u64) -> Access {
    (Op::WRITE, Extent { sector, sectors: bytes.div_ceil(SECTOR_BYTES) as u32 })
}

fn read(sector: u64, bytes: u64) -> Access {
    (Op::Read, Extent { sector, sectors: bytes.div_ceil(SECTOR_BYTES) as u32 })
}

/// The first write of each group.
fn first_bytes(geometry: &Geometry) -> u64 {
    let block_bytes = geometry.options.block_bytes;
    AREA_BYTES.max(block_bytes) + 3 * block_bytes
}

/// The last sector, and every place of an older superblock: read where this file system has nothing,
/// overwritten where it has, unless it will be written anyway.
fn claim(geometry: &Geometry, sectors: u64) -> Vec<Access> {
    let mut accesses = vec![write(sectors - 1, SECTOR_BYTES)];
    let written_to = geometry.superblock(0).start * SECTOR_BYTES + first_bytes(geometry);
    for byte in SEARCHED_BYTES {
        let copy_byte = byte + AREA_BYTES;
        let sizes = (0..).map(|power| AREA_BYTES << power);
        let copies = sizes
            .take_while(|&size| size <= COPY_BLOCK_BYTES_MAX)
            .map(|size| copy_byte.next_multiple_of(size));
        for byte in std::iter::once(byte).chain(copies) {
            let sector = byte / SECTOR_BYTES;
            if byte == 0 || (byte + AREA_BYTES) / SECTOR_BYTES >= sectors {
                continue;
            }
            if byte < geometry.options.version.superblock_byte() {
                accesses.push(read(sector, AREA_BYTES));
            } else if byte >= written_to {
                accesses.push(write(sector, u64::from(SUPERBLOCK_SECTORS) * SECTOR_BYTES));
            }
        }
    }
    accesses
}

/// A group, and the sums of the groups before it where they fill a fragment.
fn make_group(geometry: &Geometry, group: u64) -> impl Iterator<Item = Access> + use<> {
    let inodes = geometry.inode_area(group);
    let step = INODE_BLOCKS * geometry.block_sectors();
    let from = match geometry.options.version {
        Version::Ufs1 => inodes.start + 2 * geometry.block_sectors(),
        Version::Ufs2 => inodes.end,
    };
    let first = write(geometry.superblock(group).start, first_bytes(geometry));
    let rest = (from..inodes.end)
        .step_by(step as usize)
        .map(move |sector| write(sector, step.min(inodes.end - sector) * SECTOR_BYTES));
    let sums = geometry.options.frag_bytes / SUMMARY_BYTES;
    let made = group + 1;
    // The first fragment of sums is kept until the end.
    let is_full = made.is_multiple_of(sums) && made > sums;
    let full = is_full.then(|| summary(geometry, made / sums - 1));
    std::iter::once(first).chain(rest).chain(full)
}

/// A fragment of the summary, which is behind the inodes of the first group.
fn summary(geometry: &Geometry, frag: u64) -> Access {
    let sector = geometry.inode_area(0).end + frag * geometry.frag_sectors();
    write(sector, geometry.options.frag_bytes)
}

/// The root directory, the superblock and the rest of the summary.
fn finish(geometry: &Geometry) -> Vec<Access> {
    let block_bytes = geometry.options.block_bytes;
    let bitmaps = geometry.group_block(0).start;
    let inodes = geometry.inode_area(0).start;
    let sum_frags = (geometry.groups * SUMMARY_BYTES).div_ceil(geometry.options.frag_bytes);
    let summed = geometry.inode_area(0).end + sum_frags * geometry.frag_sectors();
    let root = summed.next_multiple_of(geometry.block_sectors());
    let superblock = geometry.options.version.superblock_byte();
    let copy = geometry.superblock(0).start * SECTOR_BYTES;
    let mut accesses = vec![
        read(bitmaps, block_bytes),
        write(bitmaps, block_bytes),
        write(root, geometry.options.frag_bytes),
        read(bitmaps, block_bytes),
        write(bitmaps, block_bytes),
        read(inodes, block_bytes),
        write(inodes, block_bytes),
        write(superblock / SECTOR_BYTES, copy - superblock),
        summary(geometry, 0),
    ];
    if sum_frags > 1 {
        accesses.push(summary(geometry, sum_frags - 1));
    }
    accesses
}

/// The accesses to a device of this many sectors, in order, before the kernel splits them.
pub(super) fn accesses(geometry: &Geometry, sectors: u64) -> impl Iterator<Item = Access> + '_ {
    claim(geometry, sectors)
        .into_iter()
        .chain((0..geometry.groups).flat_map(|group| make_group(geometry, group)))
        .chain(finish(geometry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::ffs::geometry::{Newfs, Options};

    fn geometry(version: Version, block_bytes: u64) -> Geometry {
        let options = Options {
            newfs: Newfs::NetBsd2,
            version,
            block_bytes,
            frag_bytes: block_bytes / 8,
            density_bytes: None,
        };
        Geometry::new(options, 8 << 21).unwrap()
    }

    #[test]
    fn version_1_writes_all_inodes_and_version_2_the_first() {
        let written = |version| {
            let geometry = geometry(version, 16_384);
            let groups = || (0..geometry.groups).flat_map(|group| make_group(&geometry, group));
            let sectors: u64 = groups().map(|(_, extent)| u64::from(extent.sectors)).sum();
            (geometry.groups, groups().count(), sectors / 2048)
        };
        assert_eq!(written(Version::Ufs2), (45, 45, 2));
        assert_eq!(written(Version::Ufs1), (45, 45 * 13, 127));
    }

    #[test]
    fn it_looks_for_older_superblocks_and_sums_up_in_the_first_group() {
        let geometry = geometry(Version::Ufs2, 4096);
        let claimed = claim(&geometry, 8 << 21);
        assert_eq!(claimed[0], write((8 << 21) - 1, 512));
        let reads = claimed.iter().filter(|(op, _)| *op == Op::Read);
        // Below 64 KiB; what lies above is zeroed, except what will be written.
        assert!(reads.clone().all(|(_, extent)| extent.sector < 128));
        assert_eq!((reads.count(), claimed.len()), (7, 1 + 7 + 7));
        let end = geometry.inode_area(0).end;
        let sums = accesses(&geometry, 8 << 21).filter(|(_, extent)| extent.sector < end + 32);
        let sums = sums.filter(|(_, extent)| extent.sector >= end && extent.sectors == 1).count();
        // 32 groups in a fragment of 512 bytes; the root directory is a fragment too.
        assert_eq!(sums as u64, geometry.groups / 32 - 1 + 2 + 1);
    }
}
