//! The link between a flash drive and its host.

use crate::Nanos;

/// When each direction is free. A shared link (SATA) carries one direction at a time; that of `NVMe` carries both at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    reads_free_at: Nanos,
    writes_free_at: Nanos,
    is_shared: bool,
}

impl Link {
    pub(super) fn new(is_shared: bool) -> Self {
        Link { is_shared, ..Link::default() }
    }

    /// Moves the data of a read that is ready at `ready_at`; returns when the host has it.
    pub(super) fn read(&mut self, ready_at: Nanos, moving_ns: Nanos) -> Nanos {
        let end = self.reads_free_at.max(ready_at) + moving_ns;
        self.reads_free_at = end;
        if self.is_shared {
            self.writes_free_at = end;
        }
        end
    }

    /// Moves the data of a write whose command was taken at `taken_at`; returns when the drive has it.
    pub(super) fn write(&mut self, taken_at: Nanos, moving_ns: Nanos) -> Nanos {
        let end = self.writes_free_at.max(taken_at) + moving_ns;
        self.writes_free_at = end;
        if self.is_shared {
            self.reads_free_at = end;
        }
        end
    }

    /// Forgets what it was to move after `now`.
    pub(super) fn abort(&mut self, now: Nanos) {
        self.reads_free_at = self.reads_free_at.min(now);
        self.writes_free_at = self.writes_free_at.min(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_wait_for_each_other_only_on_a_shared_link() {
        // A read and a write of 10 ns each, both ready at 0, in either order.
        for (is_shared, second) in [(true, 20), (false, 10)] {
            let mut link = Link::new(is_shared);
            assert_eq!((link.read(0, 10), link.write(0, 10)), (10, second));
            let mut link = Link::new(is_shared);
            assert_eq!((link.write(0, 10), link.read(0, 10)), (10, second));
            link.abort(5);
            assert_eq!((link.read(5, 10), link.write(5, 10)), (15, second + 5));
        }
    }
}
