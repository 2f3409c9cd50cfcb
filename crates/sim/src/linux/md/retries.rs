//! Reads that found no place in a member's queue and may not sleep for one: the thread reads them again, row by row.

use super::{Bio, Md};
use crate::{Device, Nanos, Spent};

/// Reads that are tried again, the last first (`add_bio_to_retry`).
#[derive(Clone, Debug, Default)]
pub(super) struct Retries {
    /// The one that the thread is in the middle of (`retry_read_aligned`).
    begun: Option<Bio>,
    others: Vec<Bio>,
    /// None can go on before the thread has let go of a row.
    wait_for_rows: bool,
    /// How many there were.
    pub(super) count: u64,
}

impl Retries {
    pub(super) fn push(&mut self, bio: Bio) {
        self.others.push(bio);
        self.count += 1;
    }

    /// Whether the thread can go on with one.
    pub(super) fn are_ready(&self) -> bool {
        let is_any = self.begun.is_some() || !self.others.is_empty();
        is_any && !self.wait_for_rows
    }

    /// A row has changed.
    pub(super) fn row_released(&mut self) {
        self.wait_for_rows = false;
    }
}

impl<D: Device> Md<D> {
    /// Reads the next block of what is tried again, all of it before anything else is handled (`retry_aligned_read`). Gives
    /// whether there was one.
    pub(super) fn retry_read(&mut self, now: Nanos) -> bool {
        if !self.retries.are_ready() {
            return false;
        }
        let retries = &mut self.retries;
        let bio = retries.begun.take().or_else(|| retries.others.pop()).expect("one is ready");
        let caller = bio.caller;
        let Some(sector) = bio.next() else {
            self.callers.part_done(now, caller, Spent::NONE, None);
            return true;
        };
        let (number, unit) = self.rows.of(sector);
        let Some(slot) = self.cache.take_awake(number) else {
            self.retries.begun = Some(bio);
            self.retries.wait_for_rows = true;
            return false;
        };
        self.retries.begun = Some(Bio { over: bio.over + 1, ..bio });
        self.cache.rows[slot].readers.push((1 << unit, caller));
        self.callers.add_parts(caller, 1);
        self.worked_ns += self.costs.row_ns;
        self.handle_row(now, slot);
        true
    }
}
