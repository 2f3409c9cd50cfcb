//! The addresses that a vector counts in: the volume's sectors, or those of a btrfs's chunks, between which
//! there are gaps.

use super::BtrfsChunk;
use block::layout::{Layout, Rows};
use block::{Place, SECTOR_BYTES};

/// A layout, and where it is in the addresses that a vector counts in.
pub(super) struct Map<'a> {
    pub(super) layout: &'a dyn Layout,
    /// The address, the volume's sector and the length of each stretch, upwards.
    stretches: Vec<(u64, u64, u64)>,
}

impl<'a> Map<'a> {
    /// Addresses are the volume's sectors, or those of a btrfs's chunks.
    pub(super) fn new(
        layout: &'a dyn Layout,
        chunks: &[BtrfsChunk],
    ) -> std::result::Result<Self, String> {
        if chunks.is_empty() {
            return Ok(Map { layout, stretches: vec![(0, 0, layout.sectors())] });
        }
        let mut addresses: Vec<u64> =
            chunks.iter().map(|chunk| chunk.logical_bytes / SECTOR_BYTES).collect();
        addresses.sort_unstable();
        let Some(segments) = layout.segments() else {
            return Err("it is in chunks, but the map is not".into());
        };
        let segments: Vec<(u64, u64)> =
            segments.list().map(|(sector, sectors, _)| (sector, sectors)).collect();
        if segments.len() < addresses.len() {
            return Err(format!("it has {} chunks, the map {}", addresses.len(), segments.len()));
        }
        let stretch = |(address, (sector, sectors)): (u64, (u64, u64))| (address, sector, sectors);
        let stretches = addresses.into_iter().zip(segments).map(stretch).collect();
        Ok(Map { layout, stretches })
    }

    /// Where an address is, sorted; nowhere is empty.
    pub(super) fn places(&self, address: u64) -> Vec<Place> {
        let next = self.stretches.partition_point(|&(start, ..)| start <= address);
        let stretch = self.stretches[..next].last();
        let stretch = stretch.filter(|(start, _, sectors)| address - start < *sectors);
        let mut places = Vec::new();
        if let Some((start, sector, _)) = stretch {
            self.layout.places(sector + (address - start), &mut places);
        }
        places.sort_unstable();
        places
    }

    /// The rows of each stretch, and the address of the first.
    pub(super) fn all_rows(&self) -> impl Iterator<Item = (Rows<'a>, u64)> {
        let rows = |&(address, sector, _): &(u64, u64, u64)| {
            self.layout.rows_at(sector).map(|rows| (rows, address))
        };
        self.stretches.iter().filter_map(rows)
    }

    /// Where P and Q of a row are, which is counted in a chunk where there are some.
    pub(super) fn row_places(&self, chunk_bytes: Option<u64>, row: u64) -> Vec<Place> {
        let address = chunk_bytes.map(|bytes| bytes / SECTOR_BYTES);
        let found =
            self.all_rows().find(|(_, start)| address.is_none_or(|address| address == *start));
        found.map_or_else(Vec::new, |(of, _)| self.parity_of(&of, row))
    }

    pub(super) fn parity_of(&self, of: &Rows, row: u64) -> Vec<Place> {
        // Past the last row the numbers mean nothing, and need not even fit.
        let is_row = row < of.parity.rows();
        let parity = if is_row { self.layout.row_parity(of.first_row + row) } else { None };
        parity.into_iter().flat_map(|(p, q)| [Some(p), q]).flatten().collect()
    }
}
