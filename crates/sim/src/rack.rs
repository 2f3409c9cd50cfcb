//! Devices side by side: their targets, one after the other.

use crate::due::Due;
use crate::{Advance, Counters, Device, Disturbance, Event, Geometry, Nanos, Tag, step_by_step};
use block::Request;

/// Devices, each with its targets. The targets of the first come first.
pub struct Rack {
    devices: Vec<Box<dyn Device>>,
    /// The first target of each device, and of each its first drive.
    first_target: Vec<u32>,
    first_drive: Vec<u32>,
    /// The device of each target.
    device_of: Vec<u32>,
    due: Due,
    /// Whether what is done to one may change when another has something to do.
    are_linked: bool,
    geometry: Geometry,
}

impl Rack {
    /// These devices, in order.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn new(devices: Vec<Box<dyn Device>>) -> Self {
        assert!(!devices.is_empty(), "a rack holds at least one device");
        let (mut first_target, mut first_drive, mut device_of) = (vec![], vec![], vec![]);
        let (mut target_sectors, mut drives) = (vec![], 0);
        for (number, device) in (0..).zip(&devices) {
            first_target.push(target_sectors.len() as u32);
            first_drive.push(drives);
            let mut counters = Counters::default();
            device.count(&mut counters);
            drives += counters.targets.len() as u32;
            target_sectors.extend_from_slice(&device.geometry().target_sectors);
            device_of.resize(target_sectors.len(), number);
        }
        let due = Due::new(devices.len());
        let geometry = Geometry { target_sectors };
        let are_linked = false;
        Rack { devices, first_target, first_drive, device_of, due, are_linked, geometry }
    }

    /// The same of devices that share something, so that all of them are asked when they are next due.
    #[must_use]
    pub fn linked(mut self) -> Self {
        self.are_linked = true;
        self
    }

    /// When a device has something to do, and the first that has.
    fn next(&self) -> Option<(Nanos, usize)> {
        if !self.are_linked {
            return self.due.first();
        }
        let devices = self.devices.iter().enumerate();
        devices.filter_map(|(number, device)| Some((device.next_event()?, number))).min()
    }

    fn with<T>(&mut self, number: usize, act: impl FnOnce(&mut dyn Device) -> T) -> T {
        let device = &mut self.devices[number];
        let result = act(&mut **device);
        self.due.set(number, device.next_event());
        result
    }

    /// The device with this drive.
    fn with_drive(&self, drive: u32) -> usize {
        self.first_drive.partition_point(|&first| first <= drive) - 1
    }
}

impl Device for Rack {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        let number = self.device_of[request.target as usize] as usize;
        let target = request.target - self.first_target[number];
        self.with(number, |device| device.submit(now, tag, request.to(target)));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.next().map(|(at, _)| at)
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        step_by_step(self, limit, out, |rack, at, out| {
            let (_, number) = rack.next().expect("it has a next event");
            rack.with(number, |device| device.advance(at, out));
        })
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        match what {
            Disturbance::Fail(target) => {
                let number = self.device_of[target as usize] as usize;
                let target = target - self.first_target[number];
                self.with(number, |device| device.disturb(now, Disturbance::Fail(target)));
            }
            Disturbance::FailDrive(drive) => {
                let number = self.with_drive(drive);
                let drive = drive - self.first_drive[number];
                self.with(number, |device| device.disturb(now, Disturbance::FailDrive(drive)));
            }
            Disturbance::CutDrive(drive) => {
                let number = self.with_drive(drive);
                let drive = drive - self.first_drive[number];
                self.with(number, |device| device.disturb(now, Disturbance::CutDrive(drive)));
            }
            Disturbance::MediumError { drive, sector, sectors } => {
                let number = self.with_drive(drive);
                let drive = drive - self.first_drive[number];
                let what = Disturbance::MediumError { drive, sector, sectors };
                self.with(number, |device| device.disturb(now, what));
            }
            Disturbance::Reset | Disturbance::PowerCut => {
                for number in 0..self.devices.len() {
                    self.with(number, |device| device.disturb(now, what));
                }
            }
        }
    }

    fn count(&self, counters: &mut Counters) {
        for device in &self.devices {
            device.count(counters);
        }
    }
}
