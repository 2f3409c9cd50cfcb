//! The decisions of a drive's firmware: when it reads ahead, what it keeps, how it receives and sends
//! data.
//!
//! Each choice is one that a real drive makes; docs/drives.md lists which drive makes which, and how it
//! shows. [`Firmware::default`] is the plainest drive: it reads ahead after every miss and keeps what
//! it has read until the room is needed or the sectors are written.

use super::queue::Discipline;
use crate::Nanos;

/// The choices of a drive's firmware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    /// When it reads ahead, and how far.
    pub read_ahead: ReadAheadPolicy,
    /// What it keeps of a segment after the host has read from it.
    pub keeps: Keeps,
    /// What a write does to read segments.
    pub on_write: OnWrite,
    /// How many segments may keep written data for reads, once it is on the medium.
    pub written_segments: usize,
    /// The number of separate writes in the buffer. A write that continues another shares its segment.
    /// 0 is as many as there is room for.
    pub write_segments: usize,
    /// Among how many of the oldest runs of buffered writes it picks the one soonest reached, after what goes on where the
    /// head has just written. A run may wait for long. 0 takes all in ascending order, again and again from the bottom.
    pub destage_choices: usize,
    /// Sectors in one physical sector of the medium, which are only written together. 0 is the same as
    /// 1.
    pub physical_sectors: u32,
    /// When data goes to the host.
    pub sending: Sending,
    /// When a write that goes straight to the medium may start there.
    pub taking: Taking,
    /// Its work on a command, where that depends on the command before.
    pub overheads: Overheads,
    /// The order of waiting commands.
    pub discipline: Discipline,
    /// The depth of its queue: among how many waiting commands it chooses. The others wait outside, in
    /// order. 0 is the same as 1.
    pub queue_depth: usize,
}

/// When a drive reads ahead, and how far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadAheadPolicy {
    /// After every miss, continued after every hit: `read_ahead_sectors` beyond the request.
    #[default]
    Beyond,
    /// After every miss until the segment is full, counted from the request's first sector. After a hit
    /// in its last quarter the drive reads on and drops what lies before the hit.
    UntilFull,
    /// Only when a read continues the read before it: then the whole track of the request, including
    /// what precedes it, and the next track. A hit that continues the read before it adds the next
    /// track.
    SequentialTracks,
    /// After every miss to the end of the track of its last sector, at most `read_ahead_sectors`.
    TrackEnd,
    /// The same, and then the sectors of that track before the request, which pass next: the whole track
    /// of a miss is kept.
    WholeTrack,
}

/// What a drive keeps of a segment after the host has read from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// Everything that still fits.
    #[default]
    Everything,
    /// What lies beyond the last read. Sectors that were sent or skipped are no longer hits.
    Ahead,
}

/// What a write does to read segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnWrite {
    /// A segment that overlaps it is dropped.
    #[default]
    DropSegment,
    /// A segment that overlaps it keeps what lies behind it.
    KeepBehind,
    /// Its data replaces the most recently used segment. The other segments keep what lies behind it.
    TakeNewest,
}

/// When data goes to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sending {
    /// Each sector as soon as it is available.
    #[default]
    Streamed,
    /// When the whole request is available. (What is already in the buffer, or being read ahead, is
    /// still sent sector by sector.)
    Whole,
}

/// When a write that goes straight to the medium may start there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taking {
    /// As soon as the data can stay ahead of the head.
    #[default]
    Streamed,
    /// When all of a request's data is in the buffer.
    Whole,
}

/// The work on a command where it differs from [`super::ControllerSpec`]; `None` where it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// Before a read that the buffer answers, after a write, in ns.
    pub read_hit_after_write_ns: Option<Nanos>,
    /// Before a read that the medium answers, after a write, in ns.
    pub read_miss_after_write_ns: Option<Nanos>,
    /// Before a write after a write, in ns.
    pub write_after_write_ns: Option<Nanos>,
    /// Before a write in another zone than the end of the last command, in ns: the address is
    /// translated from scratch.
    pub write_other_zone_ns: Option<Nanos>,
    /// The same after a write, in ns.
    pub write_other_zone_after_write_ns: Option<Nanos>,
    /// From the start of a write that goes straight to the medium until its data may come, in ns, where
    /// the drive does not first finish its own work.
    pub write_data_ns: Option<Nanos>,
    /// After the last sector of a read is sent, in ns.
    pub read_completion_ns: Nanos,
    /// How long it retries before it reports that a sector cannot be read, in ns.
    pub read_retries_ns: Nanos,
}

/// The previous command, as far as the work on the next one depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// Whether it was a write.
    pub(crate) wrote: bool,
    /// The sector after its last.
    pub(crate) end: u64,
}

impl Overheads {
    /// The work before a write. `other_zone` says whether it lies in another zone than the last sector
    /// of the previous command; it is called only where that matters.
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
