//! Rows that are locked, and who waits for each.

use std::collections::{BTreeMap, VecDeque};

/// Locks by row. Each request takes its rows in ascending order, so that no two wait for each other.
#[derive(Debug, Default)]
pub(super) struct Locks {
    rows: BTreeMap<u64, VecDeque<usize>>,
}

impl Locks {
    /// Locks `row` for request `slot`, or has it wait its turn.
    pub(super) fn lock(&mut self, row: u64, slot: usize) -> bool {
        match self.rows.get_mut(&row) {
            Some(waiting) => {
                waiting.push_back(slot);
                false
            }
            None => self.rows.insert(row, VecDeque::new()).is_none(),
        }
    }

    /// Unlocks `row`, or gives the request that has it now.
    pub(super) fn unlock(&mut self, row: u64) -> Option<usize> {
        let next = self.rows.get_mut(&row).and_then(VecDeque::pop_front);
        if next.is_none() {
            self.rows.remove(&row);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_goes_from_hand_to_hand_in_order() {
        let mut locks = Locks::default();
        assert!(locks.lock(7, 0) && locks.lock(8, 1));
        assert!(!locks.lock(7, 2) && !locks.lock(7, 3));
        assert_eq!([locks.unlock(7), locks.unlock(7), locks.unlock(7)], [Some(2), Some(3), None]);
        assert!(locks.lock(7, 4) && !locks.lock(8, 4));
    }
}
