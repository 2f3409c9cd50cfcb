//! From the figures of a disk to what its firmware decides.

use super::DiskFigures;
use super::platters::physical_sectors;
use crate::catalogue::sheet::ms_as_ns;
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

words! {
    impl ReadAheadPolicy {
        Beyond = "beyond",
        UntilFull = "until-full",
        SequentialTracks = "sequential-tracks",
        TrackEnd = "track-end",
        WholeTrack = "whole-track",
    }
}

words! { impl Keeps { Everything = "everything", Ahead = "ahead", } }

words! {
    impl OnWrite {
        DropSegment = "drop-segment",
        KeepBehind = "keep-behind",
        TakeNewest = "take-newest",
    }
}

words! { impl Sending { Streamed = "streamed", Whole = "whole", } }

words! { impl Taking { Streamed = "streamed", Whole = "whole", } }

/// The discipline that is `chosen`, as a disk with these figures has it.
pub(super) fn discipline(figures: &DiskFigures, chosen: QueueDiscipline) -> Discipline {
    match chosen {
        QueueDiscipline::Fcfs => Discipline::Fcfs,
        QueueDiscipline::CLook => Discipline::CLook,
        QueueDiscipline::Sptf => {
            Discipline::Sptf { ageing_us_per_ms: figures.queue_ageing_us_per_ms }
        }
    }
}

/// The firmware of a disk with these figures.
pub(super) fn firmware(figures: &DiskFigures) -> Firmware {
    Firmware {
        read_ahead: figures.read_ahead_policy,
        keeps: figures.keeps,
        on_write: figures.on_write,
        physical_sectors: physical_sectors(figures) as u32,
        write_segments: figures.write_segments.unwrap_or(0),
        destage_choices: figures.destage_choices,
        written_segments: figures.written_segments,
        sending: figures.sending,
        taking: figures.taking,
        overheads: Overheads {
            read_hit_after_write_ns: figures.read_hit_after_write_overhead_ms.map(ms_as_ns),
            read_miss_after_write_ns: figures.read_miss_after_write_overhead_ms.map(ms_as_ns),
            write_after_write_ns: figures.write_after_write_overhead_ms.map(ms_as_ns),
            write_other_zone_ns: figures.write_other_zone_overhead_ms.map(ms_as_ns),
            write_other_zone_after_write_ns: figures
                .write_other_zone_after_write_overhead_ms
                .map(ms_as_ns),
            write_data_ns: figures.write_data_after_ms.map(ms_as_ns),
            read_completion_ns: ms_as_ns(figures.read_completion_ms),
            read_retries_ns: ms_as_ns(figures.read_retries_ms),
        },
        discipline: discipline(figures, figures.queue_discipline),
        queue_depth: figures.queue_depth,
    }
}
