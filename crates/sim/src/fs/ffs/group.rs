//! One cylinder group: which of its fragments and inodes are free, and which to allocate next.
//!
//! ```text
//! fragments of 1 KiB in blocks of 8 KiB; a dot is free
//! block      0         1         2         3
//!            ########  ###.....  ........  ##....##
//! wanted     taken
//! 2 frags    3: frags 26, 27     the smallest free run that is long enough is the 4 in block 3
//! 5 frags    1: frags 11 … 15
//! 6 frags    2: frags 16 … 21    no run is long enough: a block is broken
//! ```

use std::ops::Range;

/// A mask of a block's fragments: a bit for each free one.
type Mask = u8;

/// A cylinder group. Fragments, blocks and inodes are numbered from its start.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// For each block, its free fragments.
    blocks: Vec<Mask>,
    frags_per_block: u32,
    /// Wholly free blocks.
    pub(super) free_blocks: u32,
    /// Free fragments in partly used blocks.
    pub(super) free_frags: u32,
    /// In these blocks, how many free runs of each length there are.
    runs: [u32; 9],
    /// For each run length, a bit for each block with such a run; a free block has one run of its own
    /// length. Searches skip 64 blocks at a time.
    having: [Vec<u64>; 9],
    /// Inodes in use.
    inodes: Vec<u64>,
    inode_count: u32,
    /// Inodes not in use.
    pub(super) free_inodes: u32,
    /// Directories.
    pub(super) directories: u32,
    /// Directories made here since the last file: Orlov's count of neighbours.
    pub(super) recent_directories: u32,
    /// Inodes whose blocks have been written since newfs.
    pub(super) initialised_inodes: u32,
    block_rotor: u32,
    frag_rotor: u32,
    inode_rotor: u32,
}

/// The lengths of the free runs in a block.
fn runs(mask: Mask) -> impl Iterator<Item = (u32, u32)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = u32::from(mask).checked_shr(at).unwrap_or(0);
        if rest == 0 {
            return None;
        }
        let start = at + rest.trailing_zeros();
        let length = (u32::from(mask) >> start).trailing_ones();
        at = start + length;
        Some((start, length))
    })
}

/// For each mask the lengths of its free runs, a bit for each.
const RUN_LENGTHS: [u16; 256] = {
    let mut lengths = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        let mut rest = mask as u32;
        while rest != 0 {
            rest >>= rest.trailing_zeros();
            let length = rest.trailing_ones();
            lengths[mask] |= 1 << length;
            rest >>= length;
        }
        mask += 1;
    }
    lengths
};

impl Group {
    /// A group of `frags` fragments, all of them free.
    pub(super) fn new(frags: u32, frags_per_block: u32, inode_count: u32) -> Self {
        let (whole, rest) = (frags / frags_per_block, frags % frags_per_block);
        let mut group = Group {
            blocks: Vec::new(),
            frags_per_block,
            free_blocks: whole,
            free_frags: 0,
            runs: [0; 9],
            having: Default::default(),
            inodes: vec![0; inode_count.div_ceil(64) as usize],
            inode_count,
            free_inodes: inode_count,
            directories: 0,
            recent_directories: 0,
            initialised_inodes: 0,
            block_rotor: 0,
            frag_rotor: 0,
            inode_rotor: 0,
        };
        group.blocks = vec![group.full(); whole as usize];
        group.blocks.resize(frags.div_ceil(frags_per_block) as usize, 0);
        let words = group.blocks.len().div_ceil(64);
        group.having[1..=frags_per_block as usize].fill(vec![0; words]);
        let free = &mut group.having[frags_per_block as usize];
        free[..whole as usize / 64].fill(u64::MAX);
        if !whole.is_multiple_of(64) {
            free[whole as usize / 64] = (1 << (whole % 64)) - 1;
        }
        if rest > 0 {
            group.set(whole, group.mask(0, rest));
        }
        group
    }

    /// Takes those of these fragments that there are, for newfs itself.
    pub(super) fn reserve(&mut self, frags: Range<u32>) {
        let per_block = self.frags_per_block;
        let blocks = frags.start / per_block..frags.end.div_ceil(per_block);
        for block in blocks.start..blocks.end.min(self.blocks.len() as u32) {
            let within = |frag: &u32| frags.contains(&(block * per_block + frag));
            let taken = (0..per_block).filter(within).fold(0, |mask, frag| mask | 1 << frag);
            self.set(block, self.blocks[block as usize] & !taken);
        }
    }

    fn full(&self) -> Mask {
        Mask::MAX >> (8 - self.frags_per_block)
    }

    fn set(&mut self, block: u32, mask: Mask) {
        let full = self.full();
        let old = std::mem::replace(&mut self.blocks[block as usize], mask);
        let (before, after) = (RUN_LENGTHS[usize::from(old)], RUN_LENGTHS[usize::from(mask)]);
        let mut changed = before ^ after;
        while changed != 0 {
            self.having[changed.trailing_zeros() as usize][block as usize / 64] ^=
                1 << (block % 64);
            changed &= changed - 1;
        }
        if old == full {
            self.free_blocks -= 1;
        } else {
            self.free_frags -= old.count_ones();
            runs(old).for_each(|(_, length)| self.runs[length as usize] -= 1);
        }
        if mask == full {
            self.free_blocks += 1;
        } else {
            self.free_frags += mask.count_ones();
            runs(mask).for_each(|(_, length)| self.runs[length as usize] += 1);
        }
    }

    /// Allocates a block: the preferred one, or the next free one after it.
    pub(super) fn take_block(&mut self, preferred: Option<u32>) -> Option<u32> {
        if self.free_blocks == 0 {
            return None;
        }
        let full = self.full();
        let preferred = preferred.map(|frag| frag / self.frags_per_block);
        let block = match preferred {
            Some(block) if self.blocks.get(block as usize) == Some(&full) => block,
            _ => {
                let start = preferred.unwrap_or(self.block_rotor);
                self.block_rotor = self.next_block(start, self.frags_per_block)?;
                self.block_rotor
            }
        };
        self.set(block, 0);
        Some(block * self.frags_per_block)
    }

    /// The first block from `start` on, wrapping around, that has a free run of `length`.
    fn next_block(&self, start: u32, length: u32) -> Option<u32> {
        let words = &self.having[length as usize];
        let first = (start / 64) as usize;
        let after = words.iter().enumerate().skip(first).map(|(index, &word)| {
            (index, if index == first { word & (u64::MAX << (start % 64)) } else { word })
        });
        let before = words.iter().copied().enumerate().take(first + 1);
        let (index, word) = after.chain(before).find(|&(_, word)| word != 0)?;
        Some(index as u32 * 64 + word.trailing_zeros())
    }

    /// Allocates `count` contiguous fragments in one block: from the shortest free run that is long
    /// enough, or from a free block.
    pub(super) fn take_frags(&mut self, preferred: Option<u32>, count: u32) -> Option<u32> {
        if count == self.frags_per_block {
            return self.take_block(preferred);
        }
        let shortest = (count..self.frags_per_block).find(|&length| self.runs[length as usize] > 0);
        let Some(length) = shortest else {
            let first = self.take_block(preferred)?;
            self.free(first + count, self.frags_per_block - count);
            return Some(first);
        };
        let start = preferred.map_or(self.frag_rotor, |frag| frag / self.frags_per_block);
        let block = self.next_block(start, length)?;
        self.frag_rotor = block;
        let mask = self.blocks[block as usize];
        let (first, _) = runs(mask).find(|&(_, found)| found == length)?;
        self.set(block, mask & !self.mask(first, count));
        Some(block * self.frags_per_block + first)
    }

    fn mask(&self, first: u32, count: u32) -> Mask {
        debug_assert!(first + count <= self.frags_per_block);
        (Mask::MAX >> (8 - count)) << first
    }

    /// Extends the fragments `held` at `frag` to `wanted`, if those behind them are free.
    pub(super) fn extend(&mut self, frag: u32, held: u32, wanted: u32) -> bool {
        let (block, first) = (frag / self.frags_per_block, frag % self.frags_per_block);
        if first + wanted > self.frags_per_block {
            return false;
        }
        let more = self.mask(first + held, wanted - held);
        let mask = self.blocks[block as usize];
        if mask & more != more {
            return false;
        }
        self.set(block, mask & !more);
        true
    }

    /// Frees fragments of one block.
    pub(super) fn free(&mut self, frag: u32, count: u32) {
        let (block, first) = (frag / self.frags_per_block, frag % self.frags_per_block);
        let mask = self.blocks[block as usize];
        let more = self.mask(first, count);
        assert_eq!(mask & more, 0, "fragment {frag} is freed twice");
        self.set(block, mask | more);
    }

    /// Whether a fragment is free.
    pub(super) fn is_free(&self, frag: u32) -> bool {
        self.blocks[(frag / self.frags_per_block) as usize] >> (frag % self.frags_per_block) & 1
            == 1
    }

    /// Allocates an inode: the preferred one, or the next free one after the last allocated.
    pub(super) fn take_inode(&mut self, preferred: Option<u32>) -> Option<u32> {
        if self.free_inodes == 0 {
            return None;
        }
        let inode = match preferred {
            Some(inode) if !self.inode_used(inode) => inode,
            _ => {
                let start = self.inode_rotor;
                self.inode_rotor = (start..self.inode_count)
                    .chain(0..start)
                    .find(|&inode| !self.inode_used(inode))?;
                self.inode_rotor
            }
        };
        self.inodes[inode as usize / 64] |= 1 << (inode % 64);
        self.free_inodes -= 1;
        Some(inode)
    }

    /// Frees an inode.
    pub(super) fn free_inode(&mut self, inode: u32) {
        assert!(self.inode_used(inode), "inode {inode} is freed twice");
        self.inodes[inode as usize / 64] &= !(1 << (inode % 64));
        self.free_inodes += 1;
        self.inode_rotor = self.inode_rotor.min(inode);
    }

    /// Whether an inode is in use.
    pub(super) fn inode_used(&self, inode: u32) -> bool {
        self.inodes[inode as usize / 64] >> (inode % 64) & 1 == 1
    }

    /// How many inodes there are up to the last one in use.
    pub(super) fn inodes_up_to_last_used(&self) -> u32 {
        let used = self.inodes.iter().rposition(|&word| word != 0);
        used.map_or(0, |index| index as u32 * 64 + 64 - self.inodes[index].leading_zeros())
    }

    /// Fragments that are free, counted from the masks: for checks.
    pub(super) fn count_free(&self) -> (u32, u32) {
        let full = self.full();
        self.blocks.iter().fold((0, 0), |(blocks, frags), &mask| {
            if mask == full { (blocks + 1, frags) } else { (blocks, frags + mask.count_ones()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group() -> Group {
        let mut group = Group::new(32, 8, 128);
        for used in [0..11, 24..26, 30..32] {
            group.reserve(used);
        }
        group
    }

    #[test]
    fn a_new_group_is_free_up_to_its_last_fragment() {
        for frags in [1, 7, 8, 64 * 8 - 1, 64 * 8, 64 * 8 + 9] {
            let mut group = Group::new(frags, 8, 64);
            assert_eq!(group.count_free(), (group.free_blocks, group.free_frags));
            assert_eq!(group.free_blocks * 8 + group.free_frags, frags);
            let one_by_one = (0..frags).map(|_| group.take_frags(None, 1).unwrap());
            assert_eq!(one_by_one.collect::<std::collections::BTreeSet<_>>().len() as u32, frags);
            assert_eq!(group.take_frags(None, 1), None);
        }
    }

    #[test]
    fn the_worked_example() {
        assert_eq!(group().take_frags(None, 2), Some(26));
        assert_eq!(group().take_frags(None, 5), Some(11));
        assert_eq!(group().take_frags(None, 6), Some(16));
        let mut group = group();
        assert_eq!((group.free_blocks, group.free_frags), (1, 9));
        group.take_frags(None, 6);
        assert_eq!((group.free_blocks, group.free_frags), (0, 11));
    }

    #[test]
    fn the_table_of_runs_says_what_the_runs_are() {
        for mask in 0..=Mask::MAX {
            let lengths = runs(mask).fold(0, |lengths, (_, length)| lengths | 1 << length);
            assert_eq!(RUN_LENGTHS[usize::from(mask)], lengths, "{mask:08b}");
        }
    }

    #[test]
    fn searches_by_words_find_what_a_look_at_each_block_finds() {
        // Every seventh block is whole; the others have holes in a repeating pattern.
        let mut group = Group::new(130 * 8, 8, 64);
        let free = |frag: u32| frag * frag % 11 < 6 || frag / 8 % 7 == 3;
        (0..130 * 8).filter(|&frag| !free(frag)).for_each(|frag| group.reserve(frag..frag + 1));
        for round in 0..3 {
            for start in 0..131 {
                for length in 1..=8 {
                    let has = |&block: &u32| {
                        runs(group.blocks[block as usize]).any(|(_, found)| found == length)
                    };
                    let slow = (start..130).chain(0..start).find(has);
                    assert_eq!(group.next_block(start, length), slow, "{round}, {start}, {length}");
                }
            }
            for _ in 0..20 {
                group.take_frags(None, 8);
                group.take_frags(None, 3);
            }
        }
    }

    #[test]
    fn a_block_is_the_preferred_one_or_the_next() {
        let mut group = Group::new(80, 8, 64);
        group.reserve(0..16);
        assert_eq!(group.take_block(Some(40)), Some(40));
        assert_eq!(group.take_block(Some(40)), Some(48));
        assert_eq!(group.take_block(None), Some(56));
        assert_eq!(group.take_block(Some(8)), Some(16));
        group.free(40, 8);
        assert_eq!(group.take_block(Some(40)), Some(40));
    }

    #[test]
    fn a_run_grows_only_into_free_fragments_of_its_block() {
        let mut group = Group::new(16, 8, 64);
        assert_eq!(group.take_frags(None, 3), Some(0));
        assert!(group.extend(0, 3, 5));
        assert_eq!(group.take_frags(None, 2), Some(5));
        assert!(!group.extend(0, 5, 6) && !group.extend(5, 2, 4));
        group.free(5, 2);
        assert!(group.extend(0, 5, 8));
        assert_eq!(group.count_free(), (group.free_blocks, group.free_frags));
    }

    #[test]
    fn inodes_are_taken_in_order_and_again_when_given_back() {
        let mut group = group();
        assert_eq!(group.take_inode(Some(2)), Some(2));
        assert_eq!(group.take_inode(Some(2)), Some(0));
        assert_eq!((group.take_inode(None), group.take_inode(None)), (Some(1), Some(3)));
        group.free_inode(1);
        assert_eq!((group.take_inode(None), group.free_inodes), (Some(1), 124));
    }
}
