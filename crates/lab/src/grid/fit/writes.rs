//! The figures of a flash drive's writes: controller, buffer, flash, and what garbage collection costs.

use super::{
    BASE_BYTES, Cell, Fitting, Given, Interface, Source, base_of, ends, has_many_reads, is,
    long_read_mb, round, sizes_alone, table_text,
};
use crate::catalogue;
use block::SECTOR_BYTES;

/// Random writes for each random read, the most of both that a drive makes: the median of the 35 drives of
/// iocost-benchmarks (`drives/iocost-*.toml`), which lie between 0.023 and 0.94.
const WRITES_PER_READ: f64 = 0.13;
/// Bytes written in order for each read in order, likewise: the median, of 0.088 to 1.8.
const WRITTEN_PER_BYTE_READ: f64 = 0.48;

/// The most that a drive file takes as `write_amplification`.
const AMPLIFICATION_MAX: f64 = 100.0;

/// What flash takes, without garbage collection.
#[derive(Clone, Copy)]
struct Flash {
    drain_mb_per_s: f64,
    /// The least time of a random write.
    random_us: f64,
}

pub(super) fn writes(
    used: &[Cell],
    (host_us, interface): (f64, Interface),
    given: &Given,
    fitting: &mut Fitting,
) {
    let is_protected = given.power_loss_protection;
    fitting.add("power_loss_protection", is_protected, Source::Estimate, "as given");
    let capacity = fitting.sectors() * SECTOR_BYTES;
    let in_place = catalogue::writes_in_place(given.name.as_deref().unwrap_or_default());
    let (reserve, from) = if in_place { (0, IN_PLACE) } else { reserve(capacity, is_protected) };
    fitting.add("reserve", reserve, Source::Estimate, from);
    let sizes = sizes_alone(used, true, host_us);
    programs(in_place, &sizes, fitting);
    let most = base_of(used, true).and_then(|base| ends(used, true, base).1);
    let most = most.filter(|most| says_most(most));
    let flash = match most {
        Some(most) => of_cells(used, most, &sizes, given, fitting),
        None => of_sheet(used, &sizes, interface, given, fitting),
    };
    if sizes.is_empty() {
        fitting.miss("time of a write alone: no cell of depth 1");
        let table = table_text(&[(BASE_BYTES, WRITE_ALONE_US)]);
        fitting.add("write_alone_us", table, Source::Estimate, "of drives in general");
    } else {
        fitting.add("write_alone_us", table_text(&sizes), Source::Cell, "cells of depth 1");
    }
    buffer(most, flash, fitting);
    if in_place {
        fitting.add("write_amplification", 1, Source::Estimate, IN_PLACE);
    } else {
        garbage(flash, reserve as f64 / capacity.max(1) as f64, given, fitting);
    }
}

/// Why there is no garbage collection.
const IN_PLACE: &str = "3D XPoint writes in place";

/// How long a program takes, and a read may wait for one. What writes in place takes as long for one as for a write alone, and
/// nothing is known of reads that wait.
fn programs(in_place: bool, sizes: &[(u32, f64)], fitting: &mut Fitting) {
    if in_place {
        let alone_us = sizes.first().map_or(WRITE_ALONE_US, |&(_, us)| us);
        fitting.add("program_us", alone_us, Source::Estimate, "3D XPoint: as a write alone");
        fitting.add("program_wait_us", 0, Source::Estimate, IN_PLACE);
        return;
    }
    fitting.add("program_us", 800, Source::Estimate, "of TLC flash");
    fitting.add("program_wait_us", 200, Source::Estimate, "of TLC flash with suspended programs");
}

/// A write of 4 KiB alone, of drives in general, in us.
const WRITE_ALONE_US: f64 = 15.0;

/// Whether a cell says how many small writes a drive makes at most. One write at a time says nothing of that, nor do
/// long ones: a file of a sheet's 4000 MB/s alone made 38,000 small writes a second.
fn says_most(cell: &Cell) -> bool {
    cell.is_measured() || (cell.bytes <= BASE_BYTES && cell.in_flight() > 1)
}

/// Flash beyond the capacity, in bytes. What is sold with power-loss protection says itself how much it keeps back: its
/// flash is a power of two of GiB, and 4096 GiB for 3840 GB are 14.5 % more, for 3200 GB 37 %. A capacity that leaves next
/// to nothing of that has more flash; one that leaves most of it, as 1200 GB of 2048 GiB, has less.
fn reserve(capacity: u64, is_protected: bool) -> (u64, &'static str) {
    const GIB: u64 = 1 << 30;
    let usual = (capacity / 100 * 7, "7 %");
    if !is_protected {
        return usual;
    }
    let rest = capacity.div_ceil(GIB).next_power_of_two() * GIB - capacity;
    match 100.0 * rest as f64 / capacity.max(1) as f64 {
        ..5.0 => usual,
        ..=40.0 => (rest, "flash of a power of two of GiB"),
        _ => (capacity / 100 * 40, "40 %, the most that drives are sold with"),
    }
}

/// What the controller takes for a write, and where that is from. Of a drive that writes once in `least_us` at most it is four
/// fifths of that, but no longer than a write of `bytes` alone was measured to take: what goes beyond is the wait for flash.
///
/// An MX200 wrote 6858 times a second at most, once in 146 us, and one write alone took 44 us as a rule: 117 us for the
/// controller left so little for flash that the model had none of the measured stalls of 5 ms.
fn write_command(least_us: f64, alone_us: Option<f64>) -> (f64, &'static str) {
    let most_us = 0.8 * least_us;
    match alone_us {
        Some(alone_us) if alone_us < most_us => {
            (alone_us, "as long as a write alone: what the most writes a second leave is flash")
        }
        _ => {
            (most_us, "four fifths of the time at the most writes a second: what is left is flash")
        }
    }
}

/// What a write of the size of `most` takes alone, without the link where a sheet says it: at 15 us on SATA 7 are the link's.
/// Measured drives were fitted with it.
fn in_controller_us(most: &Cell, alone_us: Option<f64>, fitting: &Fitting) -> Option<f64> {
    let link_mb = fitting.value("write_mb_per_s").and_then(|text| text.parse::<f64>().ok());
    let link_us =
        link_mb.filter(|_| !most.is_measured()).map_or(0.0, |mb| f64::from(most.bytes) / mb);
    alone_us.map(|alone_us| (alone_us - link_us).max(0.1))
}

/// The cell of long writes, of one size above that of `most`; `most` itself where it moves more. A data sheet's rate of long
/// writes is the most of all: where small ones at its rate would move more, the sheet promises too many.
fn long_of<'a>(used: &'a [Cell], most: &'a Cell) -> &'a Cell {
    let long = used.iter().filter(|cell| cell.writes && cell.mix.is_none());
    let long = long.filter(|cell| cell.bytes > most.bytes);
    let long = long.max_by(|a, b| a.bytes_per_s().total_cmp(&b.bytes_per_s()));
    let lasts = |long: &&Cell| !most.is_measured() || long.bytes_per_s() >= most.bytes_per_s();
    long.filter(lasts).unwrap_or(most)
}

/// Of a cell that says the most small writes, and of what else there is.
fn of_cells(
    used: &[Cell],
    most: &Cell,
    sizes: &[(u32, f64)],
    given: &Given,
    fitting: &mut Fitting,
) -> Flash {
    let long = long_of(used, most);
    let drain_mb_per_s = long.bytes_per_s() / 1e6;
    fitting.add("drain_mb_per_s", round(drain_mb_per_s), Source::Cell, &long.to_string());
    if long.bytes == most.bytes {
        fitting.miss("rate of long writes: no cell of a larger size is faster");
    }
    let least_us = 1e6 / most.iops;
    let alone = sizes.iter().find(|&&(of, _)| of == most.bytes);
    let alone_us = alone.map(|&(_, alone_us)| alone_us);
    // Before garbage collection begins the controller is the limit, then the bytes that flash copies: the model adds the
    // least time of a random write to those, and large ones would be as many as small ones.
    let is_controllers = given.steady_write_iops.is_some()
        && !most.is_measured()
        && alone_us.is_none_or(|alone_us| alone_us >= least_us);
    let scattered = used.iter().filter(|cell| is(cell, true, most.bytes) && cell.random);
    let scattered = scattered.max_by_key(|cell| cell.in_flight());
    let scattered = scattered.filter(|_| long.bytes != most.bytes && !is_controllers);
    let mut random_us = 0.0;
    if let Some(cell) = scattered {
        random_us = 1e6 / cell.iops;
        fitting.add("random_write_us", round(random_us), Source::Cell, &cell.to_string());
    }
    if is_controllers {
        fitting.add("write_command_us", round(least_us), Source::Cell, &most.to_string());
    } else {
        let (command_us, from) = write_command(least_us, in_controller_us(most, alone_us, fitting));
        fitting.add("write_command_us", round(command_us), Source::Estimate, from);
    }
    let part = used.iter().find(|cell| {
        cell.writes && cell.bytes < BASE_BYTES && cell.jobs == 1 && cell.in_flight() > 1
    });
    if let Some(cell) = part {
        let moved_us = f64::from(cell.bytes) / drain_mb_per_s;
        let more_us = (1e6 / cell.iops - moved_us).max(0.0);
        fitting.add("partial_write_us", round(more_us), Source::Cell, &cell.to_string());
    }
    Flash { drain_mb_per_s, random_us }
}

/// Of what a data sheet says without the most small writes of a drive that has erased blocks, or of nothing but reads.
fn of_sheet(
    used: &[Cell],
    sizes: &[(u32, f64)],
    interface: Interface,
    given: &Given,
    fitting: &mut Fitting,
) -> Flash {
    let is_busy = has_many_reads(used);
    let number = |key| fitting.value(key).and_then(|text| text.parse::<f64>().ok());
    // One read at a time says nothing of how many the drive could do.
    let typical = || interface.read_command_us().0.parse().ok();
    let read_us = number("read_command_us").filter(|_| is_busy).or_else(typical);
    let read_us = read_us.expect("there are figures of typical drives");
    let read_mb = long_read_mb(used).or_else(|| number("read_mb_per_s")).unwrap_or(560.0);
    let of_reads = if is_busy {
        "no cell of such writes; from its reads, as 35 measured drives have it in the median"
    } else {
        "no cell of such writes; from the reads of a typical drive, likewise"
    };
    let steady = given.steady_write_iops;
    let long = used.iter().filter(|cell| cell.writes && cell.bytes > BASE_BYTES);
    let long = long.max_by(|a, b| a.bytes_per_s().total_cmp(&b.bytes_per_s()));
    let drain_mb_per_s = if let Some(long) = long {
        fitting.add(
            "drain_mb_per_s",
            round(long.bytes_per_s() / 1e6),
            Source::Cell,
            &long.to_string(),
        );
        long.bytes_per_s() / 1e6
    } else {
        fitting.miss(if steady.is_some() {
            "rate of long writes: no cell"
        } else if sizes.is_empty() {
            "writes: no cell"
        } else {
            "writes: no cell but of one at a time"
        });
        let lasting_mb = steady.map_or(0.0, |iops| iops * f64::from(BASE_BYTES) / 1e6);
        let drain_mb = (read_mb * WRITTEN_PER_BYTE_READ).max(lasting_mb).round();
        fitting.add("drain_mb_per_s", drain_mb, Source::Estimate, of_reads);
        drain_mb
    };
    if let Some(steady) = steady {
        fitting.miss("random writes while there are erased blocks: the sheet says those that last");
        let command_us = read_us.min(0.8e6 / steady);
        let from = "as a read, and at most four fifths of the time at the writes that last";
        fitting.add("write_command_us", round(command_us), Source::Estimate, from);
        return Flash { drain_mb_per_s, random_us: 0.0 };
    }
    if long.is_some() {
        fitting.miss("random writes: no cell of several in flight");
    }
    let alone_us = sizes.iter().find(|&&(bytes, _)| bytes == BASE_BYTES).map(|&(_, us)| us);
    // As many as one after the other it writes in any case.
    let random_us = (read_us / WRITES_PER_READ).min(alone_us.unwrap_or(f64::MAX));
    fitting.add("random_write_us", round(random_us), Source::Estimate, of_reads);
    fitting.add("write_command_us", round(0.8 * random_us), Source::Estimate, of_reads);
    Flash { drain_mb_per_s, random_us }
}

/// What leaves the buffer at a time, and the buffer.
fn buffer(most: Option<&Cell>, flash: Flash, fitting: &mut Fitting) {
    let burst = most.and_then(|most| Some((most, most.p99_us? - most.p50_us?)));
    let bytes = burst.map_or(1_048_576.0, |(_, us)| us.max(0.0) * flash.drain_mb_per_s);
    let stripe = bytes.clamp(16_384.0, 16_777_216.0) as u64 / 4096 * 4096;
    let (source, from) = match burst {
        Some((most, _)) => {
            (Source::Cell, format!("{most}; from its median to its 99th percentile"))
        }
        None if most.is_some_and(|most| most.p99_us.is_some()) => {
            (Source::Estimate, "no median in the cells".into())
        }
        None => (Source::Estimate, "no percentiles in the cells".into()),
    };
    fitting.add("stripe", stripe, source, &from);
    let (stripes, from) = if most.is_some() { (2, "two stripes") } else { (4, "four stripes") };
    fitting.add("write_buffer", stripes * stripe, Source::Estimate, from);
}

/// What flash writes for a byte once no block is erased, so that a sheet's steady writes are met: 180,000 writes of 4 KiB
/// are 737 MB/s, and of flash that takes 4000 MB/s they need 5.4 times their bytes, whatever their size.
fn garbage(flash: Flash, reserve: f64, given: &Given, fitting: &mut Fitting) {
    let Some(steady) = given.steady_write_iops else {
        fitting.miss("garbage collection: no cell of writes beyond the capacity");
        // Of writes at random, and blocks taken by what is valid in them (docs/flash.md).
        let of_reserve = (1.0 + reserve) / (2.0 * reserve);
        let amplification = if given.power_loss_protection { of_reserve } else { 4.0 };
        let amplification = round(amplification.clamp(1.0, 20.0));
        fitting.add("write_amplification", amplification, Source::Estimate, "of such a reserve");
        return;
    };
    let moved_us = f64::from(BASE_BYTES) / flash.drain_mb_per_s;
    let copies_us = 1e6 / steady - moved_us.max(flash.random_us);
    let wanted = 1.0 + copies_us / moved_us;
    let amplification = round(wanted.clamp(1.0, AMPLIFICATION_MAX));
    let from = format!("{steady:.0} steady writes of 4 KiB a second");
    // Half a percent more writes than bytes of long ones are rounding of the sheet's.
    if (0.995..=AMPLIFICATION_MAX).contains(&wanted) {
        fitting.add("write_amplification", amplification, Source::Sheet, &from);
    } else {
        let from = format!("nearest to {from}, which need {}", round(wanted));
        fitting.add("write_amplification", amplification, Source::Estimate, &from);
    }
}
