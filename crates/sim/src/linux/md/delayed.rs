//! Rows of buffered writes that are not whole wait for the rest.
//!
//! ```text
//! delayed   a row that would have to read first; all of them move on once no row reads ahead of its write
//!           (raid5_activate_delayed)
//! held      may read, and does so when the thread has nothing else to handle, and whole rows are on their way no
//!           more or two that nothing was sent for yet have been handled while it was the first here
//!           (__get_priority_stripe)
//! ```
//!
//! A row that is given more blocks leaves its list and is handled at once.

use super::Md;
use super::cache::Row;
use crate::Device;
use std::collections::VecDeque;

/// Rows handled ahead of the first held one before that has its turn (`bypass_threshold`).
const BYPASSES: u32 = 1;

/// Whether a row waits for the rest of what is written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Waits {
    /// It does not.
    #[default]
    No,
    /// Until no row reads.
    Delayed,
    /// It may read, once there is nothing else to do.
    Held,
    /// It may read at once, although more may come (`STRIPE_PREREAD_ACTIVE`).
    Over,
}

impl Waits {
    fn may_read(self) -> bool {
        matches!(self, Waits::Held | Waits::Over)
    }

    /// The same once it has left its list.
    fn off_its_list(self) -> Waits {
        if self.may_read() { Waits::Over } else { Waits::No }
    }
}

/// The rows that wait. A row that has left its list is skipped there.
#[derive(Clone, Debug, Default)]
pub(super) struct Delayed {
    waiting: VecDeque<usize>,
    held: VecDeque<usize>,
    /// Rows that may read, and have not been written yet (`preread_active_stripes`).
    reading: usize,
    bypasses: u32,
    /// The first held row when another was last handled.
    bypassed: Option<usize>,
}

impl Delayed {
    /// A row waits until no other reads.
    fn delay(&mut self, slot: usize, row: &mut Row) {
        row.waits = Waits::Delayed;
        self.waiting.push_back(slot);
    }

    /// Once no row reads, all that are delayed may, as soon as it is their turn.
    fn activate(&mut self, rows: &mut [Row]) {
        if self.reading > 0 {
            return;
        }
        for slot in self.waiting.drain(..) {
            let row = &mut rows[slot];
            if row.waits == Waits::Delayed {
                row.waits = Waits::Held;
                self.reading += 1;
                self.held.push_back(slot);
            }
        }
    }

    /// The first row that is held.
    fn first(&mut self, rows: &[Row]) -> Option<usize> {
        while let Some(&slot) = self.held.front() {
            if rows[slot].waits == Waits::Held {
                return Some(slot);
            }
            self.held.pop_front();
        }
        None
    }

    /// Another row is handled while rows are held. One that comes back from the members is not ahead of them.
    fn bypass(&mut self, row: &Row, first: Option<usize>) {
        match first {
            None => self.bypasses = 0,
            Some(_) if row.has_begun => {}
            first if first == self.bypassed => self.bypasses += 1,
            first => {
                self.bypassed = first;
                self.bypasses = self.bypasses.saturating_sub(BYPASSES);
            }
        }
    }
}

impl<D: Device> Md<D> {
    /// A row would have to read before it can be written; whether it waits instead.
    pub(super) fn is_delayed(&mut self, slot: usize) -> bool {
        let Some(delayed) = &mut self.delayed else { return false };
        let row = &mut self.cache.rows[slot];
        let waits = !row.waits.may_read();
        if waits {
            delayed.delay(slot, row);
        }
        waits
    }

    /// A row is given blocks that somebody waits for: it is not delayed (`make_stripe_request`, `STRIPE_PREREAD_ACTIVE`).
    pub(super) fn may_read_at_once(&mut self, slot: usize) {
        if let Some(delayed) = &mut self.delayed {
            let row = &mut self.cache.rows[slot];
            delayed.reading += usize::from(!row.waits.may_read());
            row.waits = Waits::Over;
        }
    }

    /// The next row for the thread: one that was released, else a held one whose turn it is.
    pub(super) fn next_to_handle(&mut self) -> Option<usize> {
        let next = self.handle.pop_front();
        let Some(delayed) = &mut self.delayed else { return next };
        let rows = &mut self.cache.rows;
        let first = delayed.first(rows);
        if let Some(slot) = next {
            delayed.bypass(&rows[slot], first);
            rows[slot].waits = rows[slot].waits.off_its_list();
            return next;
        }
        let slot = first?;
        if delayed.bypasses <= BYPASSES && self.whole_writes > 0 {
            return None;
        }
        delayed.bypasses = delayed.bypasses.saturating_sub(BYPASSES);
        rows[slot].waits = Waits::Over;
        delayed.held.pop_front();
        Some(slot)
    }

    /// At the beginning of each pass, rows that are delayed move on where none reads.
    pub(super) fn activate_delayed(&mut self) {
        if let Some(delayed) = &mut self.delayed {
            delayed.activate(&mut self.cache.rows);
        }
    }

    /// A row is written: it reads no more.
    pub(super) fn ends_reading(&mut self, slot: usize) {
        if let Some(delayed) = &mut self.delayed
            && std::mem::take(&mut self.cache.rows[slot].waits).may_read()
        {
            delayed.reading -= 1;
        }
    }
}
