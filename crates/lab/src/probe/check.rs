//! Reads that nothing is fitted to: they say how well a fitted drive predicts.

use super::reader::Reader;
use crate::error::Result;
use crate::probe::Disk;
use sim::Nanos;

/// The step of reads of a unit at random places.
pub(super) const RANDOM: &str = "check: random";
/// The step of reads one after the other, at the start, in the middle and near the end.
pub(super) const SEQUENTIAL: &str = "check: sequential";
/// Where the reads in order are.
pub(super) const STARTS: [&str; 3] = ["outermost", "middle", "innermost"];
/// Random reads.
const READS: usize = 600;
/// Reads in order at each place.
const IN_ORDER: u64 = 64;
/// Sectors of each of them.
const LONG: u64 = 128;
/// Pauses before random reads go up to this, in ns.
const PAUSE_NS: Nanos = 10_000_000;

/// Does these reads.
pub(super) fn reads(reader: &mut Reader) -> Result<()> {
    reader.begin(RANDOM);
    for _ in 0..READS {
        let lba = reader.anywhere();
        let at = reader.now + reader.below(PAUSE_NS);
        reader.read_at(at, lba, reader.unit)?;
    }
    reader.begin(SEQUENTIAL);
    let whole = reader.sectors - IN_ORDER * LONG;
    for part in 0..STARTS.len() as u64 {
        let start = whole / 2 * part / LONG * LONG;
        for read in 0..IN_ORDER {
            reader.read_at(reader.now, start + read * LONG, LONG)?;
        }
    }
    Ok(())
}

/// Times in ms, of which a model says the same or not.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compared {
    pub(super) measured: Vec<f64>,
    pub(super) modelled: Vec<f64>,
}

impl Compared {
    /// `reads`, with the gaps between them, on `disk`.
    pub(super) fn of(reads: &[super::result::ReadTimed], disk: &mut dyn Disk) -> Result<Self> {
        let mut compared = Compared { measured: vec![], modelled: vec![] };
        // When the one before was done, there and here.
        let mut before: Option<(Nanos, Nanos)> = None;
        for &(lba, sectors, issued, done) in reads {
            let at = before.map_or(0, |(there, here)| here + issued.saturating_sub(there));
            let timed = disk.read(at, lba, sectors)?;
            before = Some((done, timed.done));
            compared.measured.push((done - issued) as f64 / 1e6);
            compared.modelled.push(timed.service() as f64 / 1e6);
        }
        Ok(compared)
    }

    /// Both means.
    pub(super) fn means(&self) -> [f64; 2] {
        [&self.measured, &self.modelled].map(|times| times.iter().sum::<f64>() / times.len() as f64)
    }

    /// Both values that `percent` of all times are below.
    pub(super) fn percentiles(&self, percent: f64) -> [f64; 2] {
        [&self.measured, &self.modelled].map(|times| {
            let mut sorted = times.clone();
            sorted.sort_by(f64::total_cmp);
            let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
            sorted[rank.clamp(1, sorted.len()) - 1]
        })
    }
}
