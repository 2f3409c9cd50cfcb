//! What is written in one request.

use super::{Buffer, BufferId, Cache, LARGEST_SECTORS, State};

impl Cache {
    /// Finds the contiguous dirty buffers of one file around `id`, at most `max_sectors` of them; those
    /// behind it come first. `found` is empty.
    pub(in crate::fs) fn neighbours(
        &self,
        id: BufferId,
        max_sectors: u32,
        found: &mut Vec<BufferId>,
    ) {
        let buffer = &self.buffers[id as usize];
        let belongs = |other: &Buffer| {
            matches!(other.state, State::Dirty(_))
                && other.pool == buffer.pool
                && other.owner == buffer.owner
        };
        found.push(id);
        let (mut start, mut end) = (buffer.extent.sector, buffer.extent.end());
        while let Some(after) = self.by_sector.get(end) {
            let other = &self.buffers[after as usize];
            if other.extent.end() - start > u64::from(max_sectors) || !belongs(other) {
                break;
            }
            end = other.extent.end();
            found.push(after);
        }
        let from = found.len();
        while let Some(before) = self.by_sector.last(start.saturating_sub(LARGEST_SECTORS)..start) {
            let other = &self.buffers[before as usize];
            if other.extent.end() != start
                || end - other.extent.sector > u64::from(max_sectors)
                || !belongs(other)
            {
                break;
            }
            start = other.extent.sector;
            found.push(before);
        }
        found[from..].reverse();
        found.rotate_left(from);
    }
}
