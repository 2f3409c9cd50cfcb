//! md's write-intent bitmap: which parts of an array may be being written to, kept on every member, so that after a
//! crash only these are made to agree again.
//!
//! Before the first write to a part, the page of the bitmap that has its bit is written to all members, and that write
//! is waited for. Bits stay set for 5 to 10 s after the last write, so that one write for each part and pause is enough
//! where writes keep to few parts. From `drivers/md/md-bitmap.c` of Linux 6.1; docs/md.md has what it was held to.

use crate::Nanos;
use block::{Op, Request, SECTOR_BYTES};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

/// The least that a bit stands for (`add_internal_bitmap1` in mdadm's `super1.c`).
const BIT_SECTORS_MIN: u64 = 64 << 11;
/// What comes before the bits (`bitmap_super_t`).
const HEADER_BYTES: u64 = 256;
/// The most bits that mdadm has room for: 128 KiB with the header.
const BITS_MAX: u64 = ((128 << 10) - HEADER_BYTES) * 8;
/// The most bits of LVM's that an array may have (dm-raid's `validate_region_size`).
const REGIONS_MAX: u64 = 1 << 21;

/// How often bits are looked at (`DAEMON_SLEEP` in mdadm).
const LOOK_NS: Nanos = 5_000_000_000;
/// What is written at a time.
const PAGE_BYTES: u64 = 4096;

/// How a write-intent bitmap is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitmapSpec {
    /// The members have a volatile write cache, which is emptied before each write of a page (`REQ_PREFLUSH`).
    pub flushes: bool,
    /// How much a bit stands for.
    pub bits: BitSizes,
}

/// How much of an array a bit of its bitmap stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitSizes {
    /// mdadm's: 64 MiB, or as much more as 128 KiB of bits need.
    Mdadm,
    /// What mdadm is told (`--bitmap-chunk`), or as much more as 128 KiB of bits need.
    Told {
        /// A power of two of sectors.
        chunk_sectors: u64,
    },
    /// LVM's (`lvcreate --regionsize`), or more where there would be more than 2^21 of them (`raid_ensure_min_region_size`).
    Lvm {
        /// What is asked for, a power of two of sectors.
        region_sectors: u64,
        /// The array's size.
        array_sectors: u64,
    },
}

/// A page of the bitmap as it is written, counted from where the bitmap begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Page {
    sector: u64,
    sectors: u32,
}

/// What the bits in memory and on the members say.
#[derive(Clone, Debug)]
pub struct Bitmap {
    bit_sectors: u64,
    /// With its header.
    bytes: u64,
    bits: BTreeMap<u64, Bit>,
    /// Bits that have been set since pages were last taken.
    unwritten: BTreeSet<u64>,
}

/// A bit that is set, and why.
#[derive(Clone, Copy, Debug, Default)]
struct Bit {
    /// Writes to its part that are not done.
    writes: u32,
    /// When the last one was done.
    done_at: Nanos,
}

impl Bit {
    /// Whether it has been cleared by `now`. The first look after its last write marks it, and the second clears it: a
    /// write that is done at 7 s leaves it set until 15 s.
    fn is_clear(self, now: Nanos) -> bool {
        self.writes == 0 && now >= (self.done_at / LOOK_NS + 2) * LOOK_NS
    }
}

impl BitSizes {
    /// What a bit stands for in a bitmap of `sectors`.
    ///
    /// ```text
    /// mdadm   64 MiB a bit; 72 TB on each member take 128 MiB; told 1 GiB it takes 1 GiB
    /// LVM     what is asked for, such as 2 MiB a bit; a volume of 36 TB takes 32 MiB
    /// ```
    pub fn bit_sectors(self, sectors: u64) -> u64 {
        let (mut bit_sectors, least) = match self {
            BitSizes::Mdadm => (BIT_SECTORS_MIN, sectors.div_ceil(BITS_MAX)),
            BitSizes::Told { chunk_sectors } => (chunk_sectors, sectors.div_ceil(BITS_MAX)),
            BitSizes::Lvm { region_sectors, array_sectors } => {
                (region_sectors, array_sectors / REGIONS_MAX)
            }
        };
        while bit_sectors < least {
            bit_sectors *= 2;
        }
        bit_sectors
    }
}

impl Bitmap {
    /// A bitmap of `sectors`, with no bit set.
    pub fn of(sectors: u64, bits: BitSizes) -> Self {
        let bit_sectors = bits.bit_sectors(sectors);
        let bytes = HEADER_BYTES + sectors.div_ceil(bit_sectors).div_ceil(8);
        Bitmap { bit_sectors, bytes, bits: BTreeMap::new(), unwritten: BTreeSet::new() }
    }

    /// The same with no bit set.
    pub fn clear(&mut self) {
        self.bits.clear();
        self.unwritten.clear();
    }

    /// The part that `sector` is in.
    pub fn part(&self, sector: u64) -> u64 {
        sector / self.bit_sectors
    }

    /// A write to a part begins at `now`.
    pub fn begin(&mut self, now: Nanos, part: u64) {
        if !self.is_set(now, part) {
            self.unwritten.insert(part);
        }
        self.bits.entry(part).or_default().writes += 1;
    }

    /// A write to a part is done at `now`. One that was begun before a reset is not known any more.
    pub fn end(&mut self, now: Nanos, part: u64) {
        if let Some(bit) = self.bits.get_mut(&part) {
            bit.writes = bit.writes.saturating_sub(1);
            bit.done_at = now;
        }
    }

    /// Whether the bit of a part is set.
    pub fn is_set(&self, now: Nanos, part: u64) -> bool {
        self.bits.get(&part).is_some_and(|bit| !bit.is_clear(now))
    }

    /// The pages that have to be written first: from now on they are being written.
    pub(super) fn take_pages(&mut self) -> Vec<Page> {
        let mut pages: Vec<Page> =
            take(&mut self.unwritten).into_iter().map(|part| self.page(part)).collect();
        pages.dedup();
        pages
    }

    /// The page with the header.
    pub(super) fn header(&self) -> Page {
        self.page(0)
    }

    /// The page that has the bit of `part`. Of the last page only the sectors are written that the bitmap reaches
    /// (`write_sb_page`): bits for 40 GiB and the header are 336 bytes, one sector.
    fn page(&self, part: u64) -> Page {
        let page = (HEADER_BYTES + part / 8) / PAGE_BYTES;
        let bytes = (self.bytes - page * PAGE_BYTES).min(PAGE_BYTES);
        Page {
            sector: page * (PAGE_BYTES / SECTOR_BYTES),
            sectors: bytes.div_ceil(SECTOR_BYTES) as u32,
        }
    }
}

/// The write of a page of the bitmap. It lies in front of the data of each member; here, where they begin.
pub(super) fn page_write(member: u32, page: Page) -> Request {
    let Page { sector, sectors } = page;
    Request { target: member, op: Op::Write { fua: true }, sector, sectors }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Nanos = 1_000_000_000;

    #[test]
    fn a_bit_is_written_once_and_stays_for_five_to_ten_seconds() {
        // Done at each second of a minute, and written again after each whole number of seconds.
        for done in 0..60 {
            for pause in 0..15 {
                let mut bitmap = Bitmap::of(1 << 40, BitSizes::Mdadm);
                bitmap.begin(0, 3);
                assert!(bitmap.is_set(0, 3) && !bitmap.is_set(0, 4));
                assert_eq!(bitmap.take_pages(), [Page { sector: 0, sectors: 8 }]);
                assert!(bitmap.take_pages().is_empty());
                bitmap.end(done * S, 3);
                let again = (done + pause) * S;
                let is_set = bitmap.is_set(again, 3);
                let is_gone = (done + pause) / 5 >= done / 5 + 2;
                assert_eq!(is_set, !is_gone, "done at {done} s, again {pause} s later");
                assert!(pause > 5 || is_set);
                assert!(pause < 10 || !is_set);
                bitmap.begin(again, 3);
                assert_eq!(bitmap.take_pages().is_empty(), is_set);
            }
        }
    }

    #[test]
    fn a_bit_stays_while_its_part_is_written_to() {
        let mut bitmap = Bitmap::of(1 << 40, BitSizes::Mdadm);
        bitmap.begin(0, 0);
        bitmap.begin(0, 0);
        bitmap.take_pages();
        bitmap.end(S, 0);
        assert!(bitmap.is_set(100 * S, 0));
    }

    #[test]
    fn mdadm_takes_64_mib_a_bit_up_to_64_tib() {
        let mib = |sectors| Bitmap::of(sectors, BitSizes::Mdadm).bit_sectors >> 11;
        // 4 TB, 18 TB, and 8 x 18 TB as RAID 10.
        assert_eq!([4, 18, 72].map(|tb| mib(tb * 1_953_125_000)), [64, 64, 128]);
        assert_eq!(Bitmap::of(1 << 32, BitSizes::Mdadm).part(3 << 17), 3);
        // Told 1 GiB it takes that, told 64 MiB of 72 TB what has room.
        let told = |mib: u64| BitSizes::Told { chunk_sectors: mib << 11 };
        let mib = |mib: u64| Bitmap::of(72 * 1_953_125_000, told(mib)).bit_sectors >> 11;
        assert_eq!([1024, 64].map(mib), [1024, 128]);
    }

    /// By hand: 16 GiB and 4 TiB of volume have 2 MiB a bit, and a sector more still (the kernel rounds down); a GiB
    /// more have 4 MiB, 36 TB 32 MiB. A member of 8 GiB has 4096 bits, and with the header two sectors, as a trace of
    /// Linux 6.1.192 has them.
    #[test]
    fn lvm_takes_2_mib_a_bit_up_to_4_tib() {
        let asked = |region_mib: u64, member: u64, array_sectors| {
            let region_sectors = region_mib << 11;
            Bitmap::of(member, BitSizes::Lvm { region_sectors, array_sectors })
        };
        let of = |member, array| asked(2, member, array);
        let mib = |array| of(1, array).bit_sectors >> 11;
        assert_eq!(
            [1 << 25, 1 << 33, (1 << 33) + 1, (1 << 33) + (1 << 21), 70_312_500_000].map(mib),
            [2, 2, 2, 4, 32]
        );
        assert_eq!(of(8 << 21, 16 << 21).page(0), Page { sector: 0, sectors: 2 });
        // More is taken as it is asked for, as long as it is enough.
        let larger = |region_mib, array| asked(region_mib, 1, array).bit_sectors >> 11;
        assert_eq!([larger(64, 1 << 33), larger(16, 70_312_500_000)], [64, 32]);
    }

    /// By hand: a page has 30,720 bits behind the header, and 32,768 where there is none.
    #[test]
    fn bits_of_one_page_are_written_together() {
        let mut bitmap = Bitmap::of(1 << 40, BitSizes::Mdadm);
        let page = |page: u64| Page { sector: 8 * page, sectors: 8 };
        let [second, third] = [30_720, 30_720 + 32_768];
        for bit in [0, 1, second - 1, second, third - 1, third] {
            bitmap.begin(0, bit);
        }
        assert_eq!(bitmap.take_pages(), [0, 1, 2].map(page));
    }

    /// By hand from `write_sb_page`: 40 GiB have 640 bits, 18 TB 268,224. 2,048 bits fill the first sector with the header.
    #[test]
    fn of_the_last_page_only_what_there_is_is_written() {
        let last = |sectors: u64| {
            let bitmap = Bitmap::of(sectors, BitSizes::Mdadm);
            bitmap.page(bitmap.part(sectors - 1))
        };
        assert_eq!(last(40 << 21), Page { sector: 0, sectors: 1 });
        assert_eq!([2048, 2049].map(|bits| last(bits << 17).sectors), [1, 2]);
        // 33,784 bytes: eight pages, and 1016 bytes.
        assert_eq!(last(35_156_656_128), Page { sector: 64, sectors: 2 });
    }
}
