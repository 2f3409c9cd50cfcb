//! A shingled disk that hides it: a media cache and bands in front of a disk.
//!
//! Tracks of a band overlap, so a sector in it cannot be written without those that follow. The drive does it
//! as drive-managed and host-aware ones do:
//!
//! ```text
//! write, continues a stream      straight to its band
//! write, any other               appended to the media cache                later: its band is rewritten
//! read                           from the media cache what is there, the rest from its band
//! media cache full               the band of the oldest write is rewritten first
//! idle                           bands are rewritten, oldest first, until the media cache is empty
//! ```
//!
//! A band is rewritten by reading it, and what the media cache holds of it, and writing it: to a spare band
//! first where bands stay in place, for a power cut must not lose it. The media cache and the spare band lie
//! at the outer edge. The commands of a rewritten band go to the same arm as the host's. Only in idle time
//! bands are rewritten without events, each in [`SmrSpec::clean_ns`].

mod cache;
mod parts;
mod shingles;
mod streams;

pub(crate) use parts::PARTS;
pub use shingles::Shingles;

use crate::wrapper::Wrapper;
use crate::{Counters, Device, Disturbance, Event, Fault, Geometry, Nanos, Tag};
use block::Request;
use std::fmt;

/// How a disk is shingled.
#[derive(Clone, Debug)]
pub struct SmrSpec {
    /// Sectors that can be addressed.
    pub sectors: u64,
    /// Sectors of a band.
    pub band_sectors: u64,
    /// Sectors of the media cache.
    pub cache_sectors: u64,
    /// The most writes that the media cache keeps apart.
    pub cache_entries: u64,
    /// A write takes a multiple of so many sectors of the media cache.
    pub entry_sectors: u64,
    /// And so many more for its header.
    pub header_sectors: u64,
    /// Whether a band is written to a spare one before it is written in place.
    pub copies_first: bool,
    /// After how many sectors in a row writes go straight to their bands.
    pub stream_sectors: u64,
    /// How many streams do so at a time.
    pub streams: usize,
    /// How long the drive is idle before it rewrites bands, in ns.
    pub idle_ns: Nanos,
    /// The time to rewrite a band while it is idle, in ns.
    pub clean_ns: Nanos,
    /// Whether the media cache is full of random writes when the run begins.
    pub is_filled: bool,
}

/// Why the description of a shingled disk is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmrError {
    /// It has no band, or one larger than a command.
    Band,
    /// The media cache holds less than four bands.
    Cache,
    /// The media cache keeps less than four writes, or writes take no room in it.
    Entries,
    /// The disk has less room than the sectors that can be addressed, the media cache and a spare band.
    Disk,
    /// A band is rewritten in no time.
    Clean,
}

impl fmt::Display for SmrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SmrError::Band => "a band must have at least one sector and at most 2^31",
            SmrError::Cache => "the media cache must hold at least four bands",
            SmrError::Entries => "the media cache must keep at least four writes of some size",
            SmrError::Disk => "the platters have no room for the media cache and a spare band",
            SmrError::Clean => "rewriting a band must take some time",
        })
    }
}

impl std::error::Error for SmrError {}

impl SmrSpec {
    /// Where the first band begins on the disk: behind the media cache and the spare band.
    pub fn first_band_sector(&self) -> u64 {
        self.cache_sectors + self.band_sectors
    }

    fn check(&self, disk: &Geometry) -> Result<(), SmrError> {
        if self.band_sectors == 0 || self.band_sectors > 1 << 31 {
            return Err(SmrError::Band);
        }
        let room = self.band_sectors.saturating_add(self.entry_sectors + self.header_sectors);
        if self.cache_sectors / 4 < room {
            return Err(SmrError::Cache);
        }
        if self.cache_entries < 4 || self.entry_sectors == 0 {
            return Err(SmrError::Entries);
        }
        let needed = self.sectors.saturating_add(self.first_band_sector());
        if disk.target_sectors.first().is_none_or(|&sectors| sectors < needed) {
            return Err(SmrError::Disk);
        }
        if self.clean_ns == 0 { Err(SmrError::Clean) } else { Ok(()) }
    }
}

/// A shingled disk with one target.
pub struct Smr<D> {
    inside: Wrapper<Shingles, D>,
    geometry: Geometry,
}

impl<D: Device> Smr<D> {
    /// The disk `below`, its first target shingled as `spec` says. Where random writes fill the media cache
    /// already, they follow from `seed`.
    ///
    /// # Errors
    ///
    /// Where no disk can be shingled that way, or `below` is too small.
    pub fn new(below: D, spec: &SmrSpec, seed: u64) -> Result<Self, SmrError> {
        spec.check(below.geometry())?;
        let geometry = Geometry::single(spec.sectors);
        Ok(Smr { inside: Wrapper::around(below, Shingles::new(spec, seed)), geometry })
    }
}

impl<D: Device> Device for Smr<D> {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.geometry.check(&request);
        self.inside.submit(now, tag, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.inside.next_event()
    }

    fn proceed(&mut self, limit: Nanos, out: &mut Vec<Event>) -> Option<Nanos> {
        self.inside.proceed(limit, out)
    }

    fn disturb(&mut self, now: Nanos, what: Disturbance) {
        if let Disturbance::MediumError { sector, sectors, .. } = what {
            return self.inside.policy_mut().damage(sector, sector + u64::from(sectors));
        }
        if what.fault() == Fault::PowerCut {
            self.inside.policy_mut().lose_unsettled();
        }
        match what {
            // It is one drive, and what it has not yet asked of its arm goes, too.
            Disturbance::CutDrive(_) => self.inside.cut(now),
            _ => self.inside.disturb(now, what),
        }
    }

    /// What it did for its host, not what its arm did for that; busy is the arm.
    fn count(&self, counters: &mut Counters) {
        let before = counters.targets.len();
        self.inside.count(counters);
        for target in &mut counters.targets[before..] {
            *target = self.inside.policy().counted(target);
        }
    }
}
