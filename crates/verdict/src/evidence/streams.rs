//! Streams side by side, a database's pages and its log, on the real kernel and ours: cells, and pairs of layouts under one load.

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

/// A line: what was measured of a stream.
#[derive(PartialEq)]
struct Line<'a> {
    /// The cell without the letter of its layout.
    load: &'a str,
    /// `all` of them together.
    stream: &'a str,
    sample: &'a str,
    level: &'a str,
    kernel: f64,
    ours: f64,
}

impl<'a> Line<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let columns: Vec<&str> = line.split(',').collect();
        let [cell, stream, level, _chunk, sample, kernel, ours] = columns[..] else { return None };
        let load = cell.get(..cell.len().checked_sub(1)?)?;
        let (kernel, ours) = (kernel.parse().ok()?, ours.parse().ok()?);
        Some(Line { load, stream, sample, level, kernel, ours })
    }

    fn is_of_the_load_of(&self, other: &Self) -> bool {
        (self.load, self.stream, self.sample) == (other.load, other.stream, other.sample)
    }
}

fn pairs(text: &str) -> Vec<Pair> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let lines: Vec<Line<'_>> =
        lines.map(|line| Line::read(line).expect("a line has seven columns")).collect();
    let mut pairs = Vec::new();
    for (place, second) in lines.iter().enumerate() {
        let pair = |factor: String, published: f64, simulated: f64| Pair {
            class: class([second.sample]).into(),
            table: TABLE.into(),
            factor,
            published,
            simulated,
        };
        pairs.push(pair(super::pair::LEVEL.into(), second.kernel, second.ours));
        for first in lines[..place].iter().filter(|first| first.is_of_the_load_of(second)) {
            let factor = latencies::factor(first.level, second.level);
            pairs.push(pair(factor, second.kernel / first.kernel, second.ours / first.ours));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_of_one_load_are_pairs_of_each_stream() {
        let text = "# about\ncell,stream,level,chunk_kib,sample,kernel,ours\n\
                    1a,all,md-raid5,64,mb_per_s,10,11\n1a,wal,md-raid5,64,commit_p99_ms,4,3\n\
                    1b,all,md-raid5,128,mb_per_s,20,33\n1b,wal,md-raid10,64,commit_p99_ms,2,3\n2a,all,md-raid5,64,mb_per_s,5,5\n";
        let all = pairs(text);
        let of = |class: &str, factor: &str| -> Vec<(f64, f64)> {
            let is = |pair: &&Pair| pair.class == class && pair.factor == factor;
            all.iter().filter(is).map(|pair| (pair.published, pair.simulated)).collect()
        };
        assert_eq!(of(RATES, "volume.interleave of md-raid5"), [(2.0, 3.0)]);
        assert_eq!(of(PERCENTILES, "volume.level"), [(0.5, 1.0)]);
        assert_eq!(of(RATES, "level"), [(10.0, 11.0), (20.0, 33.0), (5.0, 5.0)]);
        assert_eq!(all.len(), 7);
    }
}
