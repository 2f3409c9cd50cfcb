//! Which of many drives has the next event.

use crate::Nanos;
use std::hint::select_unpredictable;

/// The earliest of a fixed number of times, kept as a tournament: every node holds the winner of its
/// two children. Looking is O(1); changing one time is one comparison a level. Ties go to the lower
/// index, so that order never depends on history.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    /// Node 1 is the root, the children of n are 2n and 2n + 1, and the leaves fill the upper half.
    nodes: Vec<(Nanos, u32)>,
    leaves: usize,
}

/// The time of an entry without an event: so long that one more is still a number.
const NEVER: Nanos = Nanos::MAX - 1;

impl Due {
    /// `count` times, none of them set.
    pub(crate) fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two();
        let mut nodes = vec![(NEVER, 0); 2 * leaves];
        for index in 0..leaves {
            nodes[leaves + index] = (NEVER, index as u32);
        }
        Due { nodes, leaves }
    }

    /// Sets the time of `index`.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, at: Option<Nanos>) {
        let node = self.leaves + index;
        let at = at.unwrap_or(NEVER).min(NEVER);
        if self.nodes[node].0 != at {
            self.nodes[node].0 = at;
            if node > 1 {
                self.rise(node);
            }
        }
    }

    /// Decides again who wins above `node`, which has changed.
    fn rise(&mut self, mut node: usize) {
        let mut winner = self.nodes[node];
        while node > 1 {
            let sibling = self.nodes[node ^ 1];
            // Of siblings the even one has the lower indices: it wins a tie. Who wins is as random as what is due, so
            // that nothing here is a branch: neither this nor whether anything changes further up.
            let sibling_wins = sibling.0 < winner.0 + (node as Nanos & 1);
            winner = select_unpredictable(sibling_wins, sibling, winner);
            node /= 2;
            self.nodes[node] = winner;
        }
    }

    /// The earliest time and whose it is.
    pub(crate) fn first(&self) -> Option<(Nanos, usize)> {
        let (at, index) = self.nodes[1];
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
