//! A processor that works on requests.

use crate::Nanos;

/// One processor, one piece of work at a time, in order of arrival.
///
/// It is whatever runs a layout: a host's CPU for ccd or md, the controller of a RAID box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// For each request that reaches the layout, in ns.
    pub request_ns: Nanos,
    /// For each command that the layout sends to a member, in ns.
    pub command_ns: Nanos,
    free_at: Nanos,
    busy_ns: Nanos,
}

impl Processor {
    /// A processor with these costs.
    pub fn new(request_ns: Nanos, command_ns: Nanos) -> Self {
        Processor { request_ns, command_ns, ..Processor::default() }
    }

    /// Does `work_ns` of work that is there from `now` on; gives its start and end.
    pub(crate) fn work(&mut self, now: Nanos, work_ns: Nanos) -> (Nanos, Nanos) {
        let start = now.max(self.free_at);
        self.free_at = start + work_ns;
        self.busy_ns += work_ns;
        (start, self.free_at)
    }

    /// Time at work so far.
    pub(crate) fn busy_ns(&self) -> Nanos {
        self.busy_ns
    }
}
