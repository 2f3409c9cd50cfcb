//! The seam between programs and file systems: operations become steps in a given order.
//!
//! ```text
//! a program      calls Files: create, write, fsync …                               files.rs
//! Mounted        calls the file system, then takes the steps, one by one           mounted.rs
//! FileSystem     decides: what is touched, where it goes, what is written first    ffs, ext4
//! Kernel         caches, makes requests, waits                                     kernel.rs
//! Device         takes the time
//! ```
//!
//! A file system is pure: it has no clock, no cache and no device. A call changes it at once and notes
//! the [`Step`]s that a kernel would have taken for it. Whoever runs the steps gives them their time.
//! Only the file system knows what a step is *for*. The layers below see blocks, and whether a change
//! is synchronous, started, delayed or held.

use super::files::FsError;
use super::kernel::{Delay, Extent, Pool};
use crate::Nanos;
use block::Op;
use std::rc::Rc;

/// The number of a file or directory. 0 is none: it is the owner of metadata blocks.
pub type Ino = u32;

/// The first of the sectors that are on no device. A block there is in memory only, until it is written
/// and [`FileSystem::place`] gives it a place (delayed allocation).
pub const UNPLACED: u64 = 1 << 62;

/// A block of the file system, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its sectors: on the device, or from [`UNPLACED`] on.
    pub extent: Extent,
    /// The pool of memory that caches it.
    pub pool: Pool,
    /// How long it may stay dirty.
    pub delay: Delay,
    /// The file that it is a part of; 0 for metadata. Only contiguous blocks of one file are written in
    /// one request.
    pub owner: Ino,
}

/// When a change is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// At once, and the program waits (synchronous).
    Wait,
    /// At once, and the program continues (asynchronous).
    Start,
    /// When the syncer finds it or its memory is needed (delayed).
    Later,
    /// Not before a [`Step::Release`], such as a change that a journal has not committed yet.
    Hold,
}

/// A file system's name for the work that it wants to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job(pub u64);

/// An event that a task can wait for; the file system says whether it has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Milestone(pub u64);

/// A step of an operation. Steps run in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads a block and waits for it, unless it is in memory.
    Read(Block),
    /// Starts to read contiguous blocks, where they are not in memory, and continues.
    Prefetch {
        /// The first of them.
        first: Block,
        /// How many.
        blocks: u32,
        /// Which of them is read next, and waited for, counted from the first.
        wanted: u32,
    },
    /// Compares this many directory entries.
    Scan(u32),
    /// Changes a block. A `fresh` block was just allocated and need not be read.
    Change {
        /// The block.
        block: Block,
        /// Nothing of its content on the disk is kept.
        fresh: bool,
        /// When it is written.
        write: Write,
        /// Its purpose: the file system's own note, which nobody else reads.
        purpose: u8,
    },
    /// The content of the block that starts here is no longer needed and need not be written.
    Forget(Extent),
    /// A held block may now be written, like any dirty block.
    Release(Block),
    /// Starts to write the dirty blocks that start in an extent; blocks on no device get their places
    /// first.
    Start(Extent),
    /// Waits until no request is in flight for the blocks that start in an extent.
    Await(Extent),
    /// Makes a request to the device directly, not through memory, and continues: a journal's blocks, a
    /// flush. A request that is too large is split.
    Submit(Op, Extent),
    /// Waits until everything that this operation has submitted is done, as every operation does at its
    /// end.
    Drain,
    /// Waits for this event ([`FileSystem::has_happened`]).
    Until(Milestone),
    /// Returns to the file system, which may note more steps ([`FileSystem::resume`]). The last step of
    /// its batch.
    Resume(Job),
}

/// The state of a block in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Not in memory.
    Absent,
    /// Being read.
    Reading,
    /// The same as on the device.
    Clean,
    /// Changed, with no write in flight.
    Dirty,
    /// Being written.
    Writing,
}

/// What a file system may know about the memory that caches its blocks.
pub trait Memory {
    /// The state of the block that starts at `sector`.
    fn held(&self, sector: u64) -> Held;
}

/// A finished batch of steps.
pub struct Taken<'a> {
    /// The time.
    pub now: Nanos,
    /// The steps, up to the [`Step::Resume`] at their end.
    pub steps: &'a [Step],
    /// The state of memory.
    pub memory: &'a dyn Memory,
    /// Whether all reads and requests that they waited for succeeded.
    pub result: Result<(), FsError>,
}

/// Why a file system's own task is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// It asked to be called at this time ([`FileSystem::next_work`]).
    Time,
    /// Memory is short, and the blocks that it holds take too much of it.
    Memory,
}

/// An access to the raw device, as by mkfs(8), mount(8) and fsck(8).
pub type Access = (Op, Extent);

/// One step of fsck(8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Reads these sectors, and waits for them.
    Read(Extent),
    /// Checks this many inodes.
    Inodes(u64),
    /// Checks this many directory entries.
    Entries(u64),
}

/// The steps of fsck(8) in the phases that read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Before the first phase: the superblock, its copy, the summary.
    pub set_up: Vec<Look>,
    /// Phase 1: blocks and sizes.
    pub inodes: Vec<Look>,
    /// Phase 2: path names.
    pub directories: Vec<Look>,
    /// Phase 5: groups.
    pub groups: Vec<Look>,
    /// What is written at the end.
    pub finish: Vec<Access>,
    /// How many of the sectors read in phase 1 hold inodes.
    pub inode_sectors: u64,
}

/// How a sequential read of a file is read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAhead {
    /// By a window for each file, which grows with each block read in order (4.4BSD's clusters).
    Window,
    /// As far as the host's setting, for each program (NetBSD 2).
    Fixed,
}

/// What write(2) itself starts to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteBehind {
    /// Nothing: the syncer writes, or whoever needs memory.
    None,
    /// A cluster, counted from the start of the contiguous run (4.4BSD).
    Runs,
    /// A cluster, counted from the start of the file (NetBSD 2).
    Aligned,
}

/// How read(2) and write(2) work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Reading ahead.
    pub read_ahead: ReadAhead,
    /// Writing behind.
    pub write_behind: WriteBehind,
    /// Whether a call on a file waits for the one before, even while that waits for the disk.
    pub one_call_at_a_time: bool,
    /// Whether the requests of one access of mkfs(8) to the raw device are in flight together.
    pub raw_together: bool,
    /// Whether a program that has it unmounted and mounted again waits for what umount(8) writes at the end, too.
    pub remount_ends: bool,
}

/// A file system without time.
///
/// [`take_steps`](Self::take_steps) returns the steps that `&mut self` calls note. A call that fails
/// may have noted steps, too: what it read before it failed.
pub trait FileSystem: 'static {
    /// The root directory.
    fn root(&self) -> Ino;

    /// How read(2) and write(2) work.
    fn policy(&self) -> Policy;

    // Names.

    /// The inode of a name, without any step: as if from the kernel's name cache.
    ///
    /// # Errors
    ///
    /// Where there is no such name.
    fn find(&self, parent: Ino, name: &str) -> Result<Ino, FsError>;

    /// The names in a directory, and whether each is a directory, in the order of readdir(3); no step.
    ///
    /// # Errors
    ///
    /// Where it is no directory.
    fn names(&self, directory: Ino) -> Result<Vec<(Rc<str>, bool)>, FsError>;

    /// Looks a name up, and reads its inode.
    ///
    /// # Errors
    ///
    /// Where there is no such name.
    fn look_up(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError>;

    /// Makes an empty file.
    ///
    /// # Errors
    ///
    /// Where the name is taken or there is no room.
    fn create(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError>;

    /// Makes an empty directory.
    ///
    /// # Errors
    ///
    /// Where the name is taken or there is no room.
    fn make_directory(&mut self, parent: Ino, name: &str) -> Result<Ino, FsError>;

    /// Removes a file's name, and the file with its last name.
    ///
    /// # Errors
    ///
    /// Where there is no such file.
    fn unlink(&mut self, parent: Ino, name: &str) -> Result<(), FsError>;

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// Where there is none, or it is not empty.
    fn remove_directory(&mut self, parent: Ino, name: &str) -> Result<(), FsError>;

    /// Renames a file, possibly to another directory; a file that has the new name is removed.
    ///
    /// # Errors
    ///
    /// Where there is no such file, or the new name is a directory's.
    fn rename(&mut self, from: (Ino, &str), to: (Ino, &str)) -> Result<(), FsError>;

    /// Reads a whole directory.
    ///
    /// # Errors
    ///
    /// Where it is none.
    fn read_directory(&mut self, directory: Ino) -> Result<(), FsError>;

    /// Sets a file's times, as utimes(2).
    fn set_times(&mut self, ino: Ino);

    /// A file that was read is closed: its access time may change.
    fn was_read(&mut self, ino: Ino);

    /// Nobody has this file open any more.
    fn closed(&mut self, _ino: Ino) {}

    // What files hold.

    /// The size of a block in bytes.
    fn block_bytes(&self) -> u64;

    /// A file's size in bytes.
    fn file_bytes(&self, ino: Ino) -> u64;

    /// The current place of block `index` of a file.
    fn file_block(&self, ino: Ino, index: u64) -> Block;

    /// Reads the metadata that locates block `index` of a file.
    fn read_map(&mut self, ino: Ino, index: u64);

    /// Changes the blocks of a file that hold bytes `start..end`, growing it as needed. With delayed
    /// allocation, new blocks are at [`UNPLACED`] and above; those of one file are contiguous and in
    /// its order.
    ///
    /// # Errors
    ///
    /// Where there is no room.
    fn write(&mut self, ino: Ino, start: u64, end: u64) -> Result<(), FsError>;

    /// umount(8) has started to write all data and waits for none yet: notes what begins with that.
    fn begin_sync(&mut self) {}

    /// Whether blocks may be given places now. If not, who is to do it sleeps until what was given places before is on the
    /// device.
    fn may_place(&mut self) -> bool {
        true
    }

    /// Does what follows when something that was given places is on the device, where somebody sleeps for that; gives whether
    /// there is such a thing.
    fn finish_placed(&mut self) -> bool {
        false
    }

    /// Gives places to blocks of file `ino` that are on no device, one for each. They are contiguous,
    /// in the file's order, and about to be written. From now on `file_block` returns the new places.
    /// Nothing may still use the old content of those places: every operation that freed them has taken
    /// its last step.
    fn place(&mut self, _ino: Ino, _unplaced: &[Extent]) -> Vec<Extent> {
        unreachable!("a file system that delays allocation says how it is done")
    }

    // Durability.

    /// What fsync(2) writes first, contiguous ranges: the file's data, and the blocks that point to it
    /// where they are written with it.
    fn extents_of(&self, ino: Ino) -> Vec<Extent>;

    /// All `extents_of` a file that fsync(2) is called for are on the device: notes what changes with that.
    fn data_are_written(&mut self, _ino: Ino) {}

    /// fsync(2), after that: notes the steps that must follow.
    fn sync_file(&mut self, ino: Ino);

    /// sync(2), once nothing is dirty: notes the steps that must follow. Called until it notes none or
    /// fails.
    fn sync(&mut self) {}

    /// The block at `sector` is about to be written, with its current content.
    fn write_starts(&mut self, _sector: u64) {}

    /// The block at `sector` is on the device with the content it had when its write began, or was just
    /// read. Returns how long it may stay dirty, if a part of its changes was left out.
    fn transfer_ends(&mut self, _sector: u64) -> Option<Delay> {
        None
    }

    /// The block at `sector` no longer holds anything ([`Step::Forget`] was taken), or could not be
    /// read or written.
    fn forgotten(&mut self, _sector: u64) {}

    // Time.

    /// The steps noted since they were last taken, in exchange for the memory of `into`. The time is
    /// `now`.
    fn take_steps(&mut self, now: Nanos, into: &mut Vec<Step>);

    /// A [`Step::Resume`] was reached: may note more steps for the same task.
    fn resume(&mut self, _job: Job, _taken: &Taken<'_>) {}

    /// Whether this has happened. It must happen in the end, even where the device fails.
    fn has_happened(&self, _milestone: Milestone) -> bool {
        true
    }

    /// When its own task, such as jbd2's, next has work. Asked after each batch of steps.
    fn next_work(&self) -> Option<Nanos> {
        None
    }

    /// Its own task's work: notes steps, which that task takes. It is not called again before they are
    /// done.
    fn work(&mut self, _why: Call) {}

    /// Marks everything done so far as on the device, in no time: to fill it before a measurement.
    fn settle(&mut self);

    /// What mount(8) reads and memory then keeps.
    fn kept_by_mount(&self) -> Vec<Block> {
        Vec::new()
    }

    // The whole.

    /// What mkfs(8) reads and writes, one access after the other.
    fn make(&self) -> Box<dyn Iterator<Item = Access> + '_>;

    /// What mount(8) reads and writes of the raw device.
    fn mount(&mut self) -> Vec<Access>;

    /// Mounts it in another mode, by the word of its mount command, once nothing is left to write; whether it has that mode.
    fn remount(&mut self, _mode: &str) -> bool {
        false
    }

    /// What umount(8) writes to the raw device, once all is synced.
    fn unmount(&mut self) -> Vec<Access>;

    /// What fsck(8) does with it.
    fn survey(&self) -> Survey;

    /// The model's fsck: checks itself from the root down.
    ///
    /// # Panics
    ///
    /// Where anything is wrong, saying what.
    fn check(&self);

    /// Checks that no state is held for unwritten changes, as after sync(2).
    ///
    /// # Panics
    ///
    /// Where there is any.
    fn check_settled(&self) {}
}
