//! What can be asked of a device.

use std::hint::black_box;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Fetch sectors.
    Read,
    /// Store sectors; with `fua` (force unit access) it is done only when the medium has them.
    Write {
        /// Through any volatile cache, onto the medium.
        fua: bool,
    },
    /// Make every write already done durable. Carries no sectors.
    Flush,
    /// The sectors' content no longer matters.
    Discard,
    /// The sectors read as zeroes from now on.
    Zeroes,
}

impl Op {
    /// A plain write, which a volatile cache may take.
    pub const WRITE: Op = Op::Write { fua: false };

    /// Whether it changes what the sectors hold.
    pub fn modifies(self) -> bool {
        !matches!(self, Op::Read | Op::Flush)
    }
}

/// One operation on one contiguous range of one target.
///
/// A device has one or more targets (a shelf has one per drive, a volume has just target 0); sectors
/// are 512 bytes and counted from the start of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Which of the device's targets.
    pub target: u32,
    /// What to do.
    pub op: Op,
    /// The first sector.
    pub sector: u64,
    /// How many sectors; zero for a flush, and only for a flush.
    pub sectors: u32,
}

impl Request {
    /// A read of `sectors` sectors from `sector` of target 0.
    pub fn read(sector: u64, sectors: u32) -> Self {
        Request { target: 0, op: Op::Read, sector, sectors }
    }

    /// A plain write of `sectors` sectors at `sector` of target 0.
    pub fn write(sector: u64, sectors: u32) -> Self {
        Request { target: 0, op: Op::WRITE, sector, sectors }
    }

    /// A flush of target 0.
    pub fn flush() -> Self {
        Request { target: 0, op: Op::Flush, sector: 0, sectors: 0 }
    }

    /// The same request, moved field by field. The compiler moves it as a whole, and a processor that reads as a whole
    /// what was written in parts a moment ago waits until the parts have left for its cache: longer than a layer takes
    /// to decide on a request.
    #[inline]
    #[must_use]
    pub fn parted(self) -> Self {
        let Request { target, op, sector, sectors } = self;
        let [target, sectors] = [target, sectors].map(black_box);
        Request { target, op, sector: black_box(sector), sectors }
    }

    /// The same request to another target.
    #[must_use]
    pub fn to(self, target: u32) -> Self {
        Request { target, ..self }
    }

    /// The sector after the last.
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }
}
