//! Which of many drives has the next event.

use crate::Nanos;
use std::hint::select_unpredictable;

/// The earliest of a fixed number of times, kept as a tournament: every node holds the winner of its
/// two children. Looking is O(1); changing one time is one comparison a level. Ties go to the lower
/// index, so that order never depends on history.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    /// Node 1 is the root, the children of n are 2n and 2n + 1, and the leaves fill the upper half. Each entry has the
    /// two children of its node.
    children: Vec<[(Nanos, u32); 2]>,
    /// The winner of all.
    root: (Nanos, u32),
    leaves: usize,
}

/// The time of an entry without an event. There is one after it, which none has.
const NEVER: Nanos = Nanos::MAX - 1;

impl Due {
    /// `count` times, none of them set.
    pub(crate) fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two();
        let mut children = vec![[(NEVER, 0); 2]; leaves];
        for index in 0..leaves {
            let leaf = leaves + index;
            if let Some(pair) = children.get_mut(leaf / 2) {
                pair[leaf % 2] = (NEVER, index as u32);
            }
        }
        Due { children, root: (NEVER, 0), leaves }
    }

    /// Sets the time of `index`.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, at: Option<Nanos>) {
        let mut winner = (at.unwrap_or(NEVER).min(NEVER), index as u32);
        if self.leaves == 1 {
            self.root = winner;
            return;
        }
        let mut node = self.leaves + index;
        let leaf = &mut self.children[node / 2][node % 2];
        if std::mem::replace(leaf, winner) == winner {
            return;
        }
        while node > 1 {
            let (pair, side) = (&mut self.children[node / 2], node % 2);
            pair[side] = winner;
            let other = pair[1 - side];
            // Of equals the lower wins: against that on the right it need not be earlier. Who wins is as random as what is
            // due, so that nothing here is a branch: neither this nor whether anything changes further up. Nor is what has
            // just been written read again, which would be to wait for it at every level.
            let is_other = other.0 < winner.0 + side as Nanos;
            winner = select_unpredictable(is_other, other, winner);
            node /= 2;
        }
        self.root = winner;
    }

    /// The earliest time and whose it is.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Nanos, usize)> {
        let (at, index) = self.root;
        (at != NEVER).then_some((at, index as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sequence of changes over a few indices agrees with a plain search.
    #[test]
    fn the_first_is_the_earliest_and_ties_go_to_the_lower_index() {
        for count in 1..6_usize {
            let mut due = Due::new(count);
            let mut times = vec![None; count];
            let mut state = 7_u64;
            for _ in 0..2000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let index = (state >> 33) as usize % count;
                let at = (!(state >> 40).is_multiple_of(4)).then_some((state >> 50) % 8);
                times[index] = at;
                due.set(index, at);
                let expected =
                    times.iter().enumerate().filter_map(|(i, at)| at.map(|at| (at, i))).min();
                assert_eq!(due.first(), expected);
            }
        }
    }
}
