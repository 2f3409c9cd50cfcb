//! The bytes of a request: their places in one buffer, and the parity arithmetic on them.
//!
//! Plans carry no bytes. Whoever carries out a plan has one buffer for each request:
//!
//! ```text
//! the request's own sectors │ what else the plan reads │ what else it writes
//! ```
//!
//! Sectors that the request reads or writes move between its own part and the members without a copy.
//! The rest is for the old data and parity that a write reads first, the new parity, and everything
//! that a read needs to reconstruct a failed member. A plan that restores a member has no own sectors.
//!
//! The caller sets the sector size, so that tests can use one byte for each.

pub mod field;
mod known;

use crate::layout::Layout;
use crate::{Content, Op, Plan, Request, Step};
use known::Known;
use std::ops::Range;

/// Which part of a buffer each step of a plan uses.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    sector_bytes: usize,
    /// The volume's sectors that the plan reads or writes for somebody.
    request: Option<Request>,
    steps: Vec<Part>,
    own_end: usize,
    reads_end: usize,
    end: usize,
    /// The request reads what has to be computed from parity.
    works_out: bool,
}

#[derive(Clone, Debug)]
struct Part {
    op: Op,
    content: Content,
    bytes: Range<usize>,
}

impl Payload {
    /// Assigns parts of a buffer to the steps of `plan`. The plan carries out `request` of the volume,
    /// or without a request restores a member. A sector has `sector_bytes` bytes.
    pub fn lay_out(&mut self, request: Option<Request>, plan: &Plan, sector_bytes: usize) {
        let own = request.filter(|request| carries(request.op));
        let is_parity = |step: &Step| !matches!(step.content, Content::Data(_));
        self.sector_bytes = sector_bytes;
        self.request = own;
        self.works_out =
            own.is_some_and(|own| own.op == Op::Read && plan.steps().iter().any(is_parity));
        self.own_end = own.map_or(0, |own| self.bytes(own.sectors));
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        steps.extend(plan.steps().iter().map(|step| Part {
            op: step.request.op,
            content: step.content,
            bytes: self.own_bytes(step).unwrap_or(0..0),
        }));
        self.steps = steps;
        self.end = self.own_end;
        self.lay_out_rest(plan, |op| op == Op::Read);
        self.reads_end = self.end;
        self.lay_out_rest(plan, |op| op != Op::Read);
    }

    /// Assigns room to the steps that have none yet. Sectors adjacent on a member are adjacent in the
    /// buffer, so that they can be one command.
    fn lay_out_rest(&mut self, plan: &Plan, wanted: impl Fn(Op) -> bool) {
        let is_here = |&index: &usize| {
            let Part { op, bytes, .. } = &self.steps[index];
            carries(*op) && wanted(*op) && bytes.is_empty()
        };
        let mut rest: Vec<usize> = (0..self.steps.len()).filter(is_here).collect();
        rest.sort_by_key(|&index| {
            let request = plan.steps()[index].request;
            (request.target, request.sector)
        });
        for index in rest {
            let start = self.end;
            self.end += self.bytes(plan.steps()[index].request.sectors);
            self.steps[index].bytes = start..self.end;
        }
    }

    /// How long the buffer has to be.
    pub fn len(&self) -> usize {
        self.end
    }

    /// Whether no bytes are moved.
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// The request's own bytes: for a write filled in before the start, for a read filled in at the
    /// end.
    pub fn own(&self) -> Range<usize> {
        0..self.own_end
    }

    /// The part of the buffer for step `index` of the plan, or for `sectors` sectors from there on
    /// where adjacent steps of a member are joined. Empty where the step carries no data.
    pub fn part(&self, index: usize, sectors: u32) -> Range<usize> {
        let Part { op, bytes, .. } = &self.steps[index];
        let end = if carries(*op) { bytes.start + self.bytes(sectors) } else { bytes.end };
        bytes.start..end
    }

    /// Computes what the steps of a stage write beside the request's own sectors, from what earlier
    /// stages have read. Returns whether there was anything to compute.
    ///
    /// # Panics
    ///
    /// Where the plan read too little to compute it: a bug of the layout.
    pub fn before_stage(
        &self,
        layout: &dyn Layout,
        steps: Range<usize>,
        buffer: &mut [u8],
    ) -> bool {
        let computed = |part: &&Part| part.bytes.start >= self.reads_end && !part.bytes.is_empty();
        let mut parts = self.steps[steps].iter().filter(computed).peekable();
        if parts.peek().is_none() {
            return false;
        }
        let (bytes, out) = buffer.split_at_mut(self.reads_end);
        let mut known = self.known(layout, self.own_end, &bytes[self.own_end..]);
        if let Some(request) = self.request {
            known.set_written(request.sector, &bytes[self.own()]);
        }
        for part in parts {
            let bytes = part.bytes.start - self.reads_end..part.bytes.end - self.reads_end;
            known.fill(part.content, &mut out[bytes]);
        }
        true
    }

    /// Computes the sectors of a finished read that are on a failed member. Returns whether there were
    /// any.
    ///
    /// # Panics
    ///
    /// As [`Payload::before_stage`].
    pub fn after_read(&self, layout: &dyn Layout, buffer: &mut [u8]) -> bool {
        let Some(request) = self.request.filter(|_| self.works_out) else { return false };
        let (out, bytes) = buffer.split_at_mut(self.own_end);
        self.known(layout, self.own_end, bytes).fill(Content::Data(request.sector), out);
        true
    }

    /// What the plan has read into `buffer`, whose first byte is the one at `start`.
    fn known<'a>(&self, layout: &'a dyn Layout, start: usize, buffer: &'a [u8]) -> Known<'a> {
        let mut known = Known::new(layout, self.sector_bytes);
        for Part { content, bytes, .. } in self.steps.iter().filter(|part| part.op == Op::Read) {
            known.add_read(*content, &buffer[bytes.start - start..bytes.end - start]);
        }
        known
    }

    /// The part of the request's own bytes that a step moves, if it moves any.
    fn own_bytes(&self, step: &Step) -> Option<Range<usize>> {
        let request = self.request.filter(|_| !self.works_out)?;
        let Content::Data(sector) = step.content else { return None };
        let same_way = (step.request.op == Op::Read) == (request.op == Op::Read);
        (same_way && carries(step.request.op)).then(|| {
            let start = self.bytes((sector - request.sector) as u32);
            let end = start + self.bytes(step.request.sectors);
            assert!(end <= self.own_end, "a step stays inside its request");
            start..end
        })
    }

    fn bytes(&self, sectors: u32) -> usize {
        sectors as usize * self.sector_bytes
    }
}

/// Whether an operation moves bytes.
fn carries(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write { .. } | Op::Zeroes)
}
