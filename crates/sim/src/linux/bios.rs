//! In which order md cuts a large bio: the first piece of each part that it takes at once, and what is left of them last.
//!
//! md takes no more than `max_sectors` at once, and no piece that goes on in the next chunk. Twice it cuts, and each time
//! the rest is handed in anew and waits until what was handed in later is through (`submit_bio_noacct` handles the bios
//! of one caller from a list: those for members first, then the newest rests, then the older ones). So of a bio of many parts
//! the rests of the first parts come last.

use std::ops::Range;

/// The pieces of `sectors` in the order in which they go to members, where parts of at most `most` sectors are taken at once
/// and cut at each `chunk`.
pub(super) fn pieces(
    sectors: Range<u64>,
    most: u64,
    chunk: u64,
) -> impl Iterator<Item = Range<u64>> {
    // The next one is the last.
    let mut waiting = vec![sectors];
    std::iter::from_fn(move || {
        let Range { start, end } = waiting.pop()?;
        let part = end.min(start + most);
        let piece = part.min((start / chunk + 1) * chunk);
        let rests = [piece..part, part..end];
        waiting.extend(rests.into_iter().filter(|rest| !rest.is_empty()));
        Some(start..piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from `submit_bio_noacct` and `chunk_aligned_read`, parts of at most 8.
    #[test]
    fn rests_of_the_first_parts_come_last() {
        let of = |sectors, chunk| pieces(sectors, 8, chunk).collect::<Vec<_>>();
        assert_eq!(of(0..20, 8), [0..8, 8..16, 16..20]);
        assert_eq!(of(4..24, 8), [4..8, 12..16, 20..24, 16..20, 8..12]);
        assert_eq!(of(0..16, 4), [0..4, 8..12, 12..16, 4..8]);
        assert_eq!(of(4..36, 16), [4..12, 12..16, 20..28, 28..32, 32..36, 16..20]);
    }
}
