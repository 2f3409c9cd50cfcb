//! The seam between programs and file systems: operations become steps, with an order to be kept.
//!
//! ```text
//! a program      calls Files: create, write, fsync …                               files.rs
//! Mounted        has the file system do the call, then takes the steps, one by one  mounted.rs
//! FileSystem     decides: what is touched, where it goes, what comes before what    ffs, ext4
//! Kernel         remembers, makes requests, waits                                   kernel.rs
//! Device         takes the time
//! ```
//!
//! A file system is pure: it has no clock, no memory for blocks and no device. A call changes it at once
//! and notes the [`Step`]s that a kernel would have taken for it. Who runs the steps gives them their
//! time. What a step is *for* is the file system's own affair; the layers below see blocks, and whether a
//! change is waited for, started, left for later or held.

use super::files::FsError;
use super::kernel::{Delay, Extent, Pool};
use crate::Nanos;
use block::Op;
use std::any::Any;
use std::rc::Rc;

/// The number of a file or directory. 0 is none: the file system's own blocks have it as their owner.
pub type Ino = u32;

/// The first sector of those that are on no device: what is kept there is in memory only, until it is
/// written and [`FileSystem::place`] gives it a place (delayed allocation).
pub const UNPLACED: u64 = 1 << 62;

/// A block of the file system, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it is: on the device, or from [`UNPLACED`] on.
    pub extent: Extent,
    /// Which memory it is kept in.
    pub pool: Pool,
    /// How long it may stay dirty.
    pub delay: Delay,
    /// The file that it holds a part of; 0 for the file system's own. Only blocks of one file that lie
    /// side by side are written in one request.
    pub owner: Ino,
}

/// When a change is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// At once, and the program waits.
    Wait,
    /// At once, and the program goes on.
    Start,
    /// When the syncer finds it or its memory is needed.
    Later,
    /// Not before a [`Step::Release`], as what a journal has not committed yet.
    Hold,
}

/// A name that a file system gives to what it wants to go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job(pub u64);

/// Something that a task can wait for; the file system says whether it has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Milestone(pub u64);

/// What an operation does, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads a block and waits for it, if it is not in memory.
    Read(Block),
    /// Starts to read what is not in memory of so many blocks, side by side from this one on, and goes on.
    Prefetch(Block, u32),
    /// Compares so many directory entries.
    Scan(u32),
    /// Changes a block, which was just allocated if it is `fresh`, and need not be read.
    Change {
        /// The block.
        block: Block,
        /// Nothing of what is on the disk is kept.
        fresh: bool,
        /// When it is written.
        write: Write,
        /// What it is for: the file system's own note, which nobody else reads.
        purpose: u8,
    },
    /// What the block that starts here holds is of no use any more, and need not be written.
    Forget(Extent),
    /// A block that was held may be written, like any that is dirty.
    Release(Block),
    /// Starts to write what is dirty of the blocks that start in an extent; those on no device get
    /// their places first.
    Start(Extent),
    /// Waits until nothing is under way with the blocks that start in an extent.
    Await(Extent),
    /// Makes a request of the device itself, past memory, and goes on: a journal's blocks, a flush.
    /// One that is too large is cut.
    Submit(Op, Extent),
    /// Waits until all that this operation has submitted is done, as every operation does at its end.
    Drain,
    /// Waits until this has happened ([`FileSystem::has_happened`]).
    Until(Milestone),
    /// Hands back to the file system, which may note more steps ([`FileSystem::resume`]). The last step
    /// of its batch.
    Resume(Job),
}

/// What is in memory of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing.
    Absent,
    /// It is being read.
    Reading,
    /// As it is on the device.
    Clean,
    /// Changed, and not yet on its way.
    Dirty,
    /// On its way to the device.
    Writing,
}

/// What a file system may know of the memory that its blocks are kept in.
pub trait Memory {
    /// What is there of the block that starts at `sector`.
    fn held(&self, sector: u64) -> Held;
}

/// A batch of steps that has been taken.
pub struct Taken<'a> {
    /// The time.
    pub now: Nanos,
    /// The steps, with the [`Step::Resume`] at their end.
    pub steps: &'a [Step],
    /// What is in memory.
    pub memory: &'a dyn Memory,
    /// Whether all reads and requests that they waited for went well.
    pub result: Result<(), FsError>,
}

/// Why a file system's own task is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// It asked for this time ([`FileSystem::next_work`]).
    Time,
    /// Memory is short, and what it holds is in the way.
    Memory,
}

/// An access to the raw device, as mkfs(8), mount(8) and fsck(8) make them.
pub type Access = (Op, Extent);

/// One thing that fsck(8) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Reads these sectors, and waits for them.
    Read(Extent),
    /// Goes through so many inodes.
    Inodes(u64),
    /// Goes through so many directory entries.
    Entries(u64),
}

/// What fsck(8) does in the phases that read.
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
    /// Of the sectors read in phase 1, those of inodes.
    pub inode_sectors: u64,
}

/// How a file that is read in order is read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAhead {
    /// By a window of the file, which grows with each block read in order (4.4BSD's clusters).
    Window,
    /// As far as the host says, for each program (NetBSD 2).
    Fixed,
}

/// What write(2) starts to write itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteBehind {
    /// Nothing: the syncer and whoever needs memory write.
    None,
    /// A cluster, counted from where the blocks began to lie side by side (4.4BSD).
    Runs,
    /// A cluster, counted from the start of the file (NetBSD 2).
    Aligned,
}

/// How read(2) and write(2) go about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Reading ahead.
    pub read_ahead: ReadAhead,
    /// Writing behind.
    pub write_behind: WriteBehind,
    /// Whether a call on a file waits for the one before, also while that waits for the disk.
    pub one_call_at_a_time: bool,
}

/// A file system without time.
///
/// What `&mut self` calls note comes out of [`take_steps`](Self::take_steps). A call that fails may have
/// noted steps, too: what it read before it knew.
pub trait FileSystem: Any {
    /// The root directory.
    fn root(&self) -> Ino;

    /// How read(2) and write(2) go about it.
    fn policy(&self) -> Policy;

    // Names.

    /// The inode of a name, without any step: as if the kernel's name cache had it.
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

    /// Gives a file another name, perhaps in another directory; a file that has the name goes.
    ///
    /// # Errors
    ///
    /// Where there is no such file, or what has the name is a directory.
    fn rename(&mut self, from: (Ino, &str), to: (Ino, &str)) -> Result<(), FsError>;

    /// Reads a whole directory.
    ///
    /// # Errors
    ///
    /// Where it is none.
    fn read_directory(&mut self, directory: Ino) -> Result<(), FsError>;

    /// Sets a file's times, as utimes(2).
    fn set_times(&mut self, ino: Ino);

    /// A file that was read is closed: its time of last access may change.
    fn was_read(&mut self, ino: Ino);

    /// Nobody has this file open any more.
    fn closed(&mut self, _ino: Ino) {}

    // What files hold.

    /// The size of a block in bytes.
    fn block_bytes(&self) -> u64;

    /// A file's size in bytes.
    fn file_bytes(&self, ino: Ino) -> u64;

    /// Block `index` of a file, where it is now.
    fn file_block(&self, ino: Ino, index: u64) -> Block;

    /// Reads what has to be known to find block `index` of a file.
    fn read_map(&mut self, ino: Ino, index: u64);

    /// Changes the blocks of a file that hold bytes `start..end`, growing it as needed. Where allocation
    /// is delayed, new blocks lie from [`UNPLACED`] on, those of one file in its order and side by side.
    ///
    /// # Errors
    ///
    /// Where there is no room.
    fn write(&mut self, ino: Ino, start: u64, end: u64) -> Result<(), FsError>;

    /// Gives blocks of file `ino` that are on no device their places, one for each: they are in the
    /// file's order and side by side, and about to be written. From now on `file_block` says the new
    /// places. Nothing may be left to do with what was at those before: all that freed them has been
    /// taken to the last step.
    fn place(&mut self, _ino: Ino, _unplaced: &[Extent]) -> Vec<Extent> {
        unreachable!("a file system that delays allocation says how it is done")
    }

    // Durability.

    /// What fsync(2) writes first, side by side: what the file holds, and what names its blocks where that
    /// is written with them.
    fn extents_of(&self, ino: Ino) -> Vec<Extent>;

    /// fsync(2), once all `extents_of` are on the device: what has to follow.
    fn sync_file(&mut self, ino: Ino);

    /// sync(2), once nothing is dirty: what has to follow. Called until it notes no steps or fails.
    fn sync(&mut self) {}

    /// The block at `sector` is about to be written, as it is now.
    fn write_starts(&mut self, _sector: u64) {}

    /// The block at `sector` is on the device as it was when its write began, or was just read. Gives how
    /// long it may stay dirty, if that was not all of it.
    fn transfer_ends(&mut self, _sector: u64) -> Option<Delay> {
        None
    }

    /// The block at `sector` holds nothing any more ([`Step::Forget`] was taken), or could not be read or
    /// written.
    fn forgotten(&mut self, _sector: u64) {}

    // Time.

    /// The steps noted since they were last taken, in exchange for `into`'s memory. It is `now`.
    fn take_steps(&mut self, now: Nanos, into: &mut Vec<Step>);

    /// A [`Step::Resume`] was come to: may note more steps for the same task.
    fn resume(&mut self, _job: Job, _taken: &Taken<'_>) {}

    /// Whether this has happened. It must in the end, also where the device fails.
    fn has_happened(&self, _milestone: Milestone) -> bool {
        true
    }

    /// When its own task, as jbd2's, next has work. Asked after each batch of steps.
    fn next_work(&self) -> Option<Nanos> {
        None
    }

    /// Its own task's work: notes steps, which that task takes; it is not called again before they are.
    fn work(&mut self, _why: Call) {}

    /// All that was done so far is on the device, and took no time: to fill it before a measurement.
    fn settle(&mut self);

    // The whole.

    /// What mkfs(8) reads and writes, one access after the other.
    fn make(&self) -> Box<dyn Iterator<Item = Access> + '_>;

    /// What mount(8) reads and writes of the raw device.
    fn mount(&mut self) -> Vec<Access>;

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

    /// Checks that nothing is kept in mind for what is not written, as after sync(2).
    ///
    /// # Panics
    ///
    /// Where anything is.
    fn check_settled(&self) {}
}
