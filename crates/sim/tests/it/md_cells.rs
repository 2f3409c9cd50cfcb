//! md against the real kernel's, cell by cell.
//!
//! `md_write_path.csv` was measured on Linux 6.1 in virtual time, over modelled drives that are stated exactly and
//! that [`Spirals`] and [`IdealFlashes`] are; where it comes from stands in docs/md.md. What is left between its
//! numbers and ours is the model of md and of the block layer.

use block::layout::{Code, Parity, Rotation, Stripe, WriteRule};
use block::{Op, Request};
use sim::ideal_flash::{IdealFlashSpec, IdealFlashes};
use sim::linux::bitmap::{BitSizes, BitmapSpec};
use sim::linux::block_layer::BlockLayer;
use sim::linux::md::{Md, MdSpec};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::spiral::{SpiralSpec, Spirals};
use sim::{Advance, Array, Counters, Device, Driver, Event, Plugs};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The kernel's processor cost nothing but a look at the clock for each bio.
const BIO_NS: u64 = 256;
/// The flash drives of the table.
pub(crate) const FLASH: IdealFlashSpec = IdealFlashSpec {
    sectors: 7_812_500_000,
    read_ns: 80_000,
    write_ns: 20_000,
    flush_ns: 20_000,
    link_bytes_per_s: 2_000_000_000,
};

/// A row of the table.
struct Cell<'a> {
    header: &'a [&'a str],
    values: Vec<&'a str>,
}

/// What a cell came to, there and here.
struct Compared {
    level: String,
    is_flash: bool,
    writes_in_order: bool,
    is_buffered: bool,
    outstanding: u64,
    /// What the row of a sweep over chunks has in common.
    sweep: String,
    chunk_kib: u64,
    measured_mb_per_s: f64,
    mb_per_s: f64,
    measured_pre_read_mib: f64,
    pre_read_mib: f64,
}

impl Cell<'_> {
    fn text(&self, name: &str) -> &str {
        self.values[self.header.iter().position(|column| *column == name).expect("a column")]
    }

    fn number(&self, name: &str) -> f64 {
        self.text(name).parse().expect("a number")
    }

    fn count(&self, name: &str) -> u64 {
        self.number(name).round() as u64
    }

    /// Whether it is what the model is held to: direct requests to md and buffered writes to disks, by the one thread
    /// that it has unless told otherwise, without a bitmap. On flash the processor decides what is buffered.
    fn is_held(&self) -> bool {
        self.has_no_bitmap() && self.is_modelled()
    }

    fn has_no_bitmap(&self) -> bool {
        ["none", ""].contains(&self.text("bitmap"))
    }

    /// A bitmap whose bits are clear to begin with, or a write in order past the drives' caches, to which they do not
    /// matter. (Over caches they would: each bit that is set empties the caches, and with 0.5 s since the array was made
    /// all bits were still set.)
    fn has_modelled_bitmap(&self) -> bool {
        let is_in_order = self.text("pattern") == "seq" && self.text("drive_write_cache") == "off";
        let is_settled = || self.number("settle_s") > 100.0 || is_in_order;
        self.text("bitmap") == "internal" && self.is_modelled() && is_settled()
    }

    fn is_modelled(&self) -> bool {
        let is_one_thread = ["0", ""].contains(&self.text("group_threads"));
        let on_disks = self.text("drive_model") != "flash";
        let is_modelled = !self.is_buffered() || (self.text("op") == "write" && on_disks);
        self.text("target") == "md" && is_modelled && is_one_thread
    }

    fn is_buffered(&self) -> bool {
        self.text("buffered") == "1"
    }

    /// Requests that are in flight; of buffered writes what the page cache writes back at a time.
    fn in_flight(&self) -> u64 {
        if self.is_buffered() {
            (256 << 10) / self.count("block_kib")
        } else {
            self.count("outstanding")
        }
    }

    fn queue(&self) -> QueueSpec {
        let is_none = self.text("scheduler") == "none";
        QueueSpec {
            scheduler: if is_none { Scheduler::None } else { Scheduler::MqDeadline },
            requests: 64,
            tags: self.count("member_queue_depth") as usize,
            max_sectors: 2560,
            max_segments: 168,
            is_write_back: self.text("drive_write_cache") == "on",
        }
    }

    fn drives(&self, members: usize) -> Box<dyn Device> {
        let model = self.text("drive_model");
        if model == "flash" {
            return Box::new(IdealFlashes::new(members, FLASH));
        }
        let buffer_sectors = if self.text("drive_write_cache") == "on" { 64 << 11 } else { 0 };
        let burst_sectors = if model == "hdd-burst2m" { 2 << 11 } else { 0 };
        let disk = SpiralSpec { burst_sectors, ..SpiralSpec::default().buffered(buffer_sectors) };
        Box::new(Spirals::new(members, disk))
    }

    fn volume(&self) -> Box<dyn Device> {
        let members = self.count("members") as usize;
        let (below, mut driver) = (self.drives(members), Driver::new(0, BIO_NS));
        if !self.is_buffered() {
            driver.plugs = Plugs::of_programs().that_send_large_writes();
        }
        let (chunk, sectors) = (self.count("chunk_kib") * 2, vec![FLASH.sectors; members]);
        if self.text("level") == "raid0" {
            let layout = Box::new(Stripe::new(chunk, &sectors).unwrap());
            let queues: Box<dyn Device> =
                BlockLayer::new(below, self.queue(), &driver.plugs).into();
            return Array::new(layout, queues, driver).into();
        }
        let code = if self.text("level") == "raid5" { Code::P } else { Code::PQ };
        let (rotation, rule) = (Rotation::LeftSymmetric, WriteRule::FewestRequests);
        let layout = Parity::new(code, rotation, rule, chunk, &sectors);
        let stripe_cache_rows = self.count("stripe_cache") as usize;
        let (queue, is_written_back) = (self.queue(), self.is_buffered());
        let bitmap = (self.text("bitmap") == "internal").then(|| BitmapSpec {
            flushes: self.text("drive_write_cache") == "on",
            bits: BitSizes::Mdadm,
        });
        let spec =
            MdSpec { stripe_cache_rows, queue, is_written_back, bitmap, is_cut_at_chunks: false };
        Md::new(Box::new(layout.unwrap()), below, driver, spec).unwrap().into()
    }

    /// Asks for its blocks, so many in flight, and flushes what the drives buffer.
    fn run(&self) -> Compared {
        let mut volume = self.volume();
        let block = self.count("block_kib") * 2;
        let blocks = (self.number("mib_total") * 2048.0).round() as u64 / block;
        let op = if self.text("op") == "read" { Op::Read } else { Op::WRITE };
        let places = volume.geometry().target_sectors[0] / block;
        let mut random = 12_345_u64;
        let mut place = |number: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if self.text("pattern") == "rand" { (random >> 20) % places } else { number }
        };
        let (outstanding, all) = (self.in_flight(), blocks + 1);
        let (mut next, mut done, mut now) = (0, 0, 0);
        let mut events = Vec::new();
        while done < all {
            while next < blocks && next - done < outstanding || next == done && next < all {
                let sector = place(next) * block;
                let ask = Request { target: 0, op, sector, sectors: block as u32 };
                volume.submit(now, next, if next == blocks { Request::flush() } else { ask });
                next += 1;
            }
            now = volume.next_event().expect("it owes requests");
            volume.advance(now, &mut events);
            for event in events.drain(..) {
                if let Event::Done { result, .. } = event {
                    result.unwrap();
                    done += 1;
                }
            }
        }
        let mut counters = Counters::default();
        volume.count(&mut counters);
        let read: u64 = counters.targets.iter().map(|target| target.sectors_read).sum();
        self.compared((blocks * block * 512) as f64 / 1e6 / (now as f64 / 1e9), read)
    }

    fn compared(&self, mb_per_s: f64, read_sectors: u64) -> Compared {
        let of_sweep = [
            "level",
            "stripe_cache",
            "drive_model",
            "drive_write_cache",
            "scheduler",
            "member_queue_depth",
            "op",
            "pattern",
            "block_kib",
            "outstanding",
            "buffered",
            "mib_total",
        ];
        Compared {
            level: self.text("level").into(),
            is_flash: self.text("drive_model") == "flash",
            writes_in_order: self.text("op") == "write" && self.text("pattern") == "seq",
            is_buffered: self.is_buffered(),
            outstanding: self.count("outstanding"),
            sweep: of_sweep.map(|name| self.text(name)).join(","),
            chunk_kib: self.count("chunk_kib"),
            measured_mb_per_s: self.number("mb_per_s_virtual"),
            mb_per_s,
            measured_pre_read_mib: self.number("member_read_mib"),
            pre_read_mib: read_sectors as f64 / 2048.0,
        }
    }

    /// As it was kept, if it was: `line` is its line of the data.
    fn kept(&self, line: &str) -> Compared {
        let columns: Vec<&str> = line.split(',').collect();
        let number =
            |from_last: usize| columns[columns.len() - from_last].parse().expect("a number");
        let kept = Compared { pre_read_mib: number(1), ..self.compared(number(3), 0) };
        assert_eq!(kept.line(), line, "what was measured is what was kept");
        kept
    }
}

impl Compared {
    /// As the data have it.
    fn line(&self) -> String {
        let Compared { sweep, chunk_kib, measured_mb_per_s, mb_per_s, .. } = self;
        let Compared { measured_pre_read_mib, pre_read_mib, .. } = self;
        format!(
            "{sweep},{chunk_kib},{measured_mb_per_s:.2},{mb_per_s:.2},{measured_pre_read_mib:.1},{pre_read_mib:.1}"
        )
    }
}

/// What is kept of all cells; the verdict counts from it how often the model is right.
const KEPT: &str = include_str!("../../../verdict/data/md_cells.csv");
const HEADER: &str = "\
# Cells of the real md and ours, in MB/s, and what was read before it could be written, in MiB.
# Written by `UPDATE=1 cargo test -p sim-tests md_cells`; docs/md.md.
level,stripe_cache,drive_model,drive_write_cache,scheduler,member_queue_depth,op,pattern,block_kib,outstanding,\
buffered,mib_total,chunk_kib,measured_mb_per_s,mb_per_s,measured_pre_read_mib,pre_read_mib
";

/// Calls `visit` with the cells that the model is held to.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
fn with_held<T>(visit: impl FnOnce(Vec<Cell<'_>>) -> T) -> T {
    with_cells(|cell| cell.is_held(), visit)
}

/// Calls `visit` with the cells that `are`.
fn with_cells<T>(are: impl Fn(&Cell<'_>) -> bool, visit: impl FnOnce(Vec<Cell<'_>>) -> T) -> T {
    let mut lines = include_str!("md_write_path.csv").lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let cells = lines.map(|line| Cell { header: &header, values: line.split(',').collect() });
    visit(cells.filter(|cell| are(cell)).collect())
}

/// The lines that are kept, one for each held cell.
fn kept_lines() -> Vec<&'static str> {
    KEPT.strip_prefix(HEADER).expect("the header of this test").lines().collect()
}

/// The lines of every `step`th cell from `first` on, with their places; simulated on both processors.
fn simulated(cells: &[Cell<'_>], first: usize, step: usize) -> Vec<(usize, String)> {
    let next = AtomicUsize::new(0);
    let lane = || {
        let places = || first + step * next.fetch_add(1, Ordering::Relaxed);
        let own = std::iter::repeat_with(places).take_while(|&place| place < cells.len());
        own.map(|place| (place, cells[place].run().line())).collect::<Vec<_>>()
    };
    let mut lines = std::thread::scope(|scope| {
        let other = scope.spawn(lane);
        let mut lines = lane();
        lines.extend(other.join().expect("the other half runs, too"));
        lines
    });
    lines.sort();
    lines
}

#[expect(clippy::disallowed_methods, reason = "this is no model, and only on demand")]
fn keep(lines: &[(usize, String)]) {
    let text = lines.iter().fold(HEADER.to_string(), |text, (_, line)| text + line + "\n");
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../verdict/data/md_cells.csv"), text)
        .unwrap();
}

/// What is kept is what is simulated: a part of the cells where everything is required, and a smaller one else.
/// `UPDATE=1` simulates all of them, which takes minutes of processor time, and writes them anew.
#[test]
fn what_is_kept_is_what_is_simulated() {
    with_held(|cells| {
        if std::env::var_os("UPDATE").is_some() {
            return keep(&simulated(&cells, 0, 1));
        }
        let step = if std::env::var_os("ILEAVE_REQUIRE").is_some() { 16 } else { 48 };
        let kept = kept_lines();
        for (place, line) in simulated(&cells, 2, step) {
            assert_eq!(line, kept[place], "the model has changed; run with UPDATE=1");
        }
    });
}

fn share<'a>(
    of: impl IntoIterator<Item = &'a Compared>,
    is: impl Fn(&Compared) -> bool,
) -> (f64, usize) {
    let (mut yes, mut all) = (0, 0);
    for cell in of {
        all += 1;
        yes += usize::from(is(cell));
    }
    (f64::from(yes as u32) / f64::from(all.max(1) as u32), all)
}

fn rate_error(cell: &Compared) -> f64 {
    (cell.mb_per_s / cell.measured_mb_per_s - 1.0).abs()
}

/// Of the cells that `are`, so many per hundred lie within 15 and 30 %.
fn assert_rates(cells: &[Compared], are: fn(&Compared) -> bool, of_15: f64, of_30: f64) {
    let of = || cells.iter().filter(|cell| are(cell));
    let (within_15, number) = share(of(), |cell| rate_error(cell) <= 0.15);
    let (within_30, _) = share(of(), |cell| rate_error(cell) <= 0.30);
    assert!(within_15 >= of_15, "{within_15:.3} of the rates of {number} cells lie within 15 %");
    assert!(within_30 >= of_30, "{within_30:.3} of the rates of {number} cells lie within 30 %");
}

/// What is read before it can be written, at depth 1: rules alone decide it.
fn assert_pre_reads(cells: &[Compared]) {
    let single = cells
        .iter()
        .filter(|cell| cell.outstanding == 1 && cell.writes_in_order && !cell.is_buffered)
        .filter(|cell| cell.level != "raid0");
    let (within, number) = share(single, |cell| {
        (cell.pre_read_mib - cell.measured_pre_read_mib).abs() <= 0.05 * cell.measured_pre_read_mib
    });
    assert!(within >= 0.95, "{within:.3} of the pre-reads of {number} cells lie within 5 %");
}

/// What is kept errs by no more than docs/md.md says.
#[test]
fn cells_are_as_measured() {
    let lines = kept_lines();
    let cells: Vec<Compared> = with_held(|cells| {
        assert_eq!(cells.len(), lines.len());
        cells.iter().zip(lines).map(|(cell, line)| cell.kept(line)).collect()
    });
    assert_rates(&cells, |_| true, 0.85, 0.95);
    assert_rates(&cells, |cell| cell.level == "raid0", 1.0, 1.0);
    assert_rates(&cells, |cell| cell.is_buffered, 0.95, 1.0);
    // 33 of 48. One that left (RAID 5, 512 KiB chunks, 1 MiB x 64: 8157 MB/s here) makes 8069 where the kernel's threads go first,
    // and 8070 in the model of that.
    assert_rates(&cells, |cell| cell.is_flash && cell.level != "raid0", 0.68, 0.95);
    assert_best_chunks(&cells);
    assert_pre_reads(&cells);
}

/// Cells that differ in their chunk alone.
type Sweep<'a> = BTreeMap<u64, &'a Compared>;

/// The chunk with the highest rate.
fn best(chunks: &Sweep, rate: fn(&Compared) -> f64) -> u64 {
    let by_rate = |a: &(&u64, &&Compared), b: &(&u64, &&Compared)| rate(a.1).total_cmp(&rate(b.1));
    *chunks.iter().max_by(by_rate).expect("chunks").0
}

/// Chunks that measured within this of the best are as good: the kernel's own rates are apart by as much where chunks
/// make no difference.
const AS_GOOD: f64 = 0.01;

/// The chunk that is best here is best there, or within 10 % of it.
fn assert_best_chunks(cells: &[Compared]) {
    let mut sweeps: BTreeMap<&str, Sweep> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.writes_in_order) {
        sweeps.entry(&cell.sweep).or_default().insert(cell.chunk_kib, cell);
    }
    let sweeps: Vec<_> = sweeps.into_values().filter(|chunks| chunks.len() > 1).collect();
    let chosen = |chunks: &Sweep| best(chunks, |cell| cell.mb_per_s);
    let measured = |chunks: &Sweep| best(chunks, |cell| cell.measured_mb_per_s);
    let share = |is: &dyn Fn(&Sweep) -> bool| {
        sweeps.iter().filter(|chunks| is(chunks)).count() as f64 / sweeps.len() as f64
    };
    let there = |chunks: &Sweep, chunk: u64| chunks[&chunk].measured_mb_per_s;
    let within = |chunks: &Sweep, off: f64| {
        there(chunks, chosen(chunks)) >= (1.0 - off) * there(chunks, measured(chunks))
    };
    let same = share(&|chunks| within(chunks, AS_GOOD));
    let near = share(&|chunks| within(chunks, 0.1));
    assert!(same >= 0.90, "the best chunk is the same in {same:.3} of {} sweeps", sweeps.len());
    assert!(near >= 0.94, "it is within 10 % of the best in {near:.3} of {}", sweeps.len());
}

/// With the bits of all parts clear, each random write sets one, and takes half the rate; a write in order sets few.
#[test]
fn a_bitmap_costs_what_it_was_measured_to_cost() {
    let is_required = std::env::var_os("ILEAVE_REQUIRE").is_some();
    let are = |cell: &Cell<'_>| {
        cell.has_modelled_bitmap() && (is_required || cell.text("pattern") == "rand")
    };
    let (random, in_order): (Vec<Compared>, _) = with_cells(are, |cells| {
        cells.iter().map(Cell::run).partition(|compared| !compared.writes_in_order)
    });
    assert_eq!((random.len(), in_order.len()), (2, if is_required { 24 } else { 0 }));
    assert!(random.iter().all(|cell| rate_error(cell) < 0.1));
    if is_required {
        assert_rates(&in_order, |_| true, 0.95, 1.0);
    }
}
