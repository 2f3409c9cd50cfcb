//! From sectors to cylinders and angles, and back.

use super::result::ZoneFound;

/// What was found of the places of sectors.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    zones: Vec<Zone>,
    unit: u64,
    turn: f64,
}

#[derive(Clone, Debug)]
struct Zone {
    found: ZoneFound,
    /// The cylinder of the first sector of its first whole cylinder, counted over all zones.
    first_cylinder: u64,
    /// Its whole cylinders.
    cylinders: u64,
    /// The first sector of the first of them.
    first_lba: u64,
    /// How far its angles have turned since it was found: the spindle is not exact.
    drift: f64,
}

/// A place where the arm can be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    zone: usize,
    /// The first sector of the track.
    pub(super) first: u64,
    /// Its sectors.
    pub(super) sectors: u64,
    /// When it passes.
    angle: f64,
}

impl Layout {
    /// The layout of `zones`, with reads of `unit` sectors and revolutions of `turn` ns.
    pub(super) fn new(zones: &[ZoneFound], unit: u64, turn: f64) -> Self {
        let mut next = 0;
        let zones = zones.iter().map(|found| {
            let length = found.cylinder_sectors;
            let before = found.origin_lba.saturating_sub(found.first_lba) % length;
            let first_lba = found.first_lba + before;
            // What is in front of the first whole cylinder is the rest of one, and so is what is behind the last.
            let first_cylinder = next + u64::from(before > 0);
            let all = (found.end_lba - first_lba).div_ceil(length);
            next = first_cylinder + all;
            let cylinders = (found.end_lba - first_lba) / length;
            Zone { found: found.clone(), first_cylinder, cylinders, first_lba, drift: 0.0 }
        });
        Layout { zones: zones.collect(), unit, turn }
    }

    /// Cylinders of all zones.
    pub(super) fn cylinders(&self) -> u64 {
        self.zones.last().map_or(0, |zone| zone.first_cylinder + zone.cylinders)
    }

    /// The zone with `cylinder` whole.
    fn zone_of(&self, cylinder: u64) -> Option<usize> {
        let index =
            self.zones.partition_point(|zone| zone.first_cylinder <= cylinder).checked_sub(1)?;
        let zone = &self.zones[index];
        (cylinder < zone.first_cylinder + zone.cylinders).then_some(index)
    }

    /// Whether the two cylinders are whole, and of one zone.
    pub(super) fn is_one_zone(&self, one: u64, other: u64) -> bool {
        self.zone_of(one).is_some_and(|zone| self.zone_of(other) == Some(zone))
    }

    /// The first cylinder of the largest zone, and how many it has.
    pub(super) fn largest(&self) -> (u64, u64) {
        let largest = self.zones.iter().max_by_key(|zone| zone.cylinders);
        largest.map_or((0, 0), |zone| (zone.first_cylinder, zone.cylinders))
    }

    /// Sectors of the shortest track.
    pub(super) fn shortest_track(&self) -> u64 {
        let tracks = self.zones.iter().map(|zone| u64::from(zone.found.sectors_per_track));
        tracks.min().unwrap_or(1)
    }

    /// Tracks of a cylinder.
    pub(super) fn heads(&self) -> u32 {
        self.zones[0].found.heads.unwrap_or(1)
    }

    /// A track of a cylinder that is whole.
    pub(super) fn track(&self, cylinder: u64, head: u32) -> Option<Place> {
        let index = self.zone_of(cylinder)?;
        let Zone { found, first_cylinder, first_lba, drift, .. } = &self.zones[index];
        let sectors = u64::from(found.sectors_per_track);
        let first = first_lba
            + (cylinder - first_cylinder) * found.cylinder_sectors
            + u64::from(head) * sectors;
        let from_origin = first.cast_signed() - found.origin_lba.cast_signed();
        let cylinders = from_origin.div_euclid(found.cylinder_sectors.cast_signed());
        let slots = cylinders * found.advance_sectors()
            + i64::from(head) * i64::from(found.track_skew_sectors);
        let turned = slots.rem_euclid(sectors.cast_signed()) as f64 / sectors as f64 * self.turn;
        let angle = (found.origin_angle_ns + turned + drift).rem_euclid(self.turn);
        Some(Place { zone: index, first, sectors, angle })
    }

    /// The time of a unit on the track of `place`.
    pub(super) fn unit_ns(&self, place: &Place) -> f64 {
        self.unit as f64 / place.sectors as f64 * self.turn
    }

    /// The unit on `place` that passes at `angle` or next after it.
    ///
    /// 10 units a track of 10 ms that starts at 3 ms: at 4.5 ms unit 2 is next, at 2.5 ms unit 0.
    pub(super) fn passing(&self, place: &Place, angle: f64) -> u64 {
        let units = place.sectors / self.unit;
        let since = (angle - place.angle).rem_euclid(self.turn);
        let unit = (since / self.unit_ns(place)).ceil() as u64 % units;
        place.first + unit * self.unit
    }

    /// When the unit at `lba` on `place` passes.
    pub(super) fn angle(&self, place: &Place, lba: u64) -> f64 {
        let units = (lba - place.first) as f64 / self.unit as f64;
        (place.angle + units * self.unit_ns(place)).rem_euclid(self.turn)
    }

    /// The unit at `lba` on `place` has passed at `angle`.
    pub(super) fn seen(&mut self, place: &Place, lba: u64, angle: f64) {
        let off = angle - self.angle(place, lba);
        let around = (off + self.turn / 2.0).rem_euclid(self.turn) - self.turn / 2.0;
        self.zones[place.zone].drift += around;
    }

    /// The last unit of `place`.
    pub(super) fn last_unit(&self, place: &Place) -> u64 {
        place.first + place.sectors - self.unit
    }
}
