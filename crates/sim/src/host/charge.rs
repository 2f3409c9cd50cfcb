//! What each command costs the host: it occupies a processor for so long before the device below sees it.

use super::Processor;
use super::held::Held;
use crate::wrapper::{Io, Policy, Wrapper};
use crate::{Device, Nanos, Part, Spent};

/// Charges a processor for each command to the device below.
pub type Charged<D> = Wrapper<Charge, D>;

/// The commands that wait for the processor.
#[derive(Clone, Debug)]
pub struct Charge {
    command_ns: Nanos,
    processor: Processor,
    /// When each is sent, in order.
    held: Held,
}

impl<D: Device> Charged<D> {
    /// Charges `processor` for every command to `below`.
    pub fn new(below: D, command_ns: Nanos, processor: Processor) -> Self {
        Wrapper::around(below, Charge { command_ns, processor, held: Held::default() })
    }
}

impl Policy for Charge {
    /// What the command waited and took.
    type Note = Nanos;

    fn arrived<D: Device>(&mut self, now: Nanos, slot: usize, io: &mut Io<'_, Nanos, D>) {
        let (_, end) = self.processor.work(now, self.command_ns);
        *io.note(slot) = end - now;
        self.held.hold(end, slot);
    }

    fn returned<D: Device>(
        &mut self,
        now: Nanos,
        slot: usize,
        _label: u32,
        mut spent: Spent,
        io: &mut Io<'_, Nanos, D>,
    ) {
        spent.add(Part::CPU, *io.note(slot));
        io.finish(now, slot, spent);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.held.next_event()
    }

    fn due<D: Device>(&mut self, now: Nanos, io: &mut Io<'_, Nanos, D>) {
        self.held.send_due(now, io);
    }

    fn forget_waiting(&mut self) {
        self.held.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Advance;
    use crate::{Event, Server};
    use block::Request;

    /// Four commands at once, 3 µs each, to a device that takes 1 µs: the processor decides, and the last is done after
    /// 13 µs.
    #[test]
    fn commands_take_the_processor_one_after_the_other() {
        let processor = Processor::default();
        let mut device = Charged::new(Server::new(1000, 1_000), 3_000, processor.clone());
        (0..4).for_each(|tag| device.submit(0, tag, Request::read(8 * tag, 8)));
        let mut events = Vec::new();
        device.advance(1_000_000, &mut events);
        let done: Vec<Nanos> = events
            .iter()
            .filter_map(|event| match event {
                Event::Done { at, .. } => Some(*at),
                _ => None,
            })
            .collect();
        assert_eq!(done, [4_000, 7_000, 10_000, 13_000]);
        assert_eq!(processor.busy_ns(), 12_000);
    }
}
