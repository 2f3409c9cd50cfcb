//! A device by itself: nothing maps what is asked of it, so that it needs no array.

use crate::host::Plugs;
use crate::{Counters, Device, Disturbance, Event, Geometry, Nanos, Spent, Tag};
use block::Request;

/// The first sectors of the one target of `D`, as who sends with plugs reaches them.
///
/// The same as an array that is one member one after the other, whose driver takes no time: that would plan each request, and
/// keep it until it is back.
pub struct Alone<D> {
    below: D,
    plugs: Plugs,
    geometry: Geometry,
}

impl<D: Device> Alone<D> {
    /// So many sectors of `below`, whose queues see the `plugs`.
    ///
    /// # Panics
    ///
    /// Where `below` is not one target of that size at least, or who sends may sleep: that takes an array.
    pub fn new(below: D, sectors: u64, plugs: Plugs) -> Self {
        let [whole] = below.geometry().target_sectors[..] else { panic!("it is one target") };
        assert!(sectors <= whole, "it has no more than what is below");
        assert!(plugs.senders().is_none() && !plugs.are_of_threads(), "nobody sleeps");
        Alone { below, plugs, geometry: Geometry::single(sectors) }
    }
}

impl<D: Device> Device for Alone<D> {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        self.plugs.begin(&request);
        self.below.submit(now, tag, request);
    }

    fn serve(
        &mut self,
        now: Nanos,
        tag: Tag,
        request: Request,
        limit: Nanos,
        spent: &mut Spent,
    ) -> Option<Nanos> {
        self.geometry.check(&request);
        self.plugs.begin(&request);
        self.below.serve(now, tag, request, limit, spent)
    }

    fn next_event(&self) -> Option<Nanos> {
        self.below.next_event()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        self.below.proceed(limit, out)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.below.disturb(now, what);
    }

    fn count(&self, counters: &mut Counters) {
        self.below.count(counters);
    }
}
