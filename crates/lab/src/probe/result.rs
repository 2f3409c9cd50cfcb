//! What a probe found, with all its reads, as a file.

use super::check::{RANDOM, SEQUENTIAL, STARTS};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What stands in a file of a probe under `probe`.
const KIND: &str = "rotating disk";
/// The format of the file. Another one is read by another version.
const FORMAT: u64 = 1;

/// First sector, sectors, when it was sent and when it was done in ns.
pub(super) type ReadTimed = (u64, u32, u64, u64);

/// A probed disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    /// Its name.
    pub device: String,
    /// Its sectors of 512 bytes.
    pub sectors: u64,
    /// Sectors of the shortest read.
    pub unit_sectors: u32,
    /// What follows from the reads.
    pub found: Found,
    /// All reads.
    pub steps: Vec<Step>,
}

/// The reads of one step of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// First sector, sectors, when it was sent and when it was done, in ns.
    pub reads: Vec<(u64, u32, u64, u64)>,
}

/// What follows from the reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The time of a revolution, in ns.
    pub revolution_ns: f64,
    /// The zones, by sector.
    pub zones: Vec<ZoneFound>,
    /// The times to reach a sector.
    pub seeks: Seeks,
    /// The buffer.
    pub buffer: Buffer,
}

/// A zone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZoneFound {
    /// Its first sector.
    pub first_lba: u64,
    /// The sector after its last.
    pub end_lba: u64,
    /// A sector with which a cylinder starts.
    pub origin_lba: u64,
    /// When that passes, as an angle in ns.
    pub origin_angle_ns: f64,
    /// Sectors of a track.
    pub sectors_per_track: u32,
    /// Tracks of a cylinder; none where all tracks are turned alike, and no cylinder shows.
    pub heads: Option<u32>,
    /// Sectors of a cylinder.
    pub cylinder_sectors: u64,
    /// From a track to the next, in sectors.
    pub track_skew_sectors: u32,
    /// From the last track of a cylinder to the first of the next, in sectors.
    pub cylinder_skew_sectors: u32,
}

impl ZoneFound {
    /// How far a cylinder is turned against the one before, in sectors.
    pub(super) fn advance_sectors(&self) -> i64 {
        let tracks = i64::from(self.heads.unwrap_or(1) - 1);
        tracks * i64::from(self.track_skew_sectors) + i64::from(self.cylinder_skew_sectors)
    }
}

/// From a command until its first sector can pass, in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seeks {
    /// On the track where the head is.
    pub track_ns: f64,
    /// On another track of the cylinder.
    pub head_ns: Option<f64>,
    /// So many cylinders away.
    pub cylinders: Vec<(u64, f64)>,
}

/// The buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buffer {
    /// Segments; none where there are more than were looked for.
    pub segments: Option<usize>,
    /// Sectors of a segment.
    pub segment_sectors: u64,
    /// Sectors that are read ahead.
    pub read_ahead_sectors: u64,
    /// When it reads ahead.
    pub policy: Policy,
    /// Whether what was sent is kept.
    pub keeps_everything: bool,
    /// The controller's time for a hit, in ns.
    pub hit_ns: f64,
    /// The time of a sector on the bus, in ns.
    pub bus_sector_ns: Option<f64>,
    /// Whether a read is sent when all of it is there.
    pub sends_whole: Option<bool>,
    /// Whether a track is read from wherever the head arrives.
    pub zero_latency: bool,
}

/// When a drive reads ahead: the words of `read_ahead_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// It was not seen to.
    Never,
    /// So far beyond each read.
    Beyond,
    /// Until a segment is full.
    UntilFull,
    /// Two tracks, when a read continues the one before.
    SequentialTracks,
    /// To the end of the track.
    TrackEnd,
    /// The whole track.
    WholeTrack,
}

impl Probed {
    /// The file.
    pub fn json(&self) -> String {
        let mut file = json!({ "probe": KIND, "format": FORMAT });
        let all = serde_json::to_value(self).expect("all of it is JSON");
        let (Some(file_map), Some(all)) = (file.as_object_mut(), all.as_object()) else {
            unreachable!("both are objects")
        };
        file_map.extend(all.clone());
        format!("{file}\n")
    }

    /// Reads of all steps.
    pub fn reads(&self) -> usize {
        self.steps.iter().map(|step| step.reads.len()).sum()
    }

    /// From the first read to the end of the last, in s.
    pub fn seconds(&self) -> f64 {
        let all = || self.steps.iter().flat_map(|step| &step.reads);
        let first = all().next().map_or(0, |read| read.2);
        all().last().map_or(0.0, |read| (read.3 - first) as f64 / 1e9)
    }

    /// What no probe writes, if there is any.
    fn wrong(&self) -> Option<&'static str> {
        let zones = &self.found.zones;
        let is_zone = |zone: &ZoneFound| {
            let tracks = u64::from(zone.heads.unwrap_or(1)) * u64::from(zone.sectors_per_track);
            zone.first_lba <= zone.origin_lba
                && zone.origin_lba < zone.end_lba
                && zone.end_lba <= self.sectors
                && zone.sectors_per_track > 0
                && zone.heads != Some(0)
                && zone.cylinder_sectors > 0
                && zone.cylinder_sectors <= tracks
        };
        let follow = |two: &[ZoneFound]| two[0].end_lba == two[1].first_lba;
        if zones.is_empty() || !zones.iter().all(is_zone) || !zones.windows(2).all(follow) {
            return Some("its zones do not lie one after the other on the disk");
        }
        let all = || self.steps.iter().flat_map(|step| &step.reads);
        let is_read = |&(lba, sectors, sent, done): &ReadTimed| {
            let end = lba.checked_add(u64::from(sectors));
            sectors > 0 && sent <= done && end.is_some_and(|end| end <= self.sectors)
        };
        if self.unit_sectors == 0 || !all().all(is_read) || !all().is_sorted_by_key(|read| read.2) {
            return Some("a read lies beyond the disk, or is done before it is sent");
        }
        let enough = self.step(RANDOM).len() > 1 && self.step(SEQUENTIAL).len() >= 2 * STARTS.len();
        (!enough).then_some("the reads to check with are not all there")
    }

    /// The reads of a step.
    pub(super) fn step(&self, name: &str) -> &[ReadTimed] {
        let step = self.steps.iter().find(|step| step.name == name);
        step.map_or(&[], |step| &step.reads)
    }
}

/// The probe in `text`, the file called `label`; nothing if it is another file.
///
/// # Errors
///
/// Where it is a probe, but of another format or incomplete.
pub fn read(label: &str, text: &str) -> Result<Option<Probed>> {
    let Ok(file) = serde_json::from_str::<serde_json::Value>(text) else { return Ok(None) };
    if file["probe"] != KIND {
        return Ok(None);
    }
    let next = "probe again with this version";
    if file["format"] != FORMAT {
        let found = &file["format"];
        return Err(Error::input(format!(
            "{label}: a probe of format {found}, and this version reads {FORMAT}; {next}"
        )));
    }
    let probed: Probed = serde_json::from_value(file)
        .map_err(|error| Error::input(format!("{label}: no complete probe: {error}; {next}")))?;
    match probed.wrong() {
        None => Ok(Some(probed)),
        Some(what) => Err(Error::input(format!("{label}: no complete probe: {what}; {next}"))),
    }
}
