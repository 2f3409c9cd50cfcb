//! What an instance lets pass to its cloud volumes, all of them together.

use super::held::Held;
use crate::cloud::{CloudError, Gate, Limit, Meter};
use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};
use block::SECTOR_BYTES;
use std::num::NonZeroU64;

/// Limits what passes to some of the targets below, together.
pub type Throttle<D> = Wrapper<Allowance, D>;

/// The state of a [`Throttle`].
#[derive(Clone, Debug)]
pub struct Allowance {
    gate: Gate,
    meter: Meter,
    /// Which targets it counts.
    counted: Vec<bool>,
    /// What the wire to them carries, if that is known: bytes take at least so long.
    wire_bytes_per_s: Option<NonZeroU64>,
    /// Requests that wait, and when each passes, in order.
    waiting: Held,
    /// When the last request arrived.
    arrived_at: Nanos,
}

/// A larger request counts as several I/Os of this size.
const UNIT_BYTES: u32 = 256 << 10;

impl<D: Device> Throttle<D> {
    /// The targets of `below` that are `counted` pass `limits` together.
    ///
    /// # Errors
    ///
    /// Where a limit lets nothing pass.
    ///
    /// # Panics
    ///
    /// Where it is not said of each target whether it is counted.
    pub fn new(below: D, limits: &[Limit], counted: Vec<bool>) -> Result<Self, CloudError> {
        assert_eq!(counted.len(), below.geometry().target_sectors.len(), "each is counted or not");
        let gate = Gate::new(limits)?;
        // Nothing is merged here, so that nobody has to say when what was charged is done.
        let meter = Meter::new(UNIT_BYTES, false);
        let waiting = Held::default();
        let allowance =
            Allowance { gate, meter, counted, wire_bytes_per_s: None, waiting, arrived_at: 0 };
        Ok(Wrapper::around(below, allowance))
    }

    /// What passes goes over a wire that carries no more than this: 1 MiB at 500 MB/s takes 2.1 ms, whatever was saved up.
    #[must_use]
    pub fn over_wire(mut self, bytes_per_s: Option<NonZeroU64>) -> Self {
        self.policy_mut().wire_bytes_per_s = bytes_per_s;
        self
    }
}

impl Allowance {
    fn on_wire_ns(&self, bytes: u64) -> Nanos {
        self.wire_bytes_per_s
            .map_or(0, |rate| (u128::from(bytes) * 1_000_000_000 / u128::from(rate.get())) as Nanos)
    }
}

impl Policy for Allowance {
    /// How long it waited here, and for what.
    type Note = Option<(Nanos, Part)>;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Self::Note, D>) {
        let request = io.request(slot);
        if !self.counted[request.target as usize] {
            return io.send(now, slot, 0, request);
        }
        self.arrived_at = now;
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        let cost = self.meter.charge(now, request.op, request.sector, bytes);
        let (passes_at, limit) = self.gate.pass(now, &cost);
        let limit = if passes_at == now { Part::BYTE_LIMIT } else { limit };
        let at = passes_at + self.on_wire_ns(cost.bytes);
        if at == now {
            return io.send(now, slot, 0, request);
        }
        *io.note(slot) = Some((at - now, limit));
        self.waiting.hold(at, slot);
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        mut spent: Spent,
        io: &mut Io<'_, Self::Note, D>,
    ) {
        if let Some((wait_ns, limit)) = *io.note(slot) {
            spent.add(limit, wait_ns);
        }
        io.finish(now, slot, spent);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.waiting.next_event()
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Self::Note, D>) {
        self.waiting.send_due(now, io);
    }

    fn forget_waiting(&mut self) {
        self.gate.release(self.arrived_at);
        self.waiting.clear();
    }
}
