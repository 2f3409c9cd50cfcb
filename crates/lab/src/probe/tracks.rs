//! Where the tracks start around a place.
//!
//! Along a track the angle grows evenly. Where the next track starts it jumps by the skew, much more than a read's
//! time scatters:
//!
//! ```text
//! sector   0    1    2    3  |  4    5    6    7     4 sectors a track, skew 1.5 sectors, a revolution of 4
//! angle    0    1    2    3  | 5.5→1.5  2.5  3.5  0.5
//! ```

use super::reader::{AGAIN, Reader, median};
use crate::error::Result;

/// An angle that is off by less than this part of a revolution is as predicted.
pub(super) const ALIKE: f64 = 1.0 / 100.0;
/// Tracks that are looked at until cylinders were seen to start.
const TRACKS_MAX: usize = 80;
/// Places from which the time of a sector is estimated.
const STARTS: usize = 8;
/// Cylinders over which track skews are measured.
const CYLINDERS: u64 = 7;
/// Units over which the time of one must agree.
const ENOUGH: u64 = 4;
/// Skews that differ by less than this part of a revolution are the same: a read's time scatters, too.
const SAME_SKEW: f64 = 1.0 / 300.0;

/// What repeats from cylinder to cylinder.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pattern {
    /// The first sector of a cylinder.
    pub(super) origin: u64,
    /// Sectors of a track.
    pub(super) track: u64,
    /// Tracks of a cylinder, where a cylinder's skew is another than a track's.
    pub(super) heads: Option<u32>,
    /// Sectors of a cylinder.
    pub(super) cylinder: u64,
    /// From one track to the next, in ns.
    pub(super) track_skew: f64,
    /// From one cylinder to the next, in ns.
    pub(super) cylinder_skew: f64,
    /// How far a cylinder's first track is turned against that of the one before, in ns.
    pub(super) advance: f64,
}

impl Pattern {
    /// How far `lba` is turned against the origin, in whole revolutions and parts, in ns: the cylinders between, the
    /// tracks within its cylinder, and the sectors of the track.
    pub(super) fn turned(&self, lba: u64, turn: f64) -> f64 {
        let away = lba.cast_signed() - self.origin.cast_signed();
        let cylinders = away.div_euclid(self.cylinder.cast_signed());
        let within = away.rem_euclid(self.cylinder.cast_signed()) as u64;
        let (head, sector) = (within / self.track, within % self.track);
        cylinders as f64 * self.advance
            + head as f64 * self.track_skew
            + sector as f64 * turn / self.track as f64
    }
}

/// A track that was seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    first: u64,
    sectors: u64,
    /// How far the next one is turned against it.
    jump: f64,
}

/// The pattern after `from`. With `heads` known, fewer cylinders are enough.
pub(super) fn survey(reader: &mut Reader, from: u64, heads: Option<u32>) -> Result<Pattern> {
    let sector_ns = sector_ns(reader, from)?;
    let first = boundary(reader, from, sector_ns)?;
    let second = boundary(reader, first, sector_ns)?;
    let third = boundary(reader, second, sector_ns)?;
    // One of two may end a cylinder, and be shorter by its spares.
    let track = (second - first).max(third - second);
    let mut seen = vec![];
    let mut at = (first, reader.angle(first)?);
    while seen.len() < TRACKS_MAX {
        let (next, angle) = next_track(reader, at, track)?;
        seen.push(Seen { first: at.0, sectors: next - at.0, jump: reader.wrap(angle - at.1) });
        at = (next, angle);
        if let Some(mut pattern) = pattern(&seen, track, SAME_SKEW * reader.turn, heads) {
            pattern.advance = advance(reader, &pattern)?;
            pattern.track_skew = track_skew(reader, &pattern)?;
            let tracks = f64::from(pattern.heads.unwrap_or(1) - 1);
            let left = pattern.advance - tracks * pattern.track_skew;
            pattern.cylinder_skew = reader.wrap(left);
            return Ok(pattern);
        }
    }
    let mut jumps: Vec<f64> = seen.iter().map(|track| track.jump).collect();
    let jump = median(&mut jumps);
    let mut alone = Pattern {
        origin: first,
        track,
        heads: None,
        cylinder: track,
        track_skew: jump,
        cylinder_skew: jump,
        advance: jump,
    };
    alone.advance = advance(reader, &alone)?;
    Ok(alone)
}

/// How far a cylinder's first track is turned against that of the one before, over more and more cylinders: what is
/// known of some says how many revolutions twice as many have turned.
fn advance(reader: &mut Reader, pattern: &Pattern) -> Result<f64> {
    let at_origin = reader.angle(pattern.origin)?;
    let mut known = pattern.advance;
    for cylinders in (0..12).map(|power| 1 << power) {
        let there = pattern.origin + cylinders * pattern.cylinder;
        if there + pattern.cylinder > reader.sectors {
            break;
        }
        let turned = reader.angle(there)? - at_origin;
        let off = reader.wrap_around(turned - known * cylinders as f64);
        if off.abs() > ALIKE * reader.turn {
            break;
        }
        known += off / cylinders as f64;
    }
    Ok(known)
}

/// The skew from track to track from those of whole cylinders: 3 ms over 3 tracks are 1 ms each. A read's time scatters
/// as much over many tracks as over one.
fn track_skew(reader: &mut Reader, pattern: &Pattern) -> Result<f64> {
    let tracks = u64::from(pattern.heads.unwrap_or(1) - 1);
    if tracks == 0 {
        return Ok(pattern.track_skew);
    }
    let mut off = vec![];
    for cylinder in 1..=CYLINDERS {
        let first = pattern.origin + cylinder * pattern.cylinder;
        let last = first + tracks * pattern.track;
        if last >= reader.sectors {
            break;
        }
        let turned = reader.angle(last)? - reader.angle(first)?;
        off.push(reader.wrap_around(turned - pattern.track_skew * tracks as f64));
    }
    let off = if off.is_empty() { 0.0 } else { median(&mut off) };
    Ok(pattern.track_skew + off / tracks as f64)
}

/// The time of a sector, within a percent or so.
///
/// The angle between two units of a track is known but for whole revolutions. Twice as far is twice the angle, so
/// the estimate of a distance says how many revolutions the double one has: of 0.3 ms for 1 and 0.6 for 2, 1.2 for
/// 4. Where the prediction fails, a track ends between.
fn sector_ns(reader: &mut Reader, from: u64) -> Result<f64> {
    let mut best = (0, 0.0);
    for start in 0..STARTS as u64 {
        let first = from + start * 37 * reader.unit;
        let mut angles = vec![];
        // Downwards: what the drive reads ahead of one is above it.
        for power in (0..=13).rev() {
            let lba = first + (reader.unit << power);
            angles.push(if lba < reader.sectors { Some(reader.angle(lba)?) } else { None });
        }
        angles.reverse();
        let at_first = reader.angle(first)?;
        let mut known = (0, 0.0);
        for (power, angle) in angles.iter().enumerate() {
            let Some(angle) = angle else { break };
            let (units, turned) = (1_u64 << power, reader.wrap(angle - at_first));
            let predicted = units as f64 * known.1;
            let off = reader.wrap_around(turned - predicted);
            if known.0 > 0 && (off.abs() > ALIKE * reader.turn || predicted > reader.turn) {
                break;
            }
            let all = if known.0 == 0 { turned } else { predicted + off };
            known = (units, all / units as f64);
        }
        if known.0 > best.0 {
            best = known;
        }
        if best.0 >= ENOUGH && best.0 as f64 * best.1 > reader.turn / 4.0 {
            break;
        }
    }
    if best.0 < ENOUGH || best.0 as f64 * best.1 < reader.turn / 32.0 {
        return Err(reader.failure(&format!(
            "no track is found at sector {from}, as neighbouring sectors do not pass one after the other: {AGAIN}"
        )));
    }
    Ok(best.1 / reader.unit as f64)
}

/// Where the first track after that of `from` starts, if a sector takes about `sector_ns`.
fn boundary(reader: &mut Reader, from: u64, sector_ns: f64) -> Result<u64> {
    let unit = reader.unit;
    let track = (reader.turn / sector_ns * 1.06) as u64 / unit * unit;
    let at_from = reader.angle(from)?;
    let (mut here, mut beyond) = (from, from + track.max(2 * unit));
    let on_track = |reader: &Reader, lba: u64, angle: f64| {
        let predicted = at_from + (lba - from) as f64 * sector_ns;
        // What is estimated to a percent errs by more, the farther it is.
        let allowed = ALIKE + 0.005 * (lba - from) as f64 / track as f64;
        reader.wrap_around(angle - predicted).abs() < allowed * reader.turn
    };
    while beyond - here > unit {
        let middle = here + (beyond - here) / unit / 2 * unit;
        let Some(angle) = reader.angle_once(middle)? else {
            // The buffer has some of what is left: downwards, after it has forgotten.
            reader.evict(from)?;
            while beyond - here > unit {
                let angle = reader.angle(beyond - unit)?;
                if on_track(reader, beyond - unit, angle) {
                    break;
                }
                beyond -= unit;
            }
            break;
        };
        if on_track(reader, middle, angle) {
            here = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(beyond)
}

/// Where the track after the one that starts at `first` starts, and its angle.
fn next_track(reader: &mut Reader, (first, angle): (u64, f64), track: u64) -> Result<(u64, f64)> {
    let (unit, sector_ns) = (reader.unit, reader.turn / track as f64);
    let next = first + track;
    let at_next = reader.angle(next)?;
    let last = reader.angle(next - unit)?;
    let predicted = angle + (track - unit) as f64 * sector_ns;
    let is_last = reader.wrap_around(last - predicted).abs() < ALIKE * reader.turn;
    if is_last {
        return Ok((next, at_next));
    }
    let next = boundary(reader, first, sector_ns)?;
    Ok((next, reader.angle(next)?))
}

/// The pattern of the tracks that were `seen`, if two cylinders start among them that are `heads` apart, or three that
/// are equally far apart. A cylinder's skew is the one that is seen less often; skews that differ by less than `same` ns
/// are the same. One read that was held up makes no pattern.
///
/// 3 heads with skews of 2 and 5: a cylinder is turned by 2 + 2 + 5 = 9 against the one before.
fn pattern(seen: &[Seen], track: u64, same: f64, heads: Option<u32>) -> Option<Pattern> {
    let is_like = |jump: f64, other: f64| (jump - other).abs() < same;
    let often = |jump: f64| seen.iter().filter(|seen| is_like(seen.jump, jump)).count();
    let usual = seen.iter().map(|seen| seen.jump).max_by_key(|&jump| often(jump))?;
    let is_odd = |at: usize| seen.get(at).is_some_and(|seen| !is_like(seen.jump, usual));
    let odd: Vec<usize> = (0..seen.len()).filter(|&at| is_odd(at)).collect();
    let repeats = |first: usize, every: usize| {
        is_odd(first + every) && (heads.is_some() || is_odd(first + 2 * every))
    };
    let every = |&first: &usize| match heads {
        Some(heads) => repeats(first, heads as usize).then_some((first, heads)),
        None => {
            (1..seen.len()).find(|&every| repeats(first, every)).map(|every| (first, every as u32))
        }
    };
    let (first, heads) = odd.iter().find_map(every)?;
    let ended = seen[first];
    // Where every cylinder ends with spares all of these tracks are short; where some do, one is not.
    let last_track = odd.iter().map(|&at| seen[at].sectors).max().unwrap_or(track).min(track);
    let mut like: Vec<f64> =
        seen.iter().map(|seen| seen.jump).filter(|&jump| is_like(jump, usual)).collect();
    let track_skew = median(&mut like);
    Some(Pattern {
        origin: ended.first + ended.sectors,
        track,
        heads: Some(heads),
        cylinder: u64::from(heads - 1) * track + last_track,
        track_skew,
        cylinder_skew: ended.jump,
        advance: f64::from(heads - 1) * track_skew + ended.jump,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cylinder_is_what_lies_between_two_odd_skews() {
        let tracks = [20.0, 20.0, 50.0, 20.0, 20.0, 50.0, 20.0, 20.0, 50.0];
        let sectors = [10, 10, 8, 10, 10, 8, 10, 10, 8];
        let mut first = 4;
        let seen: Vec<Seen> = tracks
            .iter()
            .zip(sectors)
            .map(|(&jump, sectors)| {
                first += sectors;
                Seen { first: first - sectors, sectors, jump }
            })
            .collect();
        let found = pattern(&seen, 10, 10.0, None).unwrap();
        assert_eq!((found.origin, found.heads, found.cylinder), (32, Some(3), 28));
        assert!((found.advance - 90.0).abs() < 1e-9);
        assert_eq!(pattern(&seen[..8], 10, 10.0, None), None);
        assert_eq!(pattern(&seen[..6], 10, 10.0, Some(3)).unwrap().origin, 32);
        // One that was held up.
        let mut disturbed = seen.clone();
        disturbed[0].jump = 70.0;
        assert_eq!(pattern(&disturbed, 10, 10.0, Some(3)).unwrap().origin, 32);
    }
}
