//! How far a drive reads ahead, after which reads, and how much a segment holds.

use super::anywhere;
use crate::error::Result;
use crate::probe::layout::Layout;
use crate::probe::reader::Reader;
use crate::probe::result::{Buffer, Policy};
use sim::Nanos;

/// Sectors that are looked for ahead of a read, and in a segment.
const FAR: u64 = 1 << 15;

/// Reads before the question: where on the track in sectors, and how many sectors each.
#[derive(Clone, Copy, Debug)]
struct Before {
    offset: u64,
    sectors: u64,
    /// One read, or two of which the second continues the first.
    reads: u64,
}

impl Before {
    /// The sector after them, from the first of the track.
    fn end(self) -> u64 {
        self.offset + self.sectors * self.reads
    }
}

/// Finds the policy, how far it reads ahead, and the size of a segment.
pub(super) fn find(reader: &mut Reader, layout: &Layout, buffer: &mut Buffer) -> Result<()> {
    let unit = reader.unit;
    let track = anywhere(reader, layout)?.sectors;
    let alone = Before { offset: track / 4 / unit * unit, sectors: unit, reads: 1 };
    let ahead = extent(reader, layout, alone)?;
    if ahead == 0 {
        let pair = Before { reads: 2, ..alone };
        buffer.read_ahead_sectors = extent(reader, layout, pair)?;
        if buffer.read_ahead_sectors > 0 {
            buffer.policy = Policy::SequentialTracks;
        }
    } else {
        buffer.read_ahead_sectors = ahead;
        buffer.policy = policy(reader, layout, alone, ahead)?;
    }
    buffer.segment_sectors = segment(reader, layout, buffer)?;
    if buffer.policy == Policy::SequentialTracks {
        // To the end of the next track: how far that is depends on where it begins.
        buffer.read_ahead_sectors = buffer.segment_sectors;
    }
    Ok(())
}

/// What decides how far it reads, if it is `ahead` sectors after `alone`.
fn policy(reader: &mut Reader, layout: &Layout, alone: Before, ahead: u64) -> Result<Policy> {
    let unit = reader.unit;
    // Further on the track, and longer: a track's end comes nearer with both, a full segment with the length only.
    let later = Before { offset: alone.offset + 8 * unit, ..alone };
    let longer = Before { sectors: 9 * unit, ..alone };
    let [later, longer] = [extent(reader, layout, later)?, extent(reader, layout, longer)?];
    let comes_nearer = |extent: u64| extent < ahead;
    if !comes_nearer(longer) {
        return Ok(Policy::Beyond);
    }
    if !comes_nearer(later) {
        return Ok(Policy::UntilFull);
    }
    let is_around = holds(reader, layout, alone, |first| first + alone.offset - unit, ahead)?;
    Ok(if is_around { Policy::WholeTrack } else { Policy::TrackEnd })
}

/// Sectors beyond `before` that are in the buffer after a pause: doubled, then halved.
fn extent(reader: &mut Reader, layout: &Layout, before: Before) -> Result<u64> {
    let unit = reader.unit;
    most(reader, |reader, sectors| {
        holds(reader, layout, before, |first| first + before.end() + sectors - unit, sectors)
    })
}

/// The most sectors, in units, for which `is_so`; 0 if not for one unit.
fn most(
    reader: &mut Reader,
    mut is_so: impl FnMut(&mut Reader, u64) -> Result<bool>,
) -> Result<u64> {
    let unit = reader.unit;
    let (mut least, mut beyond) = (0, 1);
    while beyond * unit <= FAR && is_so(reader, beyond * unit)? {
        least = beyond;
        beyond *= 2;
    }
    while beyond - least > 1 {
        let middle = u64::midpoint(least, beyond);
        if is_so(reader, middle * unit)? {
            least = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(least * unit)
}

/// Whether the buffer has the unit at `asked` (of the first sector of a track) after the reads `before` and a pause
/// in which `sectors` pass.
fn holds(
    reader: &mut Reader,
    layout: &Layout,
    before: Before,
    asked: impl Fn(u64) -> u64,
    sectors: u64,
) -> Result<bool> {
    let first = anywhere(reader, layout)?.first;
    // As far from both ends as may be needed; what is at hand may be in the buffer, or half read.
    reader.evict(first)?;
    for read in 0..before.reads {
        let lba = first + before.offset + read * before.sectors;
        reader.read_at(reader.now, lba, before.sectors)?;
    }
    reader.now += pause(reader, sectors, layout);
    if reader.forgets_after > 1 {
        reader.go_far(first)?;
    }
    Ok(reader.service(asked(first))? < reader.hit_below)
}

/// The time in which a drive has read `sectors` ahead, generously, in ns.
pub(super) fn pause(reader: &Reader, sectors: u64, layout: &Layout) -> Nanos {
    let revolutions = sectors as f64 / layout.shortest_track() as f64;
    ((3.0 + 2.0 * revolutions) * reader.turn) as Nanos
}

/// Sectors that a segment holds.
///
/// A read of n sectors and a of read-ahead fill n + a of it. As long as that fits, the first unit is still there. If
/// not even after a read of one unit, the first unit that is there says how much was dropped.
fn segment(reader: &mut Reader, layout: &Layout, buffer: &Buffer) -> Result<u64> {
    let (unit, ahead) = (reader.unit, buffer.read_ahead_sectors);
    let of_one = Before { offset: 0, sectors: unit, reads: 1 };
    match (buffer.policy, buffer.keeps_everything) {
        (Policy::UntilFull, _) => return Ok(unit + ahead),
        (_, false) => return Ok(ahead),
        _ => {}
    }
    let after_one = if buffer.policy == Policy::Beyond { ahead } else { 0 };
    let longest = most(reader, |reader, sectors| {
        let before = Before { sectors, ..of_one };
        holds(reader, layout, before, |first| first, sectors + ahead)
    })?;
    if longest > 0 {
        return Ok(longest + after_one);
    }
    // Dropped are the units up to the first that is there.
    let dropped = most(reader, |reader, sectors| {
        holds(reader, layout, of_one, |first| first + sectors - unit, ahead)
            .map(|is_there| !is_there)
    })?;
    Ok(unit + ahead - dropped)
}
