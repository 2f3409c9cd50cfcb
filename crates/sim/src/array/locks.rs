//! Locked rows, and the requests that wait for each.

use std::collections::VecDeque;

/// How many lists there are, as a power of 2: rows in flight are few, and a search looks at about one.
const LISTS_LOG2: u32 = 8;

/// Locked rows by their number. They are never walked, so that no order shows.
pub(super) struct Locks {
    /// Each row in one of the lists, with the slots of the requests that wait for it.
    lists: Vec<Vec<(u64, VecDeque<usize>)>>,
}

impl Locks {
    /// No row is locked.
    pub(super) fn new() -> Self {
        Locks { lists: vec![Vec::new(); 1 << LISTS_LOG2] }
    }

    fn list(&mut self, row: u64) -> &mut Vec<(u64, VecDeque<usize>)> {
        // Multiplied by 2^64 times the golden ratio, numbers at equal distances are far apart (Fibonacci hashing).
        let list = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - LISTS_LOG2);
        &mut self.lists[list as usize]
    }

    /// Locks `row` for the request in `slot`; `false` where another has it, and the request waits.
    pub(super) fn lock(&mut self, row: u64, slot: usize) -> bool {
        let list = self.list(row);
        if let Some((_, waiting)) = list.iter_mut().find(|(locked, _)| *locked == row) {
            waiting.push_back(slot);
            return false;
        }
        list.push((row, VecDeque::new()));
        true
    }

    /// Whoever has locked `row` needs it no more; returns the slot of the one that has it now.
    pub(super) fn unlock(&mut self, row: u64) -> Option<usize> {
        let list = self.list(row);
        let place = list.iter().position(|(locked, _)| *locked == row)?;
        let next = list[place].1.pop_front();
        if next.is_none() {
            list.swap_remove(place);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_goes_to_those_who_wait_in_order() {
        let mut locks = Locks::new();
        // So many that lists hold several.
        for row in 0..1000 {
            assert!(locks.lock(row, 1));
            assert!(!locks.lock(row, 2) && !locks.lock(row, 3));
        }
        for row in (0..1000).rev() {
            let after = [(); 4].map(|()| locks.unlock(row));
            assert_eq!(after, [Some(2), Some(3), None, None]);
            assert!(locks.lock(row, 4));
        }
    }
}
