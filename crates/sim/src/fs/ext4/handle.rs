//! Operations that change metadata: each is a handle on a transaction until its steps are taken.
//!
//! As `jbd2_journal_start` and `jbd2_journal_stop`: a transaction is committed only when no operation in
//! it is half done (`jbd2_journal_wait_updates`).

use super::Ext4;
use crate::fs::filesystem::{Job, Step};
use std::collections::BTreeMap;
use std::ops::Range;

/// Operations whose steps are not all taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Handles {
    next: u64,
    open: BTreeMap<u64, Handle>,
    /// The one whose steps are being noted.
    current: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Handle {
    /// Its transaction, where there is a journal.
    transaction: u64,
    /// What it frees, where there is none: free for others when its steps are taken.
    freed: Vec<Range<u64>>,
}

/// What the end of a batch of steps means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// An operation is over.
    Stop(u64),
    /// The log is not empty any more: the running transaction is locked.
    Lock,
    /// No operation of the transaction is half done: its log is written.
    Log,
    /// The log is written, but for the commit block.
    Logged,
    /// The commit block is written.
    Committed,
}

impl Next {
    pub(super) fn job(self) -> Job {
        Job(match self {
            Next::Log => 0,
            Next::Logged => 1,
            Next::Committed => 2,
            Next::Lock => 3,
            Next::Stop(handle) => 4 + handle,
        })
    }

    pub(super) fn of(job: Job) -> Self {
        match job.0 {
            0 => Next::Log,
            1 => Next::Logged,
            2 => Next::Committed,
            3 => Next::Lock,
            handle => Next::Stop(handle - 4),
        }
    }
}

impl Handles {
    /// The operation whose steps are being noted.
    pub(super) fn current(&self) -> Option<u64> {
        self.current
    }
}

impl Ext4 {
    /// Does an operation that changes metadata, as part of the call whose steps are being noted.
    pub(super) fn modify<T>(&mut self, operation: impl FnOnce(&mut Self) -> T) -> T {
        if self.handles.current.is_none() {
            let number = self.handles.next;
            self.handles.next += 1;
            let transaction = self.journal.as_mut().map_or(0, |journal| {
                let current = journal.current();
                current.handles += 1;
                current.number
            });
            self.handles.open.insert(number, Handle { transaction, freed: Vec::new() });
            self.handles.current = Some(number);
        }
        operation(self)
    }

    /// The steps of a call are about to be taken: its operation is over behind the last of them.
    pub(super) fn end_of_call(&mut self) {
        if let Some(number) = self.handles.current.take() {
            self.steps.push(Step::Resume(Next::Stop(number).job()));
        }
    }

    /// Blocks are free as soon as nothing that is on the disk names them any more.
    pub(super) fn free_later(&mut self, blocks: Range<u64>) {
        if let Some(journal) = &mut self.journal {
            journal.current().freed.push(blocks);
        } else if let Some(handle) =
            self.handles.current.and_then(|n| self.handles.open.get_mut(&n))
        {
            handle.freed.push(blocks);
        }
    }

    /// All steps of an operation are taken.
    pub(super) fn stop(&mut self, number: u64) {
        let Some(handle) = self.handles.open.remove(&number) else { return };
        for blocks in handle.freed {
            self.blocks.give(blocks);
        }
        if let Some(journal) = &mut self.journal {
            let transactions = [&mut journal.current, &mut journal.committing];
            let own = transactions.into_iter().flatten().find(|it| it.number == handle.transaction);
            own.expect("a transaction waits for its operations").handles -= 1;
        }
    }

    /// All operations are over, and what they freed is free.
    pub(super) fn stop_all(&mut self) {
        self.handles.current = None;
        for (_, handle) in std::mem::take(&mut self.handles.open) {
            for blocks in handle.freed {
                self.blocks.give(blocks);
            }
        }
    }

    /// Blocks that are freed and not yet free for others.
    pub(super) fn freed_blocks(&self) -> u64 {
        let transactions =
            self.journal.iter().flat_map(|it| [&it.current, &it.committing]).flatten();
        let in_journal = transactions.flat_map(|transaction| &transaction.freed);
        let in_handles = self.handles.open.values().flat_map(|handle| &handle.freed);
        in_journal.chain(in_handles).map(|blocks| blocks.end - blocks.start).sum()
    }
}
