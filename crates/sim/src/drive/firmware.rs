//! What a drive's firmware decides: when it reads ahead, what it keeps, how it takes and sends data.
//!
//! Each choice is one that a real drive makes; docs/drives.md says which drive makes which, and how
//! that shows. [`Firmware::default`] is the plainest drive: it reads ahead after every miss and keeps
//! what it has read until the room is needed or it is written.

use super::queue::Discipline;
use crate::Nanos;

/// The choices of a drive's firmware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    /// When it reads ahead, and how far.
    pub read_ahead: ReadAheadPolicy,
    /// What it keeps of a segment that the host has read from.
    pub keeps: Keeps,
    /// What a write does to read segments.
    pub on_write: OnWrite,
    /// How many segments may hold what was written, for reads to hit once it is on the medium.
    pub written_segments: usize,
    /// Writes that the buffer holds apart from each other: one that goes on where another ends shares
    /// its segment. 0 is as many as there is room for.
    pub write_segments: usize,
    /// Sectors that are one on the medium, and are only written together. 0 is the same as 1.
    pub physical_sectors: u32,
    /// When data goes to the host.
    pub sending: Sending,
    /// When a write that goes straight to the medium may start there.
    pub taking: Taking,
    /// Where its work on a command depends on the command before.
    pub overheads: Overheads,
    /// Which waiting command is next.
    pub discipline: Discipline,
    /// Among how many waiting commands it chooses: the depth of its queue. The rest wait outside, in
    /// order. 0 is the same as 1.
    pub queue_depth: usize,
}

/// When a drive reads ahead, and how far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadAheadPolicy {
    /// After every miss, and on after every hit: `read_ahead_sectors` beyond the request.
    #[default]
    Beyond,
    /// After every miss until the segment is full, counted from the request's first sector. A hit in
    /// its last quarter lets it go on, and what comes before the hit gives way.
    UntilFull,
    /// Only when a read goes on where the read before it ended: then the whole track of the request,
    /// what precedes it too, and the next one. A hit that goes on likewise brings the next track.
    SequentialTracks,
}

/// What a drive keeps of a segment that the host has read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// Everything that still fits.
    #[default]
    Everything,
    /// What lies ahead of the last read. What was sent, or skipped, is not found again.
    Ahead,
}

/// What a write does to read segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnWrite {
    /// A segment that holds a part of it is dropped.
    #[default]
    DropSegment,
    /// A segment that holds a part of it keeps what lies behind it.
    KeepBehind,
    /// Its data goes into the segment used last, whatever that held. The others keep what lies behind.
    TakeNewest,
}

/// When data goes to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sending {
    /// Each sector as soon as it is there.
    #[default]
    Streamed,
    /// When all of a request is there. (What is already in the buffer, or being read ahead, is still
    /// sent sector by sector.)
    Whole,
}

/// When a write that goes straight to the medium may start there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taking {
    /// As soon as the data stays ahead of the head.
    #[default]
    Streamed,
    /// When all of a request's data is in the buffer.
    Whole,
}

/// The work on a command where it differs from the figures of [`super::ControllerSpec`]; `None` where
/// it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// Before a read that the buffer answers, after a write, in ns.
    pub read_hit_after_write_ns: Option<Nanos>,
    /// Before a read that the medium answers, after a write, in ns.
    pub read_miss_after_write_ns: Option<Nanos>,
    /// Before a write after a write, in ns.
    pub write_after_write_ns: Option<Nanos>,
    /// Before a write in another zone than where the last command ended, in ns: the address must be
    /// translated from scratch.
    pub write_other_zone_ns: Option<Nanos>,
    /// The same after a write, in ns.
    pub write_other_zone_after_write_ns: Option<Nanos>,
    /// From the start of a write that goes straight to the medium until its data may come, in ns,
    /// where the drive does not first finish its own work.
    pub write_data_ns: Option<Nanos>,
    /// After the last sector of a read is sent, in ns.
    pub read_completion_ns: Nanos,
    /// How long it retries before it says that a sector cannot be read, in ns.
    pub read_retries_ns: Nanos,
}

/// The command before, as far as the work on the next one depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// Whether it wrote.
    pub(crate) wrote: bool,
    /// The sector after its last.
    pub(crate) end: u64,
}

impl Overheads {
    /// The work before a write; `other_zone` says whether it lies in another zone than the last sector
    /// of the command before, and is asked only where that matters.
    pub(crate) fn write_ns(
        &self,
        otherwise: Nanos,
        after_write: bool,
        other_zone: impl FnOnce() -> bool,
    ) -> Nanos {
        let far = self.write_other_zone_ns.is_some()
            || (after_write && self.write_other_zone_after_write_ns.is_some());
        let near = if after_write { self.write_after_write_ns } else { None };
        if far && other_zone() {
            let after = self.write_other_zone_after_write_ns.filter(|_| after_write);
            return after.or(self.write_other_zone_ns).or(near).unwrap_or(otherwise);
        }
        near.unwrap_or(otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_costs_what_its_place_and_the_command_before_say() {
        let all = Overheads {
            write_after_write_ns: Some(2),
            write_other_zone_ns: Some(3),
            write_other_zone_after_write_ns: Some(4),
            ..Overheads::default()
        };
        let cost = |overheads: &Overheads, after, far| overheads.write_ns(1, after, || far);
        let of = |overheads: &Overheads| {
            [(false, false), (true, false), (false, true), (true, true)]
                .map(|(after, far)| cost(overheads, after, far))
        };
        assert_eq!(of(&all), [1, 2, 3, 4]);
        assert_eq!(of(&Overheads::default()), [1, 1, 1, 1]);
        let after = Overheads { write_after_write_ns: Some(2), ..Overheads::default() };
        assert_eq!(of(&after), [1, 2, 1, 2]);
    }
}
