//! A write-back cache: dirty sectors, each with the writes that wait for them, and clean lines.

use crate::Tag;
use slab::Slab;
use std::collections::BTreeMap;

/// A write that is done and not yet durable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) tag: Tag,
    /// Pieces, dirty or in flight, that hold a part of it or what replaced it.
    pub(super) pieces: u32,
    /// A part of it will never be durable.
    pub(super) lost: bool,
}

/// Sectors from a first one to `end`, and the writes that are not durable before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) writes: Vec<usize>,
}

/// Sectors that are newer here than below.
#[derive(Clone, Debug, Default)]
pub(super) struct Dirty {
    /// By first sector; pieces never overlap.
    pieces: BTreeMap<u64, Piece>,
    sectors: u64,
    /// The current position of the sweep.
    position: u64,
}

impl Dirty {
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn overlaps(&self, start: u64, end: u64) -> bool {
        self.pieces.range(..end).next_back().is_some_and(|(_, piece)| piece.end > start)
    }

    /// The end of the dirty range that starts at `at`; `at` if that is not dirty.
    pub(super) fn reaches(&self, at: u64) -> u64 {
        let piece = self.pieces.range(..=at).next_back();
        piece.map_or(at, |(_, piece)| piece.end.max(at))
    }

    /// `start..end` now holds the data of `write`. The data that it replaces need not be written any
    /// more, but the writes that stored that are not durable before this one.
    pub(super) fn lay(&mut self, start: u64, end: u64, write: usize, all: &mut Slab<Written>) {
        self.split(start, all);
        self.split(end, all);
        let mut at = start;
        while at < end {
            let next = self.pieces.range(at..end).next().map_or(end, |(&next, _)| next);
            if next > at {
                self.pieces.insert(at, Piece { start: at, end: next, writes: vec![write] });
                self.sectors += next - at;
                all[write].pieces += 1;
                at = next;
            } else if let Some(piece) = self.pieces.get_mut(&at) {
                if !piece.writes.contains(&write) {
                    piece.writes.push(write);
                    all[write].pieces += 1;
                }
                at = piece.end;
            }
        }
    }

    /// Loses everything, as a power cut does.
    pub(super) fn clear(&mut self) {
        self.pieces.clear();
        self.sectors = 0;
    }

    /// Splits the piece that spans `at`.
    fn split(&mut self, at: u64, all: &mut Slab<Written>) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        if piece.end <= at {
            return;
        }
        let rest = Piece { start: at, end: piece.end, writes: piece.writes.clone() };
        piece.end = at;
        for &write in &rest.writes {
            all[write].pieces += 1;
        }
        self.pieces.insert(at, rest);
    }

    /// Takes out the next run, ascending and again from the lowest: adjacent pieces in one, at most
    /// `run_sectors` long and across no multiple of that. Skips ranges that `blocked` names.
    pub(super) fn take_run(
        &mut self,
        run_sectors: u64,
        blocked: impl Fn(u64, u64) -> bool,
        all: &mut Slab<Written>,
    ) -> Option<Vec<Piece>> {
        let free = |(_, piece): &(&u64, &Piece)| !blocked(piece.start, piece.end);
        let upwards = self.pieces.range(self.position..).find(free);
        let start = *upwards.or_else(|| self.pieces.range(..self.position).find(free))?.0;
        let limit = (start / run_sectors + 1) * run_sectors;
        self.split(limit, all);
        let mut run: Vec<Piece> = Vec::new();
        let mut at = start;
        while at < limit
            && self.pieces.get(&at).is_some_and(|piece| !blocked(piece.start, piece.end))
            && let Some(piece) = self.pieces.remove(&at)
        {
            self.sectors -= piece.end - piece.start;
            at = piece.end;
            run.push(piece);
        }
        self.position = at;
        Some(run)
    }
}

/// Sectors of a line, the unit in which clean data are kept and dropped.
pub(super) const LINE_SECTORS: u64 = 16;

/// Data that are the same here and below, in whole lines; the least recently used line is dropped
/// first.
#[derive(Clone, Debug, Default)]
pub(super) struct Clean {
    used: BTreeMap<u64, u64>,
    by_use: BTreeMap<u64, u64>,
    clock: u64,
}

impl Clean {
    /// The end of the line of `at`, if it is here; otherwise `at`.
    pub(super) fn reaches(&self, at: u64) -> u64 {
        let line = at / LINE_SECTORS;
        if self.used.contains_key(&line) { (line + 1) * LINE_SECTORS } else { at }
    }

    /// Adds, and marks as used, the lines that lie wholly in `start..end`.
    pub(super) fn keep(&mut self, start: u64, end: u64) {
        for line in start.div_ceil(LINE_SECTORS)..end / LINE_SECTORS {
            self.clock += 1;
            if let Some(before) = self.used.insert(line, self.clock) {
                self.by_use.remove(&before);
            }
            self.by_use.insert(self.clock, line);
        }
    }

    /// Marks the lines of `start..end` that are here as used.
    pub(super) fn touch(&mut self, start: u64, end: u64) {
        for line in start / LINE_SECTORS..end.div_ceil(LINE_SECTORS) {
            if self.used.contains_key(&line) {
                self.keep(line * LINE_SECTORS, (line + 1) * LINE_SECTORS);
            }
        }
    }

    /// Drops every line that overlaps `start..end`.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        for line in start / LINE_SECTORS..end.div_ceil(LINE_SECTORS) {
            if let Some(used) = self.used.remove(&line) {
                self.by_use.remove(&used);
            }
        }
    }

    /// Drops lines until they take no more than `sectors`.
    pub(super) fn shrink_to(&mut self, sectors: u64) {
        while self.used.len() as u64 * LINE_SECTORS > sectors
            && let Some((_, line)) = self.by_use.pop_first()
        {
            self.used.remove(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(count: usize) -> Slab<Written> {
        (0..count).map(|w| (w, Written { tag: w as Tag, pieces: 0, lost: false })).collect()
    }

    /// Any three writes on eight sectors: each sector is in one piece, with every write of it.
    #[test]
    fn pieces_know_every_write_of_their_sectors() {
        let ranges: Vec<(u64, u64)> =
            (0..8).flat_map(|start| (start + 1..=8).map(move |end| (start, end))).collect();
        for a in &ranges {
            for b in &ranges {
                for c in &ranges {
                    let (mut dirty, mut all) = (Dirty::default(), written(3));
                    for (write, &(start, end)) in [a, b, c].into_iter().enumerate() {
                        dirty.lay(start, end, write, &mut all);
                    }
                    let mut pieces = [0; 3];
                    for piece in dirty.pieces.values() {
                        for &write in &piece.writes {
                            pieces[write] += 1;
                        }
                    }
                    assert_eq!(pieces, [all[0].pieces, all[1].pieces, all[2].pieces]);
                    for sector in 0..8 {
                        let holds = |piece: &&Piece| (piece.start..piece.end).contains(&sector);
                        let of: Vec<&Piece> = dirty.pieces.values().filter(holds).collect();
                        let by: Vec<usize> = [a, b, c]
                            .iter()
                            .enumerate()
                            .filter(|(_, range)| (range.0..range.1).contains(&sector))
                            .map(|(write, _)| write)
                            .collect();
                        let found: Vec<usize> =
                            of.iter().flat_map(|piece| piece.writes.clone()).collect();
                        assert_eq!((of.len(), found), (usize::from(!by.is_empty()), by));
                    }
                }
            }
        }
    }

    #[test]
    fn runs_go_upwards_join_neighbours_and_end_at_their_size() {
        let (mut dirty, mut all) = (Dirty::default(), written(5));
        for (write, (start, end)) in
            [(30, 34), (4, 8), (8, 20), (34, 36), (50, 52)].into_iter().enumerate()
        {
            dirty.lay(start, end, write, &mut all);
        }
        dirty.position = 10;
        let mut runs = Vec::new();
        while let Some(run) = dirty.take_run(16, |start, _| start == 50, &mut all) {
            runs.push((run[0].start, run[run.len() - 1].end));
        }
        assert_eq!(runs, [(30, 32), (32, 36), (4, 16), (16, 20)]);
        assert_eq!((dirty.sectors(), dirty.is_empty()), (2, false));
    }

    #[test]
    fn clean_lines_go_in_the_order_of_their_use() {
        let mut clean = Clean::default();
        clean.keep(8, 64);
        assert_eq!([8, 16, 40, 64].map(|at| clean.reaches(at)), [8, 32, 48, 64]);
        clean.touch(17, 18);
        clean.shrink_to(32);
        assert_eq!([16, 32, 48].map(|at| clean.reaches(at)), [32, 32, 64]);
        clean.forget(20, 21);
        assert_eq!([16, 48].map(|at| clean.reaches(at)), [16, 64]);
    }
}
