//! The time to reach a sector, by distance.
//!
//! A command that is sent now, for a sector that passes the head in x: if the arm is there in time it is done at
//! x, else a revolution later. So one read tells on which side of x the time to reach it is, and halving finds that
//! time without waiting for luck. Nothing is lost if the sector passes at another x than predicted: the read says which.

use super::layout::{Layout, Place};
use super::reader::{Reader, median};
use super::result::Seeks;
use crate::error::Result;
use sim::Nanos;

/// Pairs of reads for one distance at one place.
const HALVINGS: usize = 18;
/// Places for each distance.
const PLACES: usize = 3;
/// Distances grow by this.
const GROWS: f64 = 1.25;
/// It is known to this part of a revolution.
const FINE: f64 = 1.0 / 1000.0;
/// From the end of one read to the start of the next, in ns, so that a host is in time.
const GAP_NS: Nanos = 50_000;
/// How often a pair of cylinders is drawn before the distance is left out.
const DRAWS: usize = 200;

/// How the arm gets from one sector to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Track,
    Head,
    Cylinders(u64),
}

/// All times to reach a sector.
pub(super) fn find(reader: &mut Reader, layout: &mut Layout) -> Result<Seeks> {
    reader.begin("seeks");
    let track_ns = time(reader, layout, Way::Track)?;
    let head_ns = if layout.heads() > 1 { time(reader, layout, Way::Head)? } else { None };
    let mut cylinders = vec![];
    for distance in distances(layout.cylinders()) {
        if let Some(ns) = time(reader, layout, Way::Cylinders(distance))? {
            cylinders.push((distance, ns));
        }
    }
    let Some(track_ns) = track_ns else {
        return Err(reader.failure("the buffer answers every second read of a track"));
    };
    Ok(Seeks { track_ns, head_ns, cylinders })
}

/// 1, 2, 3, … and then each a quarter more, up to nearly all cylinders.
fn distances(cylinders: u64) -> Vec<u64> {
    let most = cylinders.saturating_sub(1 + cylinders / 50);
    let mut all = vec![];
    let mut next = 1;
    while next < most {
        all.push(next);
        next = (next + 1).max((next as f64 * GROWS) as u64);
    }
    all.push(most.max(1));
    all
}

/// The time from the command to the first sector that can pass, in ns: the median of some places.
fn time(reader: &mut Reader, layout: &mut Layout, way: Way) -> Result<Option<f64>> {
    let mut times = vec![];
    for _ in 0..PLACES {
        times.extend(halved(reader, layout, way)?);
    }
    Ok((!times.is_empty()).then(|| median(&mut times)))
}

fn halved(reader: &mut Reader, layout: &mut Layout, way: Way) -> Result<Option<f64>> {
    let turn = reader.turn;
    // It lies above the first and not above the second.
    let mut between: Option<(f64, f64)> = None;
    for _ in 0..HALVINGS {
        let Some((from, to)) = pair(reader, layout, way) else { return Ok(None) };
        let wanted = between.map_or(0.5 * turn, |(low, high)| f64::midpoint(low, high));
        let unit_ns = layout.unit_ns(&to);
        let Some(reached) = reached(reader, layout, (&from, &to), wanted + unit_ns)? else {
            continue;
        };
        let reached = reached - unit_ns;
        let (low, high) = between.unwrap_or((reached - turn, reached));
        let (low, high) =
            if reached < high { (low, reached) } else { (low.max(reached - turn), high) };
        // What contradicts what was before was held up somewhere.
        let low = if low < high { low } else { between.map_or(high - turn, |known| known.0) };
        between = Some((low, high));
        if high - low < FINE * turn {
            break;
        }
    }
    Ok(between.map(|(low, high)| f64::midpoint(low.max(0.0), high)))
}

/// Reads on one track and then, on another, what passes `wanted` ns after the command; how long that took.
fn reached(
    reader: &mut Reader,
    layout: &mut Layout,
    (from, to): (&Place, &Place),
    wanted: f64,
) -> Result<Option<f64>> {
    let source = layout.last_unit(from);
    if let Some(angle) = reader.angle_from_here(source)? {
        layout.seen(from, source, angle);
    }
    let soonest = reader.now + GAP_NS;
    let target = layout.passing(to, reader.wrap(reader.angle_at(soonest) + wanted));
    if target == source {
        return Ok(None);
    }
    // It passes somewhat later than wanted, so the command comes later, too.
    let later = layout.angle(to, target) - reader.angle_at(soonest) - wanted;
    let at = soonest + reader.wrap(later) as Nanos;
    let timed = reader.read_at(at, target, reader.unit)?;
    if timed.service() < reader.hit_below {
        return Ok(None);
    }
    layout.seen(to, target, reader.angle_at(timed.done));
    Ok(Some(timed.service() as f64))
}

/// Two tracks that `way` leads from and to.
fn pair(reader: &mut Reader, layout: &Layout, way: Way) -> Option<(Place, Place)> {
    let (all, heads) = (layout.cylinders(), layout.heads());
    for _ in 0..DRAWS {
        let head = reader.below(u64::from(heads)) as u32;
        let distance = if let Way::Cylinders(distance) = way { distance } else { 0 };
        let cylinder = reader.below(all - distance);
        let (mut from, mut to) = (cylinder, cylinder + distance);
        if distance < layout.largest().1 / 4 && !layout.is_one_zone(from, to) {
            continue;
        }
        if reader.below(2) == 1 {
            (from, to) = (to, from);
        }
        let other = match way {
            Way::Track => head,
            Way::Head => (head + 1 + reader.below(u64::from(heads) - 1) as u32) % heads,
            Way::Cylinders(_) => reader.below(u64::from(heads)) as u32,
        };
        if let (Some(from), Some(to)) = (layout.track(from, head), layout.track(to, other)) {
            return Some((from, to));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_dense_where_the_curve_bends() {
        assert_eq!(distances(20), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 19]);
        assert_eq!(distances(1), [1]);
    }
}
