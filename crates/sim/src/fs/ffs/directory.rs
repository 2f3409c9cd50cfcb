//! A directory: a file of 512-byte blocks. No entry crosses a block boundary.
//!
//! ```text
//! an entry takes 8 bytes and the name with a 0 behind it, rounded up to 4:   "1" 12, "10000" 16
//! the first block starts with "." and "..", 12 bytes each, and has 488 left
//! ```
//!
//! A new entry goes into the first block with room for it; a new block is added only where there is
//! none. Removing an entry joins its space to the entry before it. The first entry of a block has none
//! before it, and is marked as empty instead. A search compares entry by entry: that is processor work,
//! and a read for each block of the file system on the way.

use crate::by_number::ByName;
use std::rc::Rc;

/// The unit of growth, and of a write.
pub(super) const DIRECTORY_BLOCK_BYTES: u64 = 512;

/// The names in a directory and where they are.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    blocks: Vec<DirectoryBlock>,
    by_name: ByName<u32>,
    /// The entries of all blocks, as a search counts them.
    records: u32,
    /// Nobody need look for so many bytes before this block: there is no room for them.
    no_room: (u64, usize),
    /// The block in which the last search found its name: the next search starts there.
    last_found: u32,
    /// The directory that it is in.
    pub(super) parent: u32,
}

#[derive(Clone, Debug)]
struct DirectoryBlock {
    free_bytes: u64,
    /// Its first entry was removed and is now an empty entry.
    first_is_empty: bool,
    entries: Vec<(Rc<str>, u32)>,
}

/// What a search examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Search {
    /// The inode, if the name was found.
    pub(super) found: Option<u32>,
    /// The first block examined.
    pub(super) from_block: u32,
    /// Blocks examined, wrapping around after the last.
    pub(super) blocks: u32,
    /// Entries examined.
    pub(super) entries: u32,
}

/// A change to a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The block that changed.
    pub(super) block: u32,
    /// It is new.
    pub(super) grown: bool,
    /// The first entry of the block was removed.
    pub(super) first_removed: bool,
}

/// The purpose of a search: an entry to use, or to remove, or room for a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Starts where the last search ended, and stops at the name.
    LookUp,
    /// Starts at the first block, and stops at the name.
    Remove,
    /// Searches everything, because the name may be anywhere.
    Create,
}

fn entry_bytes(name: &str) -> u64 {
    (8 + name.len() as u64 + 1).next_multiple_of(4)
}

impl DirectoryBlock {
    fn records(&self) -> u32 {
        self.entries.len() as u32 + u32::from(self.first_is_empty)
    }

    /// Where the entry is whose name this is: one text is shared, so that none is compared.
    fn position(&self, name: &Rc<str>) -> Option<usize> {
        self.entries.iter().position(|(entry, _)| Rc::ptr_eq(entry, name))
    }
}

impl Directory {
    /// A directory in `parent`, with only itself and its parent in it.
    pub(super) fn new(parent: u32) -> Self {
        let block = DirectoryBlock {
            free_bytes: DIRECTORY_BLOCK_BYTES - entry_bytes(".") - entry_bytes(".."),
            first_is_empty: false,
            entries: Vec::new(),
        };
        Directory {
            blocks: vec![block],
            by_name: ByName::default(),
            records: 0,
            no_room: (0, 0),
            last_found: 0,
            parent,
        }
    }

    /// Its size in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.len() as u64 * DIRECTORY_BLOCK_BYTES
    }

    /// Whether only itself and its parent are in it.
    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The inode of a name.
    pub(super) fn get(&self, name: &str) -> Option<u32> {
        let (name, &block) = self.by_name.get_key_value(name)?;
        let block = &self.blocks[block as usize];
        block.position(name).map(|position| block.entries[position].1)
    }

    /// All entries, in their order on the disk.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Rc<str>, u32)> {
        self.blocks
            .iter()
            .flat_map(|block| block.entries.iter().map(|(name, inode)| (name, *inode)))
    }

    /// Looks for a name.
    pub(super) fn search(&mut self, name: &str, purpose: Purpose) -> Search {
        let count = self.blocks.len() as u32;
        let known = self.by_name.get_key_value(name);
        let place = known.map(|(_, &block)| block);
        let from_block = if purpose == Purpose::LookUp { self.last_found % count } else { 0 };
        let blocks = match place {
            Some(block) if purpose != Purpose::Create => (block + count - from_block) % count + 1,
            _ => count,
        };
        let mut entries = if blocks == count {
            self.records
        } else {
            let some = from_block..from_block + blocks;
            some.map(|block| self.blocks[(block % count) as usize].records()).sum()
        };
        let found = known.and_then(|(name, &block)| {
            let block = &self.blocks[block as usize];
            let position = block.position(name)?;
            if purpose != Purpose::Create {
                entries -= block.entries.len() as u32 - 1 - position as u32;
            }
            Some(block.entries[position].1)
        });
        if let (Some(block), Purpose::LookUp) = (place, purpose) {
            self.last_found = block;
        }
        Search { found, from_block, blocks, entries: entries + 2 * u32::from(from_block == 0) }
    }

    /// Adds a new name.
    pub(super) fn insert(&mut self, name: &str, inode: u32) -> Change {
        let bytes = entry_bytes(name);
        let name: Rc<str> = name.into();
        let from = if bytes >= self.no_room.0 { self.no_room.1 } else { 0 };
        let room = self.blocks[from..].iter().position(|block| block.free_bytes >= bytes);
        let index = room.map_or(self.blocks.len(), |room| from + room);
        self.no_room = (bytes, index);
        let grown = room.is_none();
        if grown {
            let free_bytes = DIRECTORY_BLOCK_BYTES;
            let entries = Vec::new();
            self.blocks.push(DirectoryBlock { free_bytes, first_is_empty: false, entries });
        }
        let block = &mut self.blocks[index];
        block.free_bytes -= bytes;
        if std::mem::take(&mut block.first_is_empty) {
            block.entries.insert(0, (Rc::clone(&name), inode));
        } else {
            block.entries.push((Rc::clone(&name), inode));
            self.records += 1;
        }
        self.by_name.insert(name, index as u32);
        Change { block: index as u32, grown, first_removed: false }
    }

    /// Removes an existing name.
    pub(super) fn remove(&mut self, name: &str) -> Option<Change> {
        let (name, index) = self.by_name.remove_entry(name)?;
        let block = &mut self.blocks[index as usize];
        let position = block.position(&name)?;
        block.entries.remove(position);
        block.free_bytes += entry_bytes(&name);
        // The first block starts with "." and "..", which are never removed.
        let first_removed = position == 0 && index > 0 && !block.first_is_empty;
        block.first_is_empty |= first_removed;
        self.records -= u32::from(!first_removed);
        self.no_room.1 = self.no_room.1.min(index as usize);
        Some(Change { block: index, grown: false, first_removed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fill_blocks_as_the_worked_example_says() {
        let mut directory = Directory::new(2);
        let changes: Vec<Change> =
            (1..=10_000).map(|number: u32| directory.insert(&number.to_string(), number)).collect();
        assert_eq!(changes.iter().filter(|change| change.grown).count(), 305);
        assert_eq!(directory.bytes(), 306 * 512);
        let removed: Vec<Change> = (1..=10_000)
            .map(|number: u32| directory.remove(&number.to_string()).unwrap())
            .collect();
        assert_eq!(removed.iter().filter(|change| change.first_removed).count(), 305);
        assert!(directory.is_empty());
    }

    #[test]
    fn searches_start_where_the_last_one_ended() {
        let mut directory = Directory::new(2);
        for number in 0..100_u32 {
            directory.insert(&format!("file{number:04}"), number);
        }
        let mut search = |name, purpose| directory.search(name, purpose);
        let seen = search("file0050", Purpose::LookUp);
        assert_eq!((seen.found, seen.from_block, seen.entries), (Some(50), 0, 53));
        let next = search("file0051", Purpose::LookUp);
        assert_eq!((next.found, next.blocks), (Some(51), 1));
        assert_eq!(search("file0052", Purpose::Remove).entries, 55);
        assert_eq!(search("nothing", Purpose::Create).entries, 102);
        assert_eq!(search("file0000", Purpose::LookUp).blocks, 4);
    }
}
