//! Cutting large requests, as physio(9) does with raw I/O: a request becomes pieces of at most MAXPHYS,
//! of which so many are under way at a time.
//!
//! With one piece at a time (BSD until 2006) a 1 MiB read is sixteen reads of 64 KiB, each started when
//! the one before has come back. This is what makes an interleave of MAXPHYS or more slow: every piece
//! then lies on one disk, and the others wait.

use crate::{Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Spent, Tag};
use block::Request;
use slab::Slab;

/// Cuts requests for the device below.
pub struct Splitter<D> {
    below: D,
    max_sectors: u32,
    concurrency: u32,
    requests: Slab<Active>,
    pieces: Slab<Piece>,
    events: Vec<Event>,
}

/// A request of which pieces are under way, or not yet durable.
#[derive(Clone, Copy, Debug)]
struct Active {
    tag: Tag,
    request: Request,
    /// The next sector to ask for.
    next: u64,
    under_way: u32,
    /// Pieces that are done but not durable.
    undurable: u32,
    result: Result<(), Fault>,
    /// A piece was done, and is lost.
    lost: bool,
    /// It is done, and waits only to be durable.
    finished: bool,
}

/// A piece under way, or not yet durable.
#[derive(Clone, Copy, Debug)]
struct Piece {
    of: usize,
    /// What was spent until it could start: on the piece whose end let it start, and before that.
    before: Spent,
    /// It is done, and waits only to be durable.
    done: bool,
}

impl<D: Device> Splitter<D> {
    /// Pieces of at most `max_sectors`, of each request at most `concurrency` at a time.
    ///
    /// # Panics
    ///
    /// Where either is zero.
    pub fn new(below: D, max_sectors: u32, concurrency: u32) -> Self {
        assert!(max_sectors > 0 && concurrency > 0, "a piece has sectors, and one is under way");
        Splitter {
            below,
            max_sectors,
            concurrency,
            requests: Slab::new(),
            pieces: Slab::new(),
            events: Vec::new(),
        }
    }

    /// Starts the next piece of request `of`, which what was spent `before` has let start.
    fn start_piece(&mut self, now: Nanos, of: usize, before: Spent) {
        let active = &mut self.requests[of];
        let sectors = (active.request.end() - active.next).min(u64::from(self.max_sectors)) as u32;
        let piece = Request { sector: active.next, sectors, ..active.request };
        active.next = piece.end();
        active.under_way += 1;
        let name = self.pieces.insert(Piece { of, before, done: false });
        self.below.submit(now, name as Tag, piece);
    }

    fn piece_done(
        &mut self,
        at: Nanos,
        name: usize,
        result: Result<(), Fault>,
        spent: Spent,
        out: &mut Vec<Event>,
    ) {
        let piece = &mut self.pieces[name];
        piece.done = true;
        let (of, mut before) = (piece.of, piece.before);
        before += spent;
        let active = &mut self.requests[of];
        active.under_way -= 1;
        active.result = active.result.and(result);
        if result.is_ok() && is_write(&active.request) {
            active.undurable += 1;
        } else {
            self.pieces.remove(name);
        }
        if active.result.is_ok() && active.next < active.request.end() {
            self.start_piece(at, of, before);
        } else if active.under_way == 0 {
            active.finished = true;
            out.push(Event::Done { tag: active.tag, at, result: active.result, spent: before });
            if active.undurable == 0 {
                self.let_go(at, of, out);
            }
        }
    }

    /// A piece that was done is durable, or `lost`; a request that is not yet done has then failed.
    fn piece_settled(&mut self, at: Nanos, name: usize, lost: bool, out: &mut Vec<Event>) {
        let of = self.pieces.remove(name).of;
        let active = &mut self.requests[of];
        active.undurable -= 1;
        active.lost |= lost;
        if lost && !active.finished {
            active.result = active.result.and(Err(Fault::Failed));
        }
        if active.undurable == 0 && active.finished {
            self.let_go(at, of, out);
        }
    }

    /// Nothing more can come for a request: the last word on a write is that it is durable, or lost.
    fn let_go(&mut self, at: Nanos, of: usize, out: &mut Vec<Event>) {
        let Active { tag, request, result, lost, .. } = self.requests.remove(of);
        if result.is_ok() && is_write(&request) {
            out.push(if lost { Event::Lost { tag, at } } else { Event::Durable { tag, at } });
        }
    }
}

fn is_write(request: &Request) -> bool {
    matches!(request.op, block::Op::Write { .. })
}

impl<D: Device> Device for Splitter<D> {
    fn geometry(&self) -> &Geometry {
        self.below.geometry()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let of = self.requests.insert(Active {
            tag,
            request,
            next: request.sector,
            under_way: 0,
            undurable: 0,
            result: Ok(()),
            lost: false,
            finished: false,
        });
        self.start_piece(now, of, Spent::NONE);
        while self.requests[of].next < request.end()
            && self.requests[of].under_way < self.concurrency
        {
            self.start_piece(now, of, Spent::NONE);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.below.next_event()
    }

    fn advance(&mut self, now: Nanos, out: &mut Vec<Event>) {
        while let Some(step) = self.below.next_event()
            && step <= now
        {
            let mut events = std::mem::take(&mut self.events);
            self.below.advance(step, &mut events);
            for event in events.drain(..) {
                match event {
                    Event::Done { tag, at, result, spent } => {
                        self.piece_done(at, tag as usize, result, spent, out);
                    }
                    Event::Durable { tag, at } => self.piece_settled(at, tag as usize, false, out),
                    Event::Lost { tag, at } => self.piece_settled(at, tag as usize, true, out),
                }
            }
            self.events = events;
        }
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        self.below.disturb(now, what);
        if matches!(what, Disturbance::Fail(_)) {
            return;
        }
        for (_, active) in &mut self.requests {
            if !active.finished {
                active.result = active.result.and(Err(what.fault()));
            }
        }
        if what == Disturbance::PowerCut {
            // What was done but not durable is lost, and nothing more will be heard of it.
            self.requests.retain(|_, active| {
                active.undurable = 0;
                !active.finished
            });
            self.pieces.retain(|_, piece| !piece.done);
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.kept += (self.requests.len() + self.pieces.len()) as u64;
        self.below.count(counters);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Server;

    /// Serves as [`Server`] does, and knows how many requests it had at a time.
    struct Counting {
        below: Server,
        under_way: u32,
        most: u32,
    }

    impl Device for Counting {
        fn geometry(&self) -> &Geometry {
            self.below.geometry()
        }

        fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
            self.under_way += 1;
            self.most = self.most.max(self.under_way);
            self.below.submit(now, tag, request);
        }

        fn next_event(&self) -> Option<Nanos> {
            self.below.next_event()
        }

        fn advance(&mut self, now: Nanos, out: &mut Vec<Event>) {
            let before = out.len();
            self.below.advance(now, out);
            let done = out[before..].iter().filter(|event| matches!(event, Event::Done { .. }));
            self.under_way -= done.count() as u32;
        }

        fn disturb(&mut self, now: Nanos, what: Disturbance) {
            self.below.disturb(now, what);
        }

        fn count(&self, counters: &mut Counters) {
            self.below.count(counters);
        }
    }

    /// As many pieces of a request are under way as may be, and never more; a request of fewer pieces
    /// has them all.
    #[test]
    fn so_many_pieces_of_a_request_are_under_way() {
        for (concurrency, sectors, most) in [(1, 80, 1), (3, 80, 3), (16, 80, 10), (3, 9, 2)] {
            let below = Counting { below: Server::new(100, 1000), under_way: 0, most: 0 };
            let mut splitter = Splitter::new(below, 8, concurrency);
            splitter.submit(0, 1, Request::read(0, sectors));
            let mut events = Vec::new();
            splitter.advance(1_000_000, &mut events);
            let pieces = sectors.div_ceil(8);
            assert_eq!((splitter.below.most, splitter.below.under_way), (most, 0), "{concurrency}");
            assert_eq!((events.len(), events[0].at()), (1, u64::from(pieces) * 1000));
        }
    }
}
