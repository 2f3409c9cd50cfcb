//! A drive of the catalogue: its figures, and the model that follows from them.

use super::figure::{
    CYLINDERS_MAX, Cited, Figure, Kind, MOVE_MS_MAX, SECTORS_PER_TRACK_MAX, Shape, Value, figure,
};
use super::firmware::{QueueDiscipline, discipline, firmware};
use super::platters;
use super::sheet::{Sheet, either, wrong};
use crate::error::{Error, Result};
use crate::keys::{Takes, choice, condition, keys};
use sim::drive::{ControllerSpec, Discipline, DriveSpec, Firmware, SeekSpec};

/// A figure that counts from `least` to `most`.
const fn count(least: u64, most: u64) -> Shape {
    Shape::Count(least..=most)
}

/// A time in ms that a command may take, or a part of it.
const fn time_ms() -> Shape {
    Shape::Number(0.0..=MOVE_MS_MAX)
}

/// Every figure that a drive can have.
#[rustfmt::skip]
pub static FIGURES: &[Figure] = &[
    figure("year", "", count(1950, 2100), Some("not known"),
        "year of introduction"),
    figure("price_usd", "US$", Shape::Number(0.0..=1e7), Some("not known"),
        "price of one drive"),
    figure("sectors", "sectors", count(1, 1 << 40), None,
        "capacity in 512-byte sectors"),
    figure("physical_sector_bytes", "bytes", count(512, 1 << 16), Some("512"),
        "physical sector; a write of part of one is a read-modify-write and takes a revolution more"),
    figure("rpm", "rpm", Shape::Number(60.0..=20_000.0), None,
        "rotational speed"),
    figure("heads", "", count(1, 255), None,
        "recording surfaces"),
    figure("zones", "", Shape::Zones, Some("equal zones from the next four figures"),
        "cylinders and sectors per track of each zone, outermost first"),
    figure("cylinders", "", count(1, CYLINDERS_MAX), Some("only together with `zones`"),
        "cylinders, where the zone map is not known"),
    figure("outer_sectors_per_track", "sectors", count(1, SECTORS_PER_TRACK_MAX),
        Some("only together with `zones`"),
        "sectors per track in the outermost zone"),
    figure("inner_sectors_per_track", "sectors", count(1, SECTORS_PER_TRACK_MAX),
        Some("only together with `zones`"),
        "sectors per track in the innermost zone; equal steps in between"),
    figure("zone_count", "", count(1, 1000), Some("16, or 1 where outer and inner are equal"),
        "number of zones, all of the same number of cylinders"),
    figure("spare_per_track", "sectors", count(0, SECTORS_PER_TRACK_MAX), Some("0"),
        "spare sectors at the end of each track"),
    figure("spare_per_cylinder", "sectors", count(0, 1_000_000), Some("0"),
        "spare sectors at the end of each cylinder"),
    figure("spare_range_cylinders", "", count(1, CYLINDERS_MAX), Some("1"),
        "cylinders that share the sectors of `spare_per_cylinder`"),
    figure("reserved_sectors", "sectors", count(0, 1 << 40), Some("0"),
        "sectors before LBA 0 that the drive keeps for itself"),
    figure("seek_points_ms", "ms", Shape::SeekPoints, Some("a curve through the next three figures"),
        "measured seeks: distance and time"),
    figure("seek_single_ms", "ms", time_ms(), Some("only together with `seek_points_ms`"),
        "seek to the next cylinder"),
    figure("seek_average_ms", "ms", time_ms(), Some("only together with `seek_points_ms`"),
        "mean seek over random reads"),
    figure("seek_full_ms", "ms", time_ms(), Some("only together with `seek_points_ms`"),
        "seek from the first cylinder to the last"),
    figure("head_switch_ms", "ms", time_ms(), None,
        "head switch within a cylinder"),
    figure("write_settle_ms", "ms", time_ms(), Some("0"),
        "added to a seek or a head switch before a write"),
    figure("command_settle_ms", "ms", time_ms(), Some("0"),
        "least positioning time of a command, even on the same cylinder; shorter seeks are hidden in it"),
    figure("track_skew_ms", "ms", time_ms(), Some("just enough for a head switch before a write"),
        "track skew in time, for zones without a skew in sectors"),
    figure("cylinder_skew_ms", "ms", time_ms(),
        Some("just enough for a single-cylinder seek before a write"),
        "cylinder skew in time, for zones without a skew in sectors"),
    figure("read_hit_overhead_ms", "ms", time_ms(), None,
        "controller time before a read that hits the buffer"),
    figure("read_miss_overhead_ms", "ms", time_ms(), None,
        "controller time before a read from the medium"),
    figure("write_overhead_ms", "ms", time_ms(), None,
        "controller time before a write"),
    figure("sequential_write_overhead_ms", "ms", time_ms(), Some("as `write_after_write_overhead_ms`"),
        "controller time before a write that continues the previous one"),
    figure("write_after_write_overhead_ms", "ms", time_ms(), Some("as `write_overhead_ms`"),
        "controller time before a write after a write"),
    figure("write_other_zone_overhead_ms", "ms", time_ms(), Some("as in the same zone"),
        "the same after a read, if the previous command ended in another zone"),
    figure("write_other_zone_after_write_overhead_ms", "ms", time_ms(), Some("as after a read"),
        "the same after a write, if it ended in another zone"),
    figure("read_hit_after_write_overhead_ms", "ms", time_ms(), Some("as `read_hit_overhead_ms`"),
        "controller time after a write, before a read that hits the buffer"),
    figure("read_miss_after_write_overhead_ms", "ms", time_ms(), Some("as `read_miss_overhead_ms`"),
        "controller time after a write, before a read from the medium"),
    figure("read_completion_ms", "ms", time_ms(), Some("0"),
        "controller time after the last sector of a read is sent"),
    figure("read_retries_ms", "ms", Shape::Number(0.0..=600_000.0), Some("0"),
        "retries before a read of an unreadable sector fails"),
    figure("write_data_after_ms", "ms", time_ms(), Some("after the controller time"),
        "time from the start of a write-through until the drive takes data, if sooner"),
    figure("buffer_segments", "", count(0, 100_000), Some("0: no read cache"),
        "read segments in the buffer"),
    figure("segment_sectors", "sectors", count(0, 1 << 30), Some("0"),
        "size of a segment"),
    figure("read_ahead_sectors", "sectors", count(0, 1 << 30), Some("a whole segment"),
        "read-ahead after a read"),
    figure("read_ahead_policy", "", Shape::Choice(&["beyond", "until-full", "sequential-tracks"]),
        Some("beyond"),
        "reads on after every read; or until the segment is full; or whole tracks, for sequential reads"),
    figure("keeps", "", Shape::Choice(&["everything", "ahead"]), Some("everything"),
        "which part of a segment can be hit: all of it, or only what is ahead of the last read"),
    figure("on_write", "", Shape::Choice(&["drop-segment", "keep-behind", "take-newest"]),
        Some("drop-segment"),
        "effect of a write on read segments: drops those it overlaps; they keep what follows it; \
         its data also takes the segment used last"),
    figure("written_segments", "", count(0, 100_000), Some("0"),
        "segments that keep written data for reads to hit"),
    figure("sending", "", Shape::Choice(&["streamed", "whole"]), Some("streamed"),
        "send a read's sectors as they come off the medium, or after the last one"),
    figure("taking", "", Shape::Choice(&["streamed", "whole"]), Some("streamed"),
        "start a write-through while its data arrives, or after the last sector"),
    figure("queue_discipline", "", Shape::Choice(QueueDiscipline::WORDS), Some("fcfs"),
        "order in which the drive takes queued commands"),
    figure("queue_depth", "", count(1, 65_536), Some("1"),
        "queue depth: commands the drive chooses from"),
    figure("queue_ageing_us_per_ms", "us/ms", count(0, 1000), Some("0"),
        "for sptf: positioning time that 1 ms of waiting makes up for"),
    figure("write_cache", "", Shape::Switch, None,
        "write-back cache, as the drive was used"),
    figure("write_buffer_sectors", "sectors", count(0, 1 << 30), Some("one segment"),
        "size of the write cache"),
    figure("write_segments", "", count(1, 100_000), Some("limited by space only"),
        "separate writes in the buffer; a write that continues another shares its segment"),
    figure("fast_write_level", "", count(0, 2), Some("not known"),
        "as measured: 0 write-through, 1 combines sequential writes, 2 write-behind; for the record"),
    figure("zero_latency", "", Shape::Switch, Some("false"),
        "zero-latency access: start a track at any sector"),
    figure("interface_mb_per_s", "MB/s", Shape::Number(0.1..=100_000.0), None,
        "interface rate of the drive"),
    figure("measured_bus_mb_per_s", "MB/s", Shape::Number(0.1..=100_000.0),
        Some("as `interface_mb_per_s`"),
        "bus rate where the drive was measured; used by `ileave validate` only"),
    figure("model_error_percent", "%", Shape::Number(0.0..=100.0), Some("5, as with any model"),
        "how far the model's service times lie from measured ones, as `ileave validate` says; smaller \
         differences are ties"),
];

keys! {
    /// The keys of `drive`: what an experiment changes of all drives.
    pub struct DriveKeys {
        /// Drive write-back cache; without it as the drive was used
        write_cache: Option<bool> = choice("write_cache", Takes::Switch),
        /// Drive read-ahead; without it as the drive has it
        read_ahead: Option<bool> = choice("read_ahead", Takes::Switch),
        /// Zero-latency access (start a track at any sector); without it as the drive has it
        zero_latency: Option<bool> = condition("zero_latency", Takes::Switch),
        /// Order in which the drive takes the commands in its queue: by age, by sector, or the soonest reached;
        /// without it the drive's own
        queue_discipline: Option<QueueDiscipline> =
            condition("queue_discipline", QueueDiscipline::TAKES),
        /// Commands in the drive's queue (tags, NCQ); without it the drive's own
        queue_depth: Option<u32> = choice("queue_depth", Takes::Count(1, 65_536)),
    }
}

/// A drive of the catalogue, or of a file in the same format.
#[derive(Clone, Debug)]
pub struct Drive {
    /// Its name in the catalogue, or the path of its file.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// A hash of its file.
    pub digest: String,
    /// Whether a write is done once it is in the buffer.
    pub write_cache: bool,
    /// Whether the drive reads on after a read.
    pub read_ahead: bool,
    /// Whether a track is read and written from wherever the head arrives.
    pub zero_latency: bool,
    /// Which of the commands in its queue it takes next.
    pub discipline: Discipline,
    /// How many commands it chooses among.
    pub queue_depth: usize,
    pub(super) sheet: Sheet,
}

impl Drive {
    /// Reads a drive from the text of its file, and checks that a drive can be that way.
    pub(super) fn read(name: &str, label: &str, text: &str) -> Result<Self> {
        let sheet = Sheet::read(label, text, FIGURES)?;
        // Only results of the drive alone, which say so, are worth giving up as predictions.
        let is_its_own = |cited: &Cited| cited.fitted_to.iter().all(|c| c.at.contains_key("drive"));
        let anothers = |cited: &Cited| cited.kind == Kind::Fitted && !is_its_own(cited);
        if let Some((figure, _)) = sheet.figures.iter().find(|(_, cited)| anothers(cited)) {
            let why = "a drive's figures do not come from the results they are to predict";
            let next = "cite a source of its own, or name rows of this drive: `at = { drive = … }`";
            return Err(wrong(&sheet, figure.key, format!("{why}; {next}")));
        }
        let drive = Drive {
            name: name.into(),
            title: sheet.title.clone(),
            digest: sheet.digest.clone(),
            write_cache: sheet.switch("write_cache"),
            read_ahead: true,
            zero_latency: sheet.switch("zero_latency"),
            discipline: firmware(&sheet).discipline,
            queue_depth: sheet.count("queue_depth").unwrap_or(1) as usize,
            sheet,
        };
        let spec = drive.spec()?;
        match sim::drive::Drive::new(&spec, 0) {
            Ok(_) => Ok(drive),
            Err(error) => Err(Error::input(format!("{label}: {error}; check these figures"))),
        }
    }

    /// The drive with what the keys of an experiment change of all drives.
    #[must_use]
    pub fn with(mut self, keys: &DriveKeys) -> Self {
        self.write_cache = keys.write_cache.unwrap_or(self.write_cache);
        self.read_ahead = keys.read_ahead.unwrap_or(self.read_ahead);
        self.zero_latency = keys.zero_latency.unwrap_or(self.zero_latency);
        if let Some(chosen) = keys.queue_discipline {
            self.discipline = discipline(&self.sheet, chosen);
        }
        self.queue_depth = keys.queue_depth.map_or(self.queue_depth, |depth| depth as usize);
        self
    }

    /// Sectors that can be addressed.
    pub fn sectors(&self) -> u64 {
        self.sheet.count("sectors").unwrap_or(0)
    }

    /// What the bus moved where the drive was measured, in bytes a second, if that is known.
    pub fn measured_bus_bytes_per_s(&self) -> Option<u64> {
        self.sheet.number("measured_bus_mb_per_s").map(|rate| (rate * 1e6) as u64)
    }

    /// What one cost, in US dollars, if that is known.
    pub fn price_usd(&self) -> Option<f64> {
        self.sheet.number("price_usd")
    }

    /// What its model was found to err by, if it was held against a trace.
    pub fn model_error_percent(&self) -> Option<f64> {
        self.sheet.number("model_error_percent")
    }

    /// The drive as the simulator models it.
    ///
    /// # Errors
    ///
    /// Where the figures do not make a drive, or the write cache is on and there is no buffer.
    pub fn spec(&self) -> Result<DriveSpec> {
        let sheet = &self.sheet;
        let seek = self.seek()?;
        Ok(DriveSpec {
            platters: platters::platters(sheet, &seek)?,
            seek,
            write_settle_ns: sheet.ms_as_ns("write_settle_ms"),
            command_settle_ns: sheet.ms_as_ns("command_settle_ms"),
            head_switch_ns: sheet.ms_as_ns("head_switch_ms"),
            controller: self.controller()?,
        })
    }

    fn seek(&self) -> Result<SeekSpec> {
        const TYPICAL: [&str; 3] = ["seek_single_ms", "seek_average_ms", "seek_full_ms"];
        let sheet = &self.sheet;
        either(sheet, "seek_points_ms", &TYPICAL)?;
        if let Some(Value::SeekPoints(points)) = sheet.value("seek_points_ms") {
            let to_ns = |&(distance, ms): &(u32, f64)| (distance, (ms * 1e6).round() as u64);
            return Ok(SeekSpec::Points(points.iter().map(to_ns).collect()));
        }
        let [single_ns, average_ns, full_ns] = TYPICAL.map(|key| sheet.ms_as_ns(key));
        Ok(SeekSpec::Typical { single_ns, average_ns, full_ns })
    }

    fn controller(&self) -> Result<ControllerSpec> {
        let sheet = &self.sheet;
        let segment_sectors = sheet.count("segment_sectors").unwrap_or(0);
        let or_segment = |key| sheet.count(key).unwrap_or(segment_sectors);
        let write_buffer_sectors = or_segment("write_buffer_sectors");
        if self.write_cache && write_buffer_sectors == 0 {
            let message = "true, but no `write_buffer_sectors` or `segment_sectors` says how large";
            return Err(wrong(sheet, "write_cache", format!("{message} it is; add one")));
        }
        let sequential_write_keys =
            ["sequential_write_overhead_ms", "write_after_write_overhead_ms"];
        let sequential_write =
            sequential_write_keys.iter().find_map(|key| sheet.given_ms_as_ns(key));
        let write_overhead_ns = sheet.ms_as_ns("write_overhead_ms");
        Ok(ControllerSpec {
            read_hit_overhead_ns: sheet.ms_as_ns("read_hit_overhead_ms"),
            read_miss_overhead_ns: sheet.ms_as_ns("read_miss_overhead_ms"),
            write_overhead_ns,
            sequential_write_overhead_ns: sequential_write.unwrap_or(write_overhead_ns),
            segments: sheet.count("buffer_segments").unwrap_or(0) as usize,
            segment_sectors,
            read_ahead_sectors: if self.read_ahead { or_segment("read_ahead_sectors") } else { 0 },
            write_buffer_sectors: if self.write_cache { write_buffer_sectors } else { 0 },
            zero_latency: self.zero_latency,
            interface_bytes_per_s: (sheet.number("interface_mb_per_s").unwrap_or(0.0) * 1e6) as u64,
            firmware: Firmware {
                discipline: self.discipline,
                queue_depth: self.queue_depth,
                ..firmware(sheet)
            },
        })
    }
}
