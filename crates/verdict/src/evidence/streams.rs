//! Streams side by side, a database's pages and its log, on the real kernel and ours: cells, and pairs of layouts under
//! one load.

use super::loads::{self, Cell};
use super::pair::Devices;
use super::{Pair, latencies};

/// What they are called among the tables.
pub(super) const TABLE: &str = "md-streams";

/// What is measured of every stream, and of whole cells where none comes by the clock; a test of `lab` writes it, and holds the
/// model to it.
const FILE: &str = include_str!("../../data/md_streams.csv");

/// The classes: of rates, of mean times, and of percentiles.
pub(super) const RATES: &str = "streams:rate";
pub(super) const MEANS: &str = "streams:mean";
pub(super) const PERCENTILES: &str = "streams:p99";
/// Of what nothing tests: percentiles beyond these, or other streams.
pub(super) const OTHER: &str = "streams:other";

/// The largest pages of the cells, and the largest appends to their logs.
pub(super) const PAGE_BYTES_MAX: u64 = 16 << 10;
pub(super) const APPEND_BYTES_MAX: u64 = 64 << 10;

/// The most pages that a closed loop of theirs has in flight.
pub(super) const IN_FLIGHT_MAX: u64 = 32;

/// Every cell as a level, and every two cells of one load as a pair.
pub(super) fn all() -> Vec<Pair> {
    pairs(FILE)
}

/// The class of what these samples are. Rates were measured of all streams together.
pub(super) fn class<'a>(samples: impl IntoIterator<Item = &'a str>) -> &'static str {
    let samples: Vec<&str> = samples.into_iter().collect();
    let are_of_all =
        || samples.iter().all(|sample| ["mb_per_s", "requests_per_s"].contains(sample));
    match latencies::class(samples.iter().copied()) {
        None if are_of_all() => RATES,
        Some(latencies::MEANS) => MEANS,
        Some(latencies::PERCENTILES) => PERCENTILES,
        _ => OTHER,
    }
}

/// A line as a cell. Its load is the cell's without the letter of its layout, the stream, `all` of them together, and what was
/// measured.
fn read(line: &str) -> Option<Cell<'_, [&str; 3]>> {
    let columns: Vec<&str> = line.split(',').collect();
    let [cell, devices, stream, level, _chunk, sample, kernel, ours] = columns[..] else {
        return None;
    };
    Some(Cell {
        load: [cell.get(..cell.len().checked_sub(1)?)?, stream, sample],
        class: class([sample]),
        devices: Devices::parse(devices)?,
        level,
        kernel: kernel.parse().ok()?,
        ours: ours.parse().ok()?,
    })
}

fn pairs(text: &str) -> Vec<Pair> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let cells = lines.map(|line| read(line).expect("a line has eight columns"));
    loads::pairs(TABLE, &cells.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_of_one_load_are_pairs_of_each_stream() {
        let text = "# about\ncell,devices,stream,level,chunk_kib,sample,kernel,ours\n\
                    1a,disks,all,md-raid5,64,mb_per_s,10,11\n1a,disks,wal,md-raid5,64,commit_p99_ms,4,3\n\
                    1b,disks,all,md-raid5,128,mb_per_s,20,33\n1b,disks,wal,md-raid10,64,commit_p99_ms,2,3\n\
                    2a,flash,all,md-raid5,64,mb_per_s,5,5\n";
        let all = pairs(text);
        let of = |class: &str, factor: &str| -> Vec<(f64, f64)> {
            let is = |pair: &&Pair| pair.class == class && pair.factor == factor;
            all.iter().filter(is).map(|pair| (pair.published, pair.simulated)).collect()
        };
        assert_eq!(of(RATES, "volume.interleave of md-raid5"), [(2.0, 3.0)]);
        assert_eq!(of(PERCENTILES, "volume.level"), [(0.5, 1.0)]);
        assert_eq!(of(RATES, "level"), [(10.0, 11.0), (20.0, 33.0), (5.0, 5.0)]);
        assert_eq!(all.len(), 7);
        assert_eq!(all.iter().filter(|pair| pair.devices == Devices::Flash).count(), 1);
    }
}
