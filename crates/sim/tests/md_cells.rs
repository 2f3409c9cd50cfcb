//! md's RAID 5 and 6 against the real kernel's, cell by cell.
//!
//! `data/md_write_path.csv` was measured on Linux 6.1 in virtual time, over modelled drives that are stated
//! exactly and that [`Spirals`] is; where it comes from stands in docs/md.md. What is left between its
//! numbers and ours is the model of md and of the block layer.

use block::layout::{Code, Parity, Rotation, WriteRule};
use block::{Op, Request};
use sim::linux::md::{Md, MdSpec};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::spiral::Spirals;
use sim::{Counters, Device, Driver, Event};
use std::collections::BTreeMap;

/// The members' size, in sectors: 4 TB.
const MEMBER_SECTORS: u64 = 7_812_500_000;
/// The kernel's processor cost nothing but a look at the clock for each bio.
const BIO_NS: u64 = 256;

/// A row of the table.
struct Cell<'a> {
    header: &'a [&'a str],
    values: Vec<&'a str>,
}

/// What a cell came to, there and here.
struct Compared {
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

    /// Whether it is what the model is held to: direct writes in order, by the one thread that md has unless told
    /// otherwise, without a bitmap.
    fn is_held(&self) -> bool {
        let wanted = [
            ("op", "write"),
            ("pattern", "seq"),
            ("buffered", "0"),
            ("target", "md"),
            ("group_threads", "0"),
            ("bitmap", "none"),
            ("drive_model", "hdd"),
        ];
        wanted.iter().all(|&(name, value)| self.text(name) == value)
    }

    fn md(&self) -> Md<Spirals> {
        let members = self.count("members") as usize;
        let code = if self.text("level") == "raid5" { Code::P } else { Code::PQ };
        let layout = Parity::new(
            code,
            Rotation::LeftSymmetric,
            WriteRule::FewestRequests,
            self.count("chunk_kib") * 2,
            &vec![MEMBER_SECTORS; members],
        );
        let buffer = if self.text("drive_write_cache") == "on" { 64 << 11 } else { 0 };
        let is_none = self.text("scheduler") == "none";
        let spec = MdSpec {
            stripe_cache_rows: self.count("stripe_cache") as usize,
            queue: QueueSpec {
                scheduler: if is_none { Scheduler::None } else { Scheduler::MqDeadline },
                requests: 64,
                tags: self.count("member_queue_depth") as usize,
                max_sectors: 2560,
                max_segments: 168,
            },
        };
        let disks = Spirals::new(members, MEMBER_SECTORS, buffer);
        Md::new(Box::new(layout.unwrap()), disks, Driver::new(0, BIO_NS), spec).unwrap()
    }

    /// Writes its blocks in order, so many in flight, and flushes what the drives buffer.
    fn run(&self) -> Compared {
        let mut md = self.md();
        let block = self.count("block_kib") * 2;
        let blocks = (self.number("mib_total") * 2048.0).round() as u64 / block;
        let outstanding = self.count("outstanding");
        let (mut next, mut done, mut now) = (0, 0, 0);
        let mut events = Vec::new();
        let buffered = self.text("drive_write_cache") == "on";
        let all = blocks + u64::from(buffered);
        while done < all {
            while next < blocks && next - done < outstanding || next == done && next < all {
                let is_flush = next == blocks;
                let write = Request {
                    target: 0,
                    op: Op::WRITE,
                    sector: next * block,
                    sectors: block as u32,
                };
                md.submit(now, next, if is_flush { Request::flush() } else { write });
                next += 1;
            }
            now = md.next_event().expect("it owes requests");
            md.advance(now, &mut events);
            for event in events.drain(..) {
                if let Event::Done { result, .. } = event {
                    result.unwrap();
                    done += 1;
                }
            }
        }
        let mut counters = Counters::default();
        md.count(&mut counters);
        let read: u64 = counters.targets.iter().map(|target| target.sectors_read).sum();
        let columns = [
            "level",
            "stripe_cache",
            "block_kib",
            "outstanding",
            "drive_write_cache",
            "scheduler",
            "member_queue_depth",
        ];
        Compared {
            outstanding,
            sweep: columns.map(|name| self.text(name)).join(" "),
            chunk_kib: self.count("chunk_kib"),
            measured_mb_per_s: self.number("mb_per_s_virtual"),
            mb_per_s: (blocks * block * 512) as f64 / 1e6 / (now as f64 / 1e9),
            measured_pre_read_mib: self.number("member_read_mib"),
            pre_read_mib: read as f64 / 2048.0,
        }
    }
}

/// Of the held cells every `step`th from `first` on, run.
fn compared(first: usize, step: usize) -> Vec<Compared> {
    let text = include_str!("data/md_write_path.csv");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let cells = lines.map(|line| Cell { header: &header, values: line.split(',').collect() });
    let held = cells.filter(|cell| cell.text("level") != "raid0" && cell.is_held());
    held.skip(first).step_by(step).map(|cell| cell.run()).collect()
}

fn share(of: &[Compared], is: impl Fn(&Compared) -> bool) -> f64 {
    of.iter().filter(|cell| is(cell)).count() as f64 / of.len() as f64
}

fn rate_error(cell: &Compared) -> f64 {
    (cell.mb_per_s / cell.measured_mb_per_s - 1.0).abs()
}

fn assert_rates(cells: &[Compared]) {
    let (within_15, within_30) = (
        share(cells, |cell| rate_error(cell) <= 0.15),
        share(cells, |cell| rate_error(cell) <= 0.30),
    );
    assert!(within_15 >= 0.80, "{within_15:.3} of the rates lie within 15 %");
    assert!(within_30 >= 0.93, "{within_30:.3} of the rates lie within 30 %");
}

/// What is read before it can be written, at depth 1: rules alone decide it.
fn assert_pre_reads(cells: Vec<Compared>) {
    let single: Vec<Compared> = cells.into_iter().filter(|cell| cell.outstanding == 1).collect();
    let within = share(&single, |cell| {
        (cell.pre_read_mib - cell.measured_pre_read_mib).abs() <= 0.05 * cell.measured_pre_read_mib
    });
    assert!(within >= 0.95, "{within:.3} of the pre-reads lie within 5 %");
}

/// Every cell where everything is required, else a part of them: all take a minute of processor time.
#[test]
fn cells_are_as_measured() {
    if std::env::var_os("ILEAVE_REQUIRE").is_none() {
        let cells = compared(2, 14);
        assert_rates(&cells);
        return assert_pre_reads(cells);
    }
    let cells = std::thread::scope(|scope| {
        let odd = scope.spawn(|| compared(1, 2));
        let mut cells = compared(0, 2);
        cells.extend(odd.join().expect("the other half runs, too"));
        cells
    });
    assert_rates(&cells);
    assert_best_chunks(&cells);
    assert_pre_reads(cells);
}

/// The chunk that is best here is best there, or within 10 % of it: the drive model's own cells repeat no
/// better than that between schedulers.
fn assert_best_chunks(cells: &[Compared]) {
    let mut sweeps: BTreeMap<&str, BTreeMap<u64, &Compared>> = BTreeMap::new();
    for cell in cells {
        sweeps.entry(&cell.sweep).or_default().insert(cell.chunk_kib, cell);
    }
    let sweeps: Vec<_> = sweeps.into_values().filter(|chunks| chunks.len() > 1).collect();
    let best = |chunks: &BTreeMap<u64, &Compared>, rate: fn(&Compared) -> f64| {
        chunks
            .values()
            .copied()
            .max_by(|a, b| rate(a).total_cmp(&rate(b)))
            .expect("chunks")
            .chunk_kib
    };
    let right = |chunks: &&BTreeMap<u64, &Compared>| {
        let chosen = chunks[&best(chunks, |cell| cell.mb_per_s)].measured_mb_per_s;
        chosen >= 0.9 * chunks[&best(chunks, |cell| cell.measured_mb_per_s)].measured_mb_per_s
    };
    let share = sweeps.iter().filter(right).count() as f64 / sweeps.len() as f64;
    assert!(share >= 0.90, "the best chunk is right in {share:.3} of the sweeps");
}
