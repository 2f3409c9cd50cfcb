//! Which 4 KiB of the array are in which row.

use crate::linux::queue::PAGE_SECTORS;
use block::Divisor;

/// The rows of the stripe cache, numbered from the first 4 KiB of each member on: a chunk row has as many as a chunk has
/// pages, and each holds a page of every chunk.
///
/// ```text
/// chunks of 16 KiB, three of data       the first sector of each page
/// row 0 … 3    chunk row 0              0 8 16 24    32 40 48 56    64 72 80 88
/// row 4 … 7    chunk row 1              96 …         128 …          160 …
/// sector 44    row 1, unit 1
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    chunk_sectors: Divisor,
    data: Divisor,
}

impl Rows {
    /// Chunks of so many sectors, a multiple of a page, and so many units of data in a row.
    pub(super) fn new(chunk_sectors: u64, data: u32) -> Self {
        let (chunk_sectors, data) = (Divisor::new(chunk_sectors), Divisor::new(data.into()));
        Rows { chunk_sectors, data }
    }

    pub(super) fn chunk_sectors(&self) -> u64 {
        self.chunk_sectors.get()
    }

    /// How many rows a chunk row has.
    pub(super) fn in_chunk(&self) -> u64 {
        self.chunk_sectors() / u64::from(PAGE_SECTORS)
    }

    /// The number of the row of `sector`, and its unit in it.
    pub(super) fn of(&self, sector: u64) -> (u64, u64) {
        let (chunk, within) = self.chunk_sectors.divide(sector);
        let (chunk_row, unit) = self.data.divide(chunk);
        (chunk_row * self.in_chunk() + within / u64::from(PAGE_SECTORS), unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_as_told() {
        let rows = Rows::new(32, 3);
        assert_eq!(rows.of(44), (1, 1));
        assert_eq!([rows.of(0), rows.of(88), rows.of(96)], [(0, 0), (3, 2), (4, 0)]);
    }

    #[test]
    fn every_page_has_a_place_of_its_own() {
        for (chunk_pages, data) in (1..5).flat_map(|pages| (1..5).map(move |data| (pages, data))) {
            let rows = Rows::new(chunk_pages * u64::from(PAGE_SECTORS), data);
            let pages = 3 * chunk_pages * u64::from(data);
            let mut places: Vec<_> =
                (0..pages).map(|page| rows.of(page * u64::from(PAGE_SECTORS))).collect();
            places.sort_unstable();
            let all = (0..3 * rows.in_chunk())
                .flat_map(|row| (0..u64::from(data)).map(move |unit| (row, unit)));
            assert_eq!(places, all.collect::<Vec<_>>());
        }
    }
}
