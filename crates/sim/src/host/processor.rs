//! A processor, and what drivers cost on it.

use crate::Nanos;
use std::cell::Cell;
use std::rc::Rc;

/// One processor: one piece of work at a time, in order of arrival.
///
/// A handle: clones are the same processor. Whoever builds a machine makes one and gives it to
/// everything that runs there (the driver of a volume, the kernel under a file system, the programs),
/// so that they compete for it. A hardware controller has one of its own.
#[derive(Clone, Debug, Default)]
pub struct Processor(Rc<Cell<Load>>);

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    free_at: Nanos,
    busy_ns: Nanos,
}

impl Processor {
    /// Does `work_ns` of work that arrives at `now`; returns its start and its end.
    ///
    /// Calls come in the order of `now`.
    pub fn work(&self, now: Nanos, work_ns: Nanos) -> (Nanos, Nanos) {
        let Load { free_at, busy_ns } = self.0.get();
        let start = now.max(free_at);
        let end = start + work_ns;
        self.0.set(Load { free_at: end, busy_ns: busy_ns + work_ns });
        (start, end)
    }

    /// Time at work so far, in ns, including queued work.
    pub fn busy_ns(&self) -> Nanos {
        self.0.get().busy_ns
    }
}

/// The driver of a volume (ccd, md, RAIDframe, or the firmware of a RAID controller): what it costs,
/// and which processor it runs on.
#[derive(Clone, Debug, Default)]
pub struct Driver {
    /// For each request that reaches the volume, in ns.
    pub request_ns: Nanos,
    /// For each command that the volume sends to a member, in ns.
    pub command_ns: Nanos,
    /// The processor that does this work.
    pub processor: Processor,
}

impl Driver {
    /// A driver with these costs, on a processor that does nothing else.
    pub fn new(request_ns: Nanos, command_ns: Nanos) -> Self {
        Driver { request_ns, command_ns, ..Driver::default() }
    }

    /// The same driver on `processor`.
    #[must_use]
    pub fn on(self, processor: &Processor) -> Self {
        Driver { processor: processor.clone(), ..self }
    }

    /// Whether it costs no time at all.
    pub fn is_free(&self) -> bool {
        self.request_ns == 0 && self.command_ns == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_runs_on_one_processor_waits_for_it() {
        let processor = Processor::default();
        let (one, other) = (Driver::new(100, 10).on(&processor), Driver::new(5, 5).on(&processor));
        assert_eq!(one.processor.work(0, 1000), (0, 1000));
        assert_eq!(other.processor.work(500, 1000), (1000, 2000));
        assert_eq!((processor.work(3000, 1), processor.busy_ns()), ((3000, 3001), 2001));
        assert_eq!(Driver::new(0, 0).processor.work(500, 7), (500, 507));
    }
}
