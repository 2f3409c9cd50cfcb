//! What goes wrong with disks while the guest measures, each at its time.

use crate::machine::Finished;
use sim::{Device, Disturbance, Nanos};

/// Something that goes wrong with a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How long after the guest has begun to measure.
    pub after_ns: Nanos,
    /// Which disk.
    pub disk: u32,
    /// What.
    pub what: Happening,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// It fails for good: it answers every command with an error.
    Fails,
    /// These sectors cannot be read until they are written again.
    CannotRead {
        /// The first.
        sector: u64,
        /// How many.
        sectors: u32,
    },
    /// It answers nothing for so long, and then what it has done in the meantime.
    Stalls {
        /// How long.
        for_ns: Nanos,
    },
    /// It has no power for so long: what it had in its cache alone is lost, and commands in flight and until then come back
    /// with an error.
    LosesPower {
        /// How long.
        for_ns: Nanos,
    },
}

/// The faults of a run: those to come, and what stalled disks keep to themselves.
#[derive(Default)]
pub(crate) struct Faults {
    stated: Vec<Fault>,
    /// The times of those to come, the next one last; none before the guest measures.
    due: Vec<(Nanos, Fault)>,
    /// Disks that stall, and up to when.
    stalled: Vec<(u32, Nanos)>,
    /// What they have done.
    kept: Vec<Finished>,
    /// Disks that have no power, and up to when.
    without_power: Vec<(u32, Nanos)>,
}

impl Faults {
    pub(crate) fn new(stated: Vec<Fault>) -> Self {
        Faults { stated, ..Faults::default() }
    }

    /// The guest begins to measure.
    pub(crate) fn begin(&mut self, now: Nanos) {
        self.due = self.stated.iter().map(|fault| (now + fault.after_ns, *fault)).collect();
        self.due.sort_by_key(|&(at, fault)| std::cmp::Reverse((at, fault.disk)));
    }

    /// When something happens next: a fault, or the end of a stall.
    pub(crate) fn next_event(&self) -> Option<Nanos> {
        let ends = self.stalled.iter().map(|&(_, until)| until);
        ends.chain(self.due.last().map(|&(at, _)| at)).min()
    }

    /// Does to `device` what is due by `now`, up to which it has been advanced. Gives the disks that lose their power.
    pub(crate) fn happen(&mut self, now: Nanos, device: &mut dyn Device) -> Vec<u32> {
        let mut cut = Vec::new();
        self.stalled.retain(|&(_, until)| until > now);
        while let Some((at, fault)) = self.due.pop_if(|&mut (at, _)| at <= now) {
            match fault.what {
                Happening::Fails => device.disturb(now, Disturbance::FailDrive(fault.disk)),
                Happening::CannotRead { sector, sectors } => {
                    let drive = fault.disk;
                    device.disturb(now, Disturbance::MediumError { drive, sector, sectors });
                }
                Happening::Stalls { for_ns } => self.stalled.push((fault.disk, at + for_ns)),
                Happening::LosesPower { for_ns } => {
                    device.disturb(now, Disturbance::CutDrive(fault.disk));
                    self.without_power.push((fault.disk, at + for_ns));
                    cut.push(fault.disk);
                }
            }
        }
        cut
    }

    /// Whether a disk has no power.
    pub(crate) fn is_without_power(&self, now: Nanos, disk: usize) -> bool {
        self.without_power.iter().any(|&(of, until)| of as usize == disk && now < until)
    }

    /// The disks that will lose it.
    pub(crate) fn that_lose_power(stated: &[Fault]) -> impl Iterator<Item = usize> {
        let lose = |fault: &&Fault| matches!(fault.what, Happening::LosesPower { .. });
        stated.iter().filter(lose).map(|fault| fault.disk as usize)
    }

    /// What a disk has done and keeps to itself.
    pub(crate) fn kept(&mut self) -> impl Iterator<Item = &mut Finished> {
        self.kept.iter_mut()
    }

    /// What is `finished` of disks that answer, with what those had kept that answer again; the rest is kept.
    pub(crate) fn answered(&mut self, finished: Vec<Finished>) -> Vec<Finished> {
        if self.stalled.is_empty() && self.kept.is_empty() {
            return finished;
        }
        let mut all = std::mem::take(&mut self.kept);
        all.extend(finished);
        let is_kept =
            |done: &Finished| self.stalled.iter().any(|&(disk, _)| disk as usize == done.disk);
        let (kept, answered) = all.into_iter().partition(is_kept);
        self.kept = kept;
        answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use block::Request;
    use sim::Advance;
    use sim::ideal_flash::{IdealFlashSpec, IdealFlashes};
    use sim::{Event, Fault as Failure};

    const SPEC: IdealFlashSpec = IdealFlashSpec {
        sectors: 4000,
        read_ns: 80_000,
        write_ns: 20_000,
        flush_ns: 20_000,
        link_bytes_per_s: 2_000_000_000,
    };

    /// What a read of `disk` at `now` comes to.
    fn read(device: &mut dyn Device, now: Nanos, disk: u32) -> Result<(), Failure> {
        let mut events = Vec::new();
        device.submit(now, 0, Request::read(100, 8).to(disk));
        device.advance(now + 1_000_000, &mut events);
        match events[..] {
            [Event::Done { result, .. }] => result,
            _ => panic!("{events:?}"),
        }
    }

    #[test]
    fn each_fault_comes_at_its_time_and_to_its_disk() {
        let fault = |after_ns, disk, what| Fault { after_ns, disk, what };
        let mut faults = Faults::new(vec![
            fault(9_000_000, 0, Happening::Fails),
            fault(5_000_000, 1, Happening::CannotRead { sector: 104, sectors: 1 }),
        ]);
        let mut device = IdealFlashes::new(2, SPEC);
        faults.happen(20_000_000, &mut device);
        assert_eq!(faults.next_event(), None, "the guest does not measure yet");
        faults.begin(20_000_000);
        assert_eq!(faults.next_event(), Some(25_000_000));
        assert_eq!(read(&mut device, 21_000_000, 1), Ok(()));
        faults.happen(25_000_000, &mut device);
        assert_eq!(read(&mut device, 25_000_000, 1), Err(Failure::Medium));
        assert_eq!(read(&mut device, 27_000_000, 0), Ok(()));
        assert_eq!(faults.next_event(), Some(29_000_000));
        faults.happen(29_000_000, &mut device);
        assert_eq!(read(&mut device, 30_000_000, 0), Err(Failure::Failed));
        assert_eq!(faults.next_event(), None);
    }

    #[test]
    fn a_stalled_disk_answers_afterwards() {
        let stall = Happening::Stalls { for_ns: 4_000_000 };
        let mut faults = Faults::new(vec![Fault { after_ns: 1_000_000, disk: 1, what: stall }]);
        let mut device = IdealFlashes::new(2, SPEC);
        let of = Finished::some_of;
        let disks = |all: &[Finished]| all.iter().map(|done| done.disk).collect::<Vec<_>>();
        faults.begin(0);
        assert_eq!(disks(&faults.answered(vec![of(1)])), [1]);
        faults.happen(1_000_000, &mut device);
        assert_eq!(faults.next_event(), Some(5_000_000));
        assert_eq!(disks(&faults.answered(vec![of(1), of(0)])), [0]);
        assert!(faults.answered(vec![of(1)]).is_empty());
        faults.happen(5_000_000, &mut device);
        assert_eq!(disks(&faults.answered(vec![of(0)])), [1, 1, 0]);
    }
}
