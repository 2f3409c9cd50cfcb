//! A directory: one block of entries, and from the second on a tree by the hash of the names (htree).
//!
//! An entry takes 8 bytes and its name, rounded up to 4. A block keeps 12 bytes for its checksum. When
//! the first block is full, its entries move to a new one, and it becomes the root of an index; a full
//! leaf gives the upper half of its hashes to a new block:
//!
//! ```text
//! names 1 .. 10000, 16 bytes each   58 blocks: the root and 57 leaves, each between half full and full
//! index entry 8 bytes               507 in the root, 510 in an inner node: from 508 leaves on two levels
//! ```
//!
//! After Linux 6.1 `fs/ext4/namei.c` (`make_indexed_dir`, `do_split`, `ext4_dx_add_entry`).

use super::hash::{Seed, name_hash};
use crate::fs::filesystem::Ino;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The checksum at the end of a leaf or linear block.
const TAIL_BYTES: u64 = 12;
/// "." and "..", which start the first block.
const DOTS_BYTES: u64 = 24;
/// What the index's root has before its entries and behind them; the first of which is a header.
const ROOT_OWN_BYTES: u64 = 40;
/// The same of an inner node.
const NODE_OWN_BYTES: u64 = 16;
const INDEX_ENTRY_BYTES: u64 = 8;

/// The names in a directory and where they are.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    block_bytes: u64,
    seed: Seed,
    by_name: BTreeMap<Rc<str>, Entry>,
    /// Leaves by the smallest hash that belongs to them; the only block of a linear directory is one.
    leaves: BTreeMap<u32, Leaf>,
    /// Inner nodes between the root and the leaves, by the smallest hash below them.
    nodes: BTreeMap<u32, Node>,
    /// Blocks so far.
    blocks: u64,
    /// Number of the next entry: a linear block is searched in the order in which names came.
    next: u64,
    /// The directory that it is in.
    pub(super) parent: Ino,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    ino: Ino,
    hash: u32,
    number: u64,
    is_directory: bool,
}

/// A block of entries.
#[derive(Clone, Debug)]
struct Leaf {
    block: u64,
    used_bytes: u64,
    /// By hash, in a hash by age.
    names: BTreeMap<(u32, u64), Rc<str>>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    block: u64,
    leaves: u64,
}

/// What a search for a name went over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    /// The inode, if the name was found.
    pub(super) found: Option<Ino>,
    /// Blocks read, by their place in the directory.
    pub(super) blocks: Vec<u64>,
    /// Entries compared.
    pub(super) entries: u32,
}

/// What entering a name changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Blocks that were there.
    pub(super) changed: Vec<u64>,
    /// Blocks that are new, and follow all others.
    pub(super) added: Vec<u64>,
}

fn entry_bytes(name: &str) -> u64 {
    (8 + name.len() as u64).next_multiple_of(4)
}

impl Directory {
    /// An empty directory in `parent`.
    pub(super) fn new(parent: Ino, block_bytes: u64, seed: Seed) -> Self {
        let leaf = Leaf { block: 0, used_bytes: DOTS_BYTES, names: BTreeMap::new() };
        Directory {
            block_bytes,
            seed,
            by_name: BTreeMap::new(),
            leaves: BTreeMap::from([(0, leaf)]),
            nodes: BTreeMap::new(),
            blocks: 1,
            next: 0,
            parent,
        }
    }

    /// Its size in blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Whether nothing but itself and its parent is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The inode of a name.
    pub(super) fn get(&self, name: &str) -> Option<Ino> {
        self.by_name.get(name).map(|entry| entry.ino)
    }

    /// All names, in the order of readdir(3), which is that of their hashes also where there is no index
    /// (`is_dx_dir`).
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Rc<str>, Ino, bool)> {
        let names = self.leaves.values().flat_map(|leaf| leaf.names.values());
        names.map(|name| (name, self.by_name[name].ino, self.by_name[name].is_directory))
    }

    fn is_indexed(&self) -> bool {
        self.blocks > 1
    }

    fn leaf_of(&self, hash: u32) -> (u32, &Leaf) {
        let (&from, leaf) = self.leaves.range(..=hash).next_back().expect("leaves start at hash 0");
        (from, leaf)
    }

    /// The blocks on the way to the leaf of a hash, and the leaf.
    fn path(&self, hash: u32) -> Vec<u64> {
        let leaf = self.leaf_of(hash).1.block;
        let node = self.nodes.range(..=hash).next_back().map(|(_, node)| node.block);
        let root = self.is_indexed().then_some(0);
        root.into_iter().chain(node).chain([leaf]).collect()
    }

    /// Looks for a name.
    pub(super) fn search(&self, name: &str) -> Search {
        let hash = name_hash(name, self.seed);
        let entry = self.by_name.get(name);
        let leaf = self.leaf_of(hash).1;
        let in_order = |entry: &&Entry| leaf.names.len().min(entry.number as usize + 1);
        let compared = match entry.as_ref() {
            // A linear block is in the order in which names came, a leaf roughly in any.
            Some(entry) if !self.is_indexed() => in_order(entry),
            Some(_) => leaf.names.len().div_ceil(2),
            None => leaf.names.len(),
        };
        Search {
            found: entry.map(|entry| entry.ino),
            blocks: self.path(hash),
            entries: compared as u32 + 2 * u32::from(!self.is_indexed()),
        }
    }

    /// Enters a name that is not there yet.
    pub(super) fn insert(&mut self, name: &str, ino: Ino, is_directory: bool) -> Change {
        let (hash, bytes) = (name_hash(name, self.seed), entry_bytes(name));
        let mut change = Change::default();
        let (mut from, leaf) = self.leaf_of(hash);
        if leaf.used_bytes + bytes > self.block_bytes - TAIL_BYTES {
            if !self.is_indexed() {
                self.make_index(&mut change);
            }
            from = self.split(from, hash, &mut change);
        }
        let name: Rc<str> = name.into();
        let number = self.next;
        self.next += 1;
        let leaf = self.leaves.get_mut(&from).expect("it was found or made");
        leaf.used_bytes += bytes;
        leaf.names.insert((hash, number), Rc::clone(&name));
        if !change.added.contains(&leaf.block) && !change.changed.contains(&leaf.block) {
            change.changed.push(leaf.block);
        }
        self.by_name.insert(name, Entry { ino, hash, number, is_directory });
        change
    }

    /// Removes a name that is there; gives the block that changes.
    pub(super) fn remove(&mut self, name: &str) -> Option<u64> {
        let entry = self.by_name.remove(name)?;
        let (from, _) = self.leaf_of(entry.hash);
        let leaf = self.leaves.get_mut(&from)?;
        leaf.names.remove(&(entry.hash, entry.number));
        leaf.used_bytes -= entry_bytes(name);
        Some(leaf.block)
    }

    fn add_block(&mut self, change: &mut Change) -> u64 {
        change.added.push(self.blocks);
        self.blocks += 1;
        self.blocks - 1
    }

    /// The first block becomes the root of an index; what it held moves to a new one.
    fn make_index(&mut self, change: &mut Change) {
        let block = self.add_block(change);
        change.changed.push(0);
        let leaf = self.leaves.get_mut(&0).expect("a linear directory is one leaf");
        leaf.block = block;
        leaf.used_bytes -= DOTS_BYTES;
    }

    /// Moves the upper half of a leaf's hashes to a new leaf; gives the one for `hash`.
    fn split(&mut self, from: u32, hash: u32, change: &mut Change) -> u32 {
        self.make_room_in_index(from, change);
        let block = self.add_block(change);
        let half_bytes = self.block_bytes / 2;
        let leaf = self.leaves.get_mut(&from).expect("it is to be split");
        let (mut moved_bytes, mut moved) = (0, 0);
        for name in leaf.names.values().rev() {
            let bytes = entry_bytes(name);
            if moved_bytes + bytes / 2 > half_bytes {
                break;
            }
            moved_bytes += bytes;
            moved += 1;
        }
        let kept = leaf.names.len() - moved;
        let boundary = *leaf.names.keys().nth(kept).expect("half of a leaf is moved");
        let names = leaf.names.split_off(&boundary);
        leaf.used_bytes -= moved_bytes;
        if !change.added.contains(&leaf.block) {
            change.changed.push(leaf.block);
        }
        self.leaves.insert(boundary.0, Leaf { block, used_bytes: moved_bytes, names });
        if hash >= boundary.0 { boundary.0 } else { from }
    }

    /// The index has an entry more below the leaf that starts at `from`: in the root, or in a node, which
    /// is split where it is full.
    fn make_room_in_index(&mut self, from: u32, change: &mut Change) {
        let root_entries = (self.block_bytes - ROOT_OWN_BYTES) / INDEX_ENTRY_BYTES;
        let node_entries = (self.block_bytes - NODE_OWN_BYTES) / INDEX_ENTRY_BYTES;
        if self.nodes.is_empty() && (self.leaves.len() as u64) < root_entries {
            return touch(change, 0);
        }
        if self.nodes.is_empty() {
            // The root is full: all its entries move into a node.
            let block = self.add_block(change);
            self.nodes.insert(0, Node { block, leaves: self.leaves.len() as u64 });
            touch(change, 0);
        }
        let (&first, &Node { block, leaves }) =
            self.nodes.range(..=from).next_back().expect("nodes start at hash 0");
        touch(change, block);
        if leaves < node_entries {
            self.nodes.insert(first, Node { block, leaves: leaves + 1 });
            return;
        }
        let new_block = self.add_block(change);
        touch(change, 0);
        let middle = *self.leaves.range(first..).nth(leaves as usize / 2).expect("it has them").0;
        let upper = leaves - leaves / 2;
        let grows = u64::from(from >= middle);
        self.nodes.insert(first, Node { block, leaves: leaves / 2 + 1 - grows });
        self.nodes.insert(middle, Node { block: new_block, leaves: upper + grows });
    }
}

fn touch(change: &mut Change, block: u64) {
    if !change.changed.contains(&block) && !change.added.contains(&block) {
        change.changed.push(block);
    }
}

#[cfg(test)]
mod tests {
    use super::super::hash::MEASURED_SEED;
    use super::*;

    fn filled(count: u32) -> Directory {
        let mut directory = Directory::new(2, 4096, MEASURED_SEED);
        for number in 0..count {
            directory.insert(&format!("f{number:05}"), number + 12, false);
        }
        directory
    }

    #[test]
    fn ten_thousand_names_take_the_blocks_that_they_took() {
        let mut directory = filled(10_000);
        assert_eq!(directory.blocks(), 58);
        for leaf in directory.leaves.values() {
            let used: u64 = leaf.names.values().map(|name| entry_bytes(name)).sum();
            assert_eq!(leaf.used_bytes, used);
            assert!((1800..=4084).contains(&used), "{used}");
        }
        assert_eq!(directory.search("f00077").blocks.len(), 2);
        assert_eq!(directory.search("f00077").found, Some(89));
        assert_eq!(directory.search("nothing").found, None);
        for number in 0..10_000 {
            assert!(directory.remove(&format!("f{number:05}")).is_some());
        }
        assert!(directory.is_empty() && directory.blocks() == 58);
    }

    #[test]
    fn an_index_too_large_for_the_root_has_two_levels() {
        let directory = filled(120_000);
        assert!(directory.nodes.len() >= 2, "{:?}", directory.nodes);
        assert_eq!(
            directory.blocks(),
            1 + directory.nodes.len() as u64 + directory.leaves.len() as u64
        );
        let below: u64 = directory.nodes.values().map(|node| node.leaves).sum();
        assert_eq!(below, directory.leaves.len() as u64);
        assert!(directory.nodes.values().all(|node| node.leaves <= 510));
        assert_eq!(directory.search("f00077").blocks.len(), 3);
    }

    #[test]
    fn names_are_listed_by_hash() {
        let directory = filled(300);
        let hashes: Vec<u32> =
            directory.entries().map(|(name, ..)| name_hash(name, MEASURED_SEED)).collect();
        assert_eq!(hashes.len(), 300);
        assert!(hashes.is_sorted());
    }
}
