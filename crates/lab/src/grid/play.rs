//! A cell on a modelled drive: processes that keep requests in flight, each on a processor of its own.

use super::Cell;
use super::fit::DATA_SHEET;
use crate::error::{Error, Result};
use block::{Op, Request, SECTOR_BYTES};
use hdrhistogram::Histogram;
use sim::flash::FlashSpec;
use sim::{Advance, Device, Event, Flash, Nanos, Rack};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a modelled drive does in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modelled {
    /// Requests a second.
    pub iops: f64,
    /// Mean latency, in us.
    pub mean_us: f64,
    /// The 99th percentile of latency, in us.
    pub p99_us: f64,
}

/// Requests that are measured: at least so many, and so many for each in flight.
const REQUESTS: u64 = 6000;
const PER_SLOT: u64 = 16;
/// A run ends here: a drive may be slow.
const LONGEST_NS: Nanos = 60_000_000_000;

/// The processor time of the host for each request, in ns, by fio's engine. Sources: 4 KiB reads of one core, an
/// Optane and eight 980 PROs (stonet-research: CHEOPS'23 artifact@6add9ec, ICPE'24 artifact@013f1e1).
pub(super) fn engine_ns(engine: &str) -> Nanos {
    match engine {
        "spdk" => 750,
        "io_uring" | "iou" => 2620,
        DATA_SHEET => 0,
        _ => 3410,
    }
}

/// A process: what it still has to do on its processor.
struct Process {
    free_at: Nanos,
    /// Where it goes next, for requests one after the other.
    next_sector: u64,
}

/// A request that a process keeps in flight, again and again.
#[derive(Clone, Copy)]
struct Slot {
    process: u32,
    started: Nanos,
    writes: bool,
}

struct Play<'a> {
    cell: &'a Cell,
    device: Box<dyn Device>,
    sectors: u64,
    host_ns: Nanos,
    processes: Vec<Process>,
    slots: Vec<Slot>,
    starts: BinaryHeap<Reverse<(Nanos, u32)>>,
    random: u64,
}

/// Plays `cell` to a drive as in `spec`; the host takes `host_ns` for each request.
///
/// # Errors
///
/// Where the drive is smaller than what is in flight.
pub fn play(spec: &FlashSpec, cell: &Cell, host_ns: Nanos) -> Result<Modelled> {
    let drive = Flash::new(spec).map_err(Error::input)?;
    let device: Box<dyn Device> = if cell.drives == 1 {
        Box::new(drive)
    } else {
        let drives = (0..cell.drives).map(|_| Box::new(drive.clone()) as Box<dyn Device>);
        Box::new(Rack::new(drives.collect()))
    };
    let block = u64::from(cell.bytes).div_ceil(SECTOR_BYTES);
    if spec.sectors < block * u64::from(cell.in_flight()) {
        return Err(Error::input(format!("{cell}: the drive is smaller than what is in flight")));
    }
    let region = spec.sectors / u64::from(cell.jobs);
    let processes = (0..u64::from(cell.jobs))
        .map(|job| Process { free_at: 0, next_sector: job * region / block * block });
    let slots = (0..cell.in_flight()).map(|slot| Slot {
        process: slot % cell.jobs,
        started: 0,
        writes: cell.writes,
    });
    let mut play = Play {
        cell,
        device,
        sectors: spec.sectors,
        host_ns,
        processes: processes.collect(),
        slots: slots.collect(),
        starts: BinaryHeap::new(),
        random: 0x5eed,
    };
    if cell.writes && cell.is_sheet_latency() {
        // A sheet's latency is that of a buffer with room: half of it is filled.
        let room = spec.buffer_bytes / 2 / u64::from(cell.bytes);
        return Ok(play.run(0, room.clamp(1, REQUESTS)));
    }
    // Writes are measured when the buffer is full.
    let buffered = if cell.writes || cell.mix.is_some() {
        4 * spec.buffer_bytes * u64::from(cell.drives) / u64::from(cell.bytes)
    } else {
        0
    };
    let slots = u64::from(cell.in_flight());
    Ok(play.run(2 * slots + buffered, REQUESTS.max(PER_SLOT * slots) + buffered))
}

impl Play<'_> {
    fn run(&mut self, warm_up: u64, count: u64) -> Modelled {
        for slot in 0..self.slots.len() as u32 {
            self.again(0, slot);
        }
        let mut histogram = Histogram::<u64>::new(3).expect("three digits are within its range");
        let (mut finished, mut measured, mut from, mut sum_ns) = (0_u64, 0_u64, 0, 0_u128);
        let (mut now, mut events) = (0, Vec::new());
        while finished < warm_up + count && now < LONGEST_NS {
            let start = self.starts.peek().map(|&Reverse((at, _))| at);
            let next = [start, self.device.next_event()].into_iter().flatten().min();
            now = next.expect("something is in flight");
            self.device.advance(now, &mut events);
            for event in events.drain(..) {
                let Event::Done { tag, at, .. } = event else { continue };
                let Slot { started, writes, .. } = self.slots[tag as usize];
                let reaped = self.again(at, tag as u32);
                finished += 1;
                if finished == warm_up {
                    from = at;
                } else if finished > warm_up && writes == self.cell.writes {
                    measured += 1;
                    sum_ns += u128::from(reaped - started);
                    histogram.record(reaped - started).expect("the histogram grows as needed");
                }
            }
            while let Some(&Reverse((at, slot))) = self.starts.peek()
                && at <= now
            {
                self.starts.pop();
                self.submit(at, slot);
            }
        }
        let elapsed_s = now.saturating_sub(from).max(1) as f64 / 1e9;
        Modelled {
            iops: measured as f64 / elapsed_s,
            mean_us: sum_ns as f64 / measured.max(1) as f64 / 1e3,
            p99_us: histogram.value_at_quantile(0.99) as f64 / 1e3,
        }
    }

    /// The process reaps `slot` and starts it again; returns when it has reaped it.
    fn again(&mut self, now: Nanos, slot: u32) -> Nanos {
        let process = &mut self.processes[self.slots[slot as usize].process as usize];
        let reaped = process.free_at.max(now);
        process.free_at = reaped + self.host_ns;
        self.starts.push(Reverse((process.free_at, slot)));
        reaped
    }

    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    fn submit(&mut self, now: Nanos, slot: u32) {
        let block = u64::from(self.cell.bytes).div_ceil(SECTOR_BYTES);
        let writes = match self.cell.mix {
            None => self.cell.writes,
            Some(percent) => self.next_random() % 100 >= u64::from(percent),
        };
        let sector = if self.cell.random {
            self.next_random() % (self.sectors / block) * block
        } else {
            let process = &mut self.processes[self.slots[slot as usize].process as usize];
            let sector = process.next_sector;
            process.next_sector =
                if sector + 2 * block > self.sectors { 0 } else { sector + block };
            sector
        };
        let slot_state = &mut self.slots[slot as usize];
        (slot_state.started, slot_state.writes) = (now, writes);
        let op = if writes { Op::WRITE } else { Op::Read };
        let request =
            Request { target: slot % self.cell.drives, op, sector, sectors: block as u32 };
        self.device.submit(now, slot.into(), request);
    }
}
