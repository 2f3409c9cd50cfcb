//! Splits large requests, as physio(9) does with raw I/O: a request becomes pieces of at most MAXPHYS,
//! with a limit on how many of one request are in flight.
//!
//! With one piece at a time (BSD until 2006) a 1 MiB read is sixteen reads of 64 KiB, each started when
//! the one before has come back. This makes an interleave of MAXPHYS or more slow: every piece is then
//! on one disk, and the others idle.

use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Spent};
use block::Request;
use slab::Slab;

/// Splits requests for the device below.
pub type Splitter<D> = Wrapper<Split, D>;

/// How a [`Splitter`] splits.
#[derive(Clone, Debug)]
pub struct Split {
    max_sectors: u32,
    concurrency: u32,
    /// For each piece in flight, the time spent until it could start: on the piece whose end let it
    /// start, and before that.
    before: Slab<Spent>,
}

impl<D: Device> Splitter<D> {
    /// Pieces of at most `max_sectors`, at most `concurrency` of each request at a time.
    ///
    /// # Panics
    ///
    /// Where either is zero.
    pub fn new(below: D, max_sectors: u32, concurrency: u32) -> Self {
        assert!(max_sectors > 0 && concurrency > 0, "a piece has sectors, and one is in flight");
        Wrapper::around(below, Split { max_sectors, concurrency, before: Slab::new() })
    }
}

impl Split {
    /// Starts the next piece of the request in `slot`; `before` is the time spent until it could start.
    fn start_piece<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        before: Spent,
        io: &mut Io<'_, u64, D>,
    ) {
        let (request, asked) = (io.request(slot), *io.note(slot));
        let sectors = (u64::from(request.sectors) - asked).min(u64::from(self.max_sectors)) as u32;
        *io.note(slot) += u64::from(sectors);
        let label = self.before.insert(before) as u32;
        let piece = Request { sector: request.sector + asked, sectors, ..request };
        io.send(now, slot, label, piece);
    }
}

impl Policy for Split {
    /// How many of its sectors have been requested.
    type Note = u64;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, u64, D>) {
        let sectors = u64::from(io.request(slot).sectors);
        self.start_piece(now, slot, Spent::NONE, io);
        while *io.note(slot) < sectors && io.in_flight(slot) < self.concurrency {
            self.start_piece(now, slot, Spent::NONE, io);
        }
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        label: u32,
        spent: Spent,
        io: &mut Io<'_, u64, D>,
    ) {
        let mut before = self.before.remove(label as usize);
        before += spent;
        if io.result(slot).is_ok() && *io.note(slot) < u64::from(io.request(slot).sectors) {
            self.start_piece(now, slot, before, io);
        } else if io.in_flight(slot) == 0 {
            io.finish(now, slot, before);
        }
    }

    fn forget_waiting(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Advance;
    use crate::{Counters, Disturbance, Event, Geometry, Server, Tag};

    /// Serves as [`Server`] does, and records how many requests it had at a time.
    struct Counting {
        below: Server,
        in_flight: u32,
        most: u32,
    }

    impl Device for Counting {
        fn geometry(&self) -> &Geometry {
            self.below.geometry()
        }

        fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
            self.in_flight += 1;
            self.most = self.most.max(self.in_flight);
            self.below.submit(now, tag, request);
        }

        fn next_event(&self) -> Option<Nanos> {
            self.below.next_event()
        }

        fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
            let before = out.len();
            let came = self.below.proceed(limit, out);
            let done = out[before..].iter().filter(|event| matches!(event, Event::Done { .. }));
            self.in_flight -= done.count() as u32;
            came
        }

        fn disturb(&mut self, now: Nanos, what: Disturbance) {
            self.below.disturb(now, what);
        }

        fn count(&self, counters: &mut Counters) {
            self.below.count(counters);
        }
    }

    /// As many pieces of a request are in flight as may be, and never more; a request of fewer pieces
    /// has them all.
    #[test]
    fn a_request_has_as_many_pieces_in_flight_as_it_may() {
        for (concurrency, sectors, most) in [(1, 80, 1), (3, 80, 3), (16, 80, 10), (3, 9, 2)] {
            let below = Counting { below: Server::new(100, 1000), in_flight: 0, most: 0 };
            let mut splitter = Splitter::new(below, 8, concurrency);
            splitter.submit(0, 1, Request::read(0, sectors));
            let mut events = Vec::new();
            splitter.advance(1_000_000, &mut events);
            let pieces = sectors.div_ceil(8);
            assert_eq!(
                (splitter.below().most, splitter.below().in_flight),
                (most, 0),
                "{concurrency}"
            );
            assert_eq!((events.len(), events[0].at()), (1, u64::from(pieces) * 1000));
        }
    }
}
