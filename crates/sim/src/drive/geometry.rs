//! Where a sector is on the platters.
//!
//! Sectors fill a track, then the next head's track of the same cylinder, then the next cylinder. A
//! zone is a range of cylinders with the same number of slots a track. Some slots of a track, or of a
//! cylinder, may be spares. A defective slot is *slipped*: the sectors after it move on by one. The
//! first sector of each track is rotated against the one before by a *skew*, so that it arrives just
//! when the head has switched. The drive may reserve slots before the first sector, and at the end of a
//! zone.
//!
//! ```text
//! 4 heads, 10 slots a track, 1 spare a track, track skew 2, cylinder skew 3
//! sector  0..8   cylinder 0, head 0, slots 0..8   first slot at angle 0/10
//! sector  9..17  cylinder 0, head 1, slots 0..8   first slot at angle 2/10
//! sector 36..44  cylinder 1, head 0, slots 0..8   first slot at angle (3 × 2 + 3)/10
//! ```

use crate::Nanos;
use block::Divisor;
use std::fmt;

/// A range of cylinders with the same number of slots a track. Cylinders between zones hold no sectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// The first cylinder.
    pub first_cylinder: u32,
    /// The last cylinder.
    pub last_cylinder: u32,
    /// Slots a track, including spares.
    pub slots_per_track: u32,
    /// Track skew: how far the next head's track is rotated, in slots.
    pub track_skew_slots: u32,
    /// Cylinder skew: how far the next cylinder's first track is rotated against this one's last, in
    /// slots.
    pub cylinder_skew_slots: u32,
    /// Slots at the end of the zone that hold no sectors.
    pub spare_slots: u64,
    /// How far the zone's first slot is rotated against the index mark, in slots.
    pub offset_slots: u32,
}

/// The platters of a drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlatterSpec {
    /// Sectors that can be addressed.
    pub sectors: u64,
    /// Recording surfaces.
    pub heads: u32,
    /// The time of one revolution, in ns.
    pub revolution_ns: Nanos,
    /// Zones, outermost first.
    pub zones: Vec<Zone>,
    /// Slots at the end of each track that hold no sectors.
    pub spare_slots_per_track: u32,
    /// Slots at the end of each cylinder, or of each range of cylinders, that hold no sectors.
    pub spare_slots_per_cylinder: u32,
    /// How many cylinders share their spares; 0 is 1.
    pub spare_range_cylinders: u32,
    /// Slots before the first sector that the drive reserves for itself.
    pub reserved_slots: u64,
    /// Defective slots, ascending, numbered over all slots that are not spares.
    pub slipped: Vec<u64>,
}

/// Why the description of the platters is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatterError {
    /// Nothing to read: no heads, no zones, no sectors or no revolution.
    Missing(&'static str),
    /// A zone ends before it starts, or overlaps the zone before.
    ZoneOrder {
        /// Which zone, counted from 0.
        zone: usize,
    },
    /// The spares leave no slot for sectors.
    NoSlots {
        /// Which zone, counted from 0.
        zone: usize,
    },
    /// The zones hold fewer sectors than the stated capacity.
    TooSmall {
        /// The sectors that the zones hold.
        zone_sectors: u64,
        /// The stated capacity.
        sectors: u64,
    },
    /// The slipped slots are not in ascending order.
    SlipOrder,
}

impl fmt::Display for PlatterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlatterError::Missing(what) => write!(f, "the drive has no {what}"),
            PlatterError::ZoneOrder { zone } => {
                write!(f, "zone {zone} does not lie after the zone before it")
            }
            PlatterError::NoSlots { zone } => write!(f, "zone {zone} keeps no slot for sectors"),
            PlatterError::TooSmall { zone_sectors, sectors } => {
                write!(f, "the zones hold {zone_sectors} sectors, not the {sectors} of the drive")
            }
            PlatterError::SlipOrder => write!(f, "the slipped slots are not in ascending order"),
        }
    }
}

impl std::error::Error for PlatterError {}

/// Translates sectors to places on the platters.
#[derive(Clone, Debug)]
pub struct Platters {
    sectors: u64,
    cylinders: u32,
    revolution_ns: Divisor,
    zones: Vec<ZoneMap>,
    /// For each stretch of slots of 2 to this power, the zone that it starts in.
    zone_at: (u32, Vec<u32>),
    reserved_slots: u64,
    /// For each slipped slot, the first sector that it shifts.
    slips: Vec<u64>,
}

#[derive(Clone, Debug)]
struct ZoneMap {
    /// The first of its slots, numbered over all slots of all zones that are not spares.
    first_slot: u64,
    /// The first slot of the next zone; of the last zone none has it.
    end_slot: u64,
    first_cylinder: u32,
    range_cylinders: u32,
    track_skew: u32,
    cylinder_skew: u32,
    offset: u32,
    slots: Divisor,
    track_sectors: Divisor,
    cylinder_sectors: Divisor,
    /// The sectors of the cylinders that share their spares.
    range_sectors: Divisor,
}

/// The place of a sector, and how far the same track continues from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The cylinder.
    pub cylinder: u32,
    /// The head.
    pub head: u32,
    /// The slot under the head as an angle: in slots from the drive's index mark.
    pub angle_slot: u32,
    /// The same as the time in ns at which it passes the head in each revolution.
    pub angle_ns: Nanos,
    /// Slots on this track, including spares.
    pub slots: Divisor,
    /// Contiguous sectors, including this one: to the end of the track or the next slip.
    pub run: u32,
}

/// The place of a sector within its zone.
struct Place {
    zone: usize,
    cylinder: u32,
    head: u32,
    in_track: u32,
    /// Sectors to the end of the track, including this one, without slips.
    left: u32,
    until_slip: u64,
}

impl Platters {
    /// Platters as in `spec`.
    ///
    /// # Errors
    ///
    /// Where the description is invalid.
    pub fn new(spec: &PlatterSpec) -> Result<Self, PlatterError> {
        for (there, what) in [
            (spec.sectors > 0, "sectors"),
            (spec.heads > 0, "heads"),
            (spec.revolution_ns > 0, "rotational speed"),
            (!spec.zones.is_empty(), "zones"),
        ] {
            if !there {
                return Err(PlatterError::Missing(what));
            }
        }
        let (zones, slots) = zone_maps(spec)?;
        if !spec.slipped.is_sorted_by(|a, b| a < b) {
            return Err(PlatterError::SlipOrder);
        }
        let lost = spec.slipped.len() as u64 + spec.reserved_slots;
        let zone_sectors = slots - lost.min(slots);
        if zone_sectors < spec.sectors {
            return Err(PlatterError::TooSmall { zone_sectors, sectors: spec.sectors });
        }
        Ok(Platters {
            sectors: spec.sectors,
            cylinders: spec.zones.last().map_or(0, |zone| zone.last_cylinder + 1),
            revolution_ns: Divisor::new(spec.revolution_ns),
            zone_at: zones_by_stretch(&zones, slots),
            zones,
            reserved_slots: spec.reserved_slots,
            slips: spec.slipped.iter().zip(0..).map(|(slot, before)| slot - before).collect(),
        })
    }

    /// Sectors that can be addressed.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Cylinders, including those between the zones.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// The time of one revolution, in ns.
    pub fn revolution_ns(&self) -> Nanos {
        self.revolution_ns.get()
    }

    /// How far the platters turn in `nanos` beyond whole revolutions, as the time that it takes, in ns.
    #[inline]
    pub fn turned_ns(&self, nanos: Nanos) -> Nanos {
        self.revolution_ns.remainder(nanos)
    }

    /// Where `sector` is.
    #[inline]
    pub fn spot(&self, sector: u64) -> Spot {
        debug_assert!(sector < self.sectors);
        let place = self.place(sector);
        let zone = &self.zones[place.zone];
        let turned = u64::from(place.cylinder) * u64::from(zone.cylinder_skew)
            + u64::from(place.head * zone.track_skew + place.in_track + zone.offset);
        let angle_slot = zone.slots.remainder(turned) as u32;
        Spot {
            cylinder: zone.first_cylinder + place.cylinder,
            head: place.head,
            angle_slot,
            angle_ns: self.angle_ns(angle_slot, zone.slots),
            slots: zone.slots,
            run: u64::from(place.left).min(place.until_slip) as u32,
        }
    }

    /// The first sector on the track of `sector`, and the first sector after that track. (A slip on the
    /// track moves the end beyond it by one.)
    pub fn track(&self, sector: u64) -> (u64, u64) {
        let place = self.place(sector);
        let first = sector.saturating_sub(u64::from(place.in_track));
        (first, (sector + u64::from(place.left)).min(self.sectors))
    }

    #[inline]
    fn place(&self, sector: u64) -> Place {
        let (slot, until_slip) = self.slot(sector);
        let index = self.zone_of_slot(slot);
        let zone = &self.zones[index];
        let in_zone = slot - zone.first_slot;
        let (range, in_range) = zone.range_sectors.divide(in_zone);
        // Mostly a range is one cylinder, and a division is saved.
        let (cylinder, in_cylinder) = match zone.range_cylinders {
            1 => (0, in_range),
            _ => zone.cylinder_sectors.divide(in_range),
        };
        let (head, in_track) = zone.track_sectors.divide(in_cylinder);
        let until_end = zone.end_slot - slot;
        let left = (zone.track_sectors.get() - in_track).min(zone.range_sectors.get() - in_range);
        Place {
            zone: index,
            cylinder: range as u32 * zone.range_cylinders + cylinder as u32,
            head: head as u32,
            in_track: in_track as u32,
            left: left.min(until_end) as u32,
            until_slip,
        }
    }

    /// Whether both sectors are in the same zone.
    pub fn share_zone(&self, sector: u64, other: u64) -> bool {
        let zone = &self.zones[self.zone_of_slot(self.slot(sector).0)];
        (zone.first_slot..zone.end_slot).contains(&self.slot(other).0)
    }

    /// The zone of `sector`, counted from 0.
    pub fn zone(&self, sector: u64) -> usize {
        self.zone_of_slot(self.slot(sector).0)
    }

    #[inline]
    fn zone_of_slot(&self, slot: u64) -> usize {
        let (shift, zones) = &self.zone_at;
        let mut zone = zones[(slot >> shift) as usize] as usize;
        while self.zones[zone].end_slot <= slot {
            zone += 1;
        }
        zone
    }

    /// The slot of `sector`, numbered over all slots that are not spares, and how many sectors from it
    /// on there are until the next slip.
    #[inline]
    fn slot(&self, sector: u64) -> (u64, u64) {
        let (slot, until_slip) = if self.slips.is_empty() {
            (sector, u64::MAX)
        } else {
            let before = self.slips.partition_point(|&first| first <= sector);
            let until_slip = self.slips.get(before).map_or(u64::MAX, |first| first - sector);
            (sector + before as u64, until_slip)
        };
        (slot + self.reserved_slots, until_slip)
    }

    /// The angle of slot `angle_slot` of `slots`, as the time in ns at which it passes the head in each
    /// revolution. Rounded once, from the exact fraction, so that rounding errors never add up.
    fn angle_ns(&self, angle_slot: u32, slots: Divisor) -> Nanos {
        slots.quotient(u64::from(angle_slot) * self.revolution_ns.get())
    }

    /// The time for `sectors` slots from `spot` to pass; exact, so that runs join without a gap.
    pub fn pass_ns(&self, spot: Spot, sectors: u32) -> Nanos {
        self.angle_ns(spot.angle_slot + sectors, spot.slots) - spot.angle_ns
    }

    /// The rate in bytes a second at which sectors pass the head, without switch times: 512 × slots
    /// used ÷ revolution time, for the outermost and the innermost zone.
    pub fn media_rates(&self) -> (f64, f64) {
        let rate = |zone: &ZoneMap| {
            512.0 * zone.track_sectors.get() as f64 / (self.revolution_ns.get() as f64 / 1e9)
        };
        (rate(&self.zones[0]), rate(&self.zones[self.zones.len() - 1]))
    }

    /// The sustained sequential rate in bytes a second in the outermost and the innermost zone,
    /// including skews:
    /// 512 × cylinder sectors ÷ (tracks revolutions + (heads − 1) track skews + one cylinder skew).
    pub fn sustained_rates(&self) -> (f64, f64) {
        let rate = |zone: &ZoneMap| {
            let range_sectors = zone.range_sectors.get();
            let tracks = range_sectors.div_ceil(zone.track_sectors.get());
            let skews = zone.range_cylinders * zone.cylinder_skew;
            let turns = tracks as f64 + f64::from(skews) / zone.slots.get() as f64;
            512.0 * range_sectors as f64 / (turns * self.revolution_ns.get() as f64 / 1e9)
        };
        (rate(&self.zones[0]), rate(&self.zones[self.zones.len() - 1]))
    }
}

/// For each of about a thousand stretches of `slots`, the zone that it starts in.
fn zones_by_stretch(zones: &[ZoneMap], slots: u64) -> (u32, Vec<u32>) {
    let shift = slots.ilog2().saturating_sub(10);
    let zone_of = |stretch: u64| zones.partition_point(|z| z.first_slot <= stretch << shift) - 1;
    (shift, (0..=slots >> shift).map(|stretch| zone_of(stretch) as u32).collect())
}

fn divisor(by: u32) -> Divisor {
    Divisor::new(u64::from(by))
}

/// The zones with their places among all slots, and how many slots there are.
fn zone_maps(spec: &PlatterSpec) -> Result<(Vec<ZoneMap>, u64), PlatterError> {
    let mut zones: Vec<ZoneMap> = Vec::with_capacity(spec.zones.len());
    let mut first_slot = 0;
    let mut next_cylinder = 0;
    for (index, zone) in spec.zones.iter().enumerate() {
        if zone.first_cylinder < next_cylinder || zone.last_cylinder < zone.first_cylinder {
            return Err(PlatterError::ZoneOrder { zone: index });
        }
        let track = zone.slots_per_track.saturating_sub(spec.spare_slots_per_track);
        let cylinder = track * spec.heads;
        let range_cylinders = spec.spare_range_cylinders.max(1);
        let range = range_cylinders * cylinder - spec.spare_slots_per_cylinder.min(cylinder);
        let cylinders = zone.last_cylinder + 1 - zone.first_cylinder;
        let ranges = u64::from(cylinders / range_cylinders) * u64::from(range);
        let rest = u64::from(cylinders % range_cylinders) * u64::from(cylinder);
        if range <= (range_cylinders - 1) * cylinder || ranges + rest <= zone.spare_slots {
            return Err(PlatterError::NoSlots { zone: index });
        }
        if let Some(before) = zones.last_mut() {
            before.end_slot = first_slot;
        }
        zones.push(ZoneMap {
            first_slot,
            end_slot: u64::MAX,
            first_cylinder: zone.first_cylinder,
            range_cylinders,
            slots: divisor(zone.slots_per_track),
            track_sectors: divisor(track),
            cylinder_sectors: divisor(cylinder),
            range_sectors: divisor(range),
            track_skew: zone.track_skew_slots,
            cylinder_skew: zone.cylinder_skew_slots + (spec.heads - 1) * zone.track_skew_slots,
            offset: zone.offset_slots,
        });
        next_cylinder = zone.last_cylinder + 1;
        first_slot += ranges + rest - zone.spare_slots;
    }
    Ok((zones, first_slot))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn zone(cylinders: std::ops::RangeInclusive<u32>, slots: u32, skews: (u32, u32)) -> Zone {
        Zone {
            first_cylinder: *cylinders.start(),
            last_cylinder: *cylinders.end(),
            slots_per_track: slots,
            track_skew_slots: skews.0,
            cylinder_skew_slots: skews.1,
            ..Zone::default()
        }
    }

    fn spec(zones: Vec<Zone>, heads: u32, sectors: u64) -> PlatterSpec {
        PlatterSpec { sectors, heads, revolution_ns: 8_333_333, zones, ..PlatterSpec::default() }
    }

    #[test]
    fn the_worked_example() {
        let mut spec = spec(vec![zone(0..=9, 10, (2, 3))], 4, 300);
        spec.spare_slots_per_track = 1;
        let platters = Platters::new(&spec).unwrap();
        let spot = |sector| {
            let spot = platters.spot(sector);
            (spot.cylinder, spot.head, spot.angle_slot, spot.run)
        };
        assert_eq!(spot(0), (0, 0, 0, 9));
        assert_eq!(spot(8), (0, 0, 8, 1));
        assert_eq!(spot(9), (0, 1, 2, 9));
        assert_eq!(spot(36), (1, 0, 9, 9));
    }

    /// Walks every sector of many small drives: each has its own slot, no spare or slipped slot is
    /// used, and `run` leads from each piece exactly to the next.
    #[test]
    fn every_sector_has_a_slot_of_its_own() {
        for heads in 1..4 {
            for spare_track in 0..2 {
                for spare_cylinder in 0..3 {
                    for slipped in [vec![], vec![0], vec![3, 4], vec![1, 7, 11]] {
                        for (track, cylinder) in [(0, 0), (1, 2), (3, 4)] {
                            let zones = vec![
                                zone(0..=1, 6, (track, cylinder)),
                                zone(3..=4, 5, (track, cylinder)),
                            ];
                            let mut spec = spec(zones, heads, 1);
                            spec.spare_slots_per_track = spare_track;
                            spec.spare_slots_per_cylinder = spare_cylinder;
                            spec.slipped.clone_from(&slipped);
                            let (_, slots) = zone_maps(&spec).unwrap();
                            spec.sectors = slots.saturating_sub(slipped.len() as u64);
                            if spec.sectors > 0 {
                                walk(&Platters::new(&spec).unwrap(), spare_track);
                            }
                        }
                    }
                }
            }
        }
    }

    fn walk(platters: &Platters, spare_track: u32) {
        let mut taken = BTreeSet::new();
        let mut sector = 0;
        let mut last = (0, 0, 0);
        while sector < platters.sectors() {
            let first = platters.spot(sector);
            assert!(first.run > 0);
            for nth in 0..u64::from(first.run).min(platters.sectors() - sector) {
                let spot = platters.spot(sector + nth);
                assert_eq!(spot.run, first.run - nth as u32);
                let angle = (first.angle_slot + nth as u32) % first.slots.get() as u32;
                assert_eq!(
                    (spot.cylinder, spot.head, spot.angle_slot),
                    (first.cylinder, first.head, angle)
                );
                assert!(taken.insert((spot.cylinder, spot.head, spot.angle_slot)));
            }
            for other in [0, platters.sectors() - 1] {
                let is_same = platters.zone(sector) == platters.zone(other);
                assert_eq!(platters.share_zone(other, sector), is_same, "{other} and {sector}");
            }
            let at = (first.cylinder, first.head, sector);
            assert!(at >= last && first.cylinder != 2);
            last = at;
            sector += u64::from(first.run);
        }
        let tracks: BTreeSet<_> =
            taken.iter().map(|&(cylinder, head, _)| (cylinder, head)).collect();
        for track in tracks {
            let used = taken.iter().filter(|&&(c, h, _)| (c, h) == track).count() as u32;
            assert!(used <= if track.0 < 2 { 6 } else { 5 } - spare_track);
        }
    }

    #[test]
    fn slips_push_sectors_on_by_one_slot() {
        let mut spec = spec(vec![zone(0..=0, 10, (0, 0))], 1, 8);
        spec.slipped = vec![2, 5];
        let platters = Platters::new(&spec).unwrap();
        let slots: Vec<u32> = (0..8).map(|sector| platters.spot(sector).angle_slot).collect();
        assert_eq!(slots, [0, 1, 3, 4, 6, 7, 8, 9]);
        assert_eq!([0, 2, 4].map(|sector| platters.spot(sector).run), [2, 2, 4]);
    }

    /// facts: 512·spt·heads / (heads revolutions + (heads − 1) head skews + one cylinder skew).
    #[test]
    fn the_sustained_rate_counts_the_skews() {
        let platters = Platters::new(&spec(vec![zone(0..=9, 186, (37, 52))], 5, 9300)).unwrap();
        let turn = 8_333_333e-9;
        let expected = 512.0 * 186.0 * 5.0 / (5.0 * turn + (4.0 * 37.0 + 52.0) / 186.0 * turn);
        assert!((platters.sustained_rates().0 / expected - 1.0).abs() < 1e-12);
        assert!((platters.media_rates().0 / (512.0 * 186.0 / turn) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_is_an_error() {
        let good = spec(vec![zone(0..=9, 10, (0, 0))], 1, 100);
        assert!(Platters::new(&good).is_ok());
        let error = |change: &dyn Fn(&mut PlatterSpec)| {
            let mut bad = good.clone();
            change(&mut bad);
            Platters::new(&bad).unwrap_err()
        };
        assert_eq!(error(&|s| s.heads = 0), PlatterError::Missing("heads"));
        assert_eq!(error(&|s| s.sectors = 0), PlatterError::Missing("sectors"));
        assert_eq!(error(&|s| s.zones.clear()), PlatterError::Missing("zones"));
        assert_eq!(error(&|s| s.spare_slots_per_track = 10), PlatterError::NoSlots { zone: 0 });
        let too_small = PlatterError::TooSmall { zone_sectors: 100, sectors: 101 };
        assert_eq!(error(&|s| s.sectors = 101), too_small);
        assert_eq!(error(&|s| s.slipped = vec![3, 3]), PlatterError::SlipOrder);
        let overlap = error(&|s| s.zones.push(zone(5..=12, 5, (0, 0))));
        assert_eq!(overlap, PlatterError::ZoneOrder { zone: 1 });
    }
}
