//! From the figures of a drive to what its firmware decides.

use super::platters;
use super::sheet::Sheet;
use crate::keys::words;
use sim::drive::{
    Discipline, Firmware, Keeps, OnWrite, Overheads, ReadAheadPolicy, Sending, Taking,
};

words! {
    /// Which of the commands in its queue a drive takes next.
    pub enum QueueDiscipline {
        /// The oldest.
        Fcfs = "fcfs",
        /// The next upwards by sector.
        CLook = "c-look",
        /// The one that it reaches soonest.
        Sptf = "sptf",
    }
}

/// The discipline, as the drive of `sheet` would have it.
pub(super) fn discipline(sheet: &Sheet, chosen: QueueDiscipline) -> Discipline {
    match chosen {
        QueueDiscipline::Fcfs => Discipline::Fcfs,
        QueueDiscipline::CLook => Discipline::CLook,
        QueueDiscipline::Sptf => Discipline::Sptf {
            ageing_us_per_ms: sheet.count("queue_ageing_us_per_ms").unwrap_or(0) as u32,
        },
    }
}

/// What `sheet` says of the firmware. Choices stand in the order of their words in the table of figures.
pub(super) fn firmware(sheet: &Sheet) -> Firmware {
    Firmware {
        read_ahead: [
            ReadAheadPolicy::Beyond,
            ReadAheadPolicy::UntilFull,
            ReadAheadPolicy::SequentialTracks,
        ][sheet.choice("read_ahead_policy")],
        keeps: [Keeps::Everything, Keeps::Ahead][sheet.choice("keeps")],
        on_write: [OnWrite::DropSegment, OnWrite::KeepBehind, OnWrite::TakeNewest]
            [sheet.choice("on_write")],
        physical_sectors: platters::physical_sectors(sheet) as u32,
        write_segments: sheet.count("write_segments").unwrap_or(0) as usize,
        written_segments: sheet.count("written_segments").unwrap_or(0) as usize,
        sending: [Sending::Streamed, Sending::Whole][sheet.choice("sending")],
        taking: [Taking::Streamed, Taking::Whole][sheet.choice("taking")],
        overheads: Overheads {
            read_hit_after_write_ns: sheet.given_ms_as_ns("read_hit_after_write_overhead_ms"),
            read_miss_after_write_ns: sheet.given_ms_as_ns("read_miss_after_write_overhead_ms"),
            write_after_write_ns: sheet.given_ms_as_ns("write_after_write_overhead_ms"),
            write_other_zone_ns: sheet.given_ms_as_ns("write_other_zone_overhead_ms"),
            write_other_zone_after_write_ns: sheet
                .given_ms_as_ns("write_other_zone_after_write_overhead_ms"),
            write_data_ns: sheet.given_ms_as_ns("write_data_after_ms"),
            read_completion_ns: sheet.ms_as_ns("read_completion_ms"),
            read_retries_ns: sheet.ms_as_ns("read_retries_ms"),
        },
        discipline: discipline(
            sheet,
            [QueueDiscipline::Fcfs, QueueDiscipline::CLook, QueueDiscipline::Sptf]
                [sheet.choice("queue_discipline")],
        ),
        queue_depth: sheet.count("queue_depth").unwrap_or(1) as usize,
    }
}
