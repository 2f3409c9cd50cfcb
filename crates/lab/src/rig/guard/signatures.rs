//! Signs that a disk or an image holds something: what file systems, arrays and partition tables leave
//! at places of their own.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it is of.
    pub of: &'static str,
    /// Where its mark is, in bytes from the start.
    pub offset_bytes: u64,
}

impl Signature {
    /// It and its place, for people.
    pub fn words(&self) -> String {
        format!("{} (at byte {})", self.of, self.offset_bytes)
    }
}

/// Where a mark is.
#[derive(Clone, Copy)]
enum At {
    Start(u64),
    /// So many bytes before the end, once the end is rounded down to a multiple.
    End {
        multiple: u64,
        back: u64,
    },
}

use At::{End, Start};

const BSD: &[u8] = &[0x57, 0x45, 0x56, 0x82];
const BSD_BIG: &[u8] = &[0x82, 0x56, 0x45, 0x57];
const MD: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
const UFS1: &[u8] = &[0x54, 0x19, 0x01, 0x00];
const UFS1_BIG: &[u8] = &[0x00, 0x01, 0x19, 0x54];
const UFS2: &[u8] = &[0x19, 0x01, 0x54, 0x19];
const UFS2_BIG: &[u8] = &[0x19, 0x54, 0x01, 0x19];
const BCACHE: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
];

/// Every mark there is: what leaves it, where, and its bytes.
#[rustfmt::skip]
const MARKS: &[(&str, At, &[u8])] = &[
    ("an ext2, ext3 or ext4 file system", Start(1080), &[0x53, 0xef]),
    ("an XFS file system", Start(0), b"XFSB"),
    ("a btrfs file system", Start(65_600), b"_BHRfS_M"),
    ("a UFS1 (FFS) file system", Start(8192 + 1372), UFS1),
    ("a UFS1 (FFS) file system", Start(8192 + 1372), UFS1_BIG),
    ("a UFS2 file system", Start(65_536 + 1372), UFS2),
    ("a UFS2 file system", Start(65_536 + 1372), UFS2_BIG),
    ("a UFS2 file system", Start(262_144 + 1372), UFS2),
    ("an F2FS file system", Start(1024), &[0x10, 0x20, 0xf5, 0xf2]),
    ("a JFS file system", Start(32_768), b"JFS1"),
    ("a ReiserFS file system", Start(65_588), b"ReIsEr"),
    ("a NILFS2 file system", Start(1030), &[0x34, 0x34]),
    ("a bcachefs or bcache member", Start(4096 + 24), BCACHE),
    ("an NTFS file system", Start(3), b"NTFS    "),
    ("an exFAT file system", Start(3), b"EXFAT   "),
    ("an HFS+ file system", Start(1024), b"H+"),
    ("an APFS container", Start(32), b"NXSB"),
    ("an ISO 9660 file system", Start(32_769), b"CD001"),
    ("a squashfs file system", Start(0), b"hsqs"),
    ("an md member (metadata 1.1)", Start(0), MD),
    ("an md member (metadata 1.2)", Start(4096), MD),
    ("an md member (metadata 1.0)", End { multiple: 4096, back: 8192 }, MD),
    ("an md member (metadata 0.90)", End { multiple: 65_536, back: 65_536 }, MD),
    ("an LVM physical volume", Start(0), b"LABELONE"),
    ("an LVM physical volume", Start(512), b"LABELONE"),
    ("an LVM physical volume", Start(1024), b"LABELONE"),
    ("an LVM physical volume", Start(1536), b"LABELONE"),
    ("an Intel (IMSM) RAID member", End { multiple: 512, back: 1024 }, b"Intel Raid ISM Cfg Sig. "),
    ("a DDF RAID member", End { multiple: 512, back: 512 }, &[0xde, 0x11, 0xde, 0x11]),
    ("an NVIDIA RAID member", End { multiple: 512, back: 1024 }, b"NVIDIA"),
    ("a Stratis pool's member", Start(512 + 4), b"!Stra0tis"),
    ("a VDO volume", Start(0), b"dmvdo001"),
    ("a dm-integrity device", Start(0), b"integrt\0"),
    ("a dm-verity device", Start(0), b"verity\0\0"),
    ("a snapshot's store", Start(0), b"SnAp"),
    ("a BitLocker volume", Start(3), b"-FVE-FS-"),
    ("an OCFS2 file system", Start(8192), b"OCFSV2"),
    ("a GFS2 file system", Start(65_536), &[0x01, 0x16, 0x19, 0x70]),
    ("an EROFS file system", Start(1024), &[0xe2, 0xe1, 0xf5, 0xe0]),
    ("a LUKS volume", Start(0), b"LUKS\xba\xbe"),
    ("a LUKS volume's second header", Start(16_384), b"SKUL\xba\xbe"),
    ("a Ceph BlueStore device", Start(0), b"bluestore block device"),
    ("a FreeBSD GEOM label", End { multiple: 512, back: 512 }, b"GEOM::"),
    ("swap space", Start(4086), b"SWAPSPACE2"),
    ("swap space", Start(4086), b"SWAP-SPACE"),
    ("swap space", Start(16_374), b"SWAPSPACE2"),
    ("swap space", Start(65_526), b"SWAPSPACE2"),
    ("a GPT partition table", Start(512), b"EFI PART"),
    ("a GPT partition table", Start(4096), b"EFI PART"),
    ("a GPT partition table's copy", End { multiple: 512, back: 512 }, b"EFI PART"),
    ("an MBR partition table or boot block", Start(510), &[0x55, 0xaa]),
    ("a Sun disk label", Start(508), &[0xda, 0xbe]),
    ("a BSD disklabel", Start(0), BSD),
    ("a BSD disklabel", Start(0), BSD_BIG),
    ("a BSD disklabel", Start(64), BSD),
    ("a BSD disklabel", Start(64), BSD_BIG),
    ("a BSD disklabel", Start(128), BSD),
    ("a BSD disklabel", Start(128), BSD_BIG),
    ("a BSD disklabel", Start(512), BSD),
    ("a BSD disklabel", Start(512), BSD_BIG),
];

/// All marks in a file or device of `size_bytes`.
///
/// # Errors
///
/// Where it cannot be read.
pub fn find(file: &File, size_bytes: u64) -> io::Result<Vec<Signature>> {
    let mut found: Vec<Signature> = Vec::new();
    for &(of, at, mark) in MARKS {
        let offset_bytes = match at {
            Start(offset) => Some(offset),
            End { multiple, back } => (size_bytes / multiple * multiple).checked_sub(back),
        };
        let Some(offset_bytes) = offset_bytes else { continue };
        if found.iter().all(|known| known.of != of) && has(file, size_bytes, offset_bytes, mark)? {
            found.push(Signature { of, offset_bytes });
        }
    }
    if let Some(offset_bytes) = zfs_label(file, size_bytes)? {
        found.push(Signature { of: "a ZFS label", offset_bytes });
    }
    Ok(found)
}

fn has(file: &File, size_bytes: u64, offset_bytes: u64, mark: &[u8]) -> io::Result<bool> {
    let mut bytes = vec![0; mark.len()];
    if offset_bytes + bytes.len() as u64 > size_bytes {
        return Ok(false);
    }
    file.read_exact_at(&mut bytes, offset_bytes)?;
    Ok(bytes == mark)
}

/// ZFS has four labels of 256 KiB, two at either end, the upper half of each a ring of uberblocks.
fn zfs_label(file: &File, size_bytes: u64) -> io::Result<Option<u64>> {
    const LABEL: u64 = 256 * 1024;
    const MAGIC: [u8; 8] = [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0];
    let end = size_bytes / LABEL * LABEL;
    let labels = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
    for label in labels.into_iter().flatten().filter(|label| label + LABEL <= size_bytes) {
        let ring = label + LABEL / 2;
        let mut bytes = vec![0; LABEL as usize / 2];
        file.read_exact_at(&mut bytes, ring)?;
        let mut blocks = bytes.chunks(1024);
        let big = [0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c];
        let is_one = |block: &[u8]| block[..8] == MAGIC || block[..8] == big;
        if let Some(nth) = blocks.position(is_one) {
            return Ok(Some(ring + 1024 * nth as u64));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = (3 << 20) + 5 * 512;

    fn blank() -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        file
    }

    #[test]
    fn every_mark_is_found_and_a_blank_has_none() {
        assert_eq!(find(&blank(), SIZE).unwrap(), []);
        for &(of, at, mark) in MARKS {
            let offset_bytes = match at {
                Start(offset) => offset,
                End { multiple, back } => SIZE / multiple * multiple - back,
            };
            let file = blank();
            file.write_all_at(mark, offset_bytes).unwrap();
            assert_eq!(find(&file, SIZE).unwrap(), [Signature { of, offset_bytes }], "{of}");
        }
        for label in [0, 256 * 1024, 2560 * 1024, 2816 * 1024] {
            let (file, offset_bytes) = (blank(), label + 128 * 1024 + 5 * 1024);
            file.write_all_at(&0x00ba_b10c_u64.to_le_bytes(), offset_bytes).unwrap();
            assert_eq!(find(&file, SIZE).unwrap()[0].offset_bytes, offset_bytes);
        }
    }

    #[test]
    fn what_is_too_small_for_a_mark_has_none() {
        for size in [0, 1, 511, 512, 4095, 4096, 65_536] {
            let file = tempfile::tempfile().unwrap();
            file.set_len(size).unwrap();
            assert_eq!(find(&file, size).unwrap(), []);
        }
    }
}
