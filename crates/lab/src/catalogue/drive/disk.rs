//! A disk: platters, an arm, a buffer and firmware.

mod firmware;
mod listed;
mod made;
mod platters;

pub use firmware::QueueDiscipline;
pub(crate) use platters::ZONES_BY_DEFAULT;

use super::{Built, ClassModel, Drive, DriveClass, DriveFigures, DriveKeys, Limits, Model};
use crate::catalogue::declare::figures;
use crate::catalogue::figure::{
    CYLINDERS_MAX, MOVE_MS_MAX, SECTORS_PER_TRACK_MAX, Shape, ZoneRow, count, figure, time_ms,
};
use crate::catalogue::listing::{Derived, Row};
use crate::catalogue::sheet::{Sheet, either, ms_as_ns, wrong};
use crate::error::{Error, Result};
use firmware::{discipline, firmware};
use sim::drive::{
    ControllerSpec, Discipline, DriveModel, DriveSpec, Firmware, Keeps, OnWrite, Platters,
    ReadAheadPolicy, SeekSpec, Sending, Taking,
};

/// The class of disks.
pub(super) const CLASS: DriveClass = DriveClass {
    name: "disk",
    title: "Figures of a disk",
    figures: DiskFigures::FIGURES,
    keys: &["write_cache", "read_ahead", "zero_latency", "queue_discipline", "queue_depth"],
    provisioned: &[],
    all: &[DriveFigures::FIGURES, DiskFigures::FIGURES],
    read: |sheet, figures| Disk::of(sheet, figures.sectors).map(|disk| Model::Disk(Box::new(disk))),
};

figures! {
    /// The figures of a disk.
    pub struct DiskFigures {
        /// physical sector; a write of part of one is a read-modify-write and takes a revolution more
        physical_sector_bytes: u64 = figure("physical_sector_bytes", "bytes", count(512, 1 << 16)).default("512"),
        /// rotational speed
        rpm: f64 = figure("rpm", "rpm", Shape::Number(60.0..=20_000.0)),
        /// recording surfaces
        heads: u32 = figure("heads", "", count(1, 255)),
        /// cylinders and sectors per track of each zone, outermost first
        zones: Option<Vec<ZoneRow>> = figure("zones", "", Shape::Zones)
            .or("equal zones from the next four figures"),
        /// cylinders, where the zone map is not known
        cylinders: Option<u64> = figure("cylinders", "", count(1, CYLINDERS_MAX))
            .or("only together with `zones`"),
        /// sectors per track in the outermost zone
        outer_sectors_per_track: Option<u64> = figure("outer_sectors_per_track", "sectors", count(1, SECTORS_PER_TRACK_MAX))
            .or("only together with `zones`"),
        /// sectors per track in the innermost zone; equal steps in between
        inner_sectors_per_track: Option<u64> = figure("inner_sectors_per_track", "sectors", count(1, SECTORS_PER_TRACK_MAX))
            .or("only together with `zones`"),
        /// number of zones, all of the same number of cylinders
        zone_count: Option<u64> = figure("zone_count", "", count(1, 1000))
            .or("16, or 1 where outer and inner are equal"),
        /// spare sectors at the end of each track
        spare_per_track: u32 = figure("spare_per_track", "sectors", count(0, SECTORS_PER_TRACK_MAX)).default("0"),
        /// spare sectors at the end of each cylinder
        spare_per_cylinder: u32 = figure("spare_per_cylinder", "sectors", count(0, 1_000_000)).default("0"),
        /// cylinders that share the sectors of `spare_per_cylinder`
        spare_range_cylinders: u32 = figure("spare_range_cylinders", "", count(1, CYLINDERS_MAX)).default("1"),
        /// sectors before LBA 0 that the drive keeps for itself
        reserved_sectors: u64 = figure("reserved_sectors", "sectors", count(0, 1 << 40)).default("0"),
        /// defective sectors that are skipped, ascending, counted over all that are not spares
        slipped_sectors: Option<Vec<u64>> = figure("slipped_sectors", "", Shape::Counts)
            .or("none"),
        /// measured seeks: distance and time
        seek_points_ms: Option<Vec<(u32, f64)>> = figure("seek_points_ms", "ms", Shape::SeekPoints)
            .or("a curve through the next three figures"),
        /// seek to the next cylinder
        seek_single_ms: Option<f64> = figure("seek_single_ms", "ms", time_ms())
            .or("only together with `seek_points_ms`"),
        /// mean seek over random reads
        seek_average_ms: Option<f64> = figure("seek_average_ms", "ms", time_ms())
            .or("only together with `seek_points_ms`"),
        /// seek from the first cylinder to the last
        seek_full_ms: Option<f64> = figure("seek_full_ms", "ms", time_ms())
            .or("only together with `seek_points_ms`"),
        /// head switch within a cylinder
        head_switch_ms: f64 = figure("head_switch_ms", "ms", time_ms()),
        /// added to a seek or a head switch before a write; below 0 if a write starts sooner than a read
        write_settle_ms: f64 = figure("write_settle_ms", "ms", Shape::Number(-MOVE_MS_MAX..=MOVE_MS_MAX)).default("0"),
        /// least positioning time of a command, even on the same cylinder; shorter seeks are hidden in it
        command_settle_ms: f64 = figure("command_settle_ms", "ms", time_ms()).default("0"),
        /// track skew in time, for zones without a skew in sectors
        track_skew_ms: Option<f64> = figure("track_skew_ms", "ms", time_ms())
            .or("just enough for a head switch before a write"),
        /// cylinder skew in time, for zones without a skew in sectors
        cylinder_skew_ms: Option<f64> = figure("cylinder_skew_ms", "ms", time_ms())
            .or("just enough for a single-cylinder seek before a write"),
        /// controller time before a read that hits the buffer
        read_hit_overhead_ms: f64 = figure("read_hit_overhead_ms", "ms", time_ms()),
        /// controller time before a read from the medium
        read_miss_overhead_ms: f64 = figure("read_miss_overhead_ms", "ms", time_ms()),
        /// controller time before a write
        write_overhead_ms: f64 = figure("write_overhead_ms", "ms", time_ms()),
        /// controller time before a write that continues the previous one
        sequential_write_overhead_ms: Option<f64> = figure("sequential_write_overhead_ms", "ms", time_ms())
            .or("as `write_after_write_overhead_ms`"),
        /// controller time before a write after a write
        write_after_write_overhead_ms: Option<f64> = figure("write_after_write_overhead_ms", "ms", time_ms())
            .or("as `write_overhead_ms`"),
        /// the same after a read, if the previous command ended in another zone
        write_other_zone_overhead_ms: Option<f64> = figure("write_other_zone_overhead_ms", "ms", time_ms())
            .or("as in the same zone"),
        /// the same after a write, if it ended in another zone
        write_other_zone_after_write_overhead_ms: Option<f64> = figure("write_other_zone_after_write_overhead_ms", "ms", time_ms())
            .or("as after a read"),
        /// controller time after a write, before a read that hits the buffer
        read_hit_after_write_overhead_ms: Option<f64> = figure("read_hit_after_write_overhead_ms", "ms", time_ms())
            .or("as `read_hit_overhead_ms`"),
        /// controller time after a write, before a read from the medium
        read_miss_after_write_overhead_ms: Option<f64> = figure("read_miss_after_write_overhead_ms", "ms", time_ms())
            .or("as `read_miss_overhead_ms`"),
        /// controller time after the last sector of a read is sent
        read_completion_ms: f64 = figure("read_completion_ms", "ms", time_ms()).default("0"),
        /// retries before a read of an unreadable sector fails
        read_retries_ms: f64 = figure("read_retries_ms", "ms", Shape::Number(0.0..=600_000.0)).default("0"),
        /// time from the start of a write-through until the drive takes data, if sooner
        write_data_after_ms: Option<f64> = figure("write_data_after_ms", "ms", time_ms())
            .or("after the controller time"),
        /// read segments in the buffer
        buffer_segments: usize = figure("buffer_segments", "", count(0, 100_000)).default("0"),
        /// size of a segment
        segment_sectors: u64 = figure("segment_sectors", "sectors", count(0, 1 << 30)).default("0"),
        /// read-ahead after a read
        read_ahead_sectors: Option<u64> = figure("read_ahead_sectors", "sectors", count(0, 1 << 30))
            .or("a whole segment"),
        /// reads on after every read; or until the segment is full; or whole tracks, for sequential reads; or after a
        /// miss to the end of its track; or the whole track of a miss
        read_ahead_policy: ReadAheadPolicy = figure("read_ahead_policy", "", Shape::words::<ReadAheadPolicy>()).default("beyond"),
        /// which part of a segment can be hit: all of it, or only what is ahead of the last read
        keeps: Keeps = figure("keeps", "", Shape::words::<Keeps>()).default("everything"),
        /// effect of a write on read segments: drops those it overlaps; they keep what follows it; its data also
        /// takes the segment used last
        on_write: OnWrite = figure("on_write", "", Shape::words::<OnWrite>()).default("drop-segment"),
        /// segments that keep written data for reads to hit
        written_segments: usize = figure("written_segments", "", count(0, 100_000)).default("0"),
        /// send a read's sectors as they come off the medium, or after the last one
        sending: Sending = figure("sending", "", Shape::words::<Sending>()).default("streamed"),
        /// start a write-through while its data arrives, or after the last sector
        taking: Taking = figure("taking", "", Shape::words::<Taking>()).default("streamed"),
        /// order in which the drive takes queued commands
        queue_discipline: QueueDiscipline = figure("queue_discipline", "", Shape::words::<QueueDiscipline>()).default("fcfs"),
        /// queue depth: commands the drive chooses from
        queue_depth: usize = figure("queue_depth", "", count(1, 65_536)).default("1"),
        /// for sptf: positioning time that 1 ms of waiting makes up for
        queue_ageing_us_per_ms: u32 = figure("queue_ageing_us_per_ms", "us/ms", count(0, 1000)).default("0"),
        /// write-back cache, as the drive was used
        write_cache: bool = figure("write_cache", "", Shape::Switch),
        /// size of the write cache
        write_buffer_sectors: Option<u64> = figure("write_buffer_sectors", "sectors", count(0, 1 << 30))
            .or("one segment"),
        /// of how many of the oldest runs of buffered writes the drive picks the one soonest reached; 0: ascending order
        destage_choices: usize = figure("destage_choices", "", count(0, 100_000)).default("0"),
        /// separate writes in the buffer; a write that continues another shares its segment
        write_segments: Option<usize> = figure("write_segments", "", count(1, 100_000))
            .or("limited by space only"),
        /// as measured: 0 write-through, 1 combines sequential writes, 2 write-behind; for the record
        fast_write_level: Option<u64> = figure("fast_write_level", "", count(0, 2))
            .or("not known"),
        /// zero-latency access: start a track at any sector
        zero_latency: bool = figure("zero_latency", "", Shape::Switch).default("false"),
        /// interface rate of the drive
        interface_mb_per_s: f64 = figure("interface_mb_per_s", "MB/s", Shape::Number(0.1..=100_000.0)),
        /// bus rate where the drive was measured; used by `ileave validate` only
        measured_bus_mb_per_s: Option<f64> = figure("measured_bus_mb_per_s", "MB/s", Shape::Number(0.1..=100_000.0))
            .or("as `interface_mb_per_s`"),
    }
}

/// A disk, with what an experiment may change of it.
#[derive(Clone, Debug)]
pub struct Disk {
    /// Its figures.
    pub figures: DiskFigures,
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
    sectors: u64,
    /// The name of its file in errors.
    label: String,
}

impl Disk {
    /// The disk of a file, with so many sectors.
    pub(super) fn of(sheet: &Sheet, sectors: u64) -> Result<Self> {
        let figures = DiskFigures::read(sheet);
        let disk = Disk {
            write_cache: figures.write_cache,
            read_ahead: true,
            zero_latency: figures.zero_latency,
            discipline: discipline(&figures, figures.queue_discipline),
            queue_depth: figures.queue_depth,
            figures,
            sectors,
            label: sheet.label.clone(),
        };
        disk.build(0)?;
        Ok(disk)
    }

    fn impossible(&self, error: &dyn std::fmt::Display) -> Error {
        Error::input(format!("{}: {error}; check these figures", self.label))
    }

    /// What the bus moved where the drive was measured, in bytes a second, if that is known.
    pub fn measured_bus_bytes_per_s(&self) -> Option<u64> {
        self.figures.measured_bus_mb_per_s.map(|rate| (rate * 1e6) as u64)
    }

    /// The disk as the simulator models it.
    ///
    /// # Errors
    ///
    /// Where the figures do not make a disk, or the write cache is on and there is no buffer.
    pub fn spec(&self) -> Result<DriveSpec> {
        let figures = &self.figures;
        let seek = self.seek()?;
        Ok(DriveSpec {
            platters: platters::platters(self, &seek)?,
            seek,
            write_settle_ns: (figures.write_settle_ms * 1e6).round() as i64,
            command_settle_ns: ms_as_ns(figures.command_settle_ms),
            head_switch_ns: ms_as_ns(figures.head_switch_ms),
            controller: self.controller()?,
        })
    }

    /// The model of such disks.
    ///
    /// # Errors
    ///
    /// Where the figures do not make a disk.
    pub(super) fn model(&self) -> Result<DriveModel> {
        made::model(&self.spec()?).map_err(|error| self.impossible(&error))
    }

    fn seek(&self) -> Result<SeekSpec> {
        let figures = &self.figures;
        let typical = [
            ("seek_single_ms", figures.seek_single_ms),
            ("seek_average_ms", figures.seek_average_ms),
            ("seek_full_ms", figures.seek_full_ms),
        ];
        let given = typical.map(|(key, ms)| (key, ms.is_some()));
        either(&self.label, ("seek_points_ms", figures.seek_points_ms.is_some()), &given)?;
        if let Some(points) = &figures.seek_points_ms {
            let to_ns = |&(distance, ms): &(u32, f64)| (distance, ms_as_ns(ms));
            return Ok(SeekSpec::Points(points.iter().map(to_ns).collect()));
        }
        let [single_ns, average_ns, full_ns] = typical.map(|(_, ms)| ms_as_ns(ms.unwrap_or(0.0)));
        Ok(SeekSpec::Typical { single_ns, average_ns, full_ns })
    }

    fn controller(&self) -> Result<ControllerSpec> {
        let figures = &self.figures;
        let segment_sectors = figures.segment_sectors;
        let write_buffer_sectors = figures.write_buffer_sectors.unwrap_or(segment_sectors);
        if self.write_cache && write_buffer_sectors == 0 {
            let message = "true, but no `write_buffer_sectors` or `segment_sectors` says how large";
            return Err(wrong(&self.label, "write_cache", format!("{message} it is; add one")));
        }
        let sequential_write_ms =
            figures.sequential_write_overhead_ms.or(figures.write_after_write_overhead_ms);
        let read_ahead_sectors = figures.read_ahead_sectors.unwrap_or(segment_sectors);
        Ok(ControllerSpec {
            read_hit_overhead_ns: ms_as_ns(figures.read_hit_overhead_ms),
            read_miss_overhead_ns: ms_as_ns(figures.read_miss_overhead_ms),
            write_overhead_ns: ms_as_ns(figures.write_overhead_ms),
            sequential_write_overhead_ns: ms_as_ns(
                sequential_write_ms.unwrap_or(figures.write_overhead_ms),
            ),
            segments: figures.buffer_segments,
            segment_sectors,
            read_ahead_sectors: if self.read_ahead { read_ahead_sectors } else { 0 },
            write_buffer_sectors: if self.write_cache { write_buffer_sectors } else { 0 },
            zero_latency: self.zero_latency,
            interface_bytes_per_s: (figures.interface_mb_per_s * 1e6) as u64,
            firmware: Firmware {
                discipline: self.discipline,
                queue_depth: self.queue_depth,
                ..firmware(figures)
            },
        })
    }
}

impl ClassModel for Disk {
    fn change(&mut self, keys: &DriveKeys) {
        self.write_cache = keys.write_cache.unwrap_or(self.write_cache);
        self.read_ahead = keys.read_ahead.unwrap_or(self.read_ahead);
        self.zero_latency = keys.zero_latency.unwrap_or(self.zero_latency);
        if let Some(chosen) = keys.queue_discipline {
            self.discipline = discipline(&self.figures, chosen);
        }
        self.queue_depth = keys.queue_depth.map_or(self.queue_depth, |depth| depth as usize);
    }

    fn build(&self, _: u64) -> Result<Built> {
        Ok(Built::Disk(Box::new(self.model()?)))
    }

    fn limits(&self) -> Result<Limits> {
        let spec = self.spec()?;
        let platters = Platters::new(&spec.platters).map_err(|error| self.impossible(&error))?;
        let of = &spec.controller;
        Ok(Limits {
            media_bytes_per_s: platters.media_rates().0,
            interface_bytes_per_s: match of.interface_bytes_per_s {
                0 => f64::INFINITY,
                rate => rate as f64,
            },
            read_cache_sectors: of.segments as u64 * of.segment_sectors,
            write_cache_sectors: of.write_buffer_sectors,
            reorders: self.queue_depth > 1 && self.discipline != Discipline::Fcfs,
        })
    }

    fn slowest_bytes_per_s(&self) -> Result<Vec<(&'static str, u64)>> {
        let spec = self.spec()?;
        let slots = spec.platters.zones.iter().map(|zone| u64::from(zone.slots_per_track)).min();
        let turn_bytes = slots.unwrap_or(1).max(1) * block::SECTOR_BYTES;
        Ok(vec![
            ("interface_mb_per_s", spec.controller.interface_bytes_per_s),
            ("rpm", turn_bytes * 1_000_000_000 / spec.platters.revolution_ns),
        ])
    }

    fn write_cache(&self) -> bool {
        self.write_cache
    }

    fn queue_depth(&self) -> usize {
        self.queue_depth
    }

    fn has_large_sectors(&self) -> bool {
        platters::physical_sectors(&self.figures) > 1
    }

    fn is_rotational(&self) -> bool {
        true
    }

    /// Of its outermost and innermost zone, with equal steps between them.
    fn copied_bytes_per_s(&self) -> Result<(f64, f64)> {
        let platters = Platters::new(&self.spec()?.platters).map_err(Error::input)?;
        Ok(platters.sustained_rates())
    }

    fn row(&self, drive: &Drive) -> Result<Option<Row>> {
        listed::row(drive, self).map(Some)
    }

    fn derived(&self, drive: &Drive) -> Result<Vec<Derived>> {
        listed::derived(drive, self)
    }
}
