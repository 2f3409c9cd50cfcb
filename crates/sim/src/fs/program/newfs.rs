//! newfs(8): what it writes to the raw device, one write after the other.
//!
//! For each group, a write of the superblock copy, the group's block and the first two blocks of inodes;
//! on UFS1 then all other inodes, sixteen blocks at a time. UFS2 leaves those for when they are needed.

use crate::fs::ffs::geometry::{Geometry, Version};
use crate::fs::kernel::{Extent, Kernel};
use std::rc::Rc;

/// Blocks of inodes that it writes at a time.
const INODE_BLOCKS: u64 = 16;
/// The superblock's room.
const SUPERBLOCK_BYTES: u64 = 8192;

/// The writes, in order, before the kernel cuts them.
pub fn writes(geometry: &Geometry) -> impl Iterator<Item = Extent> + '_ {
    let options = &geometry.options;
    let first_bytes = if options.block_bytes < SUPERBLOCK_BYTES {
        SUPERBLOCK_BYTES + 3 * options.block_bytes
    } else {
        4 * options.block_bytes
    };
    let first_sectors = (first_bytes / block::SECTOR_BYTES) as u32;
    (0..geometry.groups).flat_map(move |group| {
        let first = Extent { sector: geometry.superblock(group).start, sectors: first_sectors };
        let inodes = geometry.inode_area(group);
        let step = INODE_BLOCKS * geometry.block_sectors();
        let from = match options.version {
            Version::Ufs1 => inodes.start + 2 * geometry.block_sectors(),
            Version::Ufs2 => inodes.end,
        };
        let rest = (from..inodes.end)
            .step_by(step as usize)
            .map(move |sector| Extent { sector, sectors: step.min(inodes.end - sector) as u32 });
        std::iter::once(first).chain(rest)
    })
}

/// Makes the file system: each write waits for the one before, and the device is closed at the end.
pub async fn newfs(kernel: Rc<Kernel>, geometry: Geometry) {
    for write in writes(&geometry) {
        kernel.write_raw(write).await;
    }
    kernel.close().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::ffs::geometry::{Newfs, Options};

    #[test]
    fn version_1_writes_all_inodes_and_version_2_the_first() {
        let written = |version| {
            let options = Options {
                newfs: Newfs::NetBsd2,
                version,
                block_bytes: 16_384,
                frag_bytes: 2048,
                density_bytes: None,
            };
            let geometry = Geometry::new(options, 8 << 21).unwrap();
            let mib: u64 = writes(&geometry).map(|write| u64::from(write.sectors)).sum();
            (geometry.groups, writes(&geometry).count(), mib / 2048)
        };
        assert_eq!(written(Version::Ufs2), (45, 45, 2));
        assert_eq!(written(Version::Ufs1), (45, 45 * 13, 127));
    }
}
