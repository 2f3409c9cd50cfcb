//! The blocks of a file: the inode points to twelve directly, and to the rest through indirect blocks.
//!
//! ```text
//! 8 KiB blocks, UFS1 (2048 pointers a block)
//! block      0 … 11        12 … 2059        2060 … 4107            4108 …
//! named by   the inode     indirect 0       indirect 1 → 2         indirect 1 → 3
//! ```
//!
//! The last of the first twelve may be a few fragments; all others are whole blocks.

use super::mount::Role;
use super::{DIRECT_BLOCKS, Ffs, Ino};
use crate::fs::files::FsError;
use crate::fs::filesystem::Block;
use crate::fs::kernel::{Delay, Pool};

impl Ffs {
    /// A file's size in bytes.
    pub fn file_bytes(&self, ino: Ino) -> u64 {
        self.inode(ino).bytes
    }

    /// The blocks that a file has.
    pub fn blocks_of(&self, ino: Ino) -> u64 {
        self.inode(ino).blocks.len() as u64
    }

    /// Fragments in block `index` of a file of `bytes`.
    pub(super) fn frags_in(&self, bytes: u64, index: u64) -> u32 {
        let left = bytes.saturating_sub(index * self.block_bytes());
        if index < DIRECT_BLOCKS && left < self.block_bytes() {
            left.div_ceil(self.geometry.options.frag_bytes) as u32
        } else {
            self.frags_per_block()
        }
    }

    /// Block `index` of a file.
    pub fn file_block(&self, ino: Ino, index: u64) -> Block {
        let inode = self.inode(ino);
        let extent =
            self.frag_extent(inode.blocks[index as usize], self.frags_in(inode.bytes, index));
        if inode.directory.is_some() {
            Block { extent, pool: Pool::Metadata, delay: Delay::Directory, owner: 0 }
        } else {
            Block { extent, pool: Pool::Data, delay: Delay::Data, owner: ino }
        }
    }

    /// The indirect blocks that lead to block `index`, outermost first.
    pub(super) fn indirects_of(&self, index: u64) -> impl Iterator<Item = usize> + use<> {
        let pointers = self.pointers_per_block();
        let path = match index.checked_sub(DIRECT_BLOCKS) {
            None => [None, None],
            Some(index) if index < pointers => [Some(0), None],
            Some(index) => [Some(1), Some(1 + (index / pointers) as usize)],
        };
        path.into_iter().flatten()
    }

    fn indirect_block(&self, frag: u32) -> Block {
        Block {
            extent: self.frag_extent(frag, self.frags_per_block()),
            pool: Pool::Metadata,
            delay: Delay::Metadata,
            owner: 0,
        }
    }

    /// The indirect blocks of a file.
    pub fn map_of(&self, ino: Ino) -> Vec<Block> {
        self.inode(ino).indirects.iter().map(|&frag| self.indirect_block(frag)).collect()
    }

    /// Reads the indirect blocks on the way to block `index`.
    pub fn read_map(&mut self, ino: Ino, index: u64) {
        for level in self.indirects_of(index) {
            let block = self.indirect_block(self.inode(ino).indirects[level]);
            self.read(block);
        }
    }

    /// Grows the last fragments of a file to the new size: in place if the fragments behind them are
    /// free, otherwise elsewhere.
    fn grow_tail(&mut self, ino: Ino, bytes: u64) -> Result<(), FsError> {
        let inode = self.inode(ino);
        let held_bytes = inode.bytes;
        let Some(index) = (inode.blocks.len() as u64).checked_sub(1) else { return Ok(()) };
        let frag = inode.blocks[index as usize];
        let (held, wanted) = (self.frags_in(held_bytes, index), self.frags_in(bytes, index));
        if wanted <= held {
            return Ok(());
        }
        let (group, within) = self.areas.split_frag(frag);
        let old = self.file_block(ino, index);
        if self.with_group(group, |group| group.extend(within, held, wanted)) {
            self.change_group(group);
            let extent = self.frag_extent(frag, wanted);
            self.change(Block { extent, ..old }, false, Role::Tail);
            return Ok(());
        }
        self.read(old);
        let preferred = self.preferred_frag(ino, index);
        // FFS takes a whole block and frees the rest, so that the next growth stays in place.
        let moved = self.take_frags(preferred, self.frags_per_block())?;
        if wanted < self.frags_per_block() {
            let group = self.group_of(moved);
            let rest = moved % self.geometry.group_frags as u32 + wanted;
            let count = self.frags_per_block() - wanted;
            self.with_group(group, |group| group.free(rest, count));
        }
        self.free_frags(frag, held);
        self.inode_mut(ino).blocks[index as usize] = moved;
        let extent = self.frag_extent(moved, wanted);
        self.change(Block { extent, ..old }, true, Role::Tail);
        Ok(())
    }

    /// Extends a file to `bytes`, if it is shorter, allocating what it needs. If space runs out, the
    /// file is as long as the space allowed.
    pub(super) fn grow(&mut self, ino: Ino, bytes: u64) -> Result<(), FsError> {
        if bytes <= self.inode(ino).bytes {
            return Ok(());
        }
        self.grow_tail(ino, bytes)?;
        let grown = self.add_blocks(ino, bytes);
        let room = self.inode(ino).blocks.len() as u64 * self.block_bytes();
        self.inode_mut(ino).bytes = bytes.min(room);
        if grown.is_err() {
            self.drop_spare_indirects(ino);
        }
        grown
    }

    fn drop_spare_indirects(&mut self, ino: Ino) {
        let last = (self.inode(ino).blocks.len() as u64).checked_sub(1);
        let needed = last.and_then(|index| self.indirects_of(index).last()).map_or(0, |l| l + 1);
        for frag in self.inode_mut(ino).indirects.split_off(needed) {
            self.free_frags(frag, self.frags_per_block());
        }
    }

    fn add_blocks(&mut self, ino: Ino, bytes: u64) -> Result<(), FsError> {
        let blocks = bytes.div_ceil(self.block_bytes());
        for index in self.inode(ino).blocks.len() as u64..blocks {
            if index >= DIRECT_BLOCKS {
                self.map_block(ino, index)?;
            }
            let preferred = self.preferred_frag(ino, index);
            let frag = self.take_frags(preferred, self.frags_in(bytes, index))?;
            self.inode_mut(ino).blocks.push(frag);
        }
        Ok(())
    }

    /// Makes the indirect blocks for block `index`, which the inode does not point to, and enters it in the last of them.
    fn map_block(&mut self, ino: Ino, index: u64) -> Result<(), FsError> {
        let pointers = self.pointers_per_block();
        if index >= DIRECT_BLOCKS + pointers + pointers * pointers {
            return Err(FsError::TooLarge);
        }
        let directory = self.inode(ino).directory.is_some();
        let pointer = if directory { Role::DirectoryPointer } else { Role::FilePointer };
        let mut named_by = None;
        for level in self.indirects_of(index) {
            if level == self.inode(ino).indirects.len() {
                let preferred = self.group_start_of(ino, index);
                let frag = self.take_frags(preferred, self.frags_per_block())?;
                self.inode_mut(ino).indirects.push(frag);
                let block = self.indirect_block(frag);
                self.change(block, true, Role::NewIndirect);
                if let Some(outer) = named_by {
                    self.change(outer, false, pointer);
                }
            }
            named_by = Some(self.indirect_block(self.inode(ino).indirects[level]));
        }
        if let Some(block) = named_by {
            self.change(block, false, pointer);
        }
        Ok(())
    }

    /// Where an indirect block goes: where its first block would go if that needed no indirect block.
    fn group_start_of(&self, ino: Ino, index: u64) -> u32 {
        let pointers = self.pointers_per_block();
        self.preferred_frag(ino, DIRECT_BLOCKS + (index - DIRECT_BLOCKS) / pointers * pointers)
    }

    /// Frees all blocks of a file. Its indirect blocks are read first, to find them.
    pub(super) fn truncate(&mut self, ino: Ino) {
        let bytes = self.inode(ino).bytes;
        let indirects = std::mem::take(&mut self.inode_mut(ino).indirects);
        let mut blocks = std::mem::take(&mut self.inode_mut(ino).blocks);
        let indirect_blocks: Vec<Block> =
            indirects.iter().map(|&frag| self.indirect_block(frag)).collect();
        for block in indirect_blocks {
            self.read(block);
        }
        for &frag in &indirects {
            self.free_frags(frag, self.frags_per_block());
        }
        for (index, &frag) in (0..).zip(&blocks) {
            self.free_frags(frag, self.frags_in(bytes, index));
        }
        blocks.clear();
        let inode = self.inode_mut(ino);
        (inode.bytes, inode.blocks) = (0, blocks);
    }

    /// Changes the blocks of a file that hold bytes `start..end`, growing it as needed.
    ///
    /// # Errors
    ///
    /// Where there is no room.
    pub fn write(&mut self, ino: Ino, start: u64, end: u64) -> Result<(), FsError> {
        let held_bytes = self.inode(ino).bytes;
        self.grow(ino, end)?;
        let block_bytes = self.block_bytes();
        let held_blocks = held_bytes.div_ceil(block_bytes);
        let bytes = self.file_bytes(ino);
        for index in start / block_bytes..end.div_ceil(block_bytes) {
            let block = self.file_block(ino, index);
            let block_start = index * block_bytes;
            let covered = start <= block_start && end >= (block_start + block_bytes).min(bytes);
            let fresh = index >= held_blocks || covered;
            if !fresh {
                self.read_map(ino, index);
            }
            self.change(block, fresh, Role::Data);
        }
        if end > held_bytes {
            self.change_inode(ino, Role::Size);
        }
        Ok(())
    }
}
