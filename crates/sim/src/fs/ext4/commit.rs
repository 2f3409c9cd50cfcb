//! How a transaction comes to the disk, and what waits for it.
//!
//! ```text
//! wait until no operation in it is half done
//! start what its files hold | write the log: descriptors, revoked blocks, copies of metadata
//! wait for both             | flush, commit block, flush (or one that is written past the cache)
//! let go of its blocks: they are dirty now, and come to their places by and by
//! ```
//!
//! After Linux 6.1 `fs/jbd2/commit.c` (`jbd2_journal_commit_transaction`,
//! `journal_submit_commit_record`), `fs/jbd2/journal.c` (`kjournald2`,
//! `jbd2_journal_update_sb_log_tail`), `fs/jbd2/checkpoint.c` (`jbd2_log_do_checkpoint`) and
//! `fs/ext4/fsync.c` (`ext4_fsync_journal`, `ext4_fsync_nojournal`).

use super::handle::Next;
use super::journal::{CommitSize, Transaction};
use super::mount::Barrier;
use super::{Ext4, Ino};
use crate::Nanos;
use crate::fs::filesystem::{Call, Milestone, Step};
use crate::fs::kernel::Extent;
use block::Op;
use std::ops::Range;

const NOWHERE: Extent = Extent { sector: 0, sectors: 0 };

/// What becomes of each transaction.
const MILESTONES: u64 = 3;

/// All operations of a transaction are over.
fn is_quiet(transaction: u64) -> Milestone {
    Milestone(MILESTONES * transaction)
}

/// The log of a transaction is written, but for its commit block.
fn is_logged(transaction: u64) -> Milestone {
    Milestone(MILESTONES * transaction + 1)
}

/// A transaction is committed.
fn is_committed(transaction: u64) -> Milestone {
    Milestone(MILESTONES * transaction + 2)
}

impl Ext4 {
    /// Whether a transaction has come so far.
    pub(super) fn has_come_to(&self, milestone: Milestone) -> bool {
        let Some(journal) = &self.journal else { return true };
        let number = milestone.0 / MILESTONES;
        if milestone == is_committed(number) {
            return journal.committed >= number;
        }
        let committing = journal.committing.as_ref().filter(|it| it.number == number);
        committing.is_none_or(|it| {
            if milestone == is_logged(number) { it.is_logged } else { it.handles == 0 }
        })
    }

    /// Whoever changes a block that is on its way to the log waits until it is there: the log is written from the block
    /// itself (`BH_Shadow` in `do_get_write_access`).
    pub(super) fn wait_for_log(&mut self, block: u64) {
        let committing = self.journal.as_ref().and_then(|journal| journal.committing.as_ref());
        let shadowing = committing.filter(|it| !it.is_logged && it.blocks.contains(&block));
        let Some(number) = shadowing.map(|it| it.number) else { return };
        let wait = Step::Until(is_logged(number));
        // Twice in one operation is once.
        if !self.steps.contains(&wait) {
            self.steps.push(wait);
        }
    }

    /// When the next commit is due.
    pub(super) fn next_commit(&self) -> Option<Nanos> {
        let journal = self.journal.as_ref()?;
        let current = journal.current.as_ref().filter(|_| journal.committing.is_none())?;
        if current.is_wanted {
            return Some(self.now);
        }
        current.started.map(|started| started + self.mount.commit_ns)
    }

    /// The running transaction is committed, where it is due. If the log was empty, its superblock is written first, as it is
    /// empty no longer; what is changed meanwhile is still of this transaction.
    pub(super) fn start_commit(&mut self, why: Call) {
        let is_due = self.next_commit().is_some_and(|at| why == Call::Memory || at <= self.now);
        let Some(journal) = self.journal.as_mut().filter(|_| is_due) else { return };
        let changes =
            |current: &Transaction| !(current.blocks.is_empty() && current.revoked.is_empty());
        if !journal.is_empty || !journal.current.as_ref().is_some_and(changes) {
            return self.lock();
        }
        journal.is_empty = false;
        self.write_journal_super(false);
        self.steps.push(Step::Resume(Next::Lock.job()));
    }

    /// The running transaction is locked. Extents whose data are on the disk by then were marked in it.
    pub(super) fn lock(&mut self) {
        self.mark_what_is_written();
        match self.handles.current() {
            None => self.lock_now(),
            handle => self.locks_behind = handle,
        }
    }

    /// An operation is over: where a lock waits for it alone, that follows.
    pub(super) fn lock_behind(&mut self, handle: u64) {
        if self.locks_behind == Some(handle) {
            self.locks_behind = None;
            self.lock_now();
        }
    }

    fn lock_now(&mut self) {
        let Some(journal) = &mut self.journal else { return };
        let Some(transaction) = journal.current.take() else { return };
        let number = transaction.number;
        journal.committing = Some(transaction);
        self.steps.push(Step::Until(is_quiet(number)));
        self.steps.push(Step::Resume(Next::Log.job()));
    }

    /// The block of the journal's file, as runs of the disk.
    fn journal_extents(&self, log: Range<u64>) -> Vec<Extent> {
        let mut extents = Vec::new();
        let mut first = 0;
        for run in &self.geometry.journal {
            let length = run.end - run.start;
            let part = log.start.max(first)..log.end.min(first + length);
            if part.start < part.end {
                let start = run.start + part.start - first;
                extents.push(self.extent_of(start..start + part.end - part.start));
            }
            first += length;
        }
        extents
    }

    /// What the transaction that is being committed writes to the log.
    pub(super) fn commit_size(&self) -> CommitSize {
        let journal = self.journal.as_ref();
        let transaction = journal.and_then(|journal| journal.committing.as_ref());
        transaction.map_or(CommitSize::default(), |it| self.size_of(it))
    }

    fn size_of(&self, transaction: &Transaction) -> CommitSize {
        self.journal.as_ref().map_or(CommitSize::default(), |journal| journal.size(transaction))
    }

    /// The steps that write the log of the transaction that is being committed.
    pub(super) fn write_log(&mut self) {
        let size = self.commit_size();
        let Some(journal) = &mut self.journal else { return };
        let Some(committing) = &mut journal.committing else { return };
        if committing.blocks.is_empty() && committing.revoked.is_empty() {
            return self.has_committed();
        }
        let data = std::mem::take(&mut committing.data);
        let unplaced = journal.oldest_unplaced();
        if journal.free_log() < size.blocks() && !unplaced.is_empty() {
            let starts_over = !self.checkpoint(&unplaced, data);
            if starts_over {
                return;
            }
            return self.write_log();
        }
        let journal = self.journal.as_mut().expect("it has one");
        journal.lists_one();
        let log = journal.take_log(size.blocks() - 1);
        let commit_block = journal.take_log(1);
        if journal.regained_much() {
            journal.regained = 0;
            self.write_journal_super(true);
        }
        for &extent in &data {
            self.steps.push(Step::Start(extent));
        }
        let extents: Vec<Extent> =
            log.into_iter().flat_map(|run| self.journal_extents(run)).collect();
        self.steps.extend(extents.into_iter().map(|extent| Step::Submit(Op::WRITE, extent)));
        self.steps.extend(data.into_iter().map(Step::Await));
        self.steps.push(Step::Drain);
        let committing = self.journal.as_mut().and_then(|journal| journal.committing.as_mut());
        committing.expect("it is being written").commit_block = commit_block;
        self.steps.push(Step::Resume(Next::Logged.job()));
    }

    /// The steps that write the commit block, behind the log.
    pub(super) fn write_commit_block(&mut self) {
        let Some(journal) = &mut self.journal else { return };
        let Some(committing) = &mut journal.committing else { return };
        committing.is_logged = true;
        let commit_block = std::mem::take(&mut committing.commit_block);
        let extents: Vec<Extent> =
            commit_block.into_iter().flat_map(|run| self.journal_extents(run)).collect();
        let barrier = self.mount.barrier;
        for extent in extents {
            self.write_through(extent, barrier);
        }
        self.steps.push(Step::Resume(Next::Committed.job()));
    }

    /// Makes room in the log: what its oldest transaction has changed comes to its place first. Gives
    /// whether none of it could.
    fn checkpoint(&mut self, unplaced: &[u64], data: Vec<Extent>) -> bool {
        let Some(journal) = &mut self.journal else { return true };
        let is_held = |block: &u64| {
            let transactions = [&journal.current, &journal.committing];
            transactions.into_iter().flatten().any(|transaction| transaction.blocks.contains(block))
        };
        let free: Vec<u64> = unplaced.iter().copied().filter(|block| !is_held(block)).collect();
        if free.is_empty() {
            // All of it is in this transaction, too: its own copies make those in the log needless.
            for &block in unplaced {
                journal.placed(block);
            }
        }
        if let Some(committing) = &mut journal.committing {
            committing.data = data;
        }
        for &block in &free {
            let extent = self.extent_of(block..block + 1);
            self.steps.push(Step::Start(extent));
        }
        for &block in &free {
            let extent = self.extent_of(block..block + 1);
            self.steps.push(Step::Await(extent));
        }
        if !free.is_empty() {
            self.steps.push(Step::Resume(Next::Log.job()));
        }
        free.is_empty()
    }

    /// The journal's superblock says where the log begins; it is waited for.
    fn write_journal_super(&mut self, with_barrier: bool) {
        let barrier = if with_barrier { self.mount.barrier } else { Barrier::None };
        let extents = self.journal_extents(0..1);
        for extent in extents {
            self.write_through(extent, barrier);
        }
    }

    /// Writes past the drive's cache, after all that was written before.
    fn write_through(&mut self, extent: Extent, barrier: Barrier) {
        let write = |fua| Step::Submit(Op::Write { fua }, extent);
        let flush = Step::Submit(Op::Flush, NOWHERE);
        self.steps.extend(match barrier {
            Barrier::None => vec![write(false), Step::Drain],
            Barrier::Fua => vec![flush, Step::Drain, write(true), Step::Drain],
            Barrier::Flushes => {
                vec![flush, Step::Drain, write(false), Step::Drain, flush, Step::Drain]
            }
        });
    }

    /// The commit block is on the disk: what the transaction freed is free, and what it changed and the
    /// next one has not may come to its place.
    pub(super) fn has_committed(&mut self) {
        let size = self.commit_size();
        let Some(journal) = &mut self.journal else { return };
        let Some(transaction) = journal.committing.take() else { return };
        let is_nothing = transaction.blocks.is_empty() && transaction.revoked.is_empty();
        let log_blocks = if is_nothing { 0 } else { size.blocks() };
        journal.has_committed(&transaction, log_blocks);
        for blocks in transaction.freed {
            self.blocks.give(blocks);
        }
        for &block in &transaction.blocks {
            let journal = self.journal.as_ref().and_then(|journal| journal.current.as_ref());
            if !journal.is_some_and(|next| next.blocks.contains(&block)) {
                let block = self.metadata(block);
                self.steps.push(Step::Release(block));
            }
        }
    }

    /// What fsync(2) waits for, once the data are on the disk.
    pub(super) fn sync_inode(&mut self, ino: Ino) {
        let Some(journal) = &self.journal else { return self.sync_inode_in_place(ino) };
        let transaction = self.inode(ino).transaction;
        if transaction > journal.committed {
            self.wait_for(transaction);
        } else if self.mount.barrier != Barrier::None {
            self.steps.extend([Step::Submit(Op::Flush, NOWHERE), Step::Drain]);
        }
    }

    /// Without a journal: the inode, and the directories that lead to it, are written in their places.
    fn sync_inode_in_place(&mut self, ino: Ino) {
        let block = self.geometry.inode_block(ino);
        let extent = self.extent_of(block..block + 1);
        self.steps.extend([Step::Start(extent), Step::Await(extent)]);
        if self.mount.barrier != Barrier::None {
            self.steps.extend([Step::Submit(Op::Flush, NOWHERE), Step::Drain]);
        }
    }

    /// The extents of files whose data are on the disk are marked, and a commit starts, for which nobody waits
    /// (`ext4_sync_fs`, `jbd2_journal_start_commit`). Those whose data are on their way are marked in the next one.
    pub(super) fn begin_sync_all(&mut self) {
        self.mark_what_is_written();
        if let Some(current) = self.journal.as_mut().and_then(|journal| journal.current.as_mut()) {
            current.is_wanted = true;
        }
    }

    /// Marks the extents of files whose data are on the disk, as the kernel does as soon as they are (`ext4_end_io_rsv_work`).
    fn mark_what_is_written(&mut self) {
        let Some(reserved) = &self.reserved else { return };
        let on_their_way = reserved.files();
        let unwritten: Vec<Ino> = self.unwritten.difference(&on_their_way).copied().collect();
        for ino in unwritten {
            self.convert(ino);
        }
    }

    /// What sync(2) waits for, once the data are on the disk and their extents say so.
    pub(super) fn sync_all(&mut self) {
        let unwritten: Vec<Ino> = self.unwritten.iter().copied().collect();
        if !unwritten.is_empty() {
            return unwritten.into_iter().for_each(|ino| self.convert(ino));
        }
        let Some(journal) = &self.journal else { return };
        let transactions = [&journal.committing, &journal.current];
        let newest = transactions.into_iter().flatten().map(|transaction| transaction.number).max();
        if let Some(transaction) = newest {
            self.wait_for(transaction);
        }
    }

    fn wait_for(&mut self, transaction: u64) {
        let current = self.journal.as_mut().and_then(|journal| journal.current.as_mut());
        if let Some(current) = current.filter(|current| current.number == transaction) {
            current.is_wanted = true;
        }
        self.steps.push(Step::Until(is_committed(transaction)));
    }
}
