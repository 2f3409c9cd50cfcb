//! A drive of the catalogue in virtual time.

use super::{Disk, Timed};
use crate::catalogue::Drive;
use crate::error::{Error, Result};
use block::{Op, Request};
use sim::bus::Bus;
use sim::drive::Drive as Mechanical;
use sim::{Advance, Device, Event, Nanos, Shelf};

/// The bus is as fast as the drive's own interface.
const BUS_BYTES_PER_S: u64 = 100_000_000_000;

/// A modelled disk that is read one request at a time.
#[derive(Debug)]
pub struct Modelled {
    name: String,
    sectors: u64,
    unit: u32,
    shelf: Shelf,
    now: Nanos,
    events: Vec<Event>,
}

impl Modelled {
    /// `drive`, whose index mark passes the head at `phase_ns`.
    ///
    /// # Errors
    ///
    /// Where it is no disk.
    pub fn new(drive: &Drive, phase_ns: Nanos) -> Result<Self> {
        let spec = drive.disk()?.spec()?;
        let mechanical = Mechanical::new(&spec, phase_ns).map_err(Error::failure)?;
        let sectors = mechanical.sectors();
        Ok(Modelled {
            name: drive.title.clone(),
            sectors,
            unit: spec.controller.firmware.physical_sectors.max(1),
            shelf: Shelf::new(vec![mechanical], vec![Bus::new(BUS_BYTES_PER_S, 0)]),
            now: 0,
            events: vec![],
        })
    }
}

impl Disk for Modelled {
    fn name(&self) -> &str {
        &self.name
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn unit(&self) -> u32 {
        self.unit
    }

    fn read(&mut self, not_before: Nanos, lba: u64, sectors: u32) -> Result<Timed> {
        let issued = not_before.max(self.now);
        self.shelf.advance(issued, &mut self.events);
        self.shelf.submit(issued, 0, Request { target: 0, sector: lba, sectors, op: Op::Read });
        loop {
            self.events.clear();
            let next = self.shelf.next_event().expect("a request in flight has a next event");
            self.shelf.advance(next, &mut self.events);
            for event in &self.events {
                if let Event::Done { at, .. } = *event {
                    self.now = at;
                    return Ok(Timed { issued, done: at });
                }
            }
        }
    }
}
