//! Large direct writes to md RAID 5 and 6, which `io_uring` leaves to workers, against the real kernel's.
//!
//! Measured with `ileave run --on kernel` on `md-flash` (Linux 6.1.192, 256 rows, one seed): as with the cells of
//! `md_write_path.csv`, what is left between its numbers and ours is the model of md.

use crate::md_cells::FLASH;
use block::layout::{Code, Parity, Rotation, WriteRule};
use block::{Op, Request};
use sim::ideal_flash::IdealFlashes;
use sim::linux::md::{Md, MdSpec};
use sim::linux::queue::{QueueSpec, Scheduler};
use sim::{Advance, Counters, Device, Driver, Event, Plugs};

/// What was asked, and what the kernel made of it.
struct Cell {
    code: Code,
    members: usize,
    chunk_kib: u64,
    block_kib: u64,
    depth: u64,
    count: u64,
    mb_per_s: f64,
    commands_per_request: f64,
}

/// Writes in order; gives MB/s and commands per request.
fn run(cell: &Cell) -> (f64, f64) {
    let queue = QueueSpec {
        scheduler: Scheduler::None,
        requests: 256,
        tags: 256,
        max_sectors: 2560,
        max_segments: 168,
        is_write_back: false,
    };
    // A look at the clock for each bio.
    let driver = Driver { plugs: Plugs::of_programs(), ..Driver::new(0, 16) };
    let (rotation, rule) = (Rotation::LeftSymmetric, WriteRule::FewestRequests);
    let members = vec![FLASH.sectors; cell.members];
    let layout = Parity::new(cell.code, rotation, rule, cell.chunk_kib * 2, &members).unwrap();
    let spec = MdSpec {
        stripe_cache_rows: 256,
        queue,
        is_written_back: false,
        bitmap: None,
        is_cut_at_chunks: false,
    };
    let flashes: Box<dyn Device> = Box::new(IdealFlashes::new(cell.members, FLASH));
    let md = Md::new(Box::new(layout), flashes, driver, spec).unwrap();
    let mut volume: Box<dyn Device> = md.kept_in_use().into();
    let sectors = cell.block_kib * 2;
    let (mut next, mut done, mut now, mut events) = (0, 0, 0, Vec::new());
    while done < cell.count {
        while next < cell.count && next - done < cell.depth {
            let request = Request::read(next * sectors, sectors as u32);
            volume.submit(now, next, Request { op: Op::WRITE, ..request });
            next += 1;
        }
        now = volume.next_event().expect("it owes requests");
        volume.advance(now, &mut events);
        let is_done = |event: &Event| matches!(event, Event::Done { .. });
        done += events.drain(..).filter(is_done).count() as u64;
    }
    let mut counters = Counters::default();
    volume.count(&mut counters);
    let commands: u64 = counters.targets.iter().map(|target| target.commands).sum();
    let bytes = (cell.count * sectors * 512) as f64;
    (bytes / now as f64 * 1000.0, commands as f64 / cell.count as f64)
}

/// One thread that brought one request after the other was up to 1.5 times as fast as the kernel.
#[test]
fn workers_that_sleep_for_rows_mix_the_rows_of_large_writes() {
    let cell =
        |code, members, chunk_kib, block_kib, depth, count, mb_per_s, commands_per_request| Cell {
            code,
            members,
            chunk_kib,
            block_kib,
            depth,
            count,
            mb_per_s,
            commands_per_request,
        };
    for cell in [
        cell(Code::P, 4, 1024, 3072, 8, 341, 3540.3, 19.4),
        cell(Code::P, 5, 1024, 1536, 64, 682, 3589.6, 13.1),
        cell(Code::P, 8, 1024, 4096, 16, 256, 4961.1, 27.9),
        cell(Code::P, 8, 512, 4096, 16, 256, 7028.6, 27.7),
        cell(Code::PQ, 8, 1024, 2048, 16, 512, 4151.6, 23.1),
        cell(Code::P, 5, 2048, 3072, 64, 341, 2267.8, 25.0),
    ] {
        let (mb_per_s, commands) = run(&cell);
        let Cell { members, chunk_kib, block_kib, depth, .. } = cell;
        let what = format!("{members} members, {chunk_kib} KiB, {block_kib} KiB × {depth}");
        let ratio = mb_per_s / cell.mb_per_s;
        assert!((0.95..1.05).contains(&ratio), "{what}: {mb_per_s:.0} MB/s, {ratio:.3}");
        let ratio = commands / cell.commands_per_request;
        assert!((0.75..1.12).contains(&ratio), "{what}: {commands:.1} commands, {ratio:.3}");
    }
}
