//! Which writes follow each other closely enough to go straight to their bands.

use std::collections::VecDeque;

/// How many ends of writes are remembered, to see what continues them.
const TAILS: usize = 32;

/// How far from the end of a stream a write may be and still belong to it: the drive's buffer puts them in order.
const NEAR_SECTORS: u64 = 4096;

fn is_near(next: u64, start: u64) -> bool {
    next.abs_diff(start) <= NEAR_SECTORS
}

/// Sequential writes so far, and the bands that they have open.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    band_sectors: u64,
    /// After how many sectors in a row a stream goes to its bands.
    least_sectors: u64,
    open_max: usize,
    /// Runs that are not streams yet, the newest last.
    tails: VecDeque<Run>,
    /// The next sector of each stream; the one that wrote last is last.
    open: Vec<u64>,
}

/// Writes near each other.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    next: u64,
    /// Sectors written, those twice that were written twice.
    written: u64,
}

impl Run {
    fn with(self, start: u64, end: u64) -> Run {
        Run {
            first: self.first.min(start),
            next: self.next.max(end),
            written: self.written + (end - start),
        }
    }

    /// How many sectors in a row it has, when all of it is written.
    fn length(&self) -> u64 {
        self.written.min(self.next - self.first)
    }
}

/// A part of a write, within one band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its first sector. For a new stream it is that of the band: what came before is written again.
    pub(super) start: u64,
    /// The sector after its last.
    pub(super) end: u64,
    /// Whether it goes to its band, and not to the media cache.
    pub(super) is_direct: bool,
}

impl Streams {
    pub(super) fn new(band_sectors: u64, least_sectors: u64, open_max: usize) -> Self {
        let (tails, open) = (VecDeque::new(), Vec::new());
        Streams { band_sectors, least_sectors, open_max, tails, open }
    }

    /// How `start..end` is written while `busy` is the band that is being rewritten.
    pub(super) fn route(&self, start: u64, end: u64, busy: Option<u64>) -> Vec<Piece> {
        let mut is_open = self.open.iter().any(|&next| is_near(next, start));
        let tail = self.tails.iter().rfind(|run| is_near(run.next, start)).copied();
        let run = tail.unwrap_or(Run { first: start, next: start, written: 0 });
        let mut pieces = Vec::new();
        let mut at = start;
        while at < end {
            let band = at / self.band_sectors;
            let band_start = band * self.band_sectors;
            let to = end.min(band_start + self.band_sectors);
            let begun = run.with(start, to);
            let opens = begun.first <= band_start && begun.length() >= self.least_sectors;
            let is_whole = to - at == self.band_sectors;
            let is_free = busy != Some(band);
            let is_direct = is_free && (is_open || is_whole || (opens && self.open_max > 0));
            let from = if is_direct && !is_open { band_start } else { at };
            pieces.push(Piece { start: from, end: to, is_direct });
            is_open = is_direct && self.open_max > 0;
            at = to;
        }
        pieces
    }

    /// `start..end` is written as `pieces` say. Returns the rest of a band that a stream left before its
    /// end, for which another one has no room any more.
    pub(super) fn wrote(&mut self, start: u64, end: u64, pieces: &[Piece]) -> Option<(u64, u64)> {
        let goes_on = self.open.iter().position(|&next| is_near(next, start));
        let left = goes_on.map(|index| self.open.remove(index));
        if self.open_max > 0 && pieces.last().is_some_and(|piece| piece.is_direct) {
            let closed =
                if self.open.len() == self.open_max { Some(self.open.remove(0)) } else { None };
            self.open.push(left.map_or(end, |next| next.max(end)));
            return closed.and_then(|next| self.rest_of_band(next));
        }
        let tail = self.tails.iter().rposition(|run| is_near(run.next, start));
        let run = tail.and_then(|index| self.tails.remove(index));
        let run = run.unwrap_or(Run { first: start, next: start, written: 0 });
        self.tails.push_back(run.with(start, end));
        if self.tails.len() > TAILS {
            self.tails.pop_front();
        }
        left.and_then(|next| self.rest_of_band(next))
    }

    /// Band `band` is rewritten: no stream has it open any more.
    pub(super) fn close(&mut self, band: u64) {
        let size = self.band_sectors;
        self.open.retain(|next| next.is_multiple_of(size) || next / size != band);
    }

    /// From `next` to the end of its band; nothing where it begins there.
    fn rest_of_band(&self, next: u64) -> Option<(u64, u64)> {
        let end = next.next_multiple_of(self.band_sectors);
        (next < end).then_some((next, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAND: u64 = 100_000;

    fn streams(least_sectors: u64, open_max: usize) -> Streams {
        Streams::new(BAND, least_sectors, open_max)
    }

    fn write(streams: &mut Streams, start: u64, end: u64) -> (Vec<Piece>, Option<(u64, u64)>) {
        let pieces = streams.route(start, end, None);
        let rest = streams.wrote(start, end, &pieces);
        (pieces, rest)
    }

    fn piece(start: u64, end: u64, is_direct: bool) -> Piece {
        Piece { start, end, is_direct }
    }

    #[test]
    fn a_run_from_the_start_of_a_band_becomes_a_stream() {
        let mut of = streams(20_000, 2);
        assert_eq!(write(&mut of, 0, 10_000).0, [piece(0, 10_000, false)]);
        assert_eq!(write(&mut of, 10_000, 20_000).0, [piece(0, 20_000, true)]);
        let over = [piece(20_000, BAND, true), piece(BAND, 120_000, true)];
        assert_eq!(write(&mut of, 20_000, 120_000).0, over);
        // One that begins within a band waits for the next.
        assert_eq!(write(&mut of, 350_000, 390_000).0, [piece(350_000, 390_000, false)]);
        let over = [piece(390_000, 400_000, false), piece(400_000, 410_000, true)];
        assert_eq!(write(&mut of, 390_000, 410_000).0, over);
        assert_eq!(of.open, [120_000, 410_000]);
    }

    #[test]
    fn writes_that_are_a_little_out_of_order_are_a_stream() {
        let mut of = streams(6000, 1);
        for (start, end, is_direct) in [(2000, 4000, false), (0, 2000, false), (4000, 6000, true)] {
            assert_eq!(write(&mut of, start, end).0.last().unwrap().is_direct, is_direct);
        }
        assert_eq!(write(&mut of, 8000, 10_000).0, [piece(8000, 10_000, true)]);
        assert_eq!(write(&mut of, 6000, 8000).0, [piece(6000, 8000, true)]);
        assert_eq!(of.open, [10_000]);
        assert_eq!(write(&mut of, 20_000, 20_008).0, [piece(20_000, 20_008, false)]);
    }

    #[test]
    fn what_a_stream_leaves_is_to_be_merged_when_another_takes_its_place() {
        let mut of = streams(20_000, 1);
        assert_eq!(write(&mut of, 0, 30_000).1, None);
        assert_eq!(write(&mut of, 55_000, 60_000).1, None, "a write that is no stream");
        assert_eq!(write(&mut of, 200_000, 230_000).1, Some((30_000, BAND)));
        of.close(2);
        assert!(of.open.is_empty());
        let whole = vec![piece(300_000, 400_000, true)];
        assert_eq!(write(&mut of, 300_000, 400_000), (whole, None));
        assert_eq!(write(&mut of, 500_000, 530_000).1, None, "the other one ended with its band");
    }

    #[test]
    fn nothing_goes_to_a_band_that_is_being_rewritten() {
        let expected = [
            piece(0, BAND, true),
            piece(BAND, 2 * BAND, false),
            piece(2 * BAND, 2 * BAND + 10, true),
        ];
        assert_eq!(streams(20, 1).route(0, 2 * BAND + 10, Some(1)), expected);
        let never = streams(20, 0);
        let expected = [piece(0, BAND, true), piece(BAND, BAND + 30, false)];
        assert_eq!(never.route(0, BAND + 30, None), expected);
    }
}
