//! What is asked of a map: a sector, a range of them, or a request, which may fall into pieces.

use crate::error::{Error, Result};
use block::layout::Layout;
use block::{Place, units};
use std::fmt;

/// What is asked of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `A-B`: the sectors from A to B; `A` alone is `A-A`.
    Range(u64, u64),
    /// `A+N`: a request for N sectors from A on.
    Request(u64, u64),
}

/// Sectors that lie one after another, wherever they have copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first of them, in the volume.
    pub sector: u64,
    /// How many there are.
    pub sectors: u64,
    /// Where they are, the first copy first.
    pub places: Vec<Place>,
}

/// More pieces, or sectors one by one, than anyone reads.
const PIECES_MAX: usize = 1 << 20;

impl Asked {
    /// Reads `A`, `A-B` or `A+N`; each may be a size, such as `1MiB`.
    ///
    /// # Errors
    ///
    /// Where it is none of these.
    pub fn parse(text: &str) -> Result<Asked> {
        let wrong = |why: String| {
            Error::input(format!(
                "`{text}`: {why}; write a sector as `3000`, a range as `0-127`, a request as `120+16`"
            ))
        };
        let number =
            |part: &str| units::parse_sectors(part).map_err(|error| wrong(error.to_string()));
        if let Some((start, count)) = text.split_once('+') {
            let (start, count) = (number(start)?, number(count)?);
            if count == 0 {
                return Err(wrong("a request has at least one sector".into()));
            }
            return Ok(Asked::Request(start, count));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(wrong("the range ends before it starts".into()));
        }
        Ok(Asked::Range(first, last))
    }

    /// The first sector, and how many there are.
    pub fn extent(self) -> (u64, u64) {
        match self {
            Asked::Range(first, last) => (first, (last - first).saturating_add(1)),
            Asked::Request(start, count) => (start, count),
        }
    }

    /// The pieces that it falls into.
    ///
    /// # Errors
    ///
    /// Where it is not all inside the volume, or falls into too many.
    pub fn pieces(self, layout: &dyn Layout) -> Result<Vec<Piece>> {
        let (start, count) = self.extent();
        let end = start.checked_add(count).filter(|&end| end <= layout.sectors());
        let Some(end) = end else {
            return Err(Error::input(format!(
                "`{self}` is past the end; the volume has {} sectors, 0 to {}",
                layout.sectors(),
                layout.sectors().saturating_sub(1)
            )));
        };
        let (mut pieces, mut sector) = (Vec::new(), start);
        while sector < end {
            if pieces.len() == PIECES_MAX {
                return Err(Error::input(format!(
                    "`{self}` falls into more than {PIECES_MAX} pieces; ask for less at a time"
                )));
            }
            let mut places = Vec::new();
            let sectors = layout.places(sector, &mut places).min(end - sector);
            pieces.push(Piece { sector, sectors, places });
            sector += sectors;
        }
        Ok(pieces)
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Range(first, last) if first == last => write!(f, "{first}"),
            Asked::Range(first, last) => write!(f, "{first}-{last}"),
            Asked::Request(start, count) => write!(f, "{start}+{count}"),
        }
    }
}

/// The members that a piece has copies on, in order.
pub(super) fn members_of(places: &[Place]) -> Vec<u32> {
    let mut members: Vec<u32> = places.iter().map(|place| place.member).collect();
    members.sort_unstable();
    members.dedup();
    members
}

/// Over how many members (or sets of copies) pieces are split.
pub fn spread(pieces: &[Piece]) -> usize {
    let mut sets: Vec<Vec<u32>> = pieces.iter().map(|piece| members_of(&piece.places)).collect();
    sets.sort_unstable();
    sets.dedup();
    sets.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use block::Level;

    #[test]
    fn what_is_asked_reads_back() {
        for text in ["3000", "0-127", "120+16"] {
            assert_eq!(Asked::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Asked::parse("1MiB+8k").unwrap(), Asked::Request(2048, 16));
        for text in ["", "x", "5-4", "3+0", "1+", "-3", "99999999999999999999"] {
            let error = Asked::parse(text).unwrap_err().to_string();
            assert!(error.contains("write a sector as `3000`"), "{error}");
        }
    }

    #[test]
    fn a_request_falls_into_pieces_at_the_interleave() {
        let layout = "stripe".parse::<Level>().unwrap().lay_out(128, &[1280; 3]).unwrap();
        let pieces = Asked::Request(120, 16).pieces(&layout).unwrap();
        let place = |member, sector| vec![Place { member, sector }];
        let expected = [
            Piece { sector: 120, sectors: 8, places: place(0, 120) },
            Piece { sector: 128, sectors: 8, places: place(1, 0) },
        ];
        assert_eq!((pieces.as_slice(), spread(&pieces)), (expected.as_slice(), 2));
        let error = Asked::Range(3839, 3840).pieces(&layout).unwrap_err().to_string();
        assert!(error.contains("has 3840 sectors, 0 to 3839"), "{error}");
        assert!(Asked::Request(u64::MAX, u64::MAX).pieces(&layout).is_err());
    }
}
