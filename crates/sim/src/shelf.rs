//! Drives that share something are simulated together: a shelf owns the drives, their buses, and the
//! order of their events.

use crate::bus::Bus;
use crate::drive::Drive;
use crate::due::Due;
use crate::{Counters, Device, Disturbance, Event, Geometry, Nanos, Spent, Tag};
use block::Request;

/// Drives and the buses that they are attached to. Its targets are the drives.
#[derive(Clone, Debug)]
pub struct Shelf {
    /// The drives, and which bus each is attached to.
    drives: Vec<(Drive, usize)>,
    buses: Vec<Bus>,
    due: Due,
    geometry: Geometry,
}

impl Shelf {
    /// `drives`, assigned to the `buses` round-robin.
    ///
    /// # Panics
    ///
    /// Where there is no drive or no bus.
    pub fn new(drives: Vec<Drive>, mut buses: Vec<Bus>) -> Self {
        assert!(!drives.is_empty() && !buses.is_empty(), "a shelf needs drives and a bus");
        let geometry = Geometry { target_sectors: drives.iter().map(Drive::sectors).collect() };
        let in_turn = (0..buses.len()).cycle();
        let drives: Vec<(Drive, usize)> = drives.into_iter().zip(in_turn).collect();
        for &(_, bus) in &drives {
            buses[bus].attach();
        }
        Shelf { due: Due::new(drives.len()), drives, buses, geometry }
    }

    /// The drive of `target` and its bus; its next event is noted afterwards.
    #[inline]
    fn with_drive<T>(&mut self, target: usize, act: impl FnOnce(&mut Drive, &mut Bus) -> T) -> T {
        let (drive, bus) = &mut self.drives[target];
        let result = act(drive, &mut self.buses[*bus]);
        self.due.set(target, drive.next_event());
        result
    }
}

impl Device for Shelf {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        let target = request.target as usize;
        let (drive, bus) = &mut self.drives[target];
        let waits = drive.submit(now, tag, request, &mut self.buses[*bus]);
        if !waits {
            self.due.set(target, drive.next_event());
        }
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
        let target = request.target as usize;
        let (drive, bus) = &mut self.drives[target];
        // What a drive writes from its buffer may end while this goes on.
        if self.due.first().is_some() || !drive.is_up() {
            self.submit(now, tag, request);
            return None;
        }
        let served = drive.serve(now, tag, &request, limit, &mut self.buses[*bus], spent);
        if let Some(next) = drive.next_event() {
            self.due.set(target, Some(next));
        }
        served
    }

    fn next_event(&self) -> Option<Nanos> {
        self.due.first().map(|(at, _)| at)
    }

    fn proceed(&mut self, mut limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        let (before, mut came) = (out.len(), None);
        while let Some((at, target)) = self.due.first()
            && at <= limit
        {
            self.with_drive(target, |drive, bus| drive.advance(at, bus, out));
            if out.len() > before {
                // What else is due at that time comes with it.
                (limit, came) = (at, Some(at));
            }
        }
        came
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        match what {
            Disturbance::Fail(drive)
            | Disturbance::FailDrive(drive)
            | Disturbance::CutDrive(drive)
            | Disturbance::MediumError { drive, .. } => {
                self.with_drive(drive as usize, |drive, _| drive.disturb(now, what));
            }
            Disturbance::Reset | Disturbance::PowerCut => {
                for bus in &mut self.buses {
                    bus.release(now);
                }
                for drive in 0..self.drives.len() {
                    self.with_drive(drive, |drive, _| drive.disturb(now, what));
                }
            }
        }
    }

    fn count(&self, counters: &mut Counters) {
        counters.targets.extend(self.drives.iter().map(|(drive, _)| drive.counters()));
    }
}
