//! What the buffer does for reads: hits, segments, what is kept, what is read ahead, the bus.
//!
//! Every question is asked the same way: some reads, perhaps a pause, reads far away, and then one read of which the
//! time says whether the buffer has it. Each is asked at another place, so that no answer spoils the next.

mod ahead;

use super::layout::{Layout, Place};
use super::reader::{Reader, median};
use super::result::{Buffer, Policy, Seeks};
use crate::error::Result;
use sim::Nanos;

/// A hit takes less than this part of a random read, before more is known.
const HIT_PART: u64 = 5;
/// Segments that are looked for.
const SEGMENTS_MAX: usize = 512;
/// How often hits are tried.
const TRIES: usize = 6;
/// A pause in which a drive reads something ahead, in ns, before the revolution is known.
const PAUSE_NS: Nanos = 40_000_000;
/// Sectors of the longest hit that is timed.
const LONG_HIT: u64 = 1024;

/// What is kept of a read, as far as it must be known to make the buffer forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    hits: Hits,
    segments: Option<usize>,
}

/// Which reads hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hits {
    /// What was read.
    Again,
    /// Only what follows it.
    Ahead,
    /// Nothing.
    Never,
}

/// Finds hits, their time and how many reads elsewhere make the buffer forget; `random_ns` is a random read's time.
pub(super) fn kept(reader: &mut Reader, random_ns: Nanos) -> Result<Kept> {
    reader.begin("hits and segments");
    reader.hit_below = random_ns / HIT_PART;
    // With one segment, a read elsewhere takes it.
    let ways = [(Hits::Again, 1), (Hits::Ahead, 1), (Hits::Again, 0), (Hits::Ahead, 0)];
    for (hits, others) in ways {
        let mut slowest = 0;
        let mut count = 0;
        for _ in 0..TRIES {
            let service = after(reader, hits, others)?;
            if service < reader.hit_below {
                slowest = slowest.max(service);
                count += 1;
            }
        }
        if 2 * count > TRIES {
            reader.hit_below = slowest + slowest / 4 + 30_000;
            let segments = if others > 0 { segments(reader, hits)? } else { Some(1) };
            reader.forgets_after = segments.unwrap_or(SEGMENTS_MAX);
            return Ok(Kept { hits, segments });
        }
    }
    reader.hit_below = 0;
    Ok(Kept { hits: Hits::Never, segments: Some(0) })
}

/// The time of a read that hits if the buffer still has it after `others` reads elsewhere.
fn after(reader: &mut Reader, hits: Hits, others: usize) -> Result<Nanos> {
    let lba = reader.anywhere().min(reader.sectors - 2 * reader.unit);
    reader.service(lba)?;
    let (at, again) = match hits {
        Hits::Ahead => (reader.now + PAUSE_NS, lba + reader.unit),
        _ => (reader.now, lba),
    };
    reader.now = at;
    for _ in 0..others {
        reader.go_far(lba)?;
    }
    reader.service(again)
}

/// The number of reads elsewhere after which a read does not hit any more: each takes the segment that was used
/// least recently, so it is the number of segments.
fn segments(reader: &mut Reader, hits: Hits) -> Result<Option<usize>> {
    // Kept after the first, forgotten after the second.
    let (mut kept, mut forgotten) = (1, 2);
    while after(reader, hits, forgotten)? < reader.hit_below {
        kept = forgotten;
        if forgotten >= SEGMENTS_MAX {
            return Ok(None);
        }
        forgotten *= 2;
    }
    while forgotten - kept > 1 {
        let middle = usize::midpoint(kept, forgotten);
        if after(reader, hits, middle)? < reader.hit_below {
            kept = middle;
        } else {
            forgotten = middle;
        }
    }
    Ok(Some(forgotten))
}

/// Finds the rest.
pub(super) fn find(
    reader: &mut Reader,
    layout: &Layout,
    kept: Kept,
    seeks: &Seeks,
) -> Result<Buffer> {
    reader.begin("buffer");
    let mut buffer = Buffer {
        segments: kept.segments,
        segment_sectors: 0,
        read_ahead_sectors: 0,
        policy: Policy::Never,
        keeps_everything: kept.hits == Hits::Again,
        hit_ns: seeks.track_ns,
        bus_sector_ns: None,
        sends_whole: None,
        zero_latency: false,
    };
    if kept.hits != Hits::Never {
        ahead::find(reader, layout, &mut buffer)?;
        bus(reader, layout, kept.hits, &mut buffer)?;
    }
    if let Some(bus_ns) = buffer.bus_sector_ns {
        buffer.sends_whole = sends_whole(reader, layout, bus_ns)?;
    }
    buffer.zero_latency = zero_latency(reader, layout)?;
    Ok(buffer)
}

/// The first track of some cylinder of the largest zone, well before its end.
fn anywhere(reader: &mut Reader, layout: &Layout) -> Result<Place> {
    let (first, cylinders) = layout.largest();
    let cylinder = first + reader.below(cylinders * 9 / 10);
    let place = layout.track(cylinder, 0);
    place.ok_or_else(|| reader.failure("its zones hold no whole cylinder"))
}

/// Times hits of one unit and of many: the slope is the bus, what remains the controller.
///
/// 1 sector in 0.31 ms and 101 in 1.31 are 0.01 ms a sector and 0.30 for the controller.
fn bus(reader: &mut Reader, layout: &Layout, hits: Hits, buffer: &mut Buffer) -> Result<()> {
    let most = match hits {
        Hits::Again => buffer.segment_sectors / 2,
        _ => buffer.read_ahead_sectors / 2,
    };
    let (short, long) = (reader.unit, most.min(LONG_HIT) / reader.unit * reader.unit);
    if long <= short {
        return Ok(());
    }
    let mut timed = |sectors: u64| -> Result<f64> {
        let mut times = vec![];
        for _ in 0..TRIES {
            let lba = anywhere(reader, layout)?.first;
            if hits == Hits::Again {
                reader.read_at(reader.now, lba, sectors)?;
                times.push(reader.read_at(reader.now, lba, sectors)?.service() as f64);
            } else {
                reader.service(lba)?;
                let at = reader.now + ahead::pause(reader, buffer.read_ahead_sectors, layout);
                times.push(reader.read_at(at, lba + reader.unit, sectors)?.service() as f64);
            }
        }
        Ok(median(&mut times))
    };
    let (short_ns, long_ns) = (timed(short)?, timed(long)?);
    let sector_ns = (long_ns - short_ns) / (long - short) as f64;
    if sector_ns > 0.0 {
        buffer.bus_sector_ns = Some(sector_ns);
        buffer.hit_ns = short_ns - sector_ns * short as f64;
    }
    Ok(())
}

/// Whether half a track is sent when all of it has passed, or while it passes. Then it is done when its last unit
/// alone would be; else later by the time on the bus. A bus that is slower than the medium hides which.
fn sends_whole(reader: &mut Reader, layout: &Layout, bus_ns: f64) -> Result<Option<bool>> {
    let mut late = vec![];
    let mut expected = 0.0;
    for _ in 0..TRIES {
        let Place { first, sectors, .. } = anywhere(reader, layout)?;
        let half = sectors / 2 / reader.unit * reader.unit;
        expected = bus_ns * (half - reader.unit) as f64;
        if bus_ns > 0.8 * reader.turn / sectors as f64 || expected < 50_000.0 {
            return Ok(None);
        }
        // The last unit first: what is read ahead of it is behind.
        let last = reader.angle(first + half - reader.unit)?;
        reader.evict(first)?;
        reader.read_at(reader.now, first, half)?;
        late.push(reader.wrap_around(reader.angle_at(reader.now) - last));
    }
    Ok(Some(median(&mut late) > expected / 2.0))
}

/// Whether a track is read from wherever the head arrives: then it is done at any angle, else always at the same.
fn zero_latency(reader: &mut Reader, layout: &Layout) -> Result<bool> {
    let mut off = vec![];
    for _ in 0..TRIES {
        let Place { first, sectors, .. } = anywhere(reader, layout)?;
        let last = reader.angle(first + sectors - reader.unit)?;
        reader.evict(first)?;
        reader.read_at(reader.now, first, sectors)?;
        off.push(reader.wrap_around(reader.angle_at(reader.now) - last));
    }
    let middle = median(&mut off);
    let apart = off.iter().filter(|one| (*one - middle).abs() > reader.turn / 50.0).count();
    Ok(apart > TRIES / 2)
}
