//! The ideal flash drives that md was measured on: a delay and a link, and nothing else that waits.
//!
//! Like [`crate::spiral`], this is the drive model of the virtual-time kernel that
//! `tests/it/md_write_path.csv` comes from, and no model of any real drive.

use crate::damage::Damage;
use crate::outbox::Outbox;
use crate::{
    Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Part, Spent, Tag, TargetCounters,
    step_by_step,
};
use block::{Op, Request};
use std::collections::BTreeMap;

/// What an ideal flash drive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdealFlashSpec {
    /// Its size, in sectors.
    pub sectors: u64,
    /// From a read's arrival until the link may have its data, in ns. The link serves in order of arrival, so what
    /// arrives later waits for it.
    pub read_ns: Nanos,
    /// From the end of a write's transfer until it is done and durable, in ns.
    pub write_ns: Nanos,
    /// What a flush takes, in ns.
    pub flush_ns: Nanos,
    /// What the link of each drive moves, in bytes a second.
    pub link_bytes_per_s: u64,
}

/// Ideal flash drives side by side, with nothing shared.
#[derive(Clone, Debug)]
pub struct IdealFlashes {
    geometry: Geometry,
    spec: IdealFlashSpec,
    drives: Vec<Flash>,
    /// What happens next, by time and then by order of arrival.
    due: BTreeMap<(Nanos, u64), Command>,
    arrivals: u64,
    outbox: Outbox,
}

#[derive(Clone, Debug, Default)]
struct Flash {
    link_free_at: Nanos,
    failed: bool,
    damage: Damage,
    counters: TargetCounters,
}

/// A command.
#[derive(Clone, Copy, Debug)]
struct Command {
    tag: Tag,
    request: Request,
    arrived: Nanos,
}

impl IdealFlashes {
    /// `drives` such drives.
    ///
    /// # Panics
    ///
    /// Where the link moves nothing.
    pub fn new(drives: usize, spec: IdealFlashSpec) -> Self {
        assert!(spec.link_bytes_per_s > 0, "a link that moves nothing never ends");
        IdealFlashes {
            geometry: Geometry { target_sectors: vec![spec.sectors; drives] },
            spec,
            drives: vec![Flash::default(); drives],
            due: BTreeMap::new(),
            arrivals: 0,
            outbox: Outbox::default(),
        }
    }

    /// Moves a command's data over its drive's link, from `now` on; gives when that ends.
    fn transfer(&mut self, now: Nanos, request: &Request) -> Nanos {
        let drive = &mut self.drives[request.target as usize];
        let bytes = u128::from(request.sectors) * u128::from(block::SECTOR_BYTES);
        let moves_ns = bytes * 1_000_000_000 / u128::from(self.spec.link_bytes_per_s);
        drive.link_free_at = drive.link_free_at.max(now) + moves_ns as Nanos;
        drive.counters.busy_ns += moves_ns as Nanos;
        drive.link_free_at
    }

    fn step(&mut self, now: Nanos, command: Command) {
        let Command { tag, request, arrived } = command;
        let drive = &mut self.drives[request.target as usize];
        let sectors = u64::from(request.sectors);
        drive.counters.commands += 1;
        let mut result = Ok(());
        match request.op {
            Op::Read => {
                drive.counters.sectors_read += sectors;
                if drive.damage.meets(request.sector, request.end(), |_, _| false) {
                    result = Err(Fault::Medium);
                }
            }
            Op::Write { .. } | Op::Zeroes => {
                drive.counters.sectors_written += sectors;
                drive.damage.repair(request.sector, request.end());
            }
            Op::Discard | Op::Flush => {}
        }
        let mut spent = Spent::NONE;
        spent.add(Part::BUS, now - arrived);
        self.outbox.push(Event::Done { tag, at: now, result, spent });
        if request.op.modifies() {
            self.outbox.push(Event::Durable { tag, at: now });
        }
    }

    /// Does everything that is due by `now`.
    fn do_due(&mut self, now: Nanos, out: &mut Vec<Event>) {
        while let Some(first) = self.due.first_entry()
            && first.key().0 <= now
        {
            let ((at, _), command) = first.remove_entry();
            self.step(at, command);
        }
        self.outbox.collect(now, out);
    }
}

impl Device for IdealFlashes {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        let command = Command { tag, request, arrived: now };
        if self.drives[request.target as usize].failed {
            return self.outbox.refuse(now, command.tag, command.arrived, Fault::Failed);
        }
        let end = match request.op {
            Op::Read => self.transfer(now + self.spec.read_ns, &request),
            Op::Write { .. } => self.transfer(now, &request) + self.spec.write_ns,
            Op::Flush => now + self.spec.flush_ns,
            Op::Discard | Op::Zeroes => now + self.spec.write_ns,
        };
        self.due.insert((end, self.arrivals), command);
        self.arrivals += 1;
    }

    fn next_event(&self) -> Option<Nanos> {
        let due = self.due.first_key_value().map(|(&(at, _), _)| at);
        crate::outbox::earlier(due, self.outbox.next_event())
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        step_by_step(self, limit, out, Self::do_due)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        let broken = match what {
            Disturbance::MediumError { drive, sector, sectors } => {
                let damage = &mut self.drives[drive as usize].damage;
                return damage.add(sector, sector + u64::from(sectors));
            }
            Disturbance::Fail(drive)
            | Disturbance::FailDrive(drive)
            | Disturbance::CutDrive(drive) => Some(drive),
            Disturbance::Reset | Disturbance::PowerCut => None,
        };
        let fault = what.fault();
        let hits = |target: u32| broken.is_none_or(|broken| broken == target);
        let (ended, kept) = std::mem::take(&mut self.due)
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(_, command)| hits(command.request.target));
        self.due = kept;
        for (_, drive) in (0..).zip(&mut self.drives).filter(|&(target, _)| hits(target)) {
            drive.failed |= fault == Fault::Failed;
            drive.link_free_at = drive.link_free_at.min(now);
        }
        for command in ended.into_values() {
            self.outbox.refuse(now, command.tag, command.arrived, fault);
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.kept += self.due.len() as u64;
        counters.targets.extend(self.drives.iter().map(|drive| drive.counters));
    }
}
