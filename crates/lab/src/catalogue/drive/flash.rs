//! A flash drive: SATA or `NVMe`.

mod listed;

use super::{Built, ClassModel, Drive, DriveClass, DriveFigures, DriveKeys, Limits, Model};
use crate::catalogue::declare::figures;
use crate::catalogue::figure::{Shape, count, figure, rate, time_us};
use crate::catalogue::listing::{Derived, Row};
use crate::catalogue::sheet::{Sheet, us_as_ns, wrong};
use crate::error::{Error, Result};
use crate::keys::words;
use block::SECTOR_BYTES;
use sim::Nanos;
use sim::flash::{Fill, FlashSpec, Slc};
use store::known::{KnownSlc, Promise};

/// The class of flash drives.
pub(super) const CLASS: DriveClass = DriveClass {
    name: "flash",
    title: "Figures of a flash drive",
    figures: FlashFigures::FIGURES,
    keys: &["queue_depth", "state"],
    provisioned: &[],
    all: &[DriveFigures::FIGURES, FlashFigures::FIGURES],
    read: |sheet, figures| Flash::read(sheet, figures).map(|flash| Model::Flash(Box::new(flash))),
};

/// An SLC cache of so many bytes stands for a larger one where what lasts is asked: it fills and empties by turns many times
/// within a trial, as the larger one does within hours, and the shares of both times are the same. With a smaller one drives of
/// an array would fill less in step: copies make 7 % less with this one, 34 % with an eighth of it.
const LASTING_SLC: u64 = 128 << 20;

words! {
    /// How a flash drive was filled before a run.
    pub enum FillState {
        /// Nothing is written, or everything was discarded.
        Fresh = "fresh",
        /// Written from end to end once, in order.
        Sequential = "sequential",
        /// Written all over in random order, then left alone for a while.
        Random = "random",
        /// Written at random until the rate stayed the same.
        Steady = "steady",
    }
}

impl From<FillState> for Fill {
    fn from(state: FillState) -> Fill {
        match state {
            FillState::Fresh => Fill::Fresh,
            FillState::Sequential => Fill::Sequential,
            FillState::Random => Fill::Random,
            FillState::Steady => Fill::Steady,
        }
    }
}

figures! {
    /// The figures of a flash drive.
    pub struct FlashFigures {
        /// how the drive was filled when it was measured: nothing written; once in order; at random; at random until
        /// the rate stayed the same
        state: FillState = figure("state", "", Shape::words::<FillState>()),
        /// commands that it takes at a time (NCQ 32)
        queue_depth: u32 = figure("queue_depth", "", count(1, 65_536)),
        /// controller time for each read, one after the other: the reciprocal of the most reads a second
        read_command_us: f64 = figure("read_command_us", "us", time_us()),
        /// the same for each page of a read beyond the first
        read_page_us: f64 = figure("read_page_us", "us", time_us()).default("0"),
        /// controller time for each write, likewise
        write_command_us: f64 = figure("write_command_us", "us", time_us()),
        /// time of a read alone in the drive, by size
        read_alone_us: Vec<(u32, f64)> = figure("read_alone_us", "us", Shape::Sizes),
        /// time of a write alone in the drive, into an empty buffer, by size
        write_alone_us: Vec<(u32, f64)> = figure("write_alone_us", "us", Shape::Sizes),
        /// units that read at the same time: dies, or planes of them
        units: u32 = figure("units", "", count(1, 65_536)),
        /// mean time of a unit for a page
        unit_read_us: f64 = figure("unit_read_us", "us", time_us()),
        /// how much longer the slowest third of the pages takes, and how much shorter the fastest
        unit_spread_percent: f64 = figure("unit_spread_percent", "%", Shape::Number(0.0..=100.0)).default("0"),
        /// what is read from one unit at a time
        page: u64 = figure("page", "bytes", Shape::Size).default("4KiB"),
        /// most that reads move
        read_mb_per_s: f64 = figure("read_mb_per_s", "MB/s", rate()),
        /// most that writes move into the buffer
        write_mb_per_s: f64 = figure("write_mb_per_s", "MB/s", rate()),
        /// the link carries one direction at a time, as SATA does; else both at once
        half_duplex: bool = figure("half_duplex", "", Shape::Switch).default("false"),
        /// write buffer; two stripes at least
        write_buffer: u64 = figure("write_buffer", "bytes", Shape::Size),
        /// what leaves the buffer at a time
        stripe: u64 = figure("stripe", "bytes", Shape::Size),
        /// rate of writes that last; where there is an SLC cache, while it has room
        drain_mb_per_s: f64 = figure("drain_mb_per_s", "MB/s", rate()),
        /// least time in flash of a write that continues no other
        random_write_us: f64 = figure("random_write_us", "us", time_us()).default("0"),
        /// more time for each 4 KiB that a write covers only in part
        partial_write_us: f64 = figure("partial_write_us", "us", time_us()).default("0"),
        /// time from the start of a program until power may go
        program_us: f64 = figure("program_us", "us", time_us()),
        /// twice the mean wait of a read for a unit that programs
        program_wait_us: f64 = figure("program_wait_us", "us", time_us()).default("0"),
        /// the buffer survives a power cut: a flush costs nothing
        power_loss_protection: bool = figure("power_loss_protection", "", Shape::Switch),
        /// SLC cache; 0 where there is none, nothing where nobody knows
        slc: Option<u64> = figure("slc", "bytes", Shape::Bytes).or("taken as none"),
        /// room in the SLC cache when a run begins
        slc_left: Option<u64> = figure("slc_left", "bytes", Shape::Bytes).or("all of it"),
        /// rate of writes while the SLC cache is full
        slc_full_mb_per_s: Option<f64> = figure("slc_full_mb_per_s", "MB/s", rate())
            .or("only without `slc`"),
        /// rate at which the SLC cache is emptied
        slc_fold_mb_per_s: Option<f64> = figure("slc_fold_mb_per_s", "MB/s", rate())
            .or("only without `slc`"),
        /// blocks beyond the capacity
        reserve: u64 = figure("reserve", "bytes", Shape::Bytes),
        /// what garbage collection writes for each byte written at random once no block is erased, that one included
        write_amplification: f64 = figure("write_amplification", "", Shape::Number(1.0..=100.0)),
        /// what the data sheet promises of reads in order; the model does not use it, and answers say where it makes much
        /// less
        sheet_read_mb_per_s: Option<f64> = figure("sheet_read_mb_per_s", "MB/s", rate())
            .or("not compared"),
        /// the same of writes
        sheet_write_mb_per_s: Option<f64> = figure("sheet_write_mb_per_s", "MB/s", rate())
            .or("not compared"),
        /// processor time of the host for each request where the drive was measured; used by `ileave validate` and
        /// `ileave drives fit` only
        measured_host_us: Option<f64> = figure("measured_host_us", "us", time_us())
            .or("that of the engine"),
    }
}

/// A flash drive, with what an experiment may change of it.
#[derive(Clone, Debug)]
pub struct Flash {
    /// Its figures.
    pub figures: FlashFigures,
    /// How it is filled.
    pub state: FillState,
    /// Commands that it takes at a time.
    pub queue_depth: u32,
    /// Whether work without an end goes to it, which asks what lasts.
    lasts: bool,
    sectors: u64,
    /// The name of its file in errors.
    label: String,
}

/// The shortest and the longest command of long reads, in bytes.
const LONG_BYTES: [f64; 2] = [65_536.0, 1_048_576.0];

impl Flash {
    fn read(sheet: &Sheet, of_every_drive: &DriveFigures) -> Result<Self> {
        let figures = FlashFigures::read(sheet);
        let flash = Flash {
            state: figures.state,
            queue_depth: figures.queue_depth,
            lasts: false,
            figures,
            sectors: of_every_drive.sectors,
            label: sheet.label.clone(),
        };
        flash.build(0)?;
        Ok(flash)
    }

    fn impossible(&self, error: &dyn std::fmt::Display) -> Error {
        Error::input(format!("{}: {error}; check these figures", self.label))
    }

    /// The drive as the simulator models it.
    ///
    /// # Errors
    ///
    /// Where there is an SLC cache, and not all of its figures.
    pub fn spec(&self) -> Result<FlashSpec> {
        let figures = &self.figures;
        let in_ns = |table: &[(u32, f64)]| -> Vec<(u32, Nanos)> {
            table.iter().map(|&(bytes, us)| (bytes, us_as_ns(us))).collect()
        };
        Ok(FlashSpec {
            sectors: self.sectors,
            queue_depth: self.queue_depth,
            read_command_ns: us_as_ns(figures.read_command_us),
            read_page_ns: us_as_ns(figures.read_page_us),
            write_command_ns: us_as_ns(figures.write_command_us),
            read_alone_ns: in_ns(&figures.read_alone_us),
            write_alone_ns: in_ns(&figures.write_alone_us),
            units: figures.units,
            unit_read_ns: us_as_ns(figures.unit_read_us),
            unit_spread_percent: figures.unit_spread_percent.round() as u32,
            page_bytes: figures.page as u32,
            read_bytes_per_s: bytes_per_s(figures.read_mb_per_s),
            write_bytes_per_s: bytes_per_s(figures.write_mb_per_s),
            half_duplex: figures.half_duplex,
            buffer_bytes: figures.write_buffer,
            stripe_bytes: figures.stripe,
            drain_bytes_per_s: bytes_per_s(figures.drain_mb_per_s),
            random_write_ns: us_as_ns(figures.random_write_us),
            partial_write_ns: us_as_ns(figures.partial_write_us),
            program_ns: us_as_ns(figures.program_us),
            program_wait_ns: us_as_ns(figures.program_wait_us),
            power_loss_protection: figures.power_loss_protection,
            slc: self.slc()?,
            reserve_bytes: figures.reserve,
            write_amplification_percent: (figures.write_amplification * 100.0).round() as u32,
            fill: self.state.into(),
        })
    }

    /// The drive whose commands alone take so much less, as far as its controller and its link allow.
    pub(super) fn build_sooner(&self, sooner_ns: Nanos) -> Result<Built> {
        let mut spec = self.spec()?;
        for (_, ns) in spec.read_alone_ns.iter_mut().chain(&mut spec.write_alone_ns) {
            *ns = ns.saturating_sub(sooner_ns).max(1);
        }
        self.built(&spec)
    }

    fn built(&self, spec: &FlashSpec) -> Result<Built> {
        let built = sim::Flash::new(spec).map_err(|error| self.impossible(&error))?;
        Ok(Built::Alone(Box::new(built)))
    }

    /// How long its SLC cache takes to fill and to empty once, where it does so by turns.
    pub(crate) fn turn_ns(&self) -> Option<Nanos> {
        let slc = self.slc().ok()?.filter(|_| self.lasts)?;
        let seconds_a_byte = 1.0 / slc.fold_bytes_per_s as f64
            + 1.0 / bytes_per_s(self.figures.drain_mb_per_s) as f64;
        Some((slc.bytes as f64 * seconds_a_byte * 1e9) as Nanos)
    }

    /// What results keep of its SLC cache, where it has one.
    pub(in crate::catalogue) fn known_slc(&self) -> Option<KnownSlc> {
        let spec = self.spec().ok()?;
        let slc = spec.slc?;
        Some(KnownSlc {
            gb: slc.bytes as f64 / 1e9,
            left_gb: slc.left_bytes as f64 / 1e9,
            mb_per_s: self.most_mb_per_s()[1],
            full_mb_per_s: slc.full_bytes_per_s as f64 / 1e6,
            lasting_mb_per_s: spec.long_write_bytes_per_s() / 1e6,
        })
    }

    /// The most that long reads and writes move, in MB/s: what the controller, the link and the flash allow.
    ///
    /// A 980 PRO takes 1.277 us for the first page of a read and 2.029 us for each further one: 2067 MB/s in reads of 64 KiB, and
    /// 2023 in those of 1 MiB.
    fn most_mb_per_s(&self) -> [f64; 2] {
        let figures = &self.figures;
        let paged = |bytes: f64| {
            let further = (bytes / figures.page as f64).ceil() - 1.0;
            let us = figures.read_command_us + further * figures.read_page_us;
            bytes / us.max(f64::MIN_POSITIVE)
        };
        let paged = LONG_BYTES.map(paged).into_iter().fold(0.0, f64::max);
        [figures.read_mb_per_s.min(paged), figures.write_mb_per_s.min(figures.drain_mb_per_s)]
    }

    fn slc(&self) -> Result<Option<Slc>> {
        let figures = &self.figures;
        let Some(bytes) = figures.slc.filter(|&bytes| bytes > 0) else { return Ok(None) };
        let need = |key, figure: Option<f64>| {
            figure
                .map(bytes_per_s)
                .ok_or_else(|| wrong(&self.label, key, "is missing, and there is `slc`; add it"))
        };
        let left_bytes = figures.slc_left.unwrap_or(bytes);
        let [bytes, left_bytes] =
            if self.lasts { [bytes.min(LASTING_SLC); 2] } else { [bytes, left_bytes] };
        Ok(Some(Slc {
            bytes,
            left_bytes,
            full_bytes_per_s: need("slc_full_mb_per_s", figures.slc_full_mb_per_s)?,
            fold_bytes_per_s: need("slc_fold_mb_per_s", figures.slc_fold_mb_per_s)?,
        }))
    }
}

impl Drive {
    /// The drive as work without an end meets it, where that is another than a job does: its SLC cache fills and empties by
    /// turns.
    pub(crate) fn lasting(&self) -> Option<Drive> {
        let flash =
            self.flash().ok().filter(|flash| flash.figures.slc.is_some_and(|slc| slc > 0))?;
        let model = Model::Flash(Box::new(Flash { lasts: true, ..flash.clone() }));
        Some(Drive { model, ..self.clone() })
    }
}

impl ClassModel for Flash {
    fn change(&mut self, keys: &DriveKeys) {
        self.state = keys.state.unwrap_or(self.state);
        self.queue_depth = keys.queue_depth.unwrap_or(self.queue_depth);
    }

    fn build(&self, _: u64) -> Result<Built> {
        self.built(&self.spec()?)
    }

    fn limits(&self) -> Result<Limits> {
        let spec = self.spec()?;
        let link_bytes_per_s = spec.read_bytes_per_s.max(spec.write_bytes_per_s) as f64;
        let fast_bytes = spec.slc.map_or(0, |slc| slc.left_bytes);
        Ok(Limits {
            media_bytes_per_s: link_bytes_per_s,
            interface_bytes_per_s: link_bytes_per_s,
            read_cache_sectors: 0,
            write_cache_sectors: (spec.buffer_bytes + fast_bytes) / SECTOR_BYTES,
            reorders: false,
        })
    }

    fn slowest_bytes_per_s(&self) -> Result<Vec<(&'static str, u64)>> {
        let spec = self.spec()?;
        let sector_ns = spec.random_write_ns + spec.partial_write_ns + spec.write_command_ns;
        let alone_ns = spec.read_alone_ns.iter().chain(&spec.write_alone_ns).map(|&(_, ns)| ns);
        let alone_ns = alone_ns.max().unwrap_or(0) + spec.program_wait_ns + sector_ns;
        let flash = spec.slc.map_or(spec.drain_bytes_per_s, |slc| slc.full_bytes_per_s);
        Ok(vec![
            ("read_mb_per_s", spec.read_bytes_per_s),
            ("write_mb_per_s", spec.write_bytes_per_s),
            ("drain_mb_per_s", flash * 100 / u64::from(spec.write_amplification_percent)),
            ("read_alone_us", SECTOR_BYTES * 1_000_000_000 / alone_ns.max(1)),
        ])
    }

    /// Read from one, and written in order to the other: its garbage collection has nothing to copy.
    fn copied_bytes_per_s(&self) -> Result<(f64, f64)> {
        let spec = self.spec()?;
        let rate = spec.long_read_bytes_per_s().min(spec.long_write_bytes_per_s());
        Ok((rate, rate))
    }

    fn write_cache(&self) -> bool {
        !self.figures.power_loss_protection
    }

    fn queue_depth(&self) -> usize {
        self.queue_depth as usize
    }

    fn state(&self) -> Option<&'static str> {
        Some(self.state.word())
    }

    fn rates(&self) -> &'static [(&'static str, &'static [&'static str])] {
        let all: &[(&str, &[&str])] = &[
            ("reads", &["read_command_us", "read_alone_us", "unit_read_us"]),
            (
                "writes",
                &["write_command_us", "random_write_us", "write_alone_us", "drain_mb_per_s"],
            ),
            ("long writes", &["slc"]),
            ("flushes", &["program_us"]),
        ];
        // What keeps its buffer in a power cut has nothing to do in a flush, and is sold by the rate that lasts.
        if self.figures.power_loss_protection { &all[..2] } else { all }
    }

    fn promised(&self) -> Vec<Promise> {
        let Flash { figures, .. } = self;
        let sheet = [figures.sheet_read_mb_per_s, figures.sheet_write_mb_per_s];
        let both = ["reads", "writes"].into_iter().zip(sheet).zip(self.most_mb_per_s());
        let promises = both.filter_map(|((what, sheet), modelled_mb_per_s)| {
            Some(Promise { what: what.into(), sheet_mb_per_s: sheet?, modelled_mb_per_s })
        });
        promises.collect()
    }

    fn row(&self, drive: &Drive) -> Result<Option<Row>> {
        Ok(Some(listed::row(drive, self)))
    }

    fn derived(&self, drive: &Drive) -> Result<Vec<Derived>> {
        Ok(listed::derived(drive, self))
    }
}

fn bytes_per_s(mb_per_s: f64) -> u64 {
    (mb_per_s * 1e6) as u64
}
