//! An ideal flash drive: a delay and a link. It is no real drive: what md was measured on in virtual time is.

use super::{Built, ClassModel, Drive, DriveClass, DriveFigures, DriveKeys, Limits, Model};
use crate::catalogue::declare::figures;
use crate::catalogue::figure::{count, figure, rate, time_us};
use crate::catalogue::listing::Row;
use crate::catalogue::sheet::{Sheet, us_as_ns};
use crate::error::Result;
use sim::ideal_flash::{IdealFlashSpec, IdealFlashes};

/// The class of ideal flash drives.
pub(super) const CLASS: DriveClass = DriveClass {
    name: "ideal-flash",
    title: "Figures of an ideal flash drive",
    figures: IdealFlashFigures::FIGURES,
    keys: &["queue_depth"],
    provisioned: &[],
    all: &[DriveFigures::FIGURES, IdealFlashFigures::FIGURES],
    read: |sheet, figures| Ok(Model::IdealFlash(IdealFlash::read(sheet, figures))),
};

figures! {
    /// The figures of an ideal flash drive.
    pub struct IdealFlashFigures {
        /// time from a read's arrival until the link may have its data
        read_us: f64 = figure("read_us", "us", time_us()),
        /// time from the end of a write's transfer until it is done and durable
        write_us: f64 = figure("write_us", "us", time_us()),
        /// time of a flush
        flush_us: f64 = figure("flush_us", "us", time_us()),
        /// data rate of the link
        link_mb_per_s: f64 = figure("link_mb_per_s", "MB/s", rate()),
        /// commands that it has at a time
        queue_depth: u32 = figure("queue_depth", "", count(1, 65_536)),
    }
}

/// An ideal flash drive, with what an experiment may change of it.
#[derive(Clone, Debug)]
pub struct IdealFlash {
    /// Its figures.
    pub figures: IdealFlashFigures,
    /// Commands that it has at a time.
    pub queue_depth: u32,
    sectors: u64,
}

impl IdealFlash {
    fn read(sheet: &Sheet, of_every_drive: &DriveFigures) -> Self {
        let figures = IdealFlashFigures::read(sheet);
        IdealFlash { queue_depth: figures.queue_depth, figures, sectors: of_every_drive.sectors }
    }

    /// The drive as the simulator models it.
    pub fn spec(&self) -> IdealFlashSpec {
        let figures = &self.figures;
        IdealFlashSpec {
            sectors: self.sectors,
            read_ns: us_as_ns(figures.read_us),
            write_ns: us_as_ns(figures.write_us),
            flush_ns: us_as_ns(figures.flush_us),
            link_bytes_per_s: (figures.link_mb_per_s * 1e6) as u64,
        }
    }
}

impl ClassModel for IdealFlash {
    fn change(&mut self, keys: &DriveKeys) {
        self.queue_depth = keys.queue_depth.unwrap_or(self.queue_depth);
    }

    fn build(&self, _: u64) -> Result<Built> {
        Ok(Built::Alone(Box::new(IdealFlashes::new(1, self.spec()))))
    }

    fn limits(&self) -> Result<Limits> {
        let link_bytes_per_s = self.figures.link_mb_per_s * 1e6;
        Ok(Limits {
            media_bytes_per_s: link_bytes_per_s,
            interface_bytes_per_s: link_bytes_per_s,
            read_cache_sectors: 0,
            write_cache_sectors: 0,
            reorders: false,
        })
    }

    fn slowest_bytes_per_s(&self) -> Result<Vec<(&'static str, u64)>> {
        Ok(vec![("link_mb_per_s", (self.figures.link_mb_per_s * 1e6) as u64)])
    }

    fn write_cache(&self) -> bool {
        false
    }

    fn queue_depth(&self) -> usize {
        self.queue_depth as usize
    }

    fn row(&self, _: &Drive) -> Result<Option<Row>> {
        Ok(None)
    }
}
