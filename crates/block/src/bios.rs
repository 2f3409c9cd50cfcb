//! In which order md comes to the parts of a large request.
//!
//! md takes a bio of so many sectors at once, and no piece that goes on in the next chunk. Each time the rest is handed in
//! anew, and waits until what was handed in later is through (`submit_bio_noacct` handles the bios of one caller from a
//! list: those for members first, then the newest rests, then the older ones). So the first piece of each bio comes first,
//! and what is left of the first bios comes last. RAID 0 sends what goes on in the next chunk at once, before the piece that it
//! cuts it from (`raid0_make_request` of Linux 6.1.192; before a fix of 2023 it was handed in anew there, too).

use std::cmp::Reverse;
use std::ops::Range;

/// The largest request that is one bio, in sectors (`BIO_MAX_VECS`, 256 pages).
pub const ONE_BIO_SECTORS: u32 = 2048;

/// What becomes of the part of a bio that lies in the next chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rests {
    /// It is handed in anew, after the bios that follow.
    Anew,
    /// It is sent at once, before the part that it was cut from.
    AtOnce,
}

/// How md cuts a large request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The sectors of a bio.
    pub bio_sectors: u32,
    /// What becomes of a bio's part in the next chunk.
    pub rests: Rests,
}

/// The `parts` of a request, which ascend, each with the number of its bio, in md's order.
///
/// ```text
/// bios of 5 over chunks of 8:  |a a a a a|b b b c c|d d d d d|     anew: a, b, d, c     at once: a, c, b, d
/// ```
pub fn in_order<T>(parts: impl IntoIterator<Item = (u64, T)>, rests: Rests) -> Vec<T> {
    let (mut ordered, mut left, mut last) = (Vec::new(), Vec::new(), None);
    for (bio, part) in parts {
        let is_rest = last.replace(bio) == Some(bio);
        match rests {
            Rests::Anew if is_rest => left.push((Reverse(bio), part)),
            Rests::AtOnce if is_rest => ordered.insert(ordered.len() - 1, part),
            Rests::Anew | Rests::AtOnce => ordered.push(part),
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
    in_order(ascending, Rests::Anew)
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

    /// 4 MiB from a stripe with chunks of 2 MiB, as a trace of Linux 6.1.192 has them: what lies in the second chunk comes before the
    /// end of the first.
    #[test]
    fn a_stripe_sends_rests_at_once() {
        let parts =
            [(0, 0..2560), (1, 2560..4096), (1, 4096..5120), (2, 5120..7680), (3, 7680..8192)];
        let expected = [0..2560, 4096..5120, 2560..4096, 5120..7680, 7680..8192];
        assert_eq!(in_order(parts, Rests::AtOnce), expected);
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
