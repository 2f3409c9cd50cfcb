//! In which order md comes to the parts of a large read.
//!
//! md takes a bio of so many sectors at once, and no piece that goes on in the next chunk. Each time the rest is handed in
//! anew, and waits until what was handed in later is through (`submit_bio_noacct` handles the bios of one caller from a
//! list: those for members first, then the newest rests, then the older ones). So the first piece of each bio comes first,
//! and what is left of the first bios comes last.

use std::cmp::Reverse;
use std::ops::Range;

/// The `parts` of a read, which ascend, each with the number of its bio, in md's order.
///
/// ```text
/// bios of 5 over chunks of 8:  |a a a a a|b b b c c|d d d d d|     order: a, b, d, c
/// ```
pub fn in_order<T>(parts: impl IntoIterator<Item = (u64, T)>) -> Vec<T> {
    let (mut ordered, mut left, mut last) = (Vec::new(), Vec::new(), None);
    for (bio, part) in parts {
        if last.replace(bio) == Some(bio) {
            left.push((Reverse(bio), part));
        } else {
            ordered.push(part);
        }
    }
    left.sort_by_key(|&(bio, _)| bio);
    ordered.extend(left.into_iter().map(|(_, part)| part));
    ordered
}

/// The pieces of `sectors` in md's order, where bios of at most `most` sectors are taken at once and cut at each `chunk`.
pub fn pieces(sectors: Range<u64>, most: u64, chunk: u64) -> Vec<Range<u64>> {
    let Range { start: first, end } = sectors;
    let mut next = first;
    let ascending = std::iter::from_fn(|| {
        let (start, bio) = (next, (next - first) / most);
        next = end.min(first + (bio + 1) * most).min((start / chunk + 1) * chunk);
        (start < end).then_some((bio, start..next))
    });
    in_order(ascending)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from `submit_bio_noacct` and `chunk_aligned_read`, bios of at most 8.
    #[test]
    fn rests_of_the_first_bios_come_last() {
        let of = |sectors, chunk| pieces(sectors, 8, chunk);
        assert_eq!(of(0..20, 8), [0..8, 8..16, 16..20]);
        assert_eq!(of(4..24, 8), [4..8, 12..16, 20..24, 16..20, 8..12]);
        assert_eq!(of(0..16, 4), [0..4, 8..12, 12..16, 4..8]);
        assert_eq!(of(4..36, 16), [4..12, 12..16, 20..28, 28..32, 32..36, 16..20]);
    }

    /// The list of `submit_bio_noacct` itself: the newest rest is next.
    #[test]
    fn the_order_is_that_of_the_list() {
        fn listed(sectors: Range<u64>, most: u64, chunk: u64) -> Vec<Range<u64>> {
            let (mut waiting, mut pieces) = (vec![sectors], Vec::new());
            while let Some(Range { start, end }) = waiting.pop() {
                let bio = end.min(start + most);
                let piece = bio.min((start / chunk + 1) * chunk);
                let rests = [piece..bio, bio..end];
                waiting.extend(rests.into_iter().filter(|rest| !rest.is_empty()));
                pieces.push(start..piece);
            }
            pieces
        }
        for start in 0..7 {
            for end in start + 1..start + 40 {
                for (most, chunk) in
                    (1..12).flat_map(|most| (1..12).map(move |chunk| (most, chunk)))
                {
                    let [ours, listed] = [pieces, listed].map(|of| of(start..end, most, chunk));
                    assert_eq!(ours, listed, "{start} to {end}, bios of {most}, chunks of {chunk}");
                }
            }
        }
    }
}
