//! What long reads say of a flash drive: of its controller where nothing else is known, and of how many units it has.

use super::{BASE_BYTES, Cell, DATA_SHEET, Fitting, Interface, Source, round};

/// The long reads of a data sheet that says nothing of small ones.
pub(super) fn only_long(used: &[Cell]) -> Option<&Cell> {
    let mut reads = used.iter().filter(|cell| !cell.writes && cell.mix.is_none());
    let first = reads.next()?;
    let is_only = first.bytes > BASE_BYTES && first.engine == DATA_SHEET;
    (is_only && reads.next().is_none()).then_some(first)
}

/// Figures of reads where long ones are all that is known: what a command takes is of drives in general, what is left of
/// the time is its pages'. Taken as one page, it left 38,000 small reads a second to a drive of 5000 MB/s.
pub(super) fn long_reads(long: &Cell, interface: Interface, fitting: &mut Fitting) {
    let whole_us = 1e6 / long.iops;
    let (command_us, guess) = interface.read_command_us();
    let command_us = command_us.parse().unwrap_or(whole_us).min(whole_us / 2.0);
    let further = f64::from(long.bytes.div_ceil(BASE_BYTES) - 1);
    fitting.add("read_command_us", round(command_us), Source::Estimate, guess);
    let page_us = round((whole_us - command_us) / further);
    fitting.add("read_page_us", page_us, Source::Cell, &long.to_string());
    fitting.miss("time of a read alone: no cell of depth 1");
    fitting.add("read_alone_us", "[[4096, 80]]", Source::Estimate, "of TLC flash");
}

/// More units than this are not assumed: 32 long reads are a thousand pages, and over more units some stand idle while others
/// have several to read.
const UNITS_MAX: f64 = 128.0;

/// Units that read all pages of the fastest reads, and 30 % more; each takes two thirds of a read alone, or less where
/// there would be too many.
///
/// 7000 MB/s are 1.7 million pages a second, whatever a million small reads need: at 39 us 87 units, not 51.
pub(super) fn enough_units(reads: &[&Cell], alone_us: f64) -> (f64, u32) {
    let pages = reads.iter().map(|cell| cell.iops * f64::from(cell.bytes.div_ceil(BASE_BYTES)));
    let pages_per_us = 1.3 * pages.fold(0.0, f64::max) / 1e6;
    let unit_us = 0.65 * alone_us;
    let units = (pages_per_us * unit_us).ceil().clamp(8.0, UNITS_MAX);
    (unit_us.min(units / pages_per_us), units as u32)
}
