//! Reads, and the angle at which a sector passes the head.

use super::{Disk, Found, Probed, Step, Timed};
use crate::error::{Error, Result};
use block::units::format_sectors;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use sim::Nanos;

/// The least disk that is probed, in sectors: less is read in a moment from any buffer.
const SECTORS_MIN: u64 = 1 << 16;
/// How often a sector is read until it comes from the medium.
const TRIES: u32 = 4;
/// A kick away is one of so many parts of the disk.
const KICK_PART: u64 = 50;
/// What to do where tracks do not show.
pub(super) const AGAIN: &str = "stop what else uses the disk and probe again; docs/drives.md says which \
                                layouts are not known";

/// Reads from a disk, and remembers them.
pub(super) struct Reader<'a> {
    disk: &'a mut dyn Disk,
    /// Sectors of the disk.
    pub(super) sectors: u64,
    /// Sectors of the shortest read.
    pub(super) unit: u64,
    /// The time of a revolution in ns, once it is known.
    pub(super) turn: f64,
    /// What takes less, with the arm elsewhere before, came from the buffer.
    pub(super) hit_below: Nanos,
    /// So many reads elsewhere make it forget.
    pub(super) forgets_after: usize,
    /// When the last read was done.
    pub(super) now: Nanos,
    random: Pcg64Mcg,
    steps: Vec<Step>,
}

impl<'a> Reader<'a> {
    /// A reader of `disk`.
    pub(super) fn new(disk: &'a mut dyn Disk) -> Result<Self> {
        let unit = u64::from(disk.unit());
        let sectors = disk.sectors() / unit * unit;
        if sectors < SECTORS_MIN {
            let name = disk.name();
            return Err(Error::input(format!(
                "{name} has {}, and a probe needs {}; name a whole disk",
                format_sectors(sectors),
                format_sectors(SECTORS_MIN)
            )));
        }
        Ok(Reader {
            disk,
            sectors,
            unit,
            turn: 0.0,
            hit_below: 0,
            forgets_after: 0,
            now: 0,
            random: Pcg64Mcg::new(1),
            steps: vec![],
        })
    }

    /// All reads, and what follows from them.
    pub(super) fn into_result(self, found: Found) -> Probed {
        Probed {
            device: self.disk.name().to_string(),
            sectors: self.disk.sectors(),
            unit_sectors: self.disk.unit(),
            found,
            steps: self.steps,
        }
    }

    /// An error of this disk.
    pub(super) fn failure(&self, what: &str) -> Error {
        Error::failure(format!("{}: {what}", self.disk.name()))
    }

    /// What follows belongs to the step `name`.
    pub(super) fn begin(&mut self, name: &str) {
        self.steps.push(Step { name: name.into(), reads: vec![] });
    }

    /// Below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit.max(1)
    }

    /// Any place.
    pub(super) fn anywhere(&mut self) -> u64 {
        self.below(self.sectors / self.unit) * self.unit
    }

    /// Reads `sectors` at `lba`, not before `at`.
    pub(super) fn read_at(&mut self, at: Nanos, lba: u64, sectors: u64) -> Result<Timed> {
        if lba + sectors > self.sectors {
            return Err(self.failure(&format!(
                "what was found of its tracks leads beyond its end, to sector {lba}: {AGAIN}"
            )));
        }
        let timed = self.disk.read(at, lba, sectors as u32)?;
        self.now = timed.done;
        let step = self.steps.last_mut().expect("a step has begun");
        step.reads.push((lba, sectors as u32, timed.issued, timed.done));
        Ok(timed)
    }

    /// Reads a unit at `lba` as soon as possible, and says how long that took.
    pub(super) fn service(&mut self, lba: u64) -> Result<Nanos> {
        Ok(self.read_at(self.now, lba, self.unit)?.service())
    }

    /// Reads at a place at least a quarter of the disk from `lba`: the arm must come back from far.
    pub(super) fn go_far(&mut self, lba: u64) -> Result<()> {
        let way = self.sectors / 4 + self.below(self.sectors / 2);
        let far = (lba + way) % self.sectors / self.unit * self.unit;
        self.service(far).map(|_| ())
    }

    /// Reads near `lba`, but so far that a read there costs a seek.
    fn kick(&mut self, lba: u64) -> Result<()> {
        let part = self.sectors / KICK_PART;
        let way = part + self.below(part / 8);
        let near = if lba > self.sectors / 2 { lba - way } else { lba + way };
        self.service(near / self.unit * self.unit).map(|_| ())
    }

    /// Reads elsewhere until the buffer holds nothing of before.
    pub(super) fn evict(&mut self, lba: u64) -> Result<()> {
        for _ in 0..=self.forgets_after {
            self.kick(lba)?;
        }
        Ok(())
    }

    /// `ns` as an angle: 21 ms of a revolution of 10 ms is 1 ms.
    pub(super) fn wrap(&self, ns: f64) -> f64 {
        ns.rem_euclid(self.turn)
    }

    /// The same around 0: 9 ms of 10 is −1 ms.
    pub(super) fn wrap_around(&self, ns: f64) -> f64 {
        (ns + self.turn / 2.0).rem_euclid(self.turn) - self.turn / 2.0
    }

    /// `at` as an angle.
    pub(super) fn angle_at(&self, at: Nanos) -> f64 {
        self.wrap(at as f64)
    }

    /// The angle at which the unit at `lba` has passed the head and is sent.
    ///
    /// Done is when it passes, plus what is the same for all units: so two units differ by their distance on the
    /// track. A read from the buffer says nothing of that; the arm comes from elsewhere, so it is told by its time.
    pub(super) fn angle(&mut self, lba: u64) -> Result<f64> {
        for _ in 0..TRIES {
            self.kick(lba)?;
            if let Some(angle) = self.angle_from_here(lba)? {
                return Ok(angle);
            }
            self.evict(lba)?;
        }
        Err(self.failure(&format!("sector {lba} is always answered by the buffer")))
    }

    /// The same with the arm wherever it is; nothing where the buffer answers.
    pub(super) fn angle_from_here(&mut self, lba: u64) -> Result<Option<f64>> {
        let timed = self.read_at(self.now, lba, self.unit)?;
        Ok((timed.service() >= self.hit_below).then(|| self.angle_at(timed.done)))
    }

    /// The same from elsewhere, tried once.
    pub(super) fn angle_once(&mut self, lba: u64) -> Result<Option<f64>> {
        self.kick(lba)?;
        self.angle_from_here(lba)
    }
}

/// The middle of `values`; of an even number the upper one.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
