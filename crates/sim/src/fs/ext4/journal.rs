//! What the journal remembers: which blocks each transaction has changed, and where its log ends.
//!
//! ```text
//! a commit   descriptor | 253 blocks | descriptor | … | revoke blocks | commit block
//! ```
//!
//! A descriptor names the blocks behind it by tags of 16 bytes (checksums of version 3), the first of
//! which has the UUID of the journal, too. A log block of each transaction is used again only when all
//! that the transaction changed is in its place.
//!
//! After Linux 6.1 `fs/jbd2/commit.c` (`jbd2_journal_commit_transaction`), `fs/jbd2/transaction.c`,
//! `fs/jbd2/revoke.c` (`write_one_revoke_record`) and `fs/jbd2/checkpoint.c`.

use crate::Nanos;
use crate::fs::kernel::Extent;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

const HEADER_BYTES: u64 = 12;
const TAG_BYTES: u64 = 16;
const UUID_BYTES: u64 = 16;
const CHECKSUM_BYTES: u64 = 4;
/// A revoke block's own header.
const REVOKE_HEADER_BYTES: u64 = 16;
const REVOKE_BYTES: u64 = 8;

/// Changes that come to the disk together or not at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Transaction {
    /// Its number, which rises.
    pub(super) number: u64,
    /// When its first operation began; not known until that takes its first step.
    pub(super) started: Option<Nanos>,
    /// Operations in it whose steps are not all taken.
    pub(super) handles: u32,
    /// Blocks of metadata that it changes.
    pub(super) blocks: BTreeSet<u64>,
    /// Blocks of metadata that older transactions have in the log and that are something else now.
    pub(super) revoked: BTreeSet<u64>,
    /// What was freed in it: free for others when it is committed.
    pub(super) freed: Vec<Range<u64>>,
    /// What files were given in it: what is there has to be written first.
    pub(super) data: Vec<Extent>,
    /// Somebody waits for it.
    pub(super) is_wanted: bool,
    /// Its log is written, but for the commit block.
    pub(super) is_logged: bool,
    /// Where in the log that comes.
    pub(super) commit_block: Vec<Range<u64>>,
}

/// The journal.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    /// Of the log itself: the first block is its superblock.
    log_blocks: u64,
    tags_per_block: u64,
    revokes_per_block: u64,
    pub(super) current: Option<Transaction>,
    pub(super) committing: Option<Transaction>,
    /// The number of the last transaction that began.
    last: u64,
    /// All up to here are committed.
    pub(super) committed: u64,
    /// The next block of the log.
    head: u64,
    /// The journal's superblock says that the log is empty (`JBD2_FLUSHED`).
    pub(super) is_empty: bool,
    /// Committed transactions with blocks that are not in their places, oldest first: what each takes in
    /// the log.
    unplaced: VecDeque<(u64, u64)>,
    /// The transaction that had each block last, where that is committed and the block not in its place.
    to_place: BTreeMap<u64, u64>,
    /// How many blocks each of those transactions has.
    counts: BTreeMap<u64, u64>,
    /// Blocks of the log that may be used again since the superblock was last written.
    pub(super) regained: u64,
    /// Transactions that the last commit left to be checkpointed, itself among them: those that are in their places are taken off
    /// the list when one commits (`__jbd2_journal_clean_checkpoint_list`).
    pub(super) listed: usize,
}

/// What a commit writes to the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CommitSize {
    /// Descriptor blocks.
    pub(super) descriptors: u64,
    /// Blocks of revoked blocks.
    pub(super) revokes: u64,
    /// Copies of metadata.
    pub(super) metadata: u64,
}

impl CommitSize {
    /// All of them, and the commit block.
    pub(super) fn blocks(&self) -> u64 {
        self.descriptors + self.revokes + self.metadata + 1
    }
}

impl Journal {
    /// An empty journal of so many blocks.
    pub(super) fn new(blocks: u64, block_bytes: u64) -> Self {
        let left_bytes = block_bytes - HEADER_BYTES - TAG_BYTES - UUID_BYTES;
        // It begins a new descriptor when a tag, a UUID and the checksum no longer fit.
        let least_bytes = TAG_BYTES + UUID_BYTES + CHECKSUM_BYTES;
        Journal {
            log_blocks: blocks - 1,
            tags_per_block: 1 + (left_bytes - least_bytes) / TAG_BYTES + 1,
            revokes_per_block: (block_bytes - REVOKE_HEADER_BYTES - CHECKSUM_BYTES) / REVOKE_BYTES,
            current: None,
            committing: None,
            last: 0,
            committed: 0,
            head: 0,
            is_empty: true,
            unplaced: VecDeque::new(),
            to_place: BTreeMap::new(),
            counts: BTreeMap::new(),
            regained: 0,
            listed: 0,
        }
    }

    /// The running transaction, which begins with this if there is none.
    pub(super) fn current(&mut self) -> &mut Transaction {
        let last = &mut self.last;
        self.current.get_or_insert_with(|| {
            *last += 1;
            Transaction { number: *last, ..Transaction::default() }
        })
    }

    /// The number of the running transaction, or of the one that will be next.
    pub(super) fn running(&self) -> u64 {
        self.current.as_ref().map_or(self.last + 1, |current| current.number)
    }

    /// A block is changed in the running transaction.
    pub(super) fn join(&mut self, block: u64) {
        let limit = self.transaction_blocks();
        let current = self.current();
        current.blocks.insert(block);
        current.revoked.remove(&block);
        // One that has become too large is committed at once (`add_transaction_credits`).
        current.is_wanted |= current.blocks.len() as u64 > limit;
    }

    /// The most blocks of metadata in a transaction: a quarter of the journal.
    pub(super) fn transaction_blocks(&self) -> u64 {
        (self.log_blocks + 1) / 4
    }

    /// A block of metadata is free: what the log has of it may not be written over what comes there
    /// (`jbd2_journal_forget`, `jbd2_journal_revoke`).
    pub(super) fn forget(&mut self, block: u64) {
        let current = self.current();
        current.blocks.remove(&block);
        current.revoked.insert(block);
        if let Some(committing) = &mut self.committing {
            committing.blocks.remove(&block);
        }
        self.placed(block);
    }

    /// What a transaction writes to the log.
    pub(super) fn size(&self, transaction: &Transaction) -> CommitSize {
        let metadata = transaction.blocks.len() as u64;
        CommitSize {
            descriptors: metadata.div_ceil(self.tags_per_block),
            revokes: (transaction.revoked.len() as u64).div_ceil(self.revokes_per_block),
            metadata,
        }
    }

    /// A transaction is about to be written to the log.
    pub(super) fn lists_one(&mut self) {
        self.listed = self.unplaced.len() + 1;
    }

    /// An umount: whoever mounts next begins the log with its first block (`journal_reset` of `fs/jbd2/journal.c`).
    pub(super) fn starts_over(&mut self) {
        (self.head, self.regained) = (0, 0);
    }

    /// Takes `blocks` of the log; gives them as runs of it, behind the superblock.
    pub(super) fn take_log(&mut self, blocks: u64) -> Vec<Range<u64>> {
        let start = self.head % self.log_blocks;
        self.head += blocks;
        let end = start + blocks;
        let wrapped = end.saturating_sub(self.log_blocks);
        let runs = [1 + start..1 + end - wrapped, 1..1 + wrapped];
        runs.into_iter().filter(|run| !run.is_empty()).collect()
    }

    /// Blocks of the log that no transaction needs.
    pub(super) fn free_log(&self) -> u64 {
        self.log_blocks - self.unplaced.iter().map(|&(_, blocks)| blocks).sum::<u64>()
    }

    /// Whether what regained space is much: then the journal's superblock is written
    /// (`jbd2_journal_commit_transaction`, `update_tail`).
    pub(super) fn regained_much(&self) -> bool {
        self.regained >= self.transaction_blocks()
    }

    /// The transaction of this number, with `blocks` in the log, is committed.
    pub(super) fn has_committed(&mut self, transaction: &Transaction, log_blocks: u64) {
        self.committed = transaction.number;
        self.unplaced.push_back((transaction.number, log_blocks));
        for &block in &transaction.blocks {
            self.placed_before(block);
            self.to_place.insert(block, transaction.number);
        }
        self.counts.insert(transaction.number, transaction.blocks.len() as u64);
        self.drop_placed();
    }

    /// A block is in its place as it was last committed.
    pub(super) fn placed(&mut self, block: u64) {
        self.placed_before(block);
        self.drop_placed();
    }

    fn placed_before(&mut self, block: u64) {
        if let Some(number) = self.to_place.remove(&block)
            && let Some(count) = self.counts.get_mut(&number)
        {
            *count -= 1;
        }
    }

    fn drop_placed(&mut self) {
        while let Some(&(number, log_blocks)) = self.unplaced.front()
            && self.counts.get(&number) == Some(&0)
        {
            self.counts.remove(&number);
            self.unplaced.pop_front();
            self.regained += log_blocks;
        }
    }

    /// The blocks of the oldest committed transaction that are not in their places.
    pub(super) fn oldest_unplaced(&self) -> Vec<u64> {
        let Some(&(oldest, _)) = self.unplaced.front() else { return Vec::new() };
        let of_oldest = self.to_place.iter().filter(|&(_, &number)| number == oldest);
        of_oldest.map(|(&block, _)| block).collect()
    }

    /// Whether everything is committed and in its place.
    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none() && self.committing.is_none() && self.unplaced.is_empty()
    }

    /// All is committed and in its place, in no time.
    pub(super) fn settle(&mut self) -> Vec<Range<u64>> {
        let freed = [self.current.take(), self.committing.take()];
        self.committed = self.last;
        self.unplaced.clear();
        self.to_place.clear();
        self.counts.clear();
        self.is_empty = true;
        self.regained = 0;
        self.listed = 0;
        freed.into_iter().flatten().flat_map(|transaction| transaction.freed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(blocks: u64) -> Journal {
        let mut journal = Journal::new(1024, 4096);
        (0..blocks).for_each(|block| journal.join(block));
        journal
    }

    /// Sizes of commits that were measured: touch, retouch, unlink, 32 directories, untar, and rm -r,
    /// which revokes the blocks of 251 directories.
    #[test]
    fn a_commit_takes_the_blocks_that_it_took() {
        for (metadata, revoked, measured) in [
            (692, 0, 696),
            (626, 0, 630),
            (687, 0, 691),
            (129, 0, 131),
            (588, 0, 592),
            (337, 251, 341),
            (5, 0, 7),
        ] {
            let mut journal = filled(metadata);
            (0..revoked).for_each(|block| journal.forget(100_000 + block));
            let transaction = journal.current.clone().unwrap();
            assert_eq!(journal.size(&transaction).blocks(), measured, "{metadata}");
        }
    }

    #[test]
    fn the_log_is_used_again_when_all_of_a_transaction_is_in_its_place() {
        let mut journal = filled(10);
        let commit = |journal: &mut Journal| {
            let transaction = journal.current.take().unwrap();
            let blocks = journal.size(&transaction).blocks();
            journal.take_log(blocks);
            journal.has_committed(&transaction, blocks);
        };
        commit(&mut journal);
        (5..10).for_each(|block| journal.join(block));
        commit(&mut journal);
        assert_eq!(journal.free_log(), 1023 - 12 - 7);
        assert_eq!(journal.oldest_unplaced(), [0, 1, 2, 3, 4]);
        (0..5).for_each(|block| journal.placed(block));
        assert_eq!((journal.free_log(), journal.regained), (1023 - 7, 12));
        (5..10).for_each(|block| journal.placed(block));
        assert!(journal.is_idle() && journal.free_log() == 1023);
    }

    #[test]
    fn the_log_goes_round_past_its_superblock() {
        let mut journal = Journal::new(100, 4096);
        assert_eq!(journal.take_log(90).first(), Some(&(1..91)));
        assert_eq!(journal.take_log(20), [91..100, 1..12]);
        assert_eq!(journal.take_log(5).first(), Some(&(12..17)));
    }
}
