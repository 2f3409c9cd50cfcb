//! What the next request of a stream is: its operation, size and place.

use super::super::places::below;
use super::{Pattern, RunningStream, Skew, Stream};
use block::{Op, Request};

impl Stream {
    /// Whether its requests are of one size, each anywhere in the range.
    pub(super) fn is_anywhere(&self) -> bool {
        let is_random = self.pattern == Pattern::Random && self.in_a_row <= 1;
        is_random && self.skew == Skew::Uniform && self.sizes.is_empty()
    }
}

impl RunningStream {
    /// The next request of a stream that has one size and goes anywhere.
    #[inline]
    pub(super) fn pick_anywhere(&mut self) -> Request {
        let op = self.pick_op();
        let sectors = self.stream.block_sectors;
        let block = below(&mut self.random, self.blocks);
        let sector = self.stream.start_sector + block * u64::from(sectors);
        Request { target: self.stream.target, op, sector, sectors }
    }

    /// The next request, whenever it comes.
    pub(super) fn pick(&mut self) -> Request {
        let op = self.pick_op();
        let sectors = self.pick_size();
        let sector = self.stream.start_sector + self.pick_place(op, u64::from(sectors));
        Request { target: self.stream.target, op, sector, sectors }
    }

    #[inline]
    fn pick_op(&mut self) -> Op {
        match self.stream.reads_percent {
            None => self.stream.op,
            Some(percent) if below(&mut self.random, 100) < u64::from(percent) => Op::Read,
            Some(_) => Op::WRITE,
        }
    }

    #[inline]
    fn pick_size(&mut self) -> u32 {
        if self.stream.sizes.is_empty() { self.stream.block_sectors } else { self.pick_weighted() }
    }

    fn pick_weighted(&mut self) -> u32 {
        let total = self.stream.sizes.iter().map(|&(_, weight)| u64::from(weight)).sum();
        if total == 0 {
            return self.stream.block_sectors;
        }
        let mut pick = below(&mut self.random, total);
        for &(sectors, weight) in &self.stream.sizes {
            match pick.checked_sub(u64::from(weight)) {
                Some(left) => pick = left,
                None => return sectors,
            }
        }
        unreachable!("the pick is below the sum of the weights")
    }

    #[inline]
    fn pick_place(&mut self, op: Op, sectors: u64) -> u64 {
        let gap = match self.stream.pattern {
            Pattern::Sequential => 0,
            Pattern::Strided(gap) => gap,
            Pattern::Random if self.stream.in_a_row > 1 => return self.pick_in_rows(op, sectors),
            Pattern::Random => return self.pick_random(sectors),
        };
        self.pick_next(op, sectors, gap)
    }

    #[inline]
    fn pick_random(&mut self, sectors: u64) -> u64 {
        let align = u64::from(self.stream.block_sectors);
        let span = self.stream.span_sectors;
        let is_block = sectors == align;
        let blocks = if is_block { self.blocks } else { (span - sectors) / align + 1 };
        self.places.draw(&mut self.random, blocks) * align
    }

    /// A random place, or the one behind the last of this direction: which it is, fio counts for both together
    /// (`get_next_offset` in its `io_u.c`).
    fn pick_in_rows(&mut self, op: Op, sectors: u64) -> u64 {
        if let Some(left) = self.to_follow.checked_sub(1) {
            self.to_follow = left;
            return self.pick_next(op, sectors, 0);
        }
        self.to_follow = self.stream.in_a_row - 1;
        let place = self.pick_random(sectors);
        self.positions[usize::from(op.modifies())] = place + sectors;
        place
    }

    /// The place behind the last one, after a gap.
    fn pick_next(&mut self, op: Op, sectors: u64, gap: u64) -> u64 {
        let span = self.stream.span_sectors;
        let position = &mut self.positions[usize::from(op.modifies())];
        let place = if *position + sectors > span { 0 } else { *position };
        *position = place + sectors + gap;
        place
    }
}
