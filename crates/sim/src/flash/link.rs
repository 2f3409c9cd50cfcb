//! The link between a flash drive and its host.

use crate::Nanos;
use std::collections::VecDeque;

/// When the link is free. A shared one (SATA) carries one direction at a time; that of `NVMe` carries both at once.
#[derive(Clone, Debug)]
pub(super) enum Link {
    /// When each direction is free.
    Both { reads_free_at: Nanos, writes_free_at: Nanos },
    /// When it carries something, from and to, in order. A write asks for it ahead, from when its command will have been
    /// taken; what is ready before goes first where it fits.
    Shared(VecDeque<(Nanos, Nanos)>),
}

impl Link {
    pub(super) fn new(is_shared: bool) -> Self {
        if is_shared {
            return Link::Shared(VecDeque::new());
        }
        Link::Both { reads_free_at: 0, writes_free_at: 0 }
    }

    /// Moves the data of a read that is ready `now`; returns when the host has it.
    pub(super) fn read(&mut self, now: Nanos, moving_ns: Nanos) -> Nanos {
        match self {
            Link::Both { reads_free_at, .. } => after(reads_free_at, now, moving_ns),
            Link::Shared(taken) => book(taken, now, now, moving_ns),
        }
    }

    /// Moves the data of a write whose command is taken at `taken_at`, not before `now`; returns when the drive has it.
    pub(super) fn write(&mut self, now: Nanos, taken_at: Nanos, moving_ns: Nanos) -> Nanos {
        match self {
            Link::Both { writes_free_at, .. } => after(writes_free_at, taken_at, moving_ns),
            Link::Shared(taken) => book(taken, now, taken_at, moving_ns),
        }
    }

    /// Forgets what it was to move after `now`.
    pub(super) fn abort(&mut self, now: Nanos) {
        match self {
            Link::Both { reads_free_at, writes_free_at } => {
                *reads_free_at = (*reads_free_at).min(now);
                *writes_free_at = (*writes_free_at).min(now);
            }
            Link::Shared(taken) => taken.clear(),
        }
    }
}

/// In turn: the end of what begins when the direction is free.
fn after(free_at: &mut Nanos, ready_at: Nanos, moving_ns: Nanos) -> Nanos {
    *free_at = (*free_at).max(ready_at) + moving_ns;
    *free_at
}

/// In the first gap that is long enough, from `ready_at` on: with 10 to 20 and 50 to 60 taken, 15 ns that are ready at 5 go from
/// 20 to 35.
fn book(
    taken: &mut VecDeque<(Nanos, Nanos)>,
    now: Nanos,
    ready_at: Nanos,
    moving_ns: Nanos,
) -> Nanos {
    while taken.front().is_some_and(|&(_, end)| end <= now) {
        taken.pop_front();
    }
    let (mut place, mut start) = (0, ready_at);
    for &(from, to) in taken.iter() {
        if start + moving_ns <= from {
            break;
        }
        start = start.max(to);
        place += 1;
    }
    taken.insert(place, (start, start + moving_ns));
    start + moving_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_wait_for_each_other_only_on_a_shared_link() {
        // A read and a write of 10 ns each, both ready at 0, in either order.
        for (is_shared, second) in [(true, 20), (false, 10)] {
            let mut link = Link::new(is_shared);
            assert_eq!((link.read(0, 10), link.write(0, 0, 10)), (10, second));
            let mut link = Link::new(is_shared);
            assert_eq!((link.write(0, 0, 10), link.read(0, 10)), (10, second));
            link.abort(5);
            assert_eq!((link.read(5, 10), link.write(5, 5, 10)), (15, second + 5));
        }
    }

    #[test]
    fn what_is_ready_goes_before_what_is_not() {
        let mut link = Link::new(true);
        assert_eq!(link.write(0, 100, 10), 110);
        assert_eq!(link.read(20, 10), 30);
        // It does not fit in front of the write.
        assert_eq!(link.read(30, 80), 190);
        assert_eq!(link.read(40, 60), 100);
        let mut taken = VecDeque::from([(10, 20), (50, 60)]);
        assert_eq!(book(&mut taken, 0, 5, 15), 35);
        assert_eq!(taken, [(10, 20), (20, 35), (50, 60)]);
    }
}
